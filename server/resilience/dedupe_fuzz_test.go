package resilience_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/stretchr/testify/require"

	"github.com/kitebase/kitebase-mcp/idempotency"
	"github.com/kitebase/kitebase-mcp/server/resilience"
)

// postOffice is an upstream that knows no keys: what it sends, it sends.
type postOffice struct {
	sent    map[string]int
	tried   map[string]time.Time // last
	next    byte                 // what becomes of the next message
	hidden  bool                 // it cannot be looked at
	horizon time.Duration
}

// handle sends or not, and tells it or not.
func (p *postOffice) handle(ctx context.Context, request mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	text := request.GetArguments()["message"].(string)
	p.tried[text] = time.Now()
	switch p.next % 5 {
	case 0:
		p.sent[text]++
		return succeeds(ctx)
	case 1:
		p.sent[text]++
		return nil, reset
	case 2:
		return nil, reset
	case 3:
		return nil, down
	default:
		p.sent[text]++
		panic("after sending")
	}
}

// settle is what a look shows about the message whose fingerprint a record has.
func (p *postOffice) settle(ctx context.Context, record idempotency.Record) resilience.Settlement {
	for text, at := range p.tried {
		if record.Fingerprint != idempotency.Fingerprint("KITE-142", text) || p.hidden {
			continue
		}
		result, _ := succeeds(ctx)
		switch {
		case p.sent[text] > 0:
			return resilience.Settlement{Outcome: idempotency.Done, Result: result}
		case time.Since(at) >= p.horizon:
			return resilience.Settlement{Outcome: idempotency.NotDone}
		}
	}
	return resilience.Settlement{Wait: p.horizon}
}

// deadOwners is a store whose earlier owners are dead.
type deadOwners struct {
	*idempotency.Memory
	name string
}

func (d deadOwners) Owner() string { return d.name }

func (d deadOwners) Alive(_ context.Context, owner string) (bool, error) { return owner == d.name, nil }

var errDied = errors.New("the process died")

// FuzzDedupe states: whatever becomes of calls with two messages, whatever a look shows and whenever the process is killed and started
// again, each message is sent at most once, a call told as done was sent, and one told as not done was not.
func FuzzDedupe(f *testing.F) {
	f.Add([]byte{0, 0, 8, 16, 0, 1})
	f.Add([]byte{16, 2, 0, 6, 6, 0, 24, 1, 3, 8})
	f.Add([]byte{5, 8, 0, 13, 16, 7, 1, 6, 6, 6, 0})
	f.Fuzz(func(t *testing.T, program []byte) {
		synctest.Test(t, func(t *testing.T) {
			office := &postOffice{sent: map[string]int{}, tried: map[string]time.Time{}, horizon: 30 * time.Second}
			store, lives, dies := new(idempotency.Memory), 0, false
			born := func() caller {
				lives++
				ledger := idempotency.NewLedger(deadOwners{store, fmt.Sprint("life ", lives)}, idempotency.Config{})
				handler := func(ctx context.Context, request mcp.CallToolRequest) (*mcp.CallToolResult, error) {
					result, err := office.handle(ctx, request)
					if dies { // the rest of this life does nothing any more
						<-t.Context().Done()
						return nil, errDied
					}
					return result, err
				}
				return guard(t, sends(handler), resilience.Policy{AttemptTimeout: -1, CallDeadline: -1, Dedupe: &resilience.DedupeConfig{
					Ledger: ledger, Identify: identify, Settle: office.settle, Noun: "reply", Check: "get_ticket",
				}})
			}
			call := born()
			for _, op := range program[:min(len(program), 80)] {
				text := []string{"Any update?", "It is mended."}[op>>2&1]
				office.next = op >> 3
				switch op % 4 {
				case 0, 1:
					requireTold(t, call(t.Context(), withMessage(text)), office.sent[text])
				case 2:
					time.Sleep(time.Duration(op) * time.Second / 4)
				case 3:
					if op&128 != 0 {
						office.hidden = !office.hidden
						continue
					}
					dies = true
					go call(t.Context(), withMessage(text))
					synctest.Wait()
					dies = false
					call = born()
				}
				require.LessOrEqual(t, office.sent[text], 1, "sent twice")
			}
		})
	})
}

// requireTold holds an answer against how often the message was sent when it came.
func requireTold(t *testing.T, result *mcp.CallToolResult, sent int) {
	t.Helper()
	if !result.IsError {
		require.Equal(t, 1, sent, "told as sent: %s", text(result))
		return
	}
	if told := info(t, result); told.Outcome == "not_done" {
		require.Zero(t, sent, "told as not sent: %s", text(result))
	}
}
