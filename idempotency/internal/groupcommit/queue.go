// Package groupcommit lets concurrent writers of one process share transactions: what arrives while one transaction is being
// made durable goes into the next.
//
//	Do ─┐                    ┌─ Lock ─ take what waits ─ Run ─ release ─┐
//	Do ─┼─▶ waiting ────────▶│                                          │─▶ each Do returns
//	Do ─┘                    └────────── again while something waits ◀──┘
//
// A lone writer pays nothing for it: its operation is a group of one and starts at once. The groups are run by one goroutine,
// from the first Do to Close: a database needs a deep stack, and growing it for each group took a sixth of the time.
//
// The package knows neither SQL nor records, and it does not retry.
package groupcommit

import (
	"context"
	"errors"
	"fmt"
	"sync"
)

// MaxGroup is the most operations in one group. It bounds how long a transaction keeps other processes waiting.
const MaxGroup = 256

// ErrClosed is returned by [Queue.Do] after [Queue.Close]. The operation was not run.
var ErrClosed = errors.New("the ledger is closed")

// Queue collects operations into groups. Run must be set before the first use; the queue is safe for concurrent use.
type Queue[Op any] struct {
	// Run runs one group in one transaction: an error means that none of it was kept, as far as can be known.
	Run func(group []Op) error
	// Lock is taken before a group is formed, and its result called after Run, so that what arrives while other processes
	// hold the lock joins the group, and can still be withdrawn. It may block without limit. Default none.
	Lock func() (release func(), err error)
	// Alone reports whether each operation of a group that failed with that error is to be run again on its own, so that
	// one that cannot be written does not take its neighbours along. Default never.
	Alone func(err error) bool

	mu      sync.Mutex
	waiting []*entry[Op]
	wake    chan struct{} // holds one token if the worker has something to look at; nil before the first Do
	closed  bool
	running sync.WaitGroup
}

type entry[Op any] struct {
	op   Op
	done chan error
}

// Do runs op in a group and returns when the group has been written. If ctx ends while op still waits for its turn, op is
// withdrawn and certainly not run. Once its group has begun Do waits for the end of it, whatever becomes of ctx, since only
// the end tells whether op was written.
func (q *Queue[Op]) Do(ctx context.Context, op Op) error {
	e := &entry[Op]{op: op, done: make(chan error, 1)}
	if err := q.add(e); err != nil {
		return err
	}
	select {
	case err := <-e.done:
		return err
	case <-ctx.Done():
	}
	if q.withdraw(e) {
		return fmt.Errorf("nothing was written: %w", context.Cause(ctx))
	}
	return <-e.done
}

func (q *Queue[Op]) add(e *entry[Op]) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed {
		return ErrClosed
	}
	q.waiting = append(q.waiting, e)
	if q.wake == nil {
		q.wake = make(chan struct{}, 1)
		go q.work(q.wake)
	}
	q.rouse()
	return nil
}

// rouse wakes the worker, if there is one; the caller holds the mutex.
func (q *Queue[Op]) rouse() {
	select {
	case q.wake <- struct{}{}:
	default:
	}
}

func (q *Queue[Op]) withdraw(e *entry[Op]) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	for i, other := range q.waiting {
		if other == e {
			q.waiting = append(q.waiting[:i:i], q.waiting[i+1:]...)
			return true
		}
	}
	return false
}

// Close refuses what still waits and everything later, and returns when the group under way has ended.
func (q *Queue[Op]) Close() {
	q.mu.Lock()
	q.closed = true
	refused := q.waiting
	q.waiting = nil
	q.rouse()
	q.mu.Unlock()
	deliver(refused, ErrClosed)
	q.running.Wait()
}

func (q *Queue[Op]) work(wake <-chan struct{}) {
	for range wake {
		for q.busy() {
			q.turn()
		}
		if q.ended() {
			return
		}
	}
}

// turn runs one group.
func (q *Queue[Op]) turn() {
	release, err := q.lock()
	group := q.take()
	if len(group) > 0 {
		defer q.running.Done()
	}
	if err != nil {
		deliver(group, err)
		return
	}
	results := q.run(group)
	release()
	for i, e := range group {
		e.done <- results[i]
	}
}

func (q *Queue[Op]) busy() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.waiting) > 0
}

func (q *Queue[Op]) ended() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.closed
}

func (q *Queue[Op]) lock() (func(), error) {
	if q.Lock == nil {
		return func() {}, nil
	}
	return q.Lock()
}

func (q *Queue[Op]) take() []*entry[Op] {
	q.mu.Lock()
	defer q.mu.Unlock()
	n := min(len(q.waiting), MaxGroup)
	group := q.waiting[:n:n]
	q.waiting = q.waiting[n:]
	if n > 0 {
		q.running.Add(1)
	}
	return group
}

func (q *Queue[Op]) run(group []*entry[Op]) []error {
	results := make([]error, len(group))
	if len(group) == 0 {
		return results
	}
	ops := make([]Op, len(group))
	for i, e := range group {
		ops[i] = e.op
	}
	err := q.Run(ops)
	alone := err != nil && len(ops) > 1 && q.Alone != nil && q.Alone(err)
	for i := range results {
		results[i] = err
		if alone {
			results[i] = q.Run(ops[i : i+1])
		}
	}
	return results
}

func deliver[Op any](group []*entry[Op], err error) {
	for _, e := range group {
		e.done <- err
	}
}
