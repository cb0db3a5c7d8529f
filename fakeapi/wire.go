package fakeapi

import (
	"net"
	"net/http"
	"time"
)

// signInPath is where FaultRedirect leads. A client that follows it ends at a 200 that has nothing to do with Kitebase,
// as behind a proxy whose session ran out.
const signInPath = "/sign-in"

func signInPage() answer {
	return answer{status: http.StatusOK, media: "text/html; charset=utf-8", body: []byte("<!doctype html><title>Sign in</title><h1>Sign in to continue</h1>\n")}
}

// breakBefore does the faults that come before the work. It reports whether the request ends there.
func (f *Fake) breakBefore(w http.ResponseWriter, c *call) bool {
	switch c.fault.Kind {
	case FaultDrop:
		cut(w)
	case FaultStatus:
		a := problem(c.fault.Status, "injected", "A fault was switched on for this operation.")
		if c.fault.RetryAfter != "" {
			a.header = http.Header{"Retry-After": {c.fault.RetryAfter}}
		}
		f.send(w, c, a)
	case FaultRedirect:
		f.send(w, c, answer{status: c.fault.Status, header: http.Header{"Location": {signInPath}}, media: "text/html; charset=utf-8"})
	case FaultSlow:
		if f.waitSlow(c) {
			return false
		}
		cut(w)
	default:
		return false
	}
	return true
}

// waitSlow waits the delay, with the key of the call marked as running, and does not care whether the caller left. It
// reports false when the fake was closed meanwhile.
func (f *Fake) waitSlow(c *call) bool {
	f.mu.Lock()
	f.claimKey(c)
	f.mu.Unlock()

	timer := time.NewTimer(c.fault.Delay)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-f.closing:
		f.mu.Lock()
		defer f.mu.Unlock()
		f.releaseKey(c)
		return false
	}
}

// deliver does the faults that come after the work, or sends the answer.
func (f *Fake) deliver(w http.ResponseWriter, c *call, a answer) {
	switch c.fault.Kind {
	case FaultHang:
		f.hold(c)
		cut(w)
	case FaultLose:
		cut(w)
	case FaultGarble:
		f.send(w, c, answer{status: http.StatusOK, media: "text/html; charset=utf-8", body: []byte("<!doctype html><title>Kitebase</title><h1>We'll be right back</h1>\n")})
	case FaultTruncate:
		f.sendPart(w, c, a, len(a.body)/2)
		panic(http.ErrAbortHandler)
	case FaultStall:
		f.sendPart(w, c, a, 0)
		f.hold(c)
		panic(http.ErrAbortHandler)
	case FaultFailAfterCommit:
		f.send(w, c, problem(http.StatusInternalServerError, "internal", "Something went wrong."))
	default:
		f.send(w, c, a)
	}
}

// sendPart sends the headers of the whole answer and the first n bytes of its body, and makes sure that they leave.
func (f *Fake) sendPart(w http.ResponseWriter, c *call, a answer, n int) {
	f.note(c, a.status)
	a.write(w, a.body[:n])
	// Fails only when the client left.
	_ = http.NewResponseController(w).Flush()
}

// hold waits until the caller has left or the fake is closed.
func (f *Fake) hold(c *call) {
	select {
	case <-c.request.Context().Done():
	case <-f.closing:
	}
}

// cut ends the connection without another byte: by a TCP reset where there is TCP. A writer that cannot be hijacked
// (HTTP/2, a recorder) is aborted the way net/http wants it.
func cut(w http.ResponseWriter) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	if tcp, ok := conn.(*net.TCPConn); ok {
		// No lingering: Close then sends RST instead of FIN.
		_ = tcp.SetLinger(0)
	}
	_ = conn.Close()
}
