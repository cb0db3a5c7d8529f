package server_test

import (
	"encoding/json"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/kitebase/kitebase-mcp/server"
	"github.com/kitebase/kitebase-mcp/server/resilience"
)

const isCopy = `"copy"`

func TestCopiesOfTickets(t *testing.T) {
	down := func(t *testing.T, d *desk) { faulty(t, d.Fake, "get_ticket=drop") }
	in(t, "a ticket that was read is served when Kitebase does not answer, and says so", server.Config{}, func(t *testing.T, d *desk) {
		d.ticket("KITE-142")
		time.Sleep(3 * time.Minute)
		down(t, d)
		got := d.ticket(" kite-142 ")
		require.False(t, got.IsError)
		require.Regexp(t, `^Kitebase is not answering; this copy is from \d\d:\d\d UTC, 3 minutes ago\.`, got.text())
		require.Equal(t, isCopy, field(got, "served_by"))
		require.Equal(t, `"KITE-142"`, field(got, "id"))
		require.NotEmpty(t, field(got, "as_of"))
		require.Equal(t, 2, *got.Meta.Attempts, "it was asked first")
		require.True(t, d.ticket("KITE-101").IsError, "another one is not")
		d.ClearFaults()
		require.Empty(t, field(d.ticket("KITE-142"), "served_by"))
	})
	in(t, "one that does not exist is not bridged", server.Config{}, func(t *testing.T, d *desk) {
		d.ticket("KITE-142")
		faulty(t, d.Fake, "get_ticket=status=404")
		require.Equal(t, resilience.NotFound, d.ticket("KITE-142").Meta.Error.Kind)
	})
	in(t, "a copy that is too old is not served", server.Config{CopiesFor: 10 * time.Minute}, func(t *testing.T, d *desk) {
		d.ticket("KITE-142")
		down(t, d)
		time.Sleep(9 * time.Minute)
		require.False(t, d.ticket("KITE-142").IsError)
		time.Sleep(2 * time.Minute)
		require.True(t, d.ticket("KITE-142").IsError)
	})
	in(t, "none is served when switched off", server.Config{CopiesFor: -1}, func(t *testing.T, d *desk) {
		d.ticket("KITE-142")
		down(t, d)
		require.True(t, d.ticket("KITE-142").IsError)
	})
}

// A copy from before a write would show a model that its reply is not there.
func TestAWriteEndsTheCopy(t *testing.T) {
	writes := map[string]func(t *testing.T, d *desk){
		"a reply":       func(t *testing.T, d *desk) { require.False(t, d.reply("We are on it.").IsError) },
		"an assignment": func(t *testing.T, d *desk) { require.False(t, d.assign("KITE-142", "priya").IsError) },
		"a write that may have happened": func(t *testing.T, d *desk) {
			faulty(t, d.Fake, "assign_ticket=drop")
			require.Equal(t, "unknown", d.assign("KITE-142", "priya").Meta.Error.Outcome)
		},
	}
	for name, write := range writes {
		in(t, name, server.Config{}, func(t *testing.T, d *desk) {
			d.ticket("KITE-142")
			write(t, d)
			faulty(t, d.Fake, "get_ticket=drop")
			require.True(t, d.ticket("KITE-142").IsError, "the copy is from before")
			d.ClearFaults()
			time.Sleep(31 * time.Second)
			require.False(t, d.ticket("KITE-142").IsError)
			faulty(t, d.Fake, "get_ticket=drop")
			require.Equal(t, isCopy, field(d.ticket("KITE-142"), "served_by"), "this one is from after")
		})
	}
	in(t, "a read that began before the write ended is not kept", server.Config{}, func(t *testing.T, d *desk) {
		faulty(t, d.Fake, "get_ticket=slow=2s:1")
		read := d.begin("get_ticket", map[string]any{"ticket_id": "KITE-142"})
		time.Sleep(time.Second)
		d.assign("KITE-142", "priya")
		require.False(t, (<-read).IsError)
		faulty(t, d.Fake, "get_ticket=drop")
		require.True(t, d.ticket("KITE-142").IsError)
	})
	in(t, "nor one while Kitebase may still be working on it", server.Config{}, func(t *testing.T, d *desk) {
		faulty(t, d.Fake, "assign_ticket=slow=20s")
		require.Equal(t, "unknown", d.assign("KITE-142", "priya").Meta.Error.Outcome)
		time.Sleep(time.Second)
		before := d.ticket("KITE-142")
		require.NotEqual(t, `"priya"`, field(before, "assignee"))
		time.Sleep(20 * time.Second)
		faulty(t, d.Fake, "get_ticket=drop")
		require.True(t, d.ticket("KITE-142").IsError, "a copy would not show what has happened since")
	})
}

func TestAReplyFromACopyIsReminded(t *testing.T) {
	const reminder = "This reply was written from a copy of the ticket from "
	in(t, "until the ticket was read again", server.Config{}, func(t *testing.T, d *desk) {
		d.ticket("KITE-142")
		require.NotContains(t, d.reply("One.").text(), reminder)
		time.Sleep(time.Minute)
		d.ticket("KITE-142")
		faulty(t, d.Fake, "get_ticket=drop")
		require.Equal(t, isCopy, field(d.ticket("KITE-142"), "served_by"))
		sent := d.reply("Two.")
		require.False(t, sent.IsError)
		require.Contains(t, sent.text(), reminder)
		require.Contains(t, field(sent, "note"), reminder)
		d.ClearFaults()
		d.ticket("KITE-142")
		require.NotContains(t, d.reply("Three.").text(), reminder)
	})
	onHTTP(t, "and only who saw the copy", server.Config{}, func(t *testing.T, s *site) {
		one, two := s.join(), s.join()
		one("get_ticket", `{"ticket_id":"KITE-142"}`)
		faulty(t, s.Fake, "get_ticket=drop")
		require.Contains(t, one("get_ticket", `{"ticket_id":"KITE-142"}`), "this copy is from")
		require.NotContains(t, two("reply_to_customer", `{"ticket_id":"KITE-142","message":"Two."}`), reminder)
		require.Contains(t, one("reply_to_customer", `{"ticket_id":"KITE-142","message":"One."}`), reminder)
	})
}

// join begins a session and returns what calls a tool in it.
func (s *site) join() func(tool, arguments string) string {
	s.t.Helper()
	hello := s.do(s.t.Context(), http.MethodPost, "/mcp", request("initialize",
		`{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"test","version":"0"}}`), nil)
	defer hello.Body.Close()
	header := map[string]string{"Mcp-Session-Id": hello.Header.Get("Mcp-Session-Id"), "Mcp-Protocol-Version": "2025-11-25"}
	require.NotEmpty(s.t, header["Mcp-Session-Id"])
	return func(tool, arguments string) string {
		status, body := s.post("/mcp", "tools/call", `{"name":"`+tool+`","arguments":`+arguments+`}`, header)
		require.Equal(s.t, http.StatusOK, status, body)
		return body
	}
}

// One session is not blocked for what another one did.
func TestTheRepeatGuardTellsSessionsApart(t *testing.T) {
	onHTTP(t, "two sessions with the same token", server.Config{}, func(t *testing.T, s *site) {
		one, two := s.join(), s.join()
		for range 2 {
			one("get_ticket", `{"ticket_id":"KITE-412"}`)
		}
		require.Contains(t, one("get_ticket", `{"ticket_id":"KITE-412"}`), "Error: not run.")
		require.Contains(t, two("get_ticket", `{"ticket_id":"KITE-412"}`), "Error: No ticket KITE-412.")
	})
}

func TestCopiesOfArticles(t *testing.T) {
	ids := func(a answer) (all []string) {
		var found struct{ Articles []struct{ ID string } }
		_ = json.Unmarshal(a.Structured, &found)
		for _, article := range found.Articles {
			all = append(all, article.ID)
		}
		return all
	}
	in(t, "the same query gets the same answer", server.Config{}, func(t *testing.T, d *desk) {
		first := d.help("locked out")
		faulty(t, d.Fake, "search_help=drop")
		again := d.help(" Locked OUT ")
		require.Equal(t, isCopy, field(again, "served_by"))
		require.Equal(t, ids(first), ids(again))
		require.Contains(t, again.text(), "Kitebase is not answering; this copy is from ")
	})
	in(t, "another one gets the best of the articles that were seen", server.Config{}, func(t *testing.T, d *desk) {
		d.help("billing invoice")
		time.Sleep(10 * time.Minute)
		d.help("locked out account")
		faulty(t, d.Fake, "search_help=drop")
		got := d.help("account is locked")
		require.False(t, got.IsError, got.text())
		require.Equal(t, "account-recovery#2", ids(got)[0])
		require.LessOrEqual(t, len(ids(got)), 5)
		require.True(t, d.help("zzzz").IsError, "nothing fits: that is said as the failure it is")
	})
	in(t, "articles that are too old are not shown", server.Config{CopiesFor: time.Minute}, func(t *testing.T, d *desk) {
		d.help("locked out")
		time.Sleep(2 * time.Minute)
		faulty(t, d.Fake, "search_help=drop")
		require.True(t, d.help("locked out").IsError)
		require.True(t, d.help("account locked").IsError)
	})
	in(t, "a search that found nothing is no answer for later", server.Config{}, func(t *testing.T, d *desk) {
		require.False(t, d.help("zzzz").IsError)
		faulty(t, d.Fake, "search_help=drop")
		require.True(t, d.help("zzzz").IsError)
	})
	in(t, "while search_help hangs for everyone, tickets are as quick as before", server.Config{}, func(t *testing.T, d *desk) {
		faulty(t, d.Fake, "search_help=hang")
		var hung []<-chan answer
		for range 128 {
			hung = append(hung, d.begin("search_help", map[string]any{"query": "sso"}))
		}
		synctest.Wait()
		require.Equal(t, 64, d.requests("search_help"))
		require.Equal(t, resilience.Busy, d.help("sso").Meta.Error.Kind)
		began := time.Now()
		require.False(t, d.ticket("KITE-142").IsError)
		require.Zero(t, time.Since(began))
		for _, waiting := range hung {
			require.True(t, (<-waiting).IsError)
		}
	})
}
