package main_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	program "github.com/kitebase/kitebase-mcp/cmd/kitebase-mcp"
)

// The forms that hosts use need no parser of command lines, which would be felt at each start.
func TestPlainSettings(t *testing.T) {
	for name, line := range map[string]string{
		"nothing":                 "",
		"serve":                   "serve --attempts=1",
		"the environment":         "KITEBASE_URL=http://127.0.0.1:1 KITEBASE_TOKEN=t KITEBASE_ATTEMPT_TIMEOUT=2s KITEBASE_LEDGER=memory KITEBASE_DEDUPE=false",
		"a blank field of a host": "KITEBASE_URL=http://127.0.0.1:1 KITEBASE_TOKEN= KITEBASE_ACCOUNT=${user_config.account}",
		"other variables":         "PATH=/bin HOME=/root",
		"values that follow":      "--transport stdio --ledger ledger.db --attempts 3 --call-deadline 20s --body-limit 512KiB",
		"values behind =":         "--transport=http --addr=127.0.0.1:0 --breaker-threshold=-1 --allowed-origins=https://a,https://b\\,c",
		"switches":                "--no-dedupe --hide-open-tools --repeat-guard=false --upstream-keys",
		"a flag and its variable": "--attempts=1 KITEBASE_ATTEMPTS=5 --tools read-only KITEBASE_TOOLS=get_ticket,search_help",
	} {
		t.Run(name, func(t *testing.T) {
			plain, whole, err := program.ReadPlainly(commandLine(line))
			require.NoError(t, err)
			require.NotNil(t, plain)
			require.Equal(t, whole, plain)
		})
	}
}

func TestNotPlainSettings(t *testing.T) {
	for name, line := range map[string]string{
		"a command":             "version",
		"serve twice":           "serve serve",
		"serve, not at first":   "--attempts=1 serve",
		"help":                  "--help",
		"an unknown flag":       "--attempt=1",
		"a flag without dashes": "attempts=1",
		"no without dashes":     "no-dedupe",
		"one dash":              "-attempts=1",
		"an end of the flags":   "-- --attempts=1",
		"twice":                 "--attempts=1 --attempts=2",
		"twice, negated":        "--dedupe --no-dedupe",
		"no value":              "--attempts",
		"an empty value":        "--token=",
		"a flag as a value":     "--token --attempts=1",
		"not negatable":         "--no-hide-open-tools",
		"a negated text":        "--no-token",
		"a negation with value": "--no-dedupe=false",
		"an unknown variable":   "KITEBASE_ATTEMPT=1",
		"a variable in dashes":  "KITEBASE_CALL-DEADLINE=20s",
		"a wrong value":         "--attempts=many",
		"a wrong variable":      "KITEBASE_CALL_DEADLINE=20",
		"a wrong word":          "--transport=pigeon",
		"an octal number":       "--attempts=010",
		"a loose truth":         "--dedupe=yes",
	} {
		t.Run(name, func(t *testing.T) {
			plain, _, _ := program.ReadPlainly(commandLine(line))
			require.Nil(t, plain)
		})
	}
}

// FuzzPlainSettings states: what is taken without kong, kong takes too, reads alike and says nothing of.
func FuzzPlainSettings(f *testing.F) {
	for _, line := range []string{
		"--transport=stdio KITEBASE_URL=http://127.0.0.1:1", "--tools a,,b\\,c, --no-dedupe", "--attempts=+1 --breaker-threshold=-1", "--token=-x",
		"--attempts=0x10 KITEBASE_TOOLS=,", "--tools=a,-b", "--tools a,-b", "serve", "serve --attempts=1 serve", "--no-no-dedupe", "no-dedupe", "dedupe", "---dedupe", "--=x", "--dedupe true", "--call-deadline=1h1ms", "--body-limit=1MiB",
		"KITEBASE_ATTEMPTS=1_0", "--log-level=info,warn", "--no-=x", "KITEBASE_=x", "--ledger=a --ledger b", "--token=\x00", "KITEBASE_NO_DEDUPE=true", "--no-",
	} {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, line string) {
		args, environ := commandLine(line)
		plain, whole, err := program.ReadPlainly(args, environ)
		if plain == nil || !utf8.ValidString(line) { // which is refused before
			return
		}
		require.NoError(t, err)
		require.Equal(t, whole, plain)
	})
}

// Kong would make other text of it: a ledger would be in another file than its setting says.
func TestSettingsAreUTF8(t *testing.T) {
	for name, test := range map[string]struct{ args, environ []string }{
		"argument 1 of the command line (--ledger)":   {[]string{"--ledger=a\xff"}, nil},
		"argument 3 of the command line (--token)":    {[]string{"serve", "--token", "\xc2"}, nil},
		"argument 1 of the command line":              {[]string{"\xff"}, nil},
		"a variable of the environment (--audit-log)": {nil, []string{"KITEBASE_AUDIT_LOG=\xff"}},
		"a variable of the environment":               {nil, []string{"KITEBASE_\xff=a"}},
	} {
		t.Run(name, func(t *testing.T) {
			_, code, err := program.Read(test.args, test.environ)
			require.EqualError(t, err, name+" is not valid UTF-8")
			require.Equal(t, 2, code)
		})
	}
}

// commandLine takes a line apart at its blanks, into flags and variables.
func commandLine(line string) (args, environ []string) {
	for _, word := range strings.Split(line, " ") {
		if name, _, ok := strings.Cut(word, "="); ok && name == strings.ToUpper(name) && !strings.HasPrefix(name, "-") {
			environ = append(environ, word)
		} else if word != "" {
			args = append(args, word)
		}
	}
	return args, environ
}
