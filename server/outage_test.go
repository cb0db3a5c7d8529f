package server_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/kitebase/kitebase-mcp/fakeapi"
	"github.com/kitebase/kitebase-mcp/server"
	"github.com/kitebase/kitebase-mcp/server/resilience"
)

// in runs test with the whole stack in a bubble.
func in(t *testing.T, name string, config server.Config, test func(t *testing.T, d *desk)) {
	t.Helper()
	t.Run(name, func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) { test(t, open(t, config, fakeapi.Config{})) })
	})
}

func (d *desk) ticket(id string) answer { return d.call("get_ticket", map[string]any{"ticket_id": id}) }

func (d *desk) assign(id, assignee string) answer {
	return d.call("assign_ticket", map[string]any{"ticket_id": id, "assignee": assignee})
}

func (d *desk) help(query string) answer {
	return d.call("search_help", map[string]any{"query": query})
}

// everyTool calls the tools in turn, as agents do that know nothing of the outage; the i-th reply is to its own ticket.
func (d *desk) everyTool(i int) (tool string, got answer) {
	calls := []struct {
		tool      string
		arguments map[string]any
	}{
		{"search_help", map[string]any{"query": "locked out"}},
		{"get_ticket", map[string]any{"ticket_id": "KITE-142"}},
		{"search_tickets", map[string]any{"query": "sso"}},
		{"assign_ticket", map[string]any{"ticket_id": "KITE-142", "assignee": "priya"}},
		{"reply_to_customer", map[string]any{"ticket_id": fmt.Sprintf("KITE-%d", 101+i/5), "message": "We are on it."}},
	}
	call := calls[i%len(calls)]
	return call.tool, d.call(call.tool, call.arguments)
}

func TestAnOutageOfEverything(t *testing.T) {
	in(t, "200 calls in a minute", server.Config{}, func(t *testing.T, d *desk) {
		for _, tool := range []string{"search_help", "get_ticket", "search_tickets", "assign_ticket", "reply_to_customer"} {
			faulty(t, d.Fake, tool+"=status=503")
		}
		attempts, through, refused := map[string]int{}, 0, 0
		for i := range 200 {
			tool, got := d.everyTool(i)
			require.True(t, got.IsError, got.text())
			attempts[tool] += got.Meta.Error.Attempts
			if got.Meta.Error.Attempts > 0 {
				through++
			}
			if got.Meta.Error.Kind == resilience.CircuitOpen {
				refused++
				require.Positive(t, got.Meta.Error.RetryAfterMS)
			}
			time.Sleep(300 * time.Millisecond)
		}
		asked := 0
		for tool, n := range attempts {
			if tool != "get_ticket" { // which is also read to settle replies and to probe
				require.Equal(t, n, d.requests(tool), tool)
			}
			asked += n
		}
		const budget = 5 // of ten tokens half may be spent
		require.LessOrEqual(t, asked, through+budget)
		require.Equal(t, 5*5+3, through, "five calls of each tool, and a probe of each read in the middle")
		require.Equal(t, 200-through, refused)

		d.ClearFaults()
		recovered := time.Now()
		for well := map[string]bool{}; len(well) < 5; time.Sleep(time.Second) {
			require.LessOrEqual(t, time.Since(recovered), 30*time.Second, "within one cooldown; so far %v", well)
			for i := range 5 {
				if tool, got := d.everyTool(200 + i); !got.IsError {
					well[tool] = true
				}
			}
		}
	})
	in(t, "fifty calls when the cooldown ends are one request", server.Config{}, func(t *testing.T, d *desk) {
		faulty(t, d.Fake, "get_ticket=status=503:10")
		for range 5 {
			d.ticket("KITE-142")
		}
		before := d.requests("get_ticket")
		time.Sleep(30 * time.Second)
		faulty(t, d.Fake, "get_ticket=slow=1s")
		var all []<-chan answer
		for range 50 {
			all = append(all, d.begin("get_ticket", map[string]any{"ticket_id": "KITE-142"}))
		}
		good := 0
		for _, waiting := range all {
			got := <-waiting
			if !got.IsError {
				good++
				continue
			}
			require.Regexp(t, `^Error: get_ticket was not run: .* possible in \d+s\. Meanwhile use search_tickets\.$`, got.text())
		}
		require.Equal(t, []int{1, 1}, []int{good, d.requests("get_ticket") - before})
		require.False(t, d.ticket("KITE-142").IsError)
	})
}

// The first reply after an outage is not the test whether it is over: a customer would get it while nobody gets an answer.
func TestAReplyIsNoProbe(t *testing.T) {
	in(t, "the ticket is read first", server.Config{}, func(t *testing.T, d *desk) {
		reply := func(i int) answer {
			return d.call("reply_to_customer", map[string]any{"ticket_id": fmt.Sprintf("KITE-%d", 101+i), "message": "We are on it."})
		}
		faulty(t, d.Fake, "reply_to_customer=status=503")
		for i := range 5 {
			require.Equal(t, resilience.Unavailable, reply(i).Meta.Error.Kind)
		}
		sent := d.requests("reply_to_customer")
		require.Equal(t, resilience.CircuitOpen, reply(5).Meta.Error.Kind)

		time.Sleep(31 * time.Second) // the replies above are settled meanwhile
		synctest.Wait()
		d.ClearFaults()
		faulty(t, d.Fake, "get_ticket=drop")
		reads := d.requests("get_ticket")
		refused := reply(6)
		require.Equal(t, resilience.CircuitOpen, refused.Meta.Error.Kind, refused.text())
		require.Equal(t, "not_done", refused.Meta.Error.Outcome)
		require.Equal(t, reads+1, d.requests("get_ticket"))
		require.Equal(t, sent, d.requests("reply_to_customer"))

		d.ClearFaults()
		time.Sleep(30*time.Second - 1)
		require.Equal(t, resilience.CircuitOpen, reply(7).Meta.Error.Kind, "a failed probe begins a new cooldown")
		time.Sleep(time.Nanosecond)
		require.False(t, reply(8).IsError)
		require.Len(t, d.Outbox(), 1)
	})
	in(t, "bad arguments ask nothing and close nothing", server.Config{}, func(t *testing.T, d *desk) {
		faulty(t, d.Fake, "assign_ticket=status=503")
		for range 5 {
			d.assign("KITE-142", "priya")
		}
		time.Sleep(30 * time.Second)
		before := len(d.Requests())
		require.Equal(t, resilience.Invalid, d.assign("142", "priya").Meta.Error.Kind)
		require.Len(t, d.Requests(), before)
		require.Equal(t, resilience.Unavailable, d.assign("KITE-142", "priya").Meta.Error.Kind, "it is still the probe")
		require.Equal(t, resilience.CircuitOpen, d.assign("KITE-142", "priya").Meta.Error.Kind)
	})
}

func TestACallThatCannotSucceedIsNotRepeated(t *testing.T) {
	const notRun = "Error: not run. This exact call already failed 2 times. Don't repeat it: change the input, use another tool, or stop and explain."
	in(t, "with the guard", server.Config{}, func(t *testing.T, d *desk) {
		for range 2 {
			require.Equal(t, "Error: No ticket KITE-412. Ticket ids look like KITE-142.", d.ticket("KITE-412").text())
		}
		require.Equal(t, notRun, d.ticket("KITE-412").text())
		require.Equal(t, 2, d.requests("get_ticket"))
		require.False(t, d.ticket("KITE-142").IsError)
	})
	in(t, "without it", server.Config{NoRepeatGuard: true}, func(t *testing.T, d *desk) {
		for range 5 {
			d.ticket("KITE-412")
		}
		require.Equal(t, 5, d.requests("get_ticket"))
	})
}
