package server_test

import (
	"io"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/kitebase/kitebase-mcp/fakeapi"
	"github.com/kitebase/kitebase-mcp/idempotency"
	"github.com/kitebase/kitebase-mcp/server"
)

func faulty(t *testing.T, fake *fakeapi.Fake, spec string) {
	t.Helper()
	operation, fault, err := fakeapi.ParseFault(spec)
	require.NoError(t, err)
	require.NoError(t, fake.SetFault(operation, fault))
}

// Models reword. A reply in other words after one that is not known to have ended is the case in which a customer gets the
// same answer twice although every key is right.
func TestRewordedReplies(t *testing.T) {
	run := func(name string, test func(t *testing.T, d *desk)) {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				test(t, open(t, server.Config{IgnoresKeys: true}, fakeapi.Config{IgnoreKeys: true}))
			})
		})
	}
	run("while the first is unconfirmed the second is held", func(t *testing.T, d *desk) {
		faulty(t, d.Fake, "reply_to_customer=slow=40s:1")
		require.Equal(t, "unknown", d.reply("We are on it.").Meta.Error.Outcome)
		held := d.reply("We are working on it.")
		require.Equal(t, "Error: reply_to_customer was not run: an earlier reply to KITE-142 is unconfirmed, and this one may say the same. "+
			"Check with get_ticket before you repeat it. Make this call again in 30s: then the earlier one can be settled.", held.text())
		require.Equal(t, "not_done", held.Meta.Error.Outcome)
		require.Equal(t, 1, d.requests("reply_to_customer"))
	})
	run("when the first turns out to have gone through, it is told once", func(t *testing.T, d *desk) {
		faulty(t, d.Fake, "reply_to_customer=slow=6s:1")
		require.Equal(t, "unknown", d.reply("We are on it.").Meta.Error.Outcome)
		time.Sleep(5 * time.Second)
		told := d.reply("We are working on it.")
		require.Equal(t, "Error: reply_to_customer was not run: your earlier reply to KITE-142 was delivered as rpl_001. "+
			"To send this one as well, make the same call again.", told.text())
		require.Len(t, d.Outbox(), 1)
		require.False(t, d.reply("We are working on it.").IsError)
		require.Len(t, d.Outbox(), 2)
		require.True(t, d.reply("We are working on it.").Meta.Replayed)
		require.True(t, d.reply("We are on it.").Meta.Replayed)
	})
	run("also when the background has settled it before", func(t *testing.T, d *desk) {
		faulty(t, d.Fake, "reply_to_customer=slow=6s:1")
		d.reply("We are on it.")
		reads := d.requests("get_ticket")
		time.Sleep(time.Minute)
		require.Equal(t, reads+1, d.requests("get_ticket"), "one look, at the horizon")
		faulty(t, d.Fake, "get_ticket=drop")
		require.Contains(t, d.reply("We are working on it.").text(), "was delivered as rpl_001")
	})
	run("when the first certainly did not go through, the second is sent", func(t *testing.T, d *desk) {
		faulty(t, d.Fake, "reply_to_customer=drop:1")
		d.reply("We are on it.")
		time.Sleep(31 * time.Second)
		require.False(t, d.reply("We are working on it.").IsError)
		require.Len(t, d.Outbox(), 1)
		require.Equal(t, "We are working on it.", d.Outbox()[0].Body)
	})
	run("another ticket is another conversation", func(t *testing.T, d *desk) {
		faulty(t, d.Fake, "reply_to_customer=drop:1")
		d.reply("We are on it.")
		other := d.call("reply_to_customer", map[string]any{"ticket_id": "KITE-101", "message": "We are on it too."})
		require.False(t, other.IsError, other.Content)
	})
}

// Several servers on one ledger: Claude Desktop starts each stdio server twice, and replicas share a database.
func TestServersOnOneLedger(t *testing.T) {
	run := func(name string, test func(t *testing.T, d *desk, other *session)) {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				fake, listener := kitebase(t, fakeapi.Config{})
				config := server.Config{Store: new(idempotency.Memory)}
				d, other := &desk{Fake: fake}, new(session)
				d.session.start(t, config, listener)
				other.start(t, config, listener)
				test(t, d, other)
			})
		})
	}
	arguments := map[string]any{"ticket_id": "KITE-142", "message": "We are on it."}

	run("the second waits for the first and shares its ending", func(t *testing.T, d *desk, other *session) {
		faulty(t, d.Fake, "reply_to_customer=slow=3s")
		first := d.begin("reply_to_customer", arguments)
		time.Sleep(3 * time.Millisecond)
		second := other.begin("reply_to_customer", arguments)
		require.Equal(t, field(<-first, "reply_id"), field(<-second, "reply_id"))
		require.Len(t, d.Outbox(), 1)
		require.Equal(t, 1, d.requests("reply_to_customer"))
	})
	run("what one does not know, the other settles", func(t *testing.T, d *desk, other *session) {
		faulty(t, d.Fake, "reply_to_customer=hang")
		faulty(t, d.Fake, "get_ticket=drop")
		require.Equal(t, "unknown", d.reply("We are on it.").Meta.Error.Outcome)
		d.ClearFaults()
		settled := other.reply("We are on it.")
		require.True(t, settled.Meta.Replayed, settled.Content)
		require.Len(t, d.Outbox(), 1)
	})
}

// A Kitebase that ignores keys although the settings say otherwise is found out at the first retried reply.
func TestKitebaseThatIgnoresKeys(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := open(t, server.Config{}, fakeapi.Config{IgnoreKeys: true})
		faulty(t, d.Fake, "reply_to_customer=lose:1")
		found := d.reply("We are on it.")
		require.False(t, found.IsError)
		require.Contains(t, found.text(), "more than once", "the truth, although it is not a nice one")
		require.Len(t, d.Outbox(), 2)

		faulty(t, d.Fake, "reply_to_customer=lose:1")
		next := d.reply("It is mended.")
		require.Equal(t, 1, *next.Meta.Attempts, "keyless from now on")
		require.Len(t, d.Outbox(), 3)
	})
}

// What was changed is asked of one place: assignments are in the ledger as replies are.
// All answers were lost, so that no success tells of it: the look that settles the reply sees the copies.
func TestKitebaseThatIgnoresKeysAndLosesAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := open(t, server.Config{}, fakeapi.Config{IgnoreKeys: true})
		faulty(t, d.Fake, "reply_to_customer=lose:2")
		found := d.reply("We are on it.")
		require.False(t, found.IsError)
		require.Contains(t, found.text(), "more than once")
		require.Len(t, d.Outbox(), 2)
		require.JSONEq(t, `"rpl_002"`, field(found, "reply_id"), "what comes after the last copy comes after the reply")

		faulty(t, d.Fake, "reply_to_customer=lose:2")
		require.Equal(t, 1, *d.reply("It is mended.").Meta.Attempts, "keyless from now on")
		require.Len(t, d.Outbox(), 3)
	})
}

// Two replies went out twice at the same time: each is told, although the first tells that keys are ignored.
func TestEachReplyThatWentOutTwiceIsTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := open(t, server.Config{}, fakeapi.Config{IgnoreKeys: true})
		faulty(t, d.Fake, "reply_to_customer=hang")
		first := d.begin("reply_to_customer", map[string]any{"ticket_id": "KITE-142", "message": "We are on it."})
		second := d.begin("reply_to_customer", map[string]any{"ticket_id": "KITE-141", "message": "It is mended."})
		for _, waiting := range []<-chan answer{first, second} {
			got := <-waiting
			require.False(t, got.IsError, got.Content)
			require.Contains(t, got.text(), "more than once")
		}
		require.Len(t, d.Outbox(), 4)
	})
}

// Kitebase remembers keys for longer than the ledger does. A reply that it replays of then was not sent now, although the
// answer of this call was lost.
func TestKeyThatTheLedgerForgot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := open(t, server.Config{DedupeWindow: 10 * time.Minute}, fakeapi.Config{})
		require.False(t, d.reply("We are on it.").IsError)
		time.Sleep(time.Hour)
		faulty(t, d.Fake, "reply_to_customer=lose:1")
		second := d.reply("We are on it.")
		require.Equal(t, 2, *second.Meta.Attempts)
		require.Equal(t, "true", field(second, "already_sent"), second.text())
		require.Len(t, d.Outbox(), 1)
	})
	synctest.Test(t, func(t *testing.T) {
		d := open(t, server.Config{DedupeWindow: 10 * time.Minute}, fakeapi.Config{})
		require.False(t, d.reply("We are on it.").IsError)
		time.Sleep(time.Hour)
		faulty(t, d.Fake, "reply_to_customer=lose:2")
		second := d.reply("We are on it.")
		require.Equal(t, "true", field(second, "already_sent"), "found by reading: "+second.text())
		require.Len(t, d.Outbox(), 1)
	})
}

// A time of the clock alone would be taken for one of today.
func TestLateRepeatsNameTheDay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := open(t, server.Config{}, fakeapi.Config{})
		require.False(t, d.reply("We are on it.").IsError)
		require.Contains(t, d.reply("We are on it.").text(), "went through at 00:00:00 UTC and")
		time.Sleep(13 * time.Hour)
		require.Contains(t, d.reply("We are on it.").text(), "went through at 00:00:00 UTC on 2000-01-01 and")
	})
}

// A Kitebase that answers with one old reply whatever the key is not asked for ever, although the customer wrote since.
func TestKitebaseThatReplaysEverything(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asked := 0
		broken := serveUpstream(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			if r.Method == http.MethodGet {
				_, _ = io.WriteString(w, `{"id":"KITE-142","title":"S","status":"open","priority":"high","customer":{"name":"Northwind Studio"},"version":3,
					"created_at":"1999-01-01T00:00:00Z","updated_at":"1999-01-03T00:00:00Z","messages":[
					{"id":"rpl_001","author":"agent","body":"We are on it.","created_at":"1999-01-02T00:00:00Z"},
					{"id":"msg_002","author":"customer","body":"And now?","created_at":"1999-01-03T00:00:00Z"}]}`)
				return
			}
			asked++
			w.Header().Set("Idempotent-Replayed", "true")
			_, _ = io.WriteString(w, `{"reply_id":"rpl_001","sent_to":"Northwind Studio","created_at":"1999-01-02T00:00:00Z"}`)
		}))
		d := new(desk)
		d.session.start(t, server.Config{}, broken)
		told := d.reply("We are on it.")
		require.Equal(t, "true", field(told, "already_sent"), told.text())
		require.Equal(t, 2, asked, "with the first key, and with the next, since the customer wrote")
	})
}

func TestAssignmentsAreRecorded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := new(idempotency.Memory)
		d := open(t, server.Config{Store: store}, fakeapi.Config{})
		assign := map[string]any{"ticket_id": "KITE-142", "assignee": "priya"}
		require.False(t, d.call("assign_ticket", assign).IsError)
		faulty(t, d.Fake, "assign_ticket=lose")
		require.Equal(t, "unknown", d.call("assign_ticket", assign).Meta.Error.Outcome)
		d.ClearFaults()
		faulty(t, d.Fake, "assign_ticket=status=403")
		require.True(t, d.call("assign_ticket", assign).IsError)

		recorded, err := store.Find(t.Context(), idempotency.Query{Group: "KITE-142"})
		require.NoError(t, err)
		require.Len(t, recorded, 2, "what certainly was not done is not recorded")
		states := []idempotency.State{recorded[0].State, recorded[1].State}
		require.ElementsMatch(t, []idempotency.State{idempotency.Finished, idempotency.Unconfirmed}, states)
		require.Equal(t, "assign_ticket", recorded[0].Tool)

		require.False(t, d.reply("We are on it.").IsError, "an assignment holds no reply back")
	})
}

// A process that died in mid-call leaves a claim; the next one settles it at its start, by reading.
func TestWhatAnEarlierProcessLeftIsSettled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fake, listener := kitebase(t, fakeapi.Config{})
		store := new(idempotency.Memory)
		first, d := new(session), &desk{Fake: fake}
		first.start(t, server.Config{Store: store}, listener)
		faulty(t, fake, "reply_to_customer=hang")
		faulty(t, fake, "get_ticket=drop:1")
		require.Equal(t, "unknown", first.reply("We are on it.").Meta.Error.Outcome)
		fake.ClearFaults()

		d.session.start(t, server.Config{Store: store}, listener)
		time.Sleep(2 * time.Second)
		settled, err := store.Find(t.Context(), idempotency.Query{States: []idempotency.State{idempotency.Settled}})
		require.NoError(t, err)
		require.Len(t, settled, 1)
		require.Equal(t, "read back", settled[0].Evidence)
		require.Len(t, fake.Outbox(), 1)
	})
}

// Whoever repeats is told apart by the name that Claude Code gives a call.
func TestWhoRepeated(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := new(idempotency.Memory)
		d := open(t, server.Config{Store: store}, fakeapi.Config{})
		call := func(id string) answer {
			return <-d.beginWith("reply_to_customer", map[string]any{"ticket_id": "KITE-142", "message": "x"},
				map[string]any{"claudecode/toolUseId": id})
		}
		require.Empty(t, call("toolu_1").Meta.RepeatedBy)
		require.Equal(t, "host", call("toolu_1").Meta.RepeatedBy)
		require.Equal(t, "model", call("toolu_2").Meta.RepeatedBy)
		require.Equal(t, "host", call("toolu_2").Meta.RepeatedBy)
		recorded, err := store.Find(t.Context(), idempotency.Query{})
		require.NoError(t, err)
		require.Equal(t, 2, recorded[0].HostRepeats)
		require.Equal(t, 1, recorded[0].ModelRepeats)
	})
}

// A server whose ledger died with it still tells the truth about what Kitebase knows by its key.
func TestWhatOnlyKitebaseRemembers(t *testing.T) {
	for _, noDedupe := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			fake, listener := kitebase(t, fakeapi.Config{})
			first, d := new(session), &desk{Fake: fake}
			first.start(t, server.Config{}, listener)
			require.False(t, first.reply("Any update?").IsError)

			time.Sleep(time.Minute)
			d.session.start(t, server.Config{NoDedupe: noDedupe}, listener)
			again := d.reply("Any update?")
			require.Equal(t, "true", field(again, "already_sent"), "not told as sent now")
			require.True(t, again.Meta.Replayed)
			require.Contains(t, again.text(), "Already done")
			require.Len(t, fake.Outbox(), 1)
		})
	}
	t.Run("and sends what is wanted once more", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			fake, listener := kitebase(t, fakeapi.Config{})
			first, d := new(session), &desk{Fake: fake}
			first.start(t, server.Config{}, listener)
			require.False(t, first.reply("Any update?").IsError)
			require.NoError(t, fake.CustomerWrites("KITE-142", "Still locked out."))

			d.session.start(t, server.Config{}, listener)
			wanted := d.reply("Any update?")
			require.False(t, wanted.Meta.Replayed)
			require.Len(t, fake.Outbox(), 2)
		})
	})
}

// The look at what an earlier process left took this one's fresh replies for old ones, and read their tickets at once.
func TestAFreshUnknownIsLookedForAtTheHorizon(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := open(t, server.Config{IgnoresKeys: true}, fakeapi.Config{IgnoreKeys: true})
		faulty(t, d.Fake, "reply_to_customer=drop:1")
		require.Equal(t, "unknown", d.reply("We are on it.").Meta.Error.Outcome)
		reads := d.requests("get_ticket")
		time.Sleep(29 * time.Second)
		require.Equal(t, reads, d.requests("get_ticket"))
		time.Sleep(2 * time.Second)
		require.Equal(t, reads+1, d.requests("get_ticket"))
	})
}
