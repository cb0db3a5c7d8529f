package fakeapi_test

import (
	"context"
	"io"
	"net/http"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/kitebase/kitebase-mcp/fakeapi"
)

// Each fault on a reply: what the caller sees, whether the customer got an email, and what the same key says afterwards.
func TestFaults(t *testing.T) {
	for name, tt := range map[string]struct {
		fault  fakeapi.Fault
		want   int   // status in the record
		err    error // of the client
		emails int   // after the first request
		body   string
	}{
		"drop":              {fakeapi.Fault{Kind: "drop"}, 0, syscall.ECONNRESET, 0, ""},
		"status":            {fakeapi.Fault{Kind: "status", Status: 503}, 503, nil, 0, `"status":503`},
		"redirect":          {fakeapi.Fault{Kind: "redirect"}, 302, nil, 0, ""},
		"redirect 307":      {fakeapi.Fault{Kind: "redirect", Status: 307}, 307, nil, 0, ""},
		"slow":              {fakeapi.Fault{Kind: "slow", Delay: time.Millisecond}, 201, nil, 1, `"rpl_001"`},
		"lose":              {fakeapi.Fault{Kind: "lose"}, 0, syscall.ECONNRESET, 1, ""},
		"garble":            {fakeapi.Fault{Kind: "garble"}, 200, nil, 1, "<!doctype html>"},
		"truncate":          {fakeapi.Fault{Kind: "truncate"}, 201, io.ErrUnexpectedEOF, 1, `{"reply_id":"rpl_`},
		"fail_after_commit": {fakeapi.Fault{Kind: "fail_after_commit"}, 500, nil, 1, `"status":500`},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t, fakeapi.Config{})
			tt.fault.Times = 1
			require.NoError(t, d.SetFault("reply_to_customer", tt.fault))

			r, err := d.try("POST", replies, messageBody("Hello"), "Idempotency-Key", "k")
			require.ErrorIs(t, err, tt.err)
			require.Contains(t, r.body, tt.body)
			require.Len(t, d.Outbox(), tt.emails)
			if tt.err == nil {
				require.Equal(t, tt.want, r.status)
				require.NotEmpty(t, r.header.Get("X-Request-Id"))
			}

			again := d.send("k", "Hello")
			require.Equal(t, "rpl_001", again.field(t, "reply_id"))
			require.Equal(t, tt.emails == 1, again.header.Get("Idempotent-Replayed") == "true")
			require.Len(t, d.Outbox(), 1)
			require.Equal(t, []int{tt.want, again.status}, []int{d.Requests()[0].Status, d.Requests()[1].Status})
			require.Equal(t, tt.fault.Kind, d.Requests()[0].Fault)
			require.Empty(t, d.Requests()[1].Fault)
		})
	}
}

func TestRetryAfterIsSentAsItIs(t *testing.T) {
	d := newDesk(t, fakeapi.Config{})
	for _, value := range []string{"30", "-1", "1.5", "Wed, 21 Oct 2015 07:28:00 GMT"} {
		require.NoError(t, d.SetFault("get_ticket", fakeapi.Fault{Kind: "status", Status: 429, RetryAfter: value}))
		require.Equal(t, value, d.do("GET", "/v1/tickets/KITE-142", "").header.Get("Retry-After"))
	}
}

func TestRedirectLeadsToAPageThatAnswers(t *testing.T) {
	d := newDesk(t, fakeapi.Config{})
	d.client.CheckRedirect = nil
	require.NoError(t, d.SetFault("reply_to_customer", fakeapi.Fault{Kind: "redirect"}))
	r, err := d.try("POST", replies, messageBody("Hello"))
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, r.status)
	require.Contains(t, r.body, "Sign in")
	require.Empty(t, d.Outbox())
}

// Hanging answers, in a bubble: the email is out, and the request ends when the caller has had enough, not before.
func TestFaultsThatHoldTheCaller(t *testing.T) {
	for _, kind := range []fakeapi.FaultKind{fakeapi.FaultHang, fakeapi.FaultStall} {
		t.Run(string(kind), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := newPipeDesk(t, fakeapi.Config{})
				require.NoError(t, d.SetFault("reply_to_customer", fakeapi.Fault{Kind: kind, Times: 1}))
				ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
				defer cancel()
				begin := time.Now()
				r, err := d.tryContext(ctx, "POST", replies, messageBody("Hello"), "Idempotency-Key", "k")
				require.ErrorIs(t, err, context.DeadlineExceeded)
				require.Equal(t, time.Hour, time.Since(begin))
				require.Equal(t, kind == fakeapi.FaultStall, r.status == http.StatusCreated)
				require.Empty(t, r.body)
				require.Len(t, d.Outbox(), 1)
				require.Equal(t, http.StatusOK, d.send("k", "Hello").status)
			})
		})
	}
}

// A slow reply is done even if the caller left, and until then its key is taken.
func TestSlowWorksOnAfterTheCallerLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newPipeDesk(t, fakeapi.Config{})
		require.NoError(t, d.SetFault("reply_to_customer", fakeapi.Fault{Kind: "slow", Delay: time.Minute, Times: 1}))
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err := d.tryContext(ctx, "POST", replies, messageBody("Hello"), "Idempotency-Key", "k")
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.Empty(t, d.Outbox())

		busy := d.send("k", "Hello")
		require.Equal(t, http.StatusConflict, busy.status)
		require.Equal(t, "1", busy.header.Get("Retry-After"))
		require.Equal(t, "urn:kitebase:problem:idempotency-in-progress", busy.field(t, "type"))

		time.Sleep(time.Minute)
		require.Len(t, d.Outbox(), 1)
		require.Equal(t, "true", d.send("k", "Hello").header.Get("Idempotent-Replayed"))
		require.Len(t, d.Outbox(), 1)
	})
}

// A slow reply that is refused in the end frees its key.
func TestRefusedReplyLeavesTheKeyUnused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newPipeDesk(t, fakeapi.Config{})
		require.NoError(t, d.SetFault("reply_to_customer", fakeapi.Fault{Kind: "slow", Delay: time.Minute, Times: 1}))
		require.Equal(t, http.StatusUnprocessableEntity, d.send("k", " ").status)
		require.Equal(t, http.StatusCreated, d.send("k", "Hello").status)
	})
}

func TestHowOftenAFaultStrikes(t *testing.T) {
	faults := func(d *desk) (struck []fakeapi.FaultKind) {
		for _, r := range d.Requests() {
			struck = append(struck, r.Fault)
		}
		return struck
	}
	get := func(d *desk, times int) {
		for range times {
			_, _ = d.try("GET", "/v1/tickets/KITE-142", "")
		}
	}
	t.Run("the next two", func(t *testing.T) {
		d := newDesk(t, fakeapi.Config{})
		require.NoError(t, d.SetFault("get_ticket", fakeapi.Fault{Kind: "drop", Times: 2}))
		get(d, 3)
		require.Equal(t, []fakeapi.FaultKind{"drop", "drop", ""}, faults(d))
	})
	t.Run("until cleared", func(t *testing.T) {
		d := newDesk(t, fakeapi.Config{})
		require.NoError(t, d.SetFault("get_ticket", fakeapi.Fault{Kind: "drop"}))
		get(d, 2)
		d.ClearFaults("search_help")
		get(d, 1)
		d.ClearFaults()
		get(d, 1)
		require.Equal(t, []fakeapi.FaultKind{"drop", "drop", "drop", ""}, faults(d))
	})
	t.Run("all operations with one count, unless they have their own", func(t *testing.T) {
		d := newDesk(t, fakeapi.Config{})
		require.NoError(t, d.SetFault("*", fakeapi.Fault{Kind: "drop", Times: 2}))
		require.NoError(t, d.SetFault("get_ticket", fakeapi.Fault{Kind: "lose", Times: 1}))
		get(d, 1)
		_, _ = d.try("GET", "/v1/help/search?query=sso", "")
		get(d, 2)
		require.Equal(t, []fakeapi.FaultKind{"lose", "drop", "drop", ""}, faults(d))
	})
	t.Run("by probability, the same in every run", func(t *testing.T) {
		run := func(seed uint64) []fakeapi.FaultKind {
			d := newDesk(t, fakeapi.Config{})
			require.NoError(t, d.SetFault("get_ticket", fakeapi.Fault{Kind: "drop", Probability: 0.5, Seed: seed}))
			get(d, 40)
			return faults(d)
		}
		first := run(7)
		require.Equal(t, first, run(7))
		require.NotEqual(t, first, run(8))
		require.Contains(t, first, fakeapi.FaultDrop)
		require.Contains(t, first, fakeapi.FaultKind(""))
	})
	t.Run("not on a wrong method", func(t *testing.T) {
		d := newDesk(t, fakeapi.Config{})
		require.NoError(t, d.SetFault("get_ticket", fakeapi.Fault{Kind: "drop", Times: 1}))
		require.Equal(t, http.StatusMethodNotAllowed, d.do("DELETE", "/v1/tickets/KITE-142", "").status)
		get(d, 1)
		require.Equal(t, []fakeapi.FaultKind{"", "drop"}, faults(d))
	})
}
