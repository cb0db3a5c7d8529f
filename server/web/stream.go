package web

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/kitebase/kitebase-mcp/server/access"
)

var (
	errIdle    = errors.New("the stream was idle for too long")
	errClosing = errors.New("the server closes its streams")
	errRevoked = errors.New("the token of the stream is no longer good")
)

// streams are the open event streams that no single call bounds: SSE sessions and subscriptions.
type streams struct {
	limit int           // negative for none
	idle  time.Duration // negative for never
	still func(access.Caller) bool

	mu     sync.Mutex
	open   map[*stream]struct{}
	closed bool
}

// A stream ends with its request, when it was idle for too long, when its token is no longer good, or when the server
// closes.
type stream struct {
	ctx    context.Context
	end    context.CancelCauseFunc
	idle   time.Duration
	expiry *time.Timer
	caller atomic.Pointer[access.Caller] // who holds it, with the latest token that was seen
	still  func(access.Caller) bool
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
	st := &stream{idle: s.idle, still: s.still}
	st.renew(ctx)
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

// allowed is asked before anything goes out on the stream, keep-alives too, or comes in for it: a stream whose token is no
// longer good ends there.
func (st *stream) allowed() bool {
	if st.still(*st.caller.Load()) {
		return true
	}
	st.end(errRevoked)
	return false
}

// renew notes the caller of ctx, who may have a newer token than the one that the stream was opened with.
func (st *stream) renew(ctx context.Context) {
	caller, _ := access.From(ctx)
	st.caller.Store(&caller)
}

// heldBy says whether the stream is that of the caller of ctx.
func (st *stream) heldBy(ctx context.Context) bool {
	caller, _ := access.From(ctx)
	return st.caller.Load().Key() == caller.Key()
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
