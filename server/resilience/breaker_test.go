package resilience_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/stretchr/testify/require"

	"github.com/kitebase/kitebase-mcp/server/resilience"
)

const cooldown = 30 * time.Second

// circuited is a read with nothing but a circuit, Explain around it and the Timeout within.
func circuited(t *testing.T, h *handler, config resilience.BreakerConfig) (caller, *resilience.Circuit) {
	t.Helper()
	circuit := resilience.NewCircuit(config)
	return guard(t, reads(h.handle), resilience.Policy{Circuit: circuit, Attempts: -1}), circuit
}

// opened is a circuit that five failures have opened; what its handler does from then on, the steps say.
func opened(t *testing.T, config resilience.BreakerConfig, then ...func(context.Context) (*mcp.CallToolResult, error)) (caller, *resilience.Circuit, *handler) {
	t.Helper()
	h := does(append([]func(context.Context) (*mcp.CallToolResult, error){
		fails(reset), fails(reset), fails(reset), fails(reset), fails(reset)}, then...)...)
	call, circuit := circuited(t, h, config)
	for range 5 {
		call(t.Context())
	}
	require.Equal(t, resilience.Open, circuit.Status().State)
	return call, circuit, h
}

func bubble(t *testing.T, name string, test func(t *testing.T)) {
	t.Helper()
	t.Run(name, func(t *testing.T) { synctest.Test(t, test) })
}

func TestCircuitOpensRefusesAndRecovers(t *testing.T) {
	bubble(t, "one cooldown from failure to success", func(t *testing.T) {
		call, circuit, h := opened(t, resilience.BreakerConfig{Instead: func() string { return "search_tickets" }}, succeeds)
		since := time.Now()
		require.Equal(t, resilience.CircuitStatus{
			State: resilience.Open, Since: since, FailingSince: since, ProbeAt: since.Add(cooldown),
		}, circuit.Status())

		time.Sleep(10*time.Second + time.Millisecond)
		refused := call(t.Context())
		require.Equal(t, "Error: get_ticket was not run: it has kept failing since "+since.UTC().Format("15:04:05")+
			" UTC, so it is not tried for a while. The next try is possible in 20s. Meanwhile use search_tickets.", text(refused),
			"seconds are rounded up: who waits as long as told is let through")
		require.Equal(t, resilience.ErrorInfo{
			Kind: resilience.CircuitOpen, Next: "other_tool", RetryAfterMS: 19_999, Outcome: "not_done",
		}, info(t, refused))
		require.Equal(t, 5, h.runs)

		time.Sleep(time.Until(circuit.Status().ProbeAt) - 1)
		require.Equal(t, resilience.CircuitOpen, info(t, call(t.Context())).Kind)
		time.Sleep(time.Nanosecond)
		require.Equal(t, resilience.HalfOpen, circuit.Status().State)
		require.False(t, call(t.Context()).IsError, "at the very moment that was told")
		require.Equal(t, resilience.CircuitStatus{State: resilience.Closed, Since: time.Now()}, circuit.Status())
	})
	bubble(t, "a failed probe opens it for another cooldown, of the same outage", func(t *testing.T) {
		call, circuit, h := opened(t, resilience.BreakerConfig{}, fails(reset))
		began := time.Now()
		time.Sleep(cooldown)
		require.Equal(t, resilience.Unavailable, info(t, call(t.Context())).Kind)
		require.Equal(t, resilience.CircuitStatus{
			State: resilience.Open, Since: time.Now(), FailingSince: began, ProbeAt: time.Now().Add(cooldown),
		}, circuit.Status())
		require.Contains(t, text(call(t.Context())), "since "+began.UTC().Format("15:04:05")+" UTC")
		require.Equal(t, 6, h.runs)
	})
	bubble(t, "an answer ends a row of failures", func(t *testing.T) {
		h := does(fails(reset), fails(reset), fails(reset), fails(reset), succeeds, fails(reset))
		call, circuit := circuited(t, h, resilience.BreakerConfig{})
		for range 9 {
			call(t.Context())
		}
		require.Equal(t, resilience.Closed, circuit.Status().State)
		call(t.Context())
		require.Equal(t, resilience.Open, circuit.Status().State)
	})
	bubble(t, "switched off it never opens", func(t *testing.T) {
		h := does(fails(reset))
		call, circuit := circuited(t, h, resilience.BreakerConfig{Threshold: -1})
		for range 50 {
			call(t.Context())
		}
		require.Equal(t, resilience.Closed, circuit.Status().State)
		require.Equal(t, 50, h.runs)
	})
	bubble(t, "each change is told", func(t *testing.T) {
		var told []string
		call, _, _ := opened(t, resilience.BreakerConfig{Changed: func(s resilience.CircuitStatus) { told = append(told, string(s.State)) }},
			fails(reset), succeeds)
		time.Sleep(cooldown)
		call(t.Context())
		time.Sleep(cooldown)
		call(t.Context())
		require.Equal(t, "open half-open open half-open closed", strings.Join(told, " "))
	})
}

// One failed call counts once, however often it was tried.
func TestCircuitCountsCallsNotAttempts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, circuit := does(fails(reset)), resilience.NewCircuit(resilience.BreakerConfig{})
		call := guard(t, reads(h.handle), resilience.Policy{Circuit: circuit})
		for range 4 {
			call(t.Context())
		}
		require.Equal(t, 8, h.runs)
		require.Equal(t, resilience.Closed, circuit.Status().State)
		call(t.Context())
		require.Equal(t, resilience.Open, circuit.Status().State)
		require.Equal(t, 10, h.runs)
	})
}

func TestCircuitLetsOneProbeThrough(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		call, circuit, h := opened(t, resilience.BreakerConfig{}, takes(time.Second, succeeds))
		time.Sleep(cooldown)
		answers := make(chan *mcp.CallToolResult, 50)
		for range 50 {
			go func() { answers <- call(t.Context()) }()
		}
		good := 0
		for range 50 {
			answer := <-answers
			if !answer.IsError {
				good++
				continue
			}
			require.Regexp(t, `The next try is possible in \d+s\.$`, text(answer))
			require.Positive(t, info(t, answer).RetryAfterMS)
		}
		require.Equal(t, 1, good)
		require.Equal(t, 6, h.runs, "one request")
		require.Equal(t, resilience.Closed, circuit.Status().State)
		require.False(t, call(t.Context()).IsError, "no place is lost")
	})
}

// What came from before the circuit opened says nothing about the probe.
func TestLateEndsOfOldCallsDoNotCount(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		circuit := resilience.NewCircuit(resilience.BreakerConfig{})
		run := func(then func(context.Context) (*mcp.CallToolResult, error)) error {
			_, err := circuit.Layer(does(then).handle)(t.Context(), mcp.CallToolRequest{})
			return err
		}
		for range 3 {
			go func() { _ = run(takes(time.Minute, succeeds)) }()
		}
		synctest.Wait()
		for range 5 {
			require.Error(t, run(fails(reset)))
		}
		time.Sleep(cooldown)
		require.ErrorIs(t, run(fails(reset)), reset, "the probe")
		time.Sleep(cooldown + time.Second) // the old calls succeed
		require.Equal(t, resilience.HalfOpen, circuit.Status().State)
		var refused *resilience.Failure
		go func() { _ = run(takes(time.Second, succeeds)) }()
		synctest.Wait()
		require.True(t, errors.As(run(succeeds), &refused))
		time.Sleep(time.Second)
	})
}

// A clock that is set while a circuit is open must neither prolong the cooldown nor end it. Go compares times by their
// monotonic part where both have one, so these must have it.
func TestCooldownsAreMonotonic(t *testing.T) {
	circuit := resilience.NewCircuit(resilience.BreakerConfig{Threshold: 1})
	_, err := circuit.Layer(does(fails(reset)).handle)(t.Context(), mcp.CallToolRequest{})
	require.ErrorIs(t, err, reset)
	for _, at := range []time.Time{circuit.Status().Since, circuit.Status().FailingSince, circuit.Status().ProbeAt} {
		require.Contains(t, at.String(), " m=")
	}
}

// However many call at once, a circuit that is closed lets all through, one whose cooldown is over lets one through, and what is
// told of its changes is in order.
func TestCircuitUnderManyCallers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var told []resilience.CircuitState
		circuit := resilience.NewCircuit(resilience.BreakerConfig{Changed: func(s resilience.CircuitStatus) { told = append(told, s.State) }})
		var down atomic.Bool
		var running, most, runs atomic.Int64
		handler := circuit.Layer(func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			runs.Add(1)
			for now := running.Add(1); now > most.Load(); {
				most.Store(now)
			}
			defer running.Add(-1)
			time.Sleep(time.Millisecond)
			if down.Load() {
				return nil, reset
			}
			return mcp.NewToolResultText("ok"), nil
		})
		burst := func() (ran, atOnce int64) {
			runs.Store(0)
			most.Store(0)
			var all sync.WaitGroup
			for range 100 {
				all.Go(func() { _, _ = handler(t.Context(), mcp.CallToolRequest{}) })
			}
			all.Wait()
			return runs.Load(), most.Load()
		}
		for range 20 {
			down.Store(true)
			ran, _ := burst()
			require.EqualValues(t, 100, ran, "closed")
			for range 3 {
				ran, _ = burst()
				require.Zero(t, ran, "open")
				time.Sleep(cooldown)
				ran, atOnce := burst()
				require.EqualValues(t, 1, ran, "a probe that fails")
				require.EqualValues(t, 1, atOnce)
			}
			down.Store(false)
			time.Sleep(cooldown)
			ran, _ = burst()
			require.EqualValues(t, 1, ran, "a probe that is answered")
			require.Equal(t, resilience.Closed, circuit.Status().State)
		}
		one := []resilience.CircuitState{"open", "half-open", "open", "half-open", "open", "half-open", "open", "half-open", "closed"}
		require.Equal(t, slices.Repeat(one, 20), told)
	})
}
