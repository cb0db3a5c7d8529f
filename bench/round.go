package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"time"
)

const (
	inFlight   = 64
	slowAnswer = 20 * time.Millisecond
)

// entrant is a contestant that runs, with what was measured of it.
type entrant struct {
	contestant
	*process
	client client
	into   *sheet
}

// round takes every figure once at every contestant.
type round struct {
	settings
	workshop *workshop
	desk     *desk
	running  []*entrant
	noServer *sheet
	last     bool

	unprofiled error // which profiles could not be recorded, and why
}

func (r *round) run(ctx context.Context, all []contestant, sheets []*sheet) error {
	defer r.stop()
	for range r.starts {
		r.stop()
		for i, each := range all {
			if err := ctx.Err(); err != nil {
				return err
			}
			if err := r.begin(each, sheets[i]); err != nil {
				return err
			}
		}
	}
	steps := []func(*entrant) error{r.idleMemory, r.sequential, r.loaded}
	if r.perf != "" && r.last {
		steps = append(steps, r.profile)
	}
	for _, step := range steps {
		if err := r.each(ctx, step); err != nil {
			return err
		}
	}
	if err := r.desk.slow(); err != nil {
		return err
	}
	reached, err := r.desk.waits(inFlight, r.slice)
	if err != nil {
		return err
	}
	r.noServer.add(slowRate, reached.perSecond())
	for _, step := range []func(*entrant) error{r.loadedSlow, r.memoryAfter} {
		if err := r.each(ctx, step); err != nil {
			return err
		}
	}
	return r.desk.well()
}

// each takes a step at all that run.
func (r *round) each(ctx context.Context, step func(*entrant) error) error {
	for _, one := range r.running {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := step(one); err != nil {
			return fmt.Errorf("%s on %s: %w", one.name, one.transport, one.failed(err))
		}
	}
	return nil
}

// begin starts a contestant and measures how long that takes until its first call is answered.
func (r *round) begin(who contestant, into *sheet) error {
	addr, err := freeAddr()
	if err != nil {
		return err
	}
	began := time.Now()
	running, err := start(r.workshop.dir, who.start(r.desk.url, addr))
	if err != nil {
		return err
	}
	one := &entrant{contestant: who, process: running, into: into, client: &lines{process: running}}
	if who.transport == "http" {
		one.client = &connection{addr: addr}
	}
	r.running = append(r.running, one)
	if err := inOrder(one.client.greet, one.client.call); err != nil {
		return fmt.Errorf("%s on %s: %w", who.name, who.transport, running.failed(err))
	}
	into.add(cold, float64(time.Since(began).Microseconds())/1000)
	return nil
}

func inOrder(steps ...func() error) error {
	for _, step := range steps {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

func (r *round) stop() {
	for _, one := range r.running {
		one.process.stop()
	}
	r.running = nil
}

// idleMemory waits once for all: they were started together.
func (r *round) idleMemory(one *entrant) error {
	if one == r.running[0] {
		time.Sleep(r.idle)
	}
	return one.memory(rssIdle)
}

func (r *round) memoryAfter(one *entrant) error { return one.memory(rssLoad) }

func (e *entrant) memory(f figure) error {
	used, err := e.rss()
	if errors.Is(err, errNoProc) {
		return nil
	}
	e.into.add(f, used)
	return err
}

// sequential makes one call after another. The first tenth is for warming up.
func (r *round) sequential(one *entrant) error {
	var took []time.Duration
	for began := time.Now(); time.Since(began) < r.slice; {
		sent := time.Now()
		if err := one.client.call(); err != nil {
			return err
		}
		took = append(took, time.Since(sent))
	}
	took = took[len(took)/10:]
	slices.Sort(took)
	one.into.add(p50, float64(took[len(took)/2].Nanoseconds())/1000)
	one.into.add(p99, float64(took[len(took)*99/100].Nanoseconds())/1000)
	return nil
}

func (r *round) loaded(one *entrant) error {
	if _, err := one.client.load(inFlight, r.slice/5); err != nil { // to warm up
		return err
	}
	before, noProc := one.cpu()
	reached, err := one.client.load(inFlight, r.slice)
	if err != nil {
		return err
	}
	one.into.add(rate, reached.perSecond())
	if after, err := one.cpu(); noProc == nil && err == nil {
		one.into.add(cpu, float64((after-before).Microseconds())/float64(reached.calls))
	}
	return nil
}

func (r *round) loadedSlow(one *entrant) error {
	reached, err := one.client.load(inFlight, r.slice)
	if err == nil {
		one.into.add(slowRate, reached.perSecond())
	}
	return err
}

// freeAddr returns a loopback address that was free a moment ago.
func freeAddr() (string, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	defer listener.Close()
	return listener.Addr().String(), nil
}
