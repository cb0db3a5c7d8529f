package server

import (
	"context"
	"sync"
	"time"
)

// later runs functions after a while, until it is closed. The zero value is ready; it is safe for concurrent use.
type later struct {
	mu      sync.Mutex
	closed  bool
	timers  map[*time.Timer]struct{}
	running sync.WaitGroup
	ctx     context.Context
	cancel  context.CancelFunc
}

// run calls f after d, with a context that ends when l is closed. After that it does nothing.
func (l *later) run(d time.Duration, f func(context.Context)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return
	}
	if l.timers == nil {
		l.timers = make(map[*time.Timer]struct{})
		l.ctx, l.cancel = context.WithCancel(context.Background())
	}
	var timer *time.Timer
	timer = time.AfterFunc(d, func() {
		l.mu.Lock()
		if l.closed {
			l.mu.Unlock()
			return
		}
		delete(l.timers, timer)
		l.running.Add(1)
		l.mu.Unlock()
		defer l.running.Done()
		f(l.ctx)
	})
	l.timers[timer] = struct{}{}
}

// close forgets what has not begun and waits for what has, whose context it ends.
func (l *later) close() {
	l.mu.Lock()
	l.closed = true
	for timer := range l.timers {
		timer.Stop()
	}
	if l.cancel != nil {
		l.cancel()
	}
	l.mu.Unlock()
	l.running.Wait()
}
