package resilience_test

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/stretchr/testify/require"

	"github.com/kitebase/kitebase-mcp/idempotency"
	"github.com/kitebase/kitebase-mcp/server/resilience"
)

// visit is a call that a circuit let through, and that ends when it is told how.
type visit struct {
	end   chan error
	ended chan struct{}
	era   int // of the model
}

// visits are the calls under way in a circuit.
type visits struct {
	circuit *resilience.Circuit
	began   chan *visit
}

// come makes a call, and returns nil if it is refused.
func (v visits) come(t *testing.T) *visit {
	ended := make(chan struct{})
	layer := v.circuit.Layer(func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		here := &visit{end: make(chan error), ended: ended}
		v.began <- here
		return &mcp.CallToolResult{}, <-here.end
	})
	go func() { defer close(ended); _, _ = layer(t.Context(), mcp.CallToolRequest{}) }()
	select {
	case here := <-v.began:
		return here
	case <-ended:
		return nil
	}
}

func (v *visit) leave(err error) {
	v.end <- err
	<-v.ended
}

// What circuits count as nothing; as failures and answers reset and nil will do.
var limited = &resilience.Failure{What: resilience.RateLimited, Effect: idempotency.NotDone}

// overlapModel knows where a circuit stands from its history: it keeps how the calls ended that began since the state last
// changed, and counts nothing.
type overlapModel struct {
	era     int // how many changes there were
	closed  bool
	seen    []error // how calls of this era ended, while it is closed
	probe   *visit  // under way
	failing time.Time
	status  resilience.CircuitStatus
	told    []resilience.CircuitState
}

func (m *overlapModel) turn(to resilience.CircuitState) {
	m.era++
	m.closed, m.seen = to == resilience.Closed, nil
	m.told = append(m.told, to)
	m.status = resilience.CircuitStatus{State: to, Since: time.Now()}
	if !m.closed {
		m.status.FailingSince = m.failing
	}
	if to == resilience.Open {
		m.status.ProbeAt = time.Now().Add(cooldown)
	}
}

// asked finds out that a cooldown is over.
func (m *overlapModel) asked() resilience.CircuitStatus {
	if m.status.State == resilience.Open && !time.Now().Before(m.status.ProbeAt) {
		m.turn(resilience.HalfOpen)
	}
	return m.status
}

func (m *overlapModel) admits() bool {
	return m.asked().State == resilience.Closed || m.status.State == resilience.HalfOpen && m.probe == nil
}

func (m *overlapModel) let(in *visit) {
	in.era = m.era
	if !m.closed {
		m.probe = in
	}
}

func (m *overlapModel) left(v *visit, how error) {
	switch {
	case v == m.probe:
		m.probe = nil
		switch how {
		case reset:
			m.turn(resilience.Open)
		case nil:
			m.turn(resilience.Closed)
		}
	case v.era == m.era && how != limited:
		m.seen = append(m.seen, how)
		last := m.seen[max(0, len(m.seen)-2):]
		if slices.Equal(last, []error{reset, reset}) {
			m.failing = time.Now()
			m.turn(resilience.Open)
		}
	}
}

// FuzzCircuitOverlap states: in whatever order calls come, overlap and end, and however much time is between them, a circuit
// lets through what the model does, stands where the model stands, and tells each change once and in order. Of a step the
// lower three bits say what happens, and the others to which call, or for how long.
func FuzzCircuitOverlap(f *testing.F) {
	const come, fail, answer, nothing, pass, wait, ask = 0, 1, 2, 3, 4, 5, 6
	f.Add([]byte{come, come, come, come, fail, fail, wait, come, nothing, come, answer})                        // a late end frees no place
	f.Add([]byte{come, come, come, come, fail, fail, wait, come, answer, come, fail, 1, come, fail})            // no late failure joins a row
	f.Add([]byte{come, come, come, fail, fail, wait, come, fail | 1<<3, come, wait, come, answer | 1<<3, come}) // a failed probe
	f.Add([]byte{come, fail, come, fail, wait | 1<<3, come, wait, ask, come, nothing, come, answer, come})      // just before the time
	f.Add([]byte{come, fail, come, answer, come, fail, come, nothing, come, fail, pass | 31<<3, ask, come})     // rows
	f.Fuzz(func(t *testing.T, program []byte) {
		synctest.Test(t, func(t *testing.T) {
			m := &overlapModel{closed: true, status: resilience.CircuitStatus{State: resilience.Closed}}
			var told []resilience.CircuitState
			v := visits{began: make(chan *visit), circuit: resilience.NewCircuit(resilience.BreakerConfig{
				Threshold: 2, Changed: func(s resilience.CircuitStatus) { told = append(told, s.State) },
			})}
			var inside []*visit
			defer func() {
				for _, here := range inside {
					here.leave(nil)
				}
			}()
			for _, op := range program[:min(len(program), 200)] {
				switch kind, which := op%8, int(op/8); {
				case kind == come:
					admits, here := m.admits(), v.come(t)
					if here != nil {
						m.let(here)
						inside = append(inside, here)
					}
					require.Equal(t, admits, here != nil)
				case kind <= nothing && len(inside) > 0:
					which %= len(inside)
					here, how := inside[which], map[byte]error{fail: reset, answer: nil, nothing: limited}[kind]
					inside = slices.Delete(inside, which, which+1)
					here.leave(how)
					m.left(here, how)
				case kind == pass:
					time.Sleep(time.Duration(which) * time.Second)
				case kind == wait && m.status.State == resilience.Open: // for the very moment, or just before it
					time.Sleep(time.Until(m.status.ProbeAt) - time.Duration(which%2))
				case kind == ask:
					require.Equal(t, m.asked(), v.circuit.Status())
				}
				require.Equal(t, m.told, told)
			}
			require.Equal(t, m.asked(), v.circuit.Status())
		})
	})
}

// A listener that panics must not leave the circuit locked, nor the place of the probe taken.
func TestAListenerThatPanicsLeavesTheCircuitWorking(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		circuit := resilience.NewCircuit(resilience.BreakerConfig{
			Threshold: 1, Changed: func(resilience.CircuitStatus) { panic("listener") },
		})
		run := func(then func(context.Context) (*mcp.CallToolResult, error)) error {
			_, err := circuit.Layer(does(then).handle)(t.Context(), mcp.CallToolRequest{})
			return err
		}
		require.PanicsWithValue(t, "listener", func() { _ = run(fails(reset)) })
		require.Equal(t, resilience.Open, circuit.Status().State)
		time.Sleep(cooldown)
		require.PanicsWithValue(t, "listener", func() { circuit.Status() })
		require.PanicsWithValue(t, "listener", func() { _ = run(succeeds) })
		require.NoError(t, run(succeeds))
		require.Equal(t, resilience.Closed, circuit.Status().State)
	})
}
