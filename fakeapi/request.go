package fakeapi

import "time"

// Request is one request that reached the fake, whatever became of it. Control requests are not among them.
type Request struct {
	// Operation is one of the five, or "" for a path that is none of theirs.
	Operation string `json:"operation"`
	Method    string `json:"method"`
	// Path is unescaped and without the query.
	Path           string `json:"path"`
	IdempotencyKey string `json:"idempotency_key"`
	// Traceparent is the header by which the caller names its trace (W3C Trace Context).
	Traceparent string `json:"traceparent"`
	// Status is what was answered; 0 while nothing was, and for good when the connection was cut without an answer.
	Status int `json:"status"`
	// Fault is the kind of fault that struck; "" for none.
	Fault FaultKind `json:"fault"`
	// At is the time of arrival.
	At time.Time `json:"at"`
	// RequestID is the X-Request-Id of the answer.
	RequestID string `json:"request_id"`
}

// Requests returns the requests in order of arrival (the latest Config.KeepRequests of them). The slice is the
// caller's.
func (f *Fake) Requests() []Request {
	f.mu.Lock()
	defer f.mu.Unlock()
	kept := f.requests
	if limit := f.cfg.KeepRequests; limit > 0 && len(kept) > limit {
		kept = kept[len(kept)-limit:]
	}
	all := make([]Request, len(kept))
	for i, r := range kept {
		all[i] = *r
	}
	return all
}

// remember appends a record. It lets the list grow to twice the limit before it forgets the older half, so that
// forgetting costs next to nothing per request. Fake.mu is held.
func (f *Fake) remember(r *Request) {
	f.requests = append(f.requests, r)
	if limit := f.cfg.KeepRequests; limit > 0 && len(f.requests) >= 2*limit {
		f.requests = append([]*Request(nil), f.requests[len(f.requests)-limit:]...)
	}
}

func (f *Fake) note(c *call, status int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	c.record.Status = status
}
