package resilience

import (
	"cmp"
	"sync"
	"sync/atomic"
)

// RetryBudget limits the retries against one upstream, over all tools and calls, so that an outage is not doubled by them.
// It is the token bucket of gRPC's proposal A6: each transient failure takes a token, each success returns a tenth of one,
// and nothing is retried while the bucket is half empty or less. It is safe for concurrent use.
type RetryBudget struct {
	most float64
	full atomic.Bool // as a rule, so that successes need no lock

	mu     sync.Mutex
	tokens float64
}

// NewRetryBudget returns a full bucket. Zero means 10 tokens; -1 means no limit, for which it returns nil.
func NewRetryBudget(tokens int) *RetryBudget {
	if tokens < 0 {
		return nil
	}
	most := float64(cmp.Or(tokens, 10))
	b := &RetryBudget{most: most, tokens: most}
	b.full.Store(true)
	return b
}

func (b *RetryBudget) succeeded() {
	if b == nil || b.full.Load() {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.tokens = min(b.most, b.tokens+0.1)
	b.full.Store(b.tokens == b.most)
}

func (b *RetryBudget) failed() {
	if b == nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.tokens = max(0, b.tokens-1)
	b.full.Store(false)
}

// Exhausted reports whether retries are refused now. A nil budget never is.
func (b *RetryBudget) Exhausted() bool {
	if b == nil {
		return false
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.tokens <= b.most/2
}

// Left returns how many tokens are in the bucket and how many fit in. A nil budget has none and is never exhausted.
func (b *RetryBudget) Left() (tokens, most float64) {
	if b == nil {
		return 0, 0
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.tokens, b.most
}

// unretried is the failure of a call that would have been retried if the budget had allowed it.
type unretried struct{ error }

func (u unretried) Unwrap() error { return u.error }
