package resilience_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/stretchr/testify/require"

	"github.com/kitebase/kitebase-mcp/idempotency"
	"github.com/kitebase/kitebase-mcp/server/resilience"
)

// circuitModel is a circuit breaker as one would write it for calls that come one after the other.
type circuitModel struct {
	row     int       // of failures
	probeAt time.Time // zero while it is closed
}

// admits reports whether the next call is let through.
func (m *circuitModel) admits() bool { return !time.Now().Before(m.probeAt) }

func (m *circuitModel) failed() {
	m.row++
	if !m.probeAt.IsZero() || m.row >= 5 {
		m.probeAt = time.Now().Add(cooldown)
	}
}

func (m *circuitModel) answered() { *m = circuitModel{} }

// FuzzCircuit states: whatever becomes of calls and however much time is between them, a circuit lets through what the model
// lets through, and stands where the model stands.
func FuzzCircuit(f *testing.F) {
	f.Add([]byte{0, 0, 0, 0, 0, 1, 35, 1})
	f.Add([]byte{0, 0, 0, 0, 0, 30, 1, 0}) // at the very moment
	f.Add([]byte{0, 0, 2, 0, 0, 3, 0, 36, 3, 4, 5, 0, 36, 0, 1, 1})
	f.Add([]byte{0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 37, 2, 1})
	missing := &resilience.Failure{What: resilience.NotFound, Effect: idempotency.NotDone}
	limited := &resilience.Failure{What: resilience.RateLimited, Effect: idempotency.NotDone}
	steps := []func(context.Context) (*mcp.CallToolResult, error){fails(reset), succeeds, fails(missing), fails(limited), panics, cut}
	f.Fuzz(func(t *testing.T, program []byte) {
		synctest.Test(t, func(t *testing.T) {
			h := does(nil)
			call, circuit := circuited(t, h, resilience.BreakerConfig{})
			model := &circuitModel{}
			for _, op := range program[:min(len(program), 200)] {
				if op >= 8 {
					time.Sleep(time.Duration(op) * time.Second)
					continue
				}
				kind := int(op) % len(steps)
				h.steps, h.runs = steps[kind:kind+1], 0
				admits := model.admits()
				call(t.Context())
				require.Equal(t, admits, h.runs == 1)
				switch {
				case !admits:
				case kind == 0 || kind == 5:
					model.failed()
				case kind == 1 || kind == 2:
					model.answered()
				}
				status := circuit.Status()
				require.Equal(t, model.probeAt.IsZero(), status.State == resilience.Closed)
				require.Equal(t, !model.admits(), status.State == resilience.Open)
			}
		})
	})
}
