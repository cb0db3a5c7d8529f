package web

import (
	"context"
	"errors"
	"sync"
	"time"
)

var (
	errIdle    = errors.New("the stream was idle for too long")
	errClosing = errors.New("the server closes its streams")
)

// streams are the open event streams that no single call bounds: SSE sessions and subscriptions.
type streams struct {
	limit int           // negative for none
	idle  time.Duration // negative for never

	mu     sync.Mutex
	open   map[*stream]struct{}
	closed bool
}

// A stream ends with its request, when it was idle for too long, or when the server closes.
type stream struct {
	ctx    context.Context
	end    context.CancelCauseFunc
	idle   time.Duration
	expiry *time.Timer
}

// start opens a stream, to be followed by stop, or says why not. A new stream never displaces an old one: what a client
// holds it keeps, however many others come.
func (s *streams) start(ctx context.Context) (*stream, *refusal) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, draining()
	}
	if s.limit >= 0 && len(s.open) >= s.limit {
		return nil, busy("The server is busy: it has as many open event streams as it takes.")
	}
	st := &stream{idle: s.idle}
	st.ctx, st.end = context.WithCancelCause(ctx)
	if st.idle > 0 {
		st.expiry = time.AfterFunc(st.idle, func() { st.end(errIdle) })
	}
	if s.open == nil {
		s.open = make(map[*stream]struct{})
	}
	s.open[st] = struct{}{}
	return st, nil
}

func (s *streams) stop(st *stream) {
	s.mu.Lock()
	delete(s.open, st)
	s.mu.Unlock()
	if st.expiry != nil {
		st.expiry.Stop()
	}
	st.end(context.Canceled)
}

// touch says that a message came or went.
func (st *stream) touch() {
	if st.expiry != nil {
		st.expiry.Reset(st.idle)
	}
}

// refuse lets no more streams start.
func (s *streams) refuse() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
}

// closeAll ends every stream; their handlers return soon after.
func (s *streams) closeAll() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	for st := range s.open {
		st.end(errClosing)
	}
}
