package web

import (
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
)

const eventStream = "text/event-stream"

var errFinished = errors.New("the response is finished")

// A reply is the ResponseWriter that everything here writes to. It holds back the status until the first byte, so that
// a request which ends without an answer can still be told so; it keeps idle event streams alive; it bounds each write;
// and it refuses writes once the handler is done, since mcp-go writes from several goroutines. Safe for concurrent use.
type reply struct {
	w            http.ResponseWriter
	control      *http.ResponseController
	keepAlive    time.Duration
	writeTimeout time.Duration

	id     json.RawMessage // of the request that waits for an answer, if any
	stream *stream         // that of an event stream which no single call bounds, if it is one
	begun  chan struct{}   // closed when the status goes out, if set

	mu       sync.Mutex
	status   int
	sent     bool // the status went out
	streams  bool // it is an event stream
	finished bool
	silence  *time.Timer
	deadline time.Time // of the next write
}

func newReply(w http.ResponseWriter, cfg *Config) *reply {
	r := &reply{w: w, control: http.NewResponseController(w), keepAlive: cfg.KeepAlive, writeTimeout: cfg.WriteTimeout}
	r.bound() // "100 Continue"
	return r
}

// Header implements [http.ResponseWriter].
func (r *reply) Header() http.Header { return r.w.Header() }

// WriteHeader implements [http.ResponseWriter]; the first status counts.
func (r *reply) WriteHeader(status int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.status == 0 {
		r.status = status
	}
}

// Write implements [http.ResponseWriter]. On an event stream each Write must be whole events.
func (r *reply) Write(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.finished {
		return 0, errFinished
	}
	if r.stream != nil {
		if !r.stream.allowed() {
			return 0, errRevoked
		}
		r.stream.touch()
	}
	return r.write(p)
}

// write needs the lock, and that the reply is not finished.
func (r *reply) write(p []byte) (int, error) {
	r.send()
	r.bound()
	return r.w.Write(p)
}

// beginEvents makes the reply an event stream, as mcp-go does. Nothing may have been written, nor be written meanwhile.
func (r *reply) beginEvents() {
	header := r.Header()
	header.Set("Content-Type", eventStream)
	header.Set("Connection", "keep-alive")
	header.Set("Cache-Control", "no-cache")
}

func (r *reply) isEvents() bool {
	return strings.HasPrefix(r.Header().Get("Content-Type"), eventStream)
}

// notify writes a notification, which must be one line, to a reply that is an event stream.
func (r *reply) notify(line []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.finished {
		return
	}
	if _, err := r.write(event(line)); err == nil {
		r.flush()
	}
}

// answer writes the answer, which must be one line in public words, as the reply or as the last event of it.
func (r *reply) answer(line []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.isEvents() {
		line = event(line)
	} else {
		r.Header().Set("Content-Type", jsonType)
		r.Header().Set("Content-Length", strconv.Itoa(len(line)))
	}
	_, _ = r.write(line) // a client that has left also ends the request's context
}

// Flush implements [http.Flusher].
func (r *reply) Flush() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.finished {
		return
	}
	r.send()
	r.flush()
}

// flush needs the lock, and that the status was sent.
func (r *reply) flush() {
	r.bound()
	_ = r.control.Flush() // a client that has left also ends the request's context
	if r.silence != nil {
		r.silence.Reset(r.keepAlive)
	}
}

// send needs the lock. It sends the status unless that is done.
func (r *reply) send() {
	if r.sent {
		return
	}
	r.sent = true
	if r.begun != nil {
		close(r.begun)
	}
	r.streams = r.isEvents()
	if r.streams {
		r.Header().Set("X-Accel-Buffering", "no") // nginx would hold events back
		if r.keepAlive > 0 {
			r.silence = time.AfterFunc(r.keepAlive, r.comment)
		}
	}
	if r.status != 0 {
		r.w.WriteHeader(r.status)
	}
}

// comment writes what every reader of event streams skips.
func (r *reply) comment() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.finished || r.stream != nil && !r.stream.allowed() {
		return
	}
	r.bound()
	_, _ = r.w.Write([]byte(": keep-alive\n\n"))
	r.flush()
}

// bound limits how long the next write may wait. The last one of a request is net/http's own, after the handler, and net/http
// takes the limit back when that is done. A limit that leaves the write fifteen sixteenths of its time may stay: setting one costs
// more than the rest of a reply.
func (r *reply) bound() {
	now := time.Now()
	if r.writeTimeout <= 0 || r.deadline.Sub(now) >= r.writeTimeout-r.writeTimeout/16 {
		return
	}
	r.deadline = now.Add(r.writeTimeout)
	_ = r.control.SetWriteDeadline(r.deadline) // not every connection can
}

// refuse answers with a refusal.
func (r *reply) refuse(why *refusal) {
	if why.header[0] != "" {
		r.Header().Set(why.header[0], why.header[1])
	}
	r.Header().Set("Content-Type", "application/json")
	r.WriteHeader(why.status)
	_, _ = r.Write(errorBody(r.id, why.code, why.text))
}

// fail answers with an internal error: by status as long as none is sent, else as an event.
func (r *reply) fail(text string) {
	body := errorBody(r.id, mcp.INTERNAL_ERROR, text)
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.finished, r.sent && !r.streams, r.sent && r.id == nil:
		return
	case r.sent:
		body = event(body)
	default:
		r.Header().Set("Content-Type", "application/json")
		r.status = http.StatusInternalServerError
		r.send()
	}
	_, _ = r.w.Write(body)
}

// finish ends the reply: nothing is written after it. A request that has got no answer is told so: mcp-go is silent
// about a result that cannot be marshalled, and about a call whose context ended.
func (r *reply) finish() {
	r.mu.Lock()
	unanswered := r.id != nil && !r.sent && (r.status == 0 || r.status == http.StatusOK)
	r.mu.Unlock()
	if unanswered {
		r.fail(stoppedText)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.sent {
		r.send()
	}
	r.finished = true
	if r.silence != nil {
		r.silence.Stop()
	}
	r.bound()
}

// event is data, which must be one line, as a server-sent event.
func event(data json.RawMessage) json.RawMessage {
	return append(append([]byte("event: message\ndata: "), data...), "\n\n"...)
}
