package fakeapi

import (
	"fmt"
	"io"
	"net/http"
	"strings"
)

// serveControl answers the control endpoints: faults, what happened, and the customer's side. They need no token, are
// not recorded, and no fault strikes them.
func (f *Fake) serveControl(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	f.arrived++
	w.Header().Set("X-Request-Id", fmt.Sprintf("req_%06d", f.arrived))
	f.mu.Unlock()
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil {
		invalid(fmt.Errorf("the body could not be read: %w", err)).send(w)
		return
	}
	f.control(r, body).send(w)
}

func (f *Fake) control(r *http.Request, body []byte) answer {
	path := r.URL.Path
	if operation, ok := strings.CutPrefix(path, "/_faults/"); ok {
		return f.controlFault(r.Method, operation, body)
	}
	switch path + " " + r.Method {
	case "/_faults DELETE":
		f.ClearFaults()
		return answer{status: http.StatusNoContent}
	case "/_requests GET":
		return ok(encode(map[string][]Request{"requests": f.Requests()}))
	case "/_outbox GET":
		return ok(encode(map[string][]Email{"emails": f.Outbox()}))
	case "/_messages POST":
		return f.controlMessage(body)
	}
	allowed := map[string]string{"/_faults": "DELETE", "/_requests": "GET", "/_outbox": "GET", "/_messages": "POST"}
	if method, known := allowed[path]; known {
		return methodNotAllowed(method)
	}
	return problem(http.StatusNotFound, "not-found", "The controls are /_faults, /_faults/{operation}, /_requests, /_outbox and /_messages.")
}

func (f *Fake) controlFault(method, operation string, body []byte) answer {
	if err := knownOperation(operation); err != nil {
		return problem(http.StatusNotFound, "unknown-operation", sentence(err))
	}
	switch method {
	case http.MethodDelete:
		f.ClearFaults(operation)
	case http.MethodPut:
		var fault Fault
		if err := decodeStrict(body, &fault); err != nil {
			return invalid(err)
		}
		if err := f.SetFault(operation, fault); err != nil {
			return invalid(err)
		}
	default:
		return methodNotAllowed("PUT, DELETE")
	}
	return answer{status: http.StatusNoContent}
}

func (f *Fake) controlMessage(body []byte) answer {
	var in struct {
		TicketID string `json:"ticket_id"`
		Body     string `json:"body"`
	}
	if err := decodeStrict(body, &in); err != nil {
		return invalid(err)
	}
	m, err := f.customerWrites(in.TicketID, in.Body)
	if err != nil {
		return invalid(err)
	}
	a := ok(encode(m))
	a.status = http.StatusCreated
	return a
}

func (a answer) send(w http.ResponseWriter) { a.write(w, a.body) }

func invalid(err error) answer {
	return problem(http.StatusBadRequest, "invalid-control", sentence(err))
}

// sentence makes an error text what a problem document has as its detail.
func sentence(err error) string {
	text := err.Error()
	return strings.ToUpper(text[:1]) + text[1:] + "."
}
