package resilience_test

import (
	"context"
	"encoding/json"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
	"unicode"
	"unicode/utf8"

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

// FuzzBulkhead states: in whatever order calls come, end and leave, at most two run and two wait, whoever finds neither is told
// so, and at the end all places are free.
func FuzzBulkhead(f *testing.F) {
	f.Add([]byte{0, 0, 0, 0, 0, 1, 1, 2, 0, 1})
	f.Add([]byte{0, 0, 0, 2, 2, 0, 0, 1, 2, 3, 1, 0})
	f.Fuzz(func(t *testing.T, program []byte) {
		synctest.Test(t, func(t *testing.T) {
			var under atomic.Int64
			done := make(chan struct{})
			h := does(func(ctx context.Context) (*mcp.CallToolResult, error) {
				under.Add(1)
				defer under.Add(-1)
				<-done
				return succeeds(ctx)
			})
			call := guard(t, sends(h.handle), resilience.Policy{Bulkhead: &resilience.BulkheadConfig{Calls: 2, Queue: 2}})
			waiting, leave := 0, []context.CancelFunc{}
			answers := make(chan *mcp.CallToolResult, 200)
			for _, op := range program[:min(len(program), 100)] {
				before := under.Load()
				switch op % 4 {
				case 0, 3:
					ctx, cancel := context.WithCancel(t.Context())
					go func() { answers <- call(ctx) }()
					synctest.Wait()
					switch {
					case before < 2:
						require.Equal(t, before+1, under.Load())
						cancel() // a write that has begun is finished
					case waiting < 2:
						waiting++
						leave = append(leave, cancel)
					default:
						require.Equal(t, resilience.Busy, info(t, <-answers).Kind)
						cancel()
					}
				case 1:
					if before == 0 {
						continue
					}
					done <- struct{}{}
					synctest.Wait()
					require.False(t, (<-answers).IsError)
					require.Equal(t, before-1+int64(min(waiting, 1)), under.Load())
					if waiting > 0 {
						waiting--
						leave = leave[1:] // places are given in order
					}
				case 2:
					if waiting == 0 {
						continue
					}
					leave[waiting-1]()
					synctest.Wait()
					require.Equal(t, resilience.Canceled, info(t, <-answers).Kind)
					waiting, leave = waiting-1, leave[:waiting-1]
				}
				require.LessOrEqual(t, under.Load(), int64(2))
			}
			close(done)
			synctest.Wait()
			require.Zero(t, under.Load())
			for answers := crowd(t.Context(), 4, call); len(answers) > 0; {
				require.False(t, (<-answers).IsError, "all places are free")
			}
			for _, cancel := range leave {
				cancel()
			}
		})
	})
}

// FuzzWords states: whatever a handler fails with, a model reads one line of valid UTF-8 under 600 bytes that begins with
// Error and is the same in every run.
func FuzzWords(f *testing.F) {
	f.Add("connection reset by Kitebase", uint8(0), int64(0))
	f.Add("a\nb\x00\xff\u2028"+strings.Repeat("é", 400), uint8(5), int64(-1))
	f.Add("<html>%!v(MISSING)", uint8(9), int64(1<<62))
	kinds := []resilience.Kind{
		resilience.Invalid, resilience.NotFound, resilience.Conflict, resilience.KeyReused, resilience.Held, resilience.Denied,
		resilience.RateLimited, resilience.Unavailable, resilience.TimedOut, resilience.BadAnswer, resilience.Misconfigured,
		resilience.InProgress, resilience.Internal,
	}
	f.Fuzz(func(t *testing.T, says string, which uint8, wait int64) {
		failure := &resilience.Failure{
			What: kinds[int(which)%len(kinds)], Says: says, Wait: time.Duration(wait), NotRun: which&64 != 0,
			Effect: []idempotency.Outcome{idempotency.Unknown, idempotency.NotDone}[which>>7],
		}
		synctest.Test(t, func(t *testing.T) {
			result := guard(t, sends(does(fails(failure)).handle), resilience.Policy{})(t.Context())
			require.True(t, result.IsError)
			said := text(result)
			require.True(t, strings.HasPrefix(said, "Error: "), said)
			require.True(t, utf8.ValidString(said))
			require.Less(t, len(said), 600)
			require.False(t, strings.ContainsFunc(said, unicode.IsControl), "%q", said)
			told := info(t, result)
			require.GreaterOrEqual(t, told.RetryAfterMS, int64(0))
			require.Contains(t, []string{"change_input", "other_tool", "wait", "check", "person"}, told.Next)
		})
	})
}

// FuzzAnnotate states: whatever object a tool returns, a note makes it an object with that note and all that was in it, and the
// text tells the same.
func FuzzAnnotate(f *testing.F) {
	for _, object := range []string{`{}`, ` { } `, `{"note":"old","a":1}`, `{"note":7}`, `{"a":{"b":[1,2]},"a":2}`, `{"Note":"x"}`, `[]`, `{"note":null}`} {
		f.Add(object, "A note.")
	}
	f.Fuzz(func(t *testing.T, object, note string) {
		var before map[string]any
		if json.Unmarshal([]byte(object), &before) != nil || before == nil || note == "" || !utf8.ValidString(note) {
			return
		}
		result := &mcp.CallToolResult{RawStructuredContent: json.RawMessage(object), Content: []mcp.Content{mcp.NewTextContent(object)}}
		resilience.Annotate(result, note)
		var after map[string]any
		require.NoError(t, json.Unmarshal(result.RawStructuredContent, &after), "%s", result.RawStructuredContent)
		require.Contains(t, after["note"], note)
		first, rest, _ := strings.Cut(text(result), "\n{")
		require.Equal(t, after["note"], first)
		require.JSONEq(t, string(result.RawStructuredContent), "{"+rest)
		delete(before, "note")
		delete(after, "note")
		require.Equal(t, before, after)
	})
}
