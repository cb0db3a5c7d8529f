package main_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kitebase/kitebase-mcp/fakeapi"
)

// setting is one setting of serve and a way to see its effect from outside.
type setting struct {
	flag    string
	value   string
	weak    string // the default, written out
	set     string // what see returns under value
	unset   string // what see returns without it, and under weak
	see     func(*testing.T, *upstream, *child) string
	faults  []string
	args    []string // other flags that make the effect visible
	ignores bool     // Kitebase ignores keys
}

const ticket142 = `{"ticket_id":"KITE-142"}`

// Ways to see. Each returns what a model or Kitebase got to see.
func seeTools(t *testing.T, _ *upstream, c *child) string { return strings.Join(toolNames(t, c), " ") }

func seeTicket(_ *testing.T, _ *upstream, c *child) string {
	r := c.call("get_ticket", ticket142)
	if r.IsError {
		return r.text()
	}
	return "ok"
}

func seeEmails(_ *testing.T, u *upstream, c *child) string {
	for range 2 {
		c.call("reply_to_customer", updateReply)
	}
	return fmt.Sprint(len(u.Outbox()))
}

func seeReplies(_ *testing.T, u *upstream, c *child) string {
	c.call("reply_to_customer", updateReply)
	return fmt.Sprint(u.requestsOf("reply_to_customer", 0))
}

func seeOutcome(_ *testing.T, _ *upstream, c *child) string {
	return c.call("reply_to_customer", updateReply).Meta.Error.Outcome
}

func seeAttempts(t *testing.T, _ *upstream, c *child) string {
	return fmt.Sprint(c.call("get_ticket", ticket142).attempts(t))
}

func seeDebug(_ *testing.T, _ *upstream, c *child) string {
	c.call("get_ticket", ticket142)
	c.end()
	return fmt.Sprint(strings.Contains(c.stderr.String(), `"level":"DEBUG"`))
}

const (
	drop    = "get_ticket=drop:1"
	oneTry  = "Error: get_ticket failed after 1 try: connection reset by Kitebase (KitebaseUnavailable). Kitebase may be slow or down."
	denied  = "Error: get_ticket failed after 1 try: Kitebase refused the access token (KitebaseDenied). Don't repeat it: a person must check the access that this server has to Kitebase."
	timeout = "Error: get_ticket failed after 1 try: no response after 0.2s (TimeoutError). Kitebase may be slow or down."
	five    = "assign_ticket get_ticket reply_to_customer search_help search_tickets"
)

// settings are those whose effect one process on stdio can show. --url and --ledger have tests of their own;
// --backoff-cap only bounds chance: that it is read is in TestWrongSettings.
func settings() []setting {
	return []setting{
		{flag: "token", value: "tok-1", weak: "tok-2", set: "ok", unset: denied, see: seeTicket},
		{flag: "tools", value: "read-only", weak: five, set: "get_ticket search_help search_tickets", unset: five, see: seeTools},
		{flag: "tools", value: "get_ticket, search_help", weak: five, set: "get_ticket search_help", unset: five, see: seeTools},
		{flag: "attempts", value: "1", weak: "2", set: oneTry, unset: "ok", see: seeTicket, faults: []string{drop}},
		{flag: "attempt-timeout", value: "200ms", weak: "5s", set: timeout, unset: "ok", see: seeTicket, faults: []string{"get_ticket=slow=1s"}, args: []string{"--attempts=1"}},
		{flag: "call-deadline", value: "1s", weak: "25s", set: "1", unset: "2", see: seeAttempts, faults: []string{"get_ticket=status=429,retry-after=2:1"}, args: []string{"--attempt-timeout=900ms"}},
		{flag: "backoff-base", value: "2000000h", weak: "100ms", set: oneTry, unset: "ok", see: seeTicket, faults: []string{drop}, args: []string{"--backoff-cap=2000000h"}},
		{flag: "dedupe", value: "false", weak: "true", set: "2", unset: "1", see: seeEmails, ignores: true},
		{flag: "dedupe-window", value: "1ns", weak: "24h", set: "2", unset: "1", see: seeEmails, ignores: true},
		{flag: "settle-after", value: "1ns", weak: "30s", set: "not_done", unset: "unknown", see: seeOutcome, faults: []string{"reply_to_customer=status=503"}},
		{flag: "upstream-keys", value: "false", weak: "true", set: "1", unset: "2", see: seeReplies, faults: []string{"reply_to_customer=lose:1"}},
		{flag: "log-level", value: "debug", weak: "info", set: "true", unset: "false", see: seeDebug},
	}
}

// TestSettings sets each one by flag and by environment; hosts can only do the latter. A flag wins, and a variable that is
// empty counts as not set, since hosts pass on the blank fields of their settings pages, some in their own words.
func TestSettings(t *testing.T) {
	t.Parallel()
	for _, s := range settings() {
		flag := func(value string) []string { return []string{"--" + s.flag + "=" + value} }
		env := func(value string) []string {
			return []string{"KITEBASE_" + strings.ToUpper(strings.ReplaceAll(s.flag, "-", "_")) + "=" + value}
		}
		weak := strings.ReplaceAll(s.weak, " ", ",")
		for name, way := range map[string]struct {
			args, env []string
			want      string
		}{
			"unset":                {nil, nil, s.unset},
			"flag":                 {flag(s.value), nil, s.set},
			"environment":          {nil, env(s.value), s.set},
			"flag wins":            {flag(s.value), env(weak), s.set},
			"empty is unset":       {nil, env(""), s.unset},
			"blank field is unset": {nil, env("${user_config.x}"), s.unset},
			"flag wins, reverse":   {flag(weak), env(s.value), s.unset},
		} {
			t.Run(s.flag+"="+s.value+"/"+name, func(t *testing.T) {
				t.Parallel()
				s.hold(t, start{args: way.args, env: way.env}, way.want)
			})
		}
	}
}

func (s setting) hold(t *testing.T, way start, want string) {
	config := fakeapi.Config{IgnoreKeys: s.ignores}
	if s.flag == "token" {
		config.Token = s.value
	}
	kitebase := startUpstream(t, config)
	for _, spec := range s.faults {
		kitebase.fault(t, spec)
	}
	way.args = append(append([]string{"--url", kitebase.url}, s.args...), way.args...)
	require.Equal(t, want, s.see(t, kitebase, way.serve(t)))
}

// TestURLSetting does the same for the one setting that all others need.
func TestURLSetting(t *testing.T) {
	t.Parallel()
	wanted, other := startUpstream(t, fakeapi.Config{}), startUpstream(t, fakeapi.Config{})
	for _, way := range []start{
		{args: []string{"--url", wanted.url}},
		{env: []string{"KITEBASE_URL=" + wanted.url}},
		{args: []string{"--url", wanted.url + "/"}, env: []string{"KITEBASE_URL=" + other.url}},
		{args: []string{"serve", "--url", wanted.url}},
	} {
		require.Equal(t, "ok", seeTicket(t, wanted, way.serve(t)))
	}
	require.Equal(t, "ok", seeTicket(t, wanted, start{env: []string{"KITEBASE_URL="}}.serve(t)), "the embedded fake answers")
	require.Equal(t, 4, wanted.requestsOf("get_ticket", 0))
	require.Empty(t, other.Requests())
}

// TestLedgerSetting: two processes on one file. Claude Desktop starts every stdio server twice.
func TestLedgerSetting(t *testing.T) {
	t.Parallel()
	kitebase := startUpstream(t, fakeapi.Config{IgnoreKeys: true})
	file := filepath.Join(t.TempDir(), "ledger.db")
	for i, way := range []start{
		{args: []string{"--ledger", file}},
		{env: []string{"KITEBASE_LEDGER=" + file}},
		{args: []string{"--ledger", file}, env: []string{"KITEBASE_LEDGER=memory"}},
		{args: []string{"--ledger=memory"}, env: []string{"KITEBASE_LEDGER=" + file}},
	} {
		way.args = append([]string{"--url", kitebase.url, "--upstream-keys=false"}, way.args...)
		server := way.serve(t)
		require.Equal(t, i == 1 || i == 2, server.call("reply_to_customer", updateReply).reply(t).AlreadySent)
		server.end()
	}
	require.Len(t, kitebase.Outbox(), 2)
}

// TestUnknownVariable: a misspelt variable must not pass in silence, and not stop the start either: a newer host may set
// what an older server does not know.
func TestUnknownVariable(t *testing.T) {
	t.Parallel()
	server := start{env: []string{"KITEBASE_ATTEMPT=1", "KITEBASE_TOKEN=", "OTHER_THING=1"}}.serve(t)
	require.Equal(t, allTools(), toolNames(t, server))
	server.end()
	log := server.stderr.String()
	require.Equal(t, 1, strings.Count(log, "KITEBASE_ATTEMPT"), log)
	require.NotContains(t, log, "KITEBASE_TOKEN")
	require.NotContains(t, log, "OTHER_THING")
}
