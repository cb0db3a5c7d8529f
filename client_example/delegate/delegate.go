package delegate

import (
	"context"
	"errors"
	"fmt"
)

// Delegate does tasks by the first of its paths that can. It is safe for concurrent use, and meant to be shared: the
// circuits of its paths are open for all or for none.
type Delegate struct {
	cfg   Config
	paths []*path
}

// Answer is a finding, and who found it.
type Answer struct {
	// ServedBy is the name of the path.
	ServedBy string
	Finding
	// Failures are the paths that were to be preferred. If there are any, the answer is a degraded one.
	Failures []*Failure
}

// New returns a Delegate with its circuits closed. The paths are tried in their order, the best one first. It fails for a
// configuration that cannot be used, and for paths that are missing or have no name of their own.
func New(cfg Config, paths ...Path) (*Delegate, error) {
	if err := cfg.Validate(); err != nil {
		return nil, fmt.Errorf("set up a delegate: %w", err)
	}
	if len(paths) == 0 {
		return nil, errors.New("set up a delegate: there is no path")
	}
	d := &Delegate{cfg: cfg.withDefaults()}
	names := make(map[string]bool, len(paths))
	for _, p := range paths {
		if p.Name == "" || p.Run == nil || names[p.Name] {
			return nil, fmt.Errorf("set up a delegate: path %q needs a name of its own and a sub-loop", p.Name)
		}
		names[p.Name] = true
		d.paths = append(d.paths, newPath(p, d.cfg))
	}
	return d, nil
}

// Do does a task. Hear is told what happens as it happens, on the goroutine that called Do; it may be nil. The error is an
// [*Exhausted] when all paths failed, and wraps the cause of ctx when that ended first: then no further path is tried, and
// no circuit counts it.
func (d *Delegate) Do(ctx context.Context, task string, hear func(Event)) (Answer, error) {
	if hear == nil {
		hear = func(Event) {}
	}
	var failures []*Failure
	for _, p := range d.paths {
		if gone := left(ctx); gone != nil {
			return Answer{}, fmt.Errorf("delegate a task: %w", gone)
		}
		finding, err := p.do(ctx, &sequence{path: p.Path, cfg: d.cfg, task: task, hear: hear})
		if err == nil {
			return Answer{ServedBy: p.Name, Finding: finding, Failures: failures}, nil
		}
		failure, ok := err.(*Failure)
		if !ok {
			return Answer{}, fmt.Errorf("delegate a task: %w", err)
		}
		hear(GaveUp{Failure: failure})
		failures = append(failures, failure)
	}
	return Answer{}, &Exhausted{Failures: failures}
}

// Note says that the answer is a degraded one, and why, in a sentence for people and models; "" if it is not.
func (a Answer) Note() string {
	if len(a.Failures) == 0 {
		return ""
	}
	return fmt.Sprintf("Degraded: %s answered in place of %s.", a.ServedBy, list(a.Failures))
}
