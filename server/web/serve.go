package web

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync/atomic"
	"time"

	"golang.org/x/net/netutil"
)

const (
	// idleConnection is how long a connection may wait for its next request.
	idleConnection = 2 * time.Minute
	// maxHeader is the most bytes of a request's headers: plenty for a token, little for an attacker.
	maxHeader = 64 << 10
	// flushGrace is what a shutdown gives to answers on their way and to connections that have asked nothing yet.
	flushGrace = 3 * time.Second
	// stopGrace is what it gives to calls that were told to stop because draining took too long.
	stopGrace = 2 * time.Second
)

// Serve serves on listener, and closes it, until ctx ends. Then it refuses what is new with 503, waits for the calls
// under way, at most [Config.DrainTimeout], delivers their answers, ends the event streams, and returns: nil if every
// call came to its end. A listener that other machines can reach is refused without a token, whatever [Config.Addr] says.
// Serve must be called once only.
func (s *Server) Serve(ctx context.Context, listener net.Listener) error {
	if !isLocal(listener) && s.access.Open() {
		_ = listener.Close()
		return errTokenNeeded(listener.Addr().String())
	}
	base, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	web := s.httpServer(base, isLocal(listener))
	if s.cfg.MaxConnections > 0 {
		listener = netutil.LimitListener(listener, s.cfg.MaxConnections+reserve)
	}
	broken := make(chan error, 1)
	go func() { broken <- web.Serve(listener) }()

	var err error
	select {
	case err = <-broken:
		err = fmt.Errorf("serving HTTP on %s: %w", listener.Addr(), err)
	case <-ctx.Done():
	}
	return errors.Join(err, s.shutdown(web, stop))
}

func (s *Server) httpServer(base context.Context, local bool) *http.Server {
	var connections atomic.Int64
	return &http.Server{
		Handler:           s.handler(local),
		ReadHeaderTimeout: s.cfg.HeaderTimeout,
		ReadTimeout:       s.cfg.ReadTimeout,
		IdleTimeout:       idleConnection,
		MaxHeaderBytes:    maxHeader,
		ErrorLog:          slog.NewLogLogger(s.cfg.Logger.Handler(), slog.LevelWarn),
		BaseContext:       func(net.Listener) context.Context { return base },
		ConnContext: func(ctx context.Context, _ net.Conn) context.Context {
			if n := connections.Add(1); s.cfg.MaxConnections > 0 && n > int64(s.cfg.MaxConnections) {
				ctx = context.WithValue(ctx, surplusKey{}, true)
			}
			return ctx
		},
		ConnState: func(_ net.Conn, state http.ConnState) {
			if state == http.StateClosed {
				connections.Add(-1)
			}
		},
	}
}

// surplusKey marks the connections beyond the limit: they are told so, rather than left to wait.
type surplusKey struct{}

func isSurplus(ctx context.Context) bool { return ctx.Value(surplusKey{}) != nil }

// shutdown goes on listening while it drains, so that newcomers are told when to come back.
func (s *Server) shutdown(web *http.Server, stop context.CancelFunc) error {
	s.streams.refuse()
	drained := s.calls.close()
	web.SetKeepAlivesEnabled(false)
	s.cfg.Logger.Info("shutting down", "under_way", s.calls.underWay())

	var err error
	if !waitFor(drained, s.cfg.DrainTimeout) {
		err = fmt.Errorf("shutting down: after %v some requests were still under way and were told to stop: %d",
			s.cfg.DrainTimeout, s.calls.underWay())
		stop()
		waitFor(drained, stopGrace)
	}
	s.streams.closeAll()
	ctx, cancel := context.WithTimeout(context.Background(), flushGrace)
	defer cancel()
	if web.Shutdown(ctx) != nil {
		_ = web.Close() // what is left asked nothing, or does not read its answer
	}
	return err
}

// waitFor says whether done was closed within limit; a negative limit is none.
func waitFor(done <-chan struct{}, limit time.Duration) bool {
	if limit < 0 {
		<-done
		return true
	}
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case <-done:
		return true
	case <-timer.C:
		return false
	}
}
