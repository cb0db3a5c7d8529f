package fakeapi

import (
	"bytes"
	"encoding/json"
	"maps"
	"net/http"
	"strconv"
)

// answer is a whole answer, made before the first byte is sent, so that a fault can still take its place.
type answer struct {
	status int
	header http.Header // beside Content-Type and Content-Length
	media  string
	body   []byte
}

func ok(body []byte) answer {
	return answer{status: http.StatusOK, media: "application/json", body: body}
}

// problemType begins the type of every problem document.
const problemType = "urn:kitebase:problem:"

// problem is an error as RFC 9457 wants it. kind is the last part of its type.
func problem(status int, kind, detail string) answer {
	return answer{status: status, media: "application/problem+json", body: encode(struct {
		Type   string `json:"type"`
		Title  string `json:"title"`
		Status int    `json:"status"`
		Detail string `json:"detail"`
	}{problemType + kind, http.StatusText(status), status, detail})}
}

func methodNotAllowed(allowed string) answer {
	a := problem(http.StatusMethodNotAllowed, "method-not-allowed", "This path takes "+allowed+".")
	a.header = http.Header{"Allow": {allowed}}
	return a
}

// write sends the headers and the given part of the body. Content-Length is that of the whole body.
func (a answer) write(w http.ResponseWriter, body []byte) {
	h := w.Header()
	maps.Copy(h, a.header)
	// RFC 9110, section 8.6: no Content-Length in a 204; a 304 has no body either.
	if a.status != http.StatusNoContent && a.status != http.StatusNotModified {
		h.Set("Content-Type", a.media)
		h.Set("Content-Length", strconv.Itoa(len(a.body)))
	} else {
		body = nil
	}
	w.WriteHeader(a.status)
	// A client that left is no error of ours.
	_, _ = w.Write(body)
}

// send sends an answer and notes its status first, so that who has the answer also finds it in Requests.
func (f *Fake) send(w http.ResponseWriter, c *call, a answer) {
	f.note(c, a.status)
	a.write(w, a.body)
}

// encode marshals what cannot fail to marshal: our own structs of strings, numbers and times. Text is left readable
// (no \u003c for <).
func encode(v any) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		panic("fakeapi: encoding an answer: " + err.Error())
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}
