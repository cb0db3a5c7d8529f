package agent_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/kitebase/kitebase-mcp/client_example/agent"
)

// memory is a journal that keeps what a file would: JSON. It fails at the write with number fails, from 1.
type memory struct {
	mu    sync.Mutex
	past  []agent.Step
	lines []string
	fails int
}

func (m *memory) Begin(step agent.Step) (*agent.Step, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for i, past := range m.past {
		if past.Number == step.Number && (past.Use == nil) == (step.Use == nil) && (step.Use == nil || past.Use.ID == step.Use.ID) {
			m.past = append(append([]agent.Step{}, m.past[:i]...), m.past[i+1:]...)
			return &past, nil
		}
	}
	return nil, m.write("begin", step)
}

func (m *memory) End(step agent.Step) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.write("end", step)
}

func (m *memory) write(kind string, step agent.Step) error {
	if len(m.lines)+1 == m.fails {
		return errors.New("disk full")
	}
	text, err := json.Marshal(step)
	m.lines = append(m.lines, kind+" "+string(text))
	return err
}

// after returns the journal of a process that died after its first n writes.
func (m *memory) after(t *testing.T, n int) *memory {
	later := &memory{}
	for _, line := range m.lines[:n] {
		if text, ended := strings.CutPrefix(line, "end "); ended {
			var step agent.Step
			require.NoError(t, json.Unmarshal([]byte(text), &step))
			later.past = append(later.past, step)
		}
	}
	return later
}

// eventful is a run in which nearly everything happens that a journal must bring back.
func eventful() (*model, map[string]toolFunc) {
	half := asks(`send {"text": "ha`)
	half.StopReason = agent.StopMaxTokens
	thinking := asks(`look {"a": 1}`, `look {"a": 2}`)
	thinking.Raw, thinking.Usage = json.RawMessage(`[{"type":"thinking","signature":"abc"}]`), agent.Usage{InputTokens: 7, CostUSD: 0.1}
	turns := []agent.Turn{
		{Text: "wait", StopReason: agent.StopPauseTurn}, thinking, half,
		asks("fail", `send {"text": "x"}`), asks("fail"), asks("fail"), asks("mute"), says("done"),
	}
	m := &model{decide: func(_ context.Context, _ int, request agent.Request) (agent.Turn, error) {
		return turns[position(request)], nil
	}}
	return m, map[string]toolFunc{
		"look": answers(ok("found")), "fail": answers(failed("no")), "mute": breaks("cut off"),
		"send": answers(agent.Result{Text: "sent", Change: "a reply was sent", Settles: true}),
	}
}

// position tells from the conversation, as a model does, which turn is next in eventful.
func position(request agent.Request) int {
	said := 0
	for _, message := range request.Messages {
		if message.Role == agent.Assistant {
			said++
		}
	}
	if said < 2 || (said == 2 && request.MaxTokens == 1024) {
		return said
	}
	return said + 1 // one was cut off
}

func journaled(t *testing.T, journal *memory) (agent.Report, *toolbox) {
	m, tools := eventful()
	box := &toolbox{run: tools}
	report, err := agent.Run(context.Background(), agent.Job{Task: "Handle KITE-142.", Model: m, Tools: box, Journal: journal}, agent.Config{MaxSteps: 9})
	require.NoError(t, err)
	requirePaired(t, report.Messages)
	return report, box
}

// TestRunIsTakenUpAnywhere lets a run die at each write of its journal. Taken up, it must end in the same report, and have
// done again nothing but what had not ended.
func TestRunIsTakenUpAnywhere(t *testing.T) {
	first := &memory{}
	want, box := journaled(t, first)
	require.Equal(t, agent.EndTurn, want.Reason)
	require.Len(t, want.Changes, 3, "the reply, and what may have come of the calls that failed")
	require.Len(t, first.lines, 2*(8+6), "two for each turn and each call that ran; one call was blocked")
	for n := range len(first.lines) + 1 {
		t.Run(fmt.Sprintf("after write %d", n), func(t *testing.T) {
			journal := first.after(t, n)
			ended := 0
			for _, step := range journal.past {
				if step.Use != nil {
					ended++
				}
			}
			got, again := journaled(t, journal)
			require.Len(t, again.calls, len(box.calls)-ended)
			require.Empty(t, journal.past, "all of it was taken up")
			require.Equal(t, asJSON(t, want.Messages), asJSON(t, got.Messages))
			got.Messages, got.Elapsed = want.Messages, want.Elapsed
			require.Equal(t, want, got)
		})
	}
}

// asJSON compares arguments by what they mean: a journal does not keep their spaces.
func asJSON(t *testing.T, value any) string {
	text, err := json.Marshal(value)
	require.NoError(t, err)
	return string(text)
}

func TestRunThatCannotBeWrittenDown(t *testing.T) {
	whole := &memory{}
	journaled(t, whole)
	for n := range whole.lines {
		t.Run(fmt.Sprintf("write %d", n+1), func(t *testing.T) {
			journal := &memory{fails: n + 1}
			report, box := journaled(t, journal)
			require.Equal(t, agent.JournalFailed, report.Reason)
			require.Equal(t, "the run could not be written down", report.Why)
			require.EqualError(t, report.Err, "write the run down: disk full")
			begun := 0
			for _, line := range journal.lines {
				if strings.HasPrefix(line, "begin ") && strings.Contains(line, `"use"`) {
					begun++
				}
			}
			require.Len(t, box.calls, begun, "nothing runs that is not written down before")
		})
	}
}

// TestInterruptedCallHasNoEnd: the answer that an interrupt kept from coming may be had when the run is taken up.
func TestInterruptedCallHasNoEnd(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	box := &toolbox{run: map[string]toolFunc{"send": func(context.Context, agent.Call) (agent.Result, error) {
		cancel()
		return agent.Result{}, errors.New("interrupted")
	}}}
	journal := &memory{}
	report, err := agent.Run(ctx, agent.Job{Task: "Send.", Model: tape(asks("send")), Tools: box, Journal: journal}, agent.Config{Deadline: time.Hour})
	require.NoError(t, err)
	require.Equal(t, agent.Canceled, report.Reason)
	require.Len(t, journal.lines, 3)
	require.True(t, strings.HasPrefix(journal.lines[2], "begin "), journal.lines[2])
}

func TestRawGoesBackToTheModel(t *testing.T) {
	raw := json.RawMessage(`[{"type":"redacted_thinking","data":"x"}]`)
	m := tape(agent.Turn{Raw: raw, StopReason: agent.StopPauseTurn}, says("done"))
	run(t, m, nil, agent.Config{})
	require.Equal(t, agent.Message{Role: agent.Assistant, Raw: raw}, m.requests[1].Messages[1])
}
