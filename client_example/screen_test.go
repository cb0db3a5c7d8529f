package main

import (
	"bytes"
	"os"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/kitebase/kitebase-mcp/client_example/agent"
)

func TestScreenOfATerminalShowsTheTime(t *testing.T) {
	get, search := agent.ToolUse{Name: "get_ticket", Input: []byte("{}")}, agent.ToolUse{Name: "search_help", Input: []byte("{}")}
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		s := &screen{out: &out, live: true}
		print := (&transcript{screen: s}).write
		print(agent.Asking{Step: 1})
		time.Sleep(tick / 2) // too short to be shown
		print(agent.Calling{Step: 1, Use: get})
		print(agent.Calling{Step: 1, Use: search})
		time.Sleep(2*tick + tick/2)
		print(agent.Called{Step: 1, Use: get, Result: agent.Result{Text: "found"}})
		print(agent.Called{Step: 1, Use: search, Result: agent.Result{Text: "nothing"}})
		time.Sleep(time.Minute) // nothing is under way
		print(agent.Asking{Step: 2})
		time.Sleep(tick + tick/2)
		s.idle()
		s.idle()

		status, blank := "    … get_ticket, search_help 0.", "\r"+strings.Repeat(" ", 34)+"\r"
		require.Equal(t, "[1] get_ticket {}\n[1] search_help {}\n"+
			status+"1s"+blank+status+"2s"+blank+
			"    -> found\n    -> nothing\n"+
			"    … thinking 0.1s\r                   \r", out.String())
	})
}

func TestLinesGoAboveTheTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		s := &screen{out: &out, live: true}
		s.busy("get")
		time.Sleep(tick + tick/2)
		_, err := s.Write([]byte("attempt 1\n"))
		require.NoError(t, err)
		time.Sleep(tick)
		s.idle()
		require.Equal(t, "    … get 0.1s\r              \rattempt 1\n    … get 0.2s\r              \r", out.String())
	})
}

func TestScreenElsewhereIsPlain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		s := newScreen(&out, []string{"TERM=xterm"})
		s.busy("get_ticket")
		time.Sleep(time.Minute)
		_, err := s.Write([]byte(s.paint(red, "a line\n")))
		require.NoError(t, err)
		s.idle()
		require.Equal(t, "a line\n", out.String())
	})
}

func TestScreenKnowsATerminal(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("takes the master of a Linux pseudo-terminal for a terminal")
	}
	terminal, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Skip("there are no pseudo-terminals here: ", err)
	}
	defer terminal.Close()
	file, err := os.CreateTemp(t.TempDir(), "")
	require.NoError(t, err)
	defer file.Close()
	for name, test := range map[string]struct {
		out         *os.File
		env         []string
		live, color bool
	}{
		"a terminal":               {terminal, []string{"TERM=xterm"}, true, true},
		"a terminal without color": {terminal, []string{"TERM=xterm", "NO_COLOR=1"}, true, false},
		"an empty NO_COLOR":        {terminal, []string{"NO_COLOR="}, true, true},
		"a dumb terminal":          {terminal, []string{"TERM=dumb"}, false, false},
		"a file":                   {file, []string{"TERM=xterm"}, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScreen(test.out, test.env)
			require.Equal(t, test.live, s.live)
			require.Equal(t, test.color, s.color)
			require.Equal(t, test.color, s.paint(red, "x") != "x")
		})
	}
}
