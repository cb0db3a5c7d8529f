package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestLiveCommandLine(t *testing.T) {
	for name, test := range map[string]struct {
		args []string
		err  string
	}{
		"no key":                  {[]string{"-live"}, "-live needs ANTHROPIC_API_KEY in the environment"},
		"a script's scenario":     {[]string{"-live", "loop"}, "scenario loop is about what a script does; with -live only those run in which tools break"},
		"a ticket for the script": {[]string{"-ticket", "KITE-101"}, "-ticket needs -live: the script knows KITE-142 alone"},
		"not a ticket":            {[]string{"-live", "-ticket", "142"}, "-ticket takes an id such as KITE-142"},
		"a model for the script":  {[]string{"-model", "claude-sonnet-5-5"}, "-model needs -live"},
		"two servers":             {[]string{"-server", "a b", "-mcp-url", "http://127.0.0.1/mcp"}, "-server and -mcp-url cannot be combined"},
		"a password in the URL":   {[]string{"-mcp-url", "http://me:" + secret + "@127.0.0.1/mcp"}, "-mcp-url takes an address such as http://127.0.0.1:8090/mcp, without a password in it"},
		"faults elsewhere":        {[]string{"-mcp-url", "http://127.0.0.1/mcp", "flaky"}, "scenario flaky breaks a help desk or a server of its own; with another server only those run in which it does not, such as happy"},
		"a journal at home":       {[]string{"-journal", "x"}, "a journal needs a server that outlives this program, or a help desk that does: see -mcp-url, and -server with arguments"},
		"a journal of two":        {[]string{"-journal", "x", "happy", "loop"}, "a journal is of one run; name one scenario"},
		"two journals":            {[]string{"-journal", "x", "-resume", "y"}, "-journal begins a run and -resume goes on with one; give one of the two"},
	} {
		t.Run(name, func(t *testing.T) {
			var stdout, stderr bytes.Buffer
			err := run(t.Context(), test.args, nil, strings.NewReader(""), &stdout, &stderr)
			require.EqualError(t, err, test.err)
			require.Equal(t, 2, exitCode(err))
			require.Empty(t, stdout.String())
		})
	}
}
