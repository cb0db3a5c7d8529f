package simulation_test

import (
	"context"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/kitebase/kitebase-mcp/idempotency"
	"github.com/kitebase/kitebase-mcp/server"
	"github.com/kitebase/kitebase-mcp/server/resilience"
)

// process is one life of a server: the real server on a store handle and a link of its own. What dies with a real process
// dies with it: its pipes, its connections, its store handle. Its goroutines go on until they notice, but reach nobody.
type process struct {
	world  *world
	slot   int
	name   string
	server *server.Server
	handle *handle
	store  idempotency.Store
	link   *link
	began  time.Time
	ended  chan struct{} // closed when nothing of it runs any more

	mu       sync.Mutex
	sessions []*session
	armed    string    // the point at which it dies
	killed   time.Time // zero: it was not
	stopped  time.Time // when it was asked to end; zero: it was not
	observed []resilience.Observation
}

// start starts a process in a slot.
func (w *world) start(slot int) (*process, error) {
	p := &process{
		world: w, slot: slot, name: fmt.Sprintf("p%d.%d", slot, len(w.processes)), link: newLink(w.kitebase.network),
		began: time.Now(), ended: make(chan struct{}),
	}
	p.handle = w.ledger.open(p.name, p.at)
	p.handle.setClock(w.clocks[slot])
	p.store = p.handle
	if w.schedule.Setup.Standby {
		p.store = &idempotency.Standby{
			Open:   func(context.Context) (idempotency.Store, error) { return p.handle, nil },
			Strict: w.schedule.Setup.Keys == KeysIgnored,
		}
	}
	var err error
	p.server, err = server.New(p.config())
	if err != nil {
		return nil, err
	}
	w.add(p)
	return p, nil
}

func (p *process) config() server.Config {
	setup := p.world.schedule.Setup
	return server.Config{
		URL: "http://kitebase.test", Token: p.name, DialContext: p.link.dial, Store: p.store,
		Guard: resilience.Policy{
			Attempts: setup.Attempts, AttemptTimeout: setup.AttemptTimeout, CallDeadline: setup.CallDeadline,
			Observe: p.observe,
		},
		DedupeWindow: setup.Window, SettleAfter: setup.SettleAfter, IgnoresKeys: setup.Keys == KeysIgnored,
		BreakerThreshold: setup.Threshold, BreakerCooldown: setup.Cooldown, RetryBudget: setup.RetryBudget,
	}
}

func (p *process) observe(_ context.Context, seen resilience.Observation) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.observed = append(p.observed, seen)
}

// at is told where the process is, and kills it if it is to die there.
func (p *process) at(point string) {
	if p == nil {
		return
	}
	p.mu.Lock()
	hit := p.armed == point
	p.mu.Unlock()
	if hit {
		p.kill()
	}
}

// arm lets the process die at a point, which may be now.
func (p *process) arm(point string) {
	if point == pointNow {
		p.kill()
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.armed = point
}

// kill ends the process as kill -9 does.
func (p *process) kill() {
	p.mu.Lock()
	if !p.killed.IsZero() {
		p.mu.Unlock()
		return
	}
	p.killed, p.armed = time.Now(), ""
	sessions := p.sessions
	p.mu.Unlock()
	p.world.note("%s dies", p.name)
	p.handle.die()
	p.link.die()
	for _, s := range sessions {
		s.sever()
	}
	if p.stopped.IsZero() {
		go p.end()
	}
}

// stop asks the process to end, as SIGTERM does: it finishes what it has begun.
func (p *process) stop() {
	p.mu.Lock()
	over := !p.killed.IsZero() || !p.stopped.IsZero()
	if !over {
		p.stopped = time.Now()
	}
	sessions := p.sessions
	p.mu.Unlock()
	if over {
		return
	}
	for _, s := range sessions {
		s.cancel()
	}
	go p.end()
}

// end waits until everything is over.
func (p *process) end() {
	p.mu.Lock()
	sessions := p.sessions
	p.mu.Unlock()
	for _, s := range sessions {
		<-s.served
	}
	p.server.Close()
	p.store.Close()
	p.handle.die()
	p.link.die()
	close(p.ended)
}

// runs reports whether agents can connect to it.
func (p *process) runs() bool {
	if p == nil {
		return false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.killed.IsZero() && p.stopped.IsZero()
}

// lived reports whether the process was not killed before that time.
func (p *process) lived(until time.Time) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.killed.IsZero() || p.killed.After(until)
}

// serve opens a session with an agent, as its host does that starts it on pipes.
func (p *process) serve(agent int) *session {
	in, toServer := io.Pipe()
	fromServer, out := io.Pipe()
	ctx, cancel := context.WithCancel(context.Background())
	s := &session{
		process: p, agent: agent, toServer: toServer, fromServer: fromServer, in: in, out: out, cancel: cancel,
		served: make(chan struct{}), read: make(chan struct{}), waiting: make(map[int]*call),
	}
	p.mu.Lock()
	p.sessions = append(p.sessions, s)
	p.mu.Unlock()
	go func() {
		defer close(s.served)
		s.err = p.server.ServeStdio(ctx, in, out)
		in.Close()
		out.Close()
		cancel()
	}()
	go s.listen()
	s.write(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"agent","version":"0"}}}`)
	s.write(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	return s
}
