package delegate

import (
	"context"
	"time"

	"github.com/sony/gobreaker/v2"

	"github.com/kitebase/kitebase-mcp/client_example/agent"
)

// Path is one way to do a task.
type Path struct {
	// Name is what results are tagged with: "deep-research".
	Name string
	Run  SubLoop
}

// SubLoop does a task and returns what it found. It must call order.Tell for each thing that happens, must return soon
// after ctx ends, must change nothing in the world, since it may be run again, and must be safe for concurrent use. An
// error that wraps [ErrBadResult] has it tried again, any other does not. If the error has a method Reason() string, that
// short noun phrase is shown to people and models. See [Loop] for one that is an agent.
type SubLoop func(ctx context.Context, order Order) (Finding, error)

// Order is what a sub-loop is asked to do.
type Order struct {
	Task string
	// Patience is how long the sub-loop may be silent before it is cancelled; 0 means for ever. What it waits for should
	// answer sooner.
	Patience time.Duration
	// Tell takes the events of the sub-loop. It waits until the event is heard, or until ctx ends.
	Tell func(agent.Event)
}

// path is a Path with its circuit.
type path struct {
	Path
	circuit *gobreaker.CircuitBreaker[Finding]
}

func newPath(p Path, cfg Config) *path {
	return &path{p, gobreaker.NewCircuitBreaker[Finding](gobreaker.Settings{
		Name:        p.Name,
		MaxRequests: 1,
		Timeout:     cfg.Cooldown,
		ReadyToTrip: func(counts gobreaker.Counts) bool {
			return cfg.Threshold > 0 && int(counts.ConsecutiveFailures) >= cfg.Threshold
		},
		// What the caller cut short says nothing about the path. An excluded probe frees its place.
		IsExcluded:    func(err error) bool { _, left := err.(callerLeft); return left },
		OnStateChange: func(name string, _, to gobreaker.State) { cfg.OnCircuit(name, to.String()) },
	})}
}

// do has the circuit let a sequence of attempts through. The error is a callerLeft or a *Failure, never wrapped: both may
// have others of their kind beneath, from a delegate within the sub-loop or above the caller, which are not meant.
func (p *path) do(ctx context.Context, s *sequence) (Finding, error) {
	finding, err := p.circuit.Execute(func() (Finding, error) { return s.do(ctx) })
	if err == gobreaker.ErrOpenState || err == gobreaker.ErrTooManyRequests {
		return Finding{}, &Failure{Path: p.Name, Reason: CircuitOpen, Says: "not asked, as it kept failing", Err: err}
	}
	return finding, err
}

// callerLeft is the error of a task that its caller cut short, by leaving or by the deadline.
type callerLeft struct{ cause error }

func (c callerLeft) Error() string { return "the caller cut the task short: " + c.cause.Error() }
func (c callerLeft) Unwrap() error { return c.cause }

// left returns a callerLeft if the caller did, nil if not. A deadline counts as reached at exactly its time, when the
// context may not have noticed yet: a sub-loop that was told it ends just then.
func left(ctx context.Context) error {
	if cause := context.Cause(ctx); cause != nil {
		return callerLeft{cause}
	}
	if end, ok := ctx.Deadline(); ok && !time.Now().Before(end) {
		return callerLeft{context.DeadlineExceeded}
	}
	return nil
}
