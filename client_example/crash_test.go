//go:build unix

package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"flag"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

var long = flag.Bool("long", false, "let the program die in all ways, not only in one at each write")

// journalWrites is how many lines the journal of a whole run has: who, two for each of four turns and three calls, how it ended,
// and that it was told.
const journalWrites = 1 + 2*(4+3) + 2

// replyEnds is the write that a process is at when the reply has been sent and it is not yet written that it was.
const replyEnds = 13

const crashEnding = "DONE (end_turn) after 4 step(s)\n"

// TestRunSurvivesACrash kills the program, alone or together with its server, at each write to its journal, and has another
// process go on. The help desk and the ledger outlive both. Whatever the moment, the customer gets one email, a person is told
// once, and what the Messages API is sent is a valid conversation.
func TestRunSurvivesACrash(t *testing.T) {
	i := 0
	for write := 1; write <= journalWrites; write++ {
		for _, moment := range []string{"before", "half", "after"} {
			for _, who := range []string{"client", "group"} {
				for _, desk := range crashDesks {
					if i++; !*long && i%18 != (7*write)%18 && (write != replyEnds || moment != "half") {
						continue
					}
					d := death{write, moment, who}
					t.Run(d.String()+" "+desk.name, func(t *testing.T) {
						t.Parallel()
						crash(t, d, desk)
					})
				}
			}
		}
	}
}

func crash(t *testing.T, d death, desk crashDesk) {
	scene := newCrashScene(t, desk)
	first := scene.run(t, os.Args[0], "-journal", deathVariable+"="+d.String())
	status, ok := first.state.Sys().(syscall.WaitStatus)
	require.True(t, ok)
	require.Equal(t, syscall.SIGKILL, status.Signal(), "%s", first.stderr)

	second := scene.run(t, program, "-resume")
	told, want := strings.Count(first.stdout+second.stdout, crashEnding), 1
	switch {
	case d.write == journalWrites && d.moment == "after":
		require.Equal(t, 1, second.state.ExitCode())
		require.Contains(t, second.stderr, "has ended, and that has been told")
	case d.write == journalWrites:
		want = 2 // it cannot be known that it was told, and twice is better than never
		fallthrough
	default:
		require.Equal(t, 0, second.state.ExitCode(), "%s", second.stderr)
	}
	require.Equal(t, want, told, "the first said:\n%s\nthe second said:\n%s", first.stdout, second.stdout)
	require.Len(t, scene.emails(t), 1)
	require.NotContains(t, scene.text(t), secret)
	third := scene.run(t, program, "-resume")
	require.Contains(t, third.stderr, "has ended, and that has been told", "what the dead process left must not spoil what came after")
}

// TestCrashScene: without a crash the journal has just the lines that the sweep goes through.
func TestCrashScene(t *testing.T) {
	scene := newCrashScene(t, crashDesks[0])
	whole := scene.run(t, program, "-journal")
	require.Equal(t, 0, whole.state.ExitCode(), "%s", whole.stderr)
	require.Equal(t, 1, strings.Count(whole.stdout, crashEnding))
	lines := strings.Split(strings.TrimSpace(scene.text(t)), "\n")
	require.Len(t, lines, journalWrites)
	require.Regexp(t, `^{"end":.*"name":"reply_to_customer".*"result":`, lines[replyEnds-1])
	require.Len(t, scene.emails(t), 1)
}

// crashDesk is a help desk with or without faults, and the server that fits it.
type crashDesk struct {
	name         string
	desk, server []string // flags
}

var crashDesks = []crashDesk{
	{name: "happy"},
	{name: "duplicate", desk: []string{"--fault", "reply_to_customer=lose:1"}},
	// It sends whatever it is told, as often as it is told: that nothing is sent twice is the ledger's doing alone.
	{name: "keyless", desk: []string{"--keys=false"}, server: []string{"--upstream-keys=false"}},
}

// crashScene is what outlives the program: a help desk, a ledger, a journal and a model.
type crashScene struct {
	desk, journal string // URL, path
	server        string // command
	env           []string
}

func newCrashScene(t *testing.T, kind crashDesk) *crashScene {
	dir := t.TempDir()
	fake := exec.Command(server, append([]string{"fake", "--addr", "127.0.0.1:0", "--data", filepath.Join(dir, "desk.json")}, kind.desk...)...)
	out, err := fake.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, fake.Start())
	t.Cleanup(func() {
		_ = fake.Process.Kill()
		_ = fake.Wait() // it was killed
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	require.NoError(t, err)
	desk := strings.TrimSpace(strings.TrimPrefix(line, "fake Kitebase at "))
	command := []string{server, "--url", desk, "--ledger", filepath.Join(dir, "ledger.db"), "--attempt-timeout", "2s"}
	api := newMessagesAPI(t, actor())
	return &crashScene{
		desk:    desk,
		journal: filepath.Join(dir, "run.journal"),
		server:  strings.Join(append(command, kind.server...), " "),
		env:     append(api.env(), "HOME="+dir),
	}
}

// actor is a model that knows by the conversation alone where it is, as one does that another process asks.
func actor() http.HandlerFunc {
	turns := []http.HandlerFunc{
		turned("tool_use", thought, useBlock("toolu_1", "get_ticket", `{"ticket_id": "KITE-142"}`)),
		turned("tool_use", useBlock("toolu_2", "search_help", `{"query": "locked out"}`)),
		turned("tool_use", textBlock("I reply."), useBlock("toolu_3", "reply_to_customer", `{"ticket_id": "KITE-142", "message": "Sign in <once> more."}`)),
		turned("end_turn", textBlock("I answered.")),
	}
	return func(w http.ResponseWriter, r *http.Request) {
		request, _ := r.Context().Value(requestKey{}).(messagesRequest)
		turns[len(request.Messages)/2](w, r)
	}
}

// ended is a process that is over.
type ended struct {
	stdout, stderr string
	state          *os.ProcessState
}

func (s *crashScene) run(t *testing.T, path, journalFlag string, more ...string) ended {
	t.Helper()
	var stdout, stderr bytes.Buffer
	cmd := exec.Command(path, "-live", "-server", s.server, journalFlag, s.journal)
	cmd.Env = append(more, s.env...)
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // a group that can die without this process
	_ = cmd.Run()                                         // how it ended is in its state
	return ended{stdout.String(), stderr.String(), cmd.ProcessState}
}

func (s *crashScene) emails(t *testing.T) []any {
	t.Helper()
	answer, err := http.Get(s.desk + "/_outbox")
	require.NoError(t, err)
	defer answer.Body.Close()
	var outbox struct{ Emails []any }
	require.NoError(t, json.NewDecoder(answer.Body).Decode(&outbox))
	return outbox.Emails
}

func (s *crashScene) text(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(s.journal)
	require.NoError(t, err)
	return string(text)
}
