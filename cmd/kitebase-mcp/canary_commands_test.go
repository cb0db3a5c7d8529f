package main_test

import (
	"strings"

	"github.com/stretchr/testify/require"
)

// runCommands runs the other commands, with settings that are right and with such that are wrong in every way.
func (s *leakScene) runCommands() {
	for _, args := range [][]string{
		{"version"}, {"doctor"}, {"doctor", "--json"}, {"doctor", "--transport=http"}, {"config", "claude-code"}, {"config", "claude-desktop"},
		{"ledger", "list"}, {"ledger", "list", "--json"}, {"ledger", "settle", "--settle-after=1ms"},
	} {
		s.command(s.env(), args...)
	}
	for _, key := range s.keys() {
		s.command(s.env(), "ledger", "show", key)
		s.command(s.env(), "ledger", "forget", key)
	}
	for _, url := range refusedURLs() {
		for _, command := range []string{"serve", "doctor", "ledger settle", "config claude-code"} {
			s.command(nil, append(strings.Fields(command), "--url", url)...)
		}
		s.command([]string{"KITEBASE_URL=" + url}, "serve")
	}
	for _, ledger := range refusedLedgers() {
		for _, command := range []string{"doctor --json", "ledger list", "ledger settle"} {
			s.command(s.env(), append(strings.Fields(command), "--ledger", ledger)...)
		}
		s.command(append(s.env(), "KITEBASE_LEDGER="+ledger), "serve", "--log-level=debug")
	}
	for _, wrong := range wrongWords() {
		s.command(s.env(), append([]string{"serve"}, wrong...)...)
		if variable, ok := variableOf(wrong[0]); ok {
			s.command(append(s.env(), variable), "doctor")
			continue
		}
		s.command(s.env(), wrong...)
	}
}

// command runs the program to its end. A server is sent a reply, so that it needs its ledger.
func (s *leakScene) command(env []string, args ...string) finished {
	end := start{args: args, env: env, dir: s.dir}.run(s.t, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"reply_to_customer",`+
		`"arguments":{"ticket_id":"KITE-150","message":"`+canary("message of a reply")+`"}}}`+"\n")
	kind := "stdout"
	switch {
	case len(args) == 0 || args[0] == "serve":
		kind = "reads"
	case args[0] == "ledger", args[0] == "doctor":
		kind = args[0]
	}
	name := strings.Join(args[:min(2, len(args))], " ")
	s.out.add(kind+": "+name, end.stdout)
	s.out.add("stderr: "+name, end.stderr)
	return end
}

// keys returns the keys of some records.
func (s *leakScene) keys() []string {
	var keys []string
	for line := range strings.Lines(s.out["ledger: ledger list"]) {
		if words := strings.Fields(line); len(words) > 3 && len(words[0]) == 16 && len(keys) < 3 {
			keys = append(keys, words[0])
		}
	}
	require.NotEmpty(s.t, keys)
	return keys
}

func refusedURLs() []string {
	return []string{
		"https://" + canary("user in a refused URL") + ":" + canary("password in a refused URL") + "@kitebase.example",
		"https://kitebase.example/?token=" + canary("query of a refused URL"),
		"https://kitebase.example/#" + canary("fragment of a refused URL"),
		canary("refused URL that is none"), "ftp://" + canary("refused URL that is none"),
		"https://x:" + canary("refused URL that is none"), "https://%zz" + canary("refused URL that is none"),
	}
}

func refusedLedgers() []string {
	return []string{
		"postgres://kitebase:" + canary("password of the PostgreSQL ledger") + "@127.0.0.1:1/ledger",
		"postgres://kitebase:" + canary("password of the PostgreSQL ledger") + "@127.0.0.1:x/ledger",
		"postgres://kitebase:%zz" + canary("password of the PostgreSQL ledger") + "@127.0.0.1:1/ledger",
		"postgres://127.0.0.1:1/ledger?password=" + canary("password of the PostgreSQL ledger"),
		"postgress://kitebase:" + canary("password of a ledger URL with a typing error") + "@127.0.0.1:1/ledger",
		"postgres//kitebase:" + canary("password of a ledger URL with a typing error") + "@127.0.0.1:1/ledger",
		"Postgres:/kitebase:" + canary("password of a ledger URL with a typing error") + "@127.0.0.1:1/ledger",
		"host=127.0.0.1 port=1 user=kitebase password=" + canary("password of a ledger DSN"),
	}
}

// wrongWords are what people type by mistake.
func wrongWords() [][]string {
	return [][]string{
		{"--token=" + canary("refused token") + " x"}, {"--http-token=" + canary("refused http token") + " x", "--transport=http"},
		{"--token=", canary("word too many on the command line")}, {canary("word too many on the command line")},
		{"--attempts=" + canary("value of a wrong number")}, {"--call-deadline=" + canary("value of a wrong duration")},
		{"--dedupe=" + canary("value of a wrong switch")}, {"--log-level=" + canary("value of a wrong choice")},
		{"--transport=" + canary("value of a wrong choice")},
		{"--addr=" + canary("value of a wrong address"), "--transport=http"},
		{"--addr=x:" + canary("value of a wrong address") + "@127.0.0.1:0", "--transport=http"},
		{"--allowed-origins=https://x:" + canary("value of a wrong origin") + "@desk.example", "--transport=http"},
		{"--tools=" + canary("value of a wrong tool")}, {"--body-limit=" + canary("value of a wrong size"), "--transport=http"},
		{"--tokn=" + canary("value of an unknown flag")}, {"--token:" + canary("name of an unknown flag")},
		{"--" + canary("name of an unknown flag")}, {"-" + canary("name of an unknown flag")},
	}
}

// variableOf returns a flag as an environment variable, if it can be one.
func variableOf(flag string) (string, bool) {
	name, value, ok := strings.Cut(strings.TrimPrefix(flag, "--"), "=")
	return "KITEBASE_" + strings.ToUpper(strings.ReplaceAll(name, "-", "_")) + "=" + value, ok && strings.HasPrefix(flag, "--")
}
