package groupcommit_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/kitebase/kitebase-mcp/idempotency/internal/groupcommit"
)

// FuzzQueue states: in whatever order operations come, are withdrawn, fail and are refused, each Do returns once and tells the
// truth: nil means kept once, "nothing was written" and ErrClosed mean never run, a failure means not kept.
func FuzzQueue(f *testing.F) {
	f.Add([]byte{0, 0, 0, 3, 0, 1, 4, 0})
	f.Add([]byte{0, 9, 17, 2, 0, 3, 25, 1, 0, 5, 0})
	f.Add([]byte{1, 1, 1, 1, 3, 3, 5, 2, 2, 0, 6})
	f.Fuzz(func(t *testing.T, program []byte) {
		synctest.Test(t, func(t *testing.T) {
			d := &poisoned{ran: map[int]int{}, kept: map[int]int{}}
			q := &groupcommit.Queue[int]{Run: d.run, Lock: d.lock, Alone: func(err error) bool { return errors.Is(err, errPoison) }}
			results := map[int]error{}
			var mu sync.Mutex
			var all sync.WaitGroup
			cancels := []context.CancelFunc{}
			for i, op := range program[:min(len(program), 100)] {
				switch op % 8 {
				case 0, 1, 2: // an operation, of which those with a number divisible by 5 can never be written
					ctx, cancel := context.WithCancel(t.Context())
					cancels = append(cancels, cancel)
					number := i*5 + int(op>>3)%5
					all.Go(func() {
						err := q.Do(ctx, number)
						mu.Lock()
						defer mu.Unlock()
						results[number] = err
					})
				case 3:
					if len(cancels) > 0 {
						cancels[int(op>>3)%len(cancels)]()
					}
				case 4, 5:
					time.Sleep(time.Duration(op) * 20 * time.Millisecond)
				case 6:
					d.locked(op&8 != 0)
				case 7:
					if op > 240 {
						q.Close()
					}
				}
			}
			all.Wait()
			q.Close()
			time.Sleep(time.Second) // a lock that it was waiting for is had and given back
			for _, cancel := range cancels {
				cancel()
			}
			for number, err := range results {
				d.requireTrue(t, number, err)
			}
		})
	})
}

var (
	errPoison = errors.New("this one cannot be written")
	errLocked = errors.New("the lock cannot be had")
)

// poisoned writes groups of numbers, each in a second, but none with a number divisible by 5 in it.
type poisoned struct {
	mu        sync.Mutex
	broken    bool // the lock
	ran, kept map[int]int
}

func (p *poisoned) locked(broken bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.broken = broken
}

func (p *poisoned) lock() (func(), error) {
	time.Sleep(300 * time.Millisecond)
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.broken {
		return nil, errLocked
	}
	return func() {}, nil
}

func (p *poisoned) run(group []int) error {
	time.Sleep(time.Second)
	p.mu.Lock()
	defer p.mu.Unlock()
	var err error
	for _, number := range group {
		p.ran[number]++
		if number%5 == 0 {
			err = errPoison
		}
	}
	for _, number := range group {
		if err == nil {
			p.kept[number]++
		}
	}
	return err
}

func (p *poisoned) requireTrue(t *testing.T, number int, err error) {
	t.Helper()
	switch {
	case err == nil:
		require.Equal(t, 1, p.kept[number])
		require.NotZero(t, number%5)
	case errors.Is(err, errPoison):
		require.Zero(t, p.kept[number])
		require.Zero(t, number%5, "a neighbour was taken along")
		require.Positive(t, p.ran[number])
	default:
		require.True(t, errors.Is(err, errLocked) || errors.Is(err, groupcommit.ErrClosed) || errors.Is(err, context.Canceled), err)
		require.Zero(t, p.ran[number], "%v", err)
	}
}
