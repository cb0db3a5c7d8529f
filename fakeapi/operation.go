package fakeapi

import (
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// maxBody is the largest request body that is read. The largest message (64 KiB) fits even when every byte of it is
// escaped as six.
const maxBody = 1 << 20

// operation is one thing that Kitebase can do. work is called with Fake.mu held.
type operation struct {
	name   string
	method string
	work   func(*Fake, *call) answer
}

// operationNames lists the five in the order of the documentation.
func operationNames() []string {
	return []string{"search_help", "get_ticket", "search_tickets", "assign_ticket", "reply_to_customer"}
}

// call is one request on its way through the fake.
type call struct {
	operation operation // the zero operation for a path that is none of ours
	ticketID  string
	request   *http.Request
	body      []byte
	record    *Request
	fault     Fault
}

func (c *call) key() string { return c.request.Header.Get("Idempotency-Key") }

// route finds the operation by the escaped path, so that an id with an escaped slash stays one (bad) id instead of
// becoming another path.
func route(r *http.Request) (operation, string) {
	path := r.URL.EscapedPath()
	switch path {
	case "/v1/help/search":
		return operation{"search_help", http.MethodGet, (*Fake).searchHelp}, ""
	case "/v1/tickets":
		return operation{"search_tickets", http.MethodGet, (*Fake).searchTickets}, ""
	}
	rest, ok := strings.CutPrefix(path, "/v1/tickets/")
	if !ok {
		return operation{}, ""
	}
	escaped, tail, _ := strings.Cut(rest, "/")
	id, err := url.PathUnescape(escaped)
	if err != nil {
		id = escaped
	}
	switch tail {
	case "":
		return operation{"get_ticket", http.MethodGet, (*Fake).getTicket}, id
	case "assignee":
		return operation{"assign_ticket", http.MethodPut, (*Fake).assignTicket}, id
	case "replies":
		return operation{"reply_to_customer", http.MethodPost, (*Fake).replyToCustomer}, id
	}
	return operation{}, ""
}

// serveOperation takes a request through arrival, the faults that come before the work, the work, and the faults that
// come after it.
func (f *Fake) serveOperation(w http.ResponseWriter, r *http.Request) {
	op, id := route(r)
	c := &call{operation: op, ticketID: id, request: r}
	w.Header().Set("X-Request-Id", f.arrive(c))

	// The body is read before anything else: net/http notices that a client left only when nothing of its request is
	// left unread.
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if tooLarge := (*http.MaxBytesError)(nil); errors.As(err, &tooLarge) {
		f.send(w, c, problem(http.StatusRequestEntityTooLarge, "body-too-large", fmt.Sprintf("The body is over %d bytes.", maxBody)))
		return
	}
	if err != nil {
		cut(w)
		return
	}
	c.body = body

	if f.breakBefore(w, c) {
		return
	}
	f.deliver(w, c, f.perform(c))
}

// arrive records the request and decides its fault, both in order of arrival, and returns the request id.
func (f *Fake) arrive(c *call) string {
	c.record = &Request{
		Operation:      c.operation.name,
		Method:         c.request.Method,
		Path:           c.request.URL.Path,
		IdempotencyKey: c.key(),
		Traceparent:    c.request.Header.Get("Traceparent"),
		At:             time.Now().UTC(),
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.remember(c.record)
	// A fault belongs to an operation; a wrong method on its path is not one.
	if c.operation.name != "" && c.request.Method == c.operation.method {
		c.fault = f.strike(c.operation.name)
		c.record.Fault = c.fault.Kind
	}
	f.arrived++
	c.record.RequestID = fmt.Sprintf("req_%06d", f.arrived)
	return c.record.RequestID
}

// perform checks what is the same for all operations and does the work, as one step.
func (f *Fake) perform(c *call) answer {
	f.mu.Lock()
	defer f.mu.Unlock()
	defer f.releaseKey(c)
	op := c.operation
	switch {
	case op.name == "" && c.request.URL.Path == signInPath:
		return signInPage()
	case op.name == "":
		return problem(http.StatusNotFound, "not-found", "Nothing lives at this path.")
	case c.request.Method != op.method:
		return methodNotAllowed(op.method)
	case f.cfg.Token != "" && c.request.Header.Get("Authorization") != "Bearer "+f.cfg.Token:
		a := problem(http.StatusUnauthorized, "unauthorized", "The bearer token is missing or wrong.")
		a.header = http.Header{"Www-Authenticate": {"Bearer"}}
		return a
	case op.method != http.MethodGet && !isJSON(c.request):
		return problem(http.StatusUnsupportedMediaType, "unsupported-media-type", "The body must be application/json.")
	}
	return op.work(f, c)
}

func isJSON(r *http.Request) bool {
	mediaType, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	return err == nil && mediaType == "application/json"
}
