package groupcommit_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/kitebase/kitebase-mcp/idempotency/internal/groupcommit"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// disk writes groups of numbers, each in a second.
type disk struct {
	mu     sync.Mutex
	groups [][]int
	fail   func([]int) error
}

func (d *disk) run(group []int) error {
	time.Sleep(time.Second)
	d.mu.Lock()
	defer d.mu.Unlock()
	d.groups = append(d.groups, append([]int{}, group...))
	if d.fail != nil {
		return d.fail(group)
	}
	return nil
}

// do runs the operations at once and returns their errors.
func do(ctx context.Context, q *groupcommit.Queue[int], ops ...int) []error {
	errs := make([]error, len(ops))
	var all sync.WaitGroup
	for i, op := range ops {
		all.Go(func() { errs[i] = q.Do(ctx, op) })
	}
	all.Wait()
	return errs
}

// closed closes the queue at the end of the test, before its bubble ends.
func closed(t *testing.T, q *groupcommit.Queue[int]) *groupcommit.Queue[int] {
	t.Cleanup(q.Close)
	return q
}

func inBubble(t *testing.T, name string, test func(*testing.T)) {
	t.Run(name, func(t *testing.T) { synctest.Test(t, test) })
}

func TestQueue(t *testing.T) {
	inBubble(t, "what arrives while a group is written forms the next one", func(t *testing.T) {
		d := &disk{}
		q := closed(t, &groupcommit.Queue[int]{Run: d.run})
		go func() { _ = q.Do(t.Context(), 0) }()
		synctest.Wait()
		begin := time.Now()
		for _, err := range do(t.Context(), q, 1, 2, 3, 4) {
			require.NoError(t, err)
		}
		require.Equal(t, 2*time.Second, time.Since(begin))
		require.Len(t, d.groups, 2)
		require.Equal(t, []int{0}, d.groups[0])
		require.ElementsMatch(t, []int{1, 2, 3, 4}, d.groups[1])
	})

	inBubble(t, "a group has a bound", func(t *testing.T) {
		d := &disk{}
		q := closed(t, &groupcommit.Queue[int]{Run: d.run})
		go func() { _ = q.Do(t.Context(), 0) }()
		synctest.Wait()
		do(t.Context(), q, make([]int, groupcommit.MaxGroup+1)...)
		require.Len(t, d.groups, 3)
		require.Len(t, d.groups[1], groupcommit.MaxGroup)
		require.Len(t, d.groups[2], 1)
	})

	inBubble(t, "who gives up while waiting was not written", func(t *testing.T) {
		d := &disk{}
		q := closed(t, &groupcommit.Queue[int]{Run: d.run})
		go func() { _ = q.Do(t.Context(), 0) }()
		synctest.Wait()
		late := errors.New("too late")
		ctx, cancel := context.WithTimeoutCause(t.Context(), 500*time.Millisecond, late)
		defer cancel()
		begin := time.Now()
		require.ErrorIs(t, q.Do(ctx, 1), late)
		require.Equal(t, 500*time.Millisecond, time.Since(begin))
		require.NoError(t, q.Do(t.Context(), 2))
		require.Equal(t, [][]int{{0}, {2}}, d.groups)
	})

	inBubble(t, "who gives up while being written is told how it ended", func(t *testing.T) {
		q := closed(t, &groupcommit.Queue[int]{Run: (&disk{}).run})
		ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
		defer cancel()
		begin := time.Now()
		require.NoError(t, q.Do(ctx, 1))
		require.Equal(t, time.Second, time.Since(begin))
	})
}

func TestQueueErrors(t *testing.T) {
	bad := errors.New("bad")
	failing := func(group []int) error {
		for _, op := range group {
			if op == 13 {
				return fmt.Errorf("group of %d: %w", len(group), bad)
			}
		}
		return nil
	}
	for _, test := range []struct {
		name         string
		alone        func(error) bool
		want, groups int // operations that fail, groups that were run
	}{
		{"a failed group fails as one", nil, 3, 2},
		{"unless the error may be of one operation", func(err error) bool { return errors.Is(err, bad) }, 1, 5},
	} {
		inBubble(t, test.name, func(t *testing.T) {
			d := &disk{fail: failing}
			q := closed(t, &groupcommit.Queue[int]{Run: d.run, Alone: test.alone})
			go func() { _ = q.Do(t.Context(), 0) }()
			synctest.Wait()
			failed := 0
			for _, err := range do(t.Context(), q, 12, 13, 14) {
				if err != nil {
					require.ErrorIs(t, err, bad)
					failed++
				}
			}
			require.Equal(t, test.want, failed)
			require.Len(t, d.groups, test.groups)
		})
	}
}

func TestQueueLock(t *testing.T) {
	inBubble(t, "what waits for the lock can be withdrawn, and joins the group", func(t *testing.T) {
		d, free, released := &disk{}, make(chan struct{}), 0
		q := closed(t, &groupcommit.Queue[int]{Run: d.run, Lock: func() (func(), error) {
			<-free
			return func() { released++ }, nil
		}})
		time.AfterFunc(time.Minute, func() { close(free) })
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		require.ErrorIs(t, q.Do(ctx, 0), context.DeadlineExceeded)
		for _, err := range do(t.Context(), q, 1, 2) {
			require.NoError(t, err)
		}
		synctest.Wait()
		require.Len(t, d.groups, 1)
		require.ElementsMatch(t, []int{1, 2}, d.groups[0])
		require.Equal(t, 1, released)
	})

	inBubble(t, "a lock that cannot be had fails who waits, once", func(t *testing.T) {
		broken := errors.New("no such directory")
		q := closed(t, &groupcommit.Queue[int]{Run: (&disk{}).run, Lock: func() (func(), error) { return nil, broken }})
		require.ErrorIs(t, q.Do(t.Context(), 1), broken)
		q.Close()
	})
}

func TestQueueClose(t *testing.T) {
	inBubble(t, "the group under way ends, the rest is refused", func(t *testing.T) {
		d := &disk{}
		q := closed(t, &groupcommit.Queue[int]{Run: d.run})
		results := make(chan error, 2)
		for op := range 2 {
			go func() { results <- q.Do(t.Context(), op) }()
			synctest.Wait()
		}
		begin := time.Now()
		q.Close()
		require.Equal(t, time.Second, time.Since(begin))
		require.ErrorIs(t, <-results, groupcommit.ErrClosed)
		require.NoError(t, <-results)
		require.ErrorIs(t, q.Do(t.Context(), 3), groupcommit.ErrClosed)
		require.Equal(t, [][]int{{0}}, d.groups)
	})

	inBubble(t, "who waits for the lock does not keep Close waiting", func(t *testing.T) {
		d, free := &disk{}, make(chan struct{})
		q := closed(t, &groupcommit.Queue[int]{Run: d.run, Lock: func() (func(), error) { <-free; return func() {}, nil }})
		result := make(chan error, 1)
		go func() { result <- q.Do(t.Context(), 1) }()
		synctest.Wait()
		q.Close()
		require.ErrorIs(t, <-result, groupcommit.ErrClosed)
		close(free)
		synctest.Wait()
		require.Empty(t, d.groups)
	})
}
