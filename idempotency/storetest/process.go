package storetest

import (
	"bufio"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/kitebase/kitebase-mcp/idempotency"
)

// long asks for the long form of the tests with processes.
var long = flag.Bool("long", false, "run the process tests for 100 rounds")

const (
	processes = 8
	shared    = 20  // keys that all processes want
	own       = 100 // keys of each process alone
)

// process is a child of the test.
type process struct {
	t     testing.TB
	cmd   *exec.Cmd
	in    io.WriteCloser
	lines *bufio.Scanner
}

func start(t testing.TB) *process {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), childVariable+"=1")
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	require.NoError(t, err)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() { _ = cmd.Process.Kill() }) // of a test that failed; otherwise it has ended
	return &process{t, cmd, in, bufio.NewScanner(out)}
}

func (p *process) tell(command, name, address string) {
	p.t.Helper()
	_, err := fmt.Fprintln(p.in, command, name, address)
	require.NoError(p.t, err)
}

func (p *process) answer() string {
	p.t.Helper()
	require.True(p.t, p.lines.Scan(), "a child process ended without an answer: %v", p.lines.Err())
	return p.lines.Text()
}

func (p *process) end() {
	p.t.Helper()
	require.NoError(p.t, p.in.Close())
	require.NoError(p.t, p.cmd.Wait())
}

func team(t *testing.T) []*process {
	all := make([]*process, processes)
	for i := range all {
		all[i] = start(t)
	}
	return all
}

func (m medium) freshRace(t *testing.T) {
	rounds := 3
	if *long {
		rounds = 100
	}
	all := team(t)
	for range rounds {
		address := m.fresh(t)
		for _, p := range all {
			p.tell("claim", "a", address)
		}
		winners := 0
		for _, p := range all {
			answer := p.answer()
			require.NotContains(t, answer, "error")
			if answer == "won" {
				winners++
			}
		}
		require.Equal(t, 1, winners)
	}
	for _, p := range all {
		p.end()
	}
}

func (m medium) hardWork(t *testing.T) {
	address := m.fresh(t)
	all := team(t)
	for i, p := range all {
		p.tell("work", fmt.Sprint("child", i), address)
	}
	total := 0
	for _, p := range all {
		answer, won := p.answer(), 0
		_, err := fmt.Sscanf(answer, "won %d", &won)
		require.NoError(t, err, answer)
		total += won
		p.end()
	}
	require.Equal(t, processes*own+shared, total)
	found := find(t, m.at(t, address), idempotency.Query{States: []idempotency.State{idempotency.Finished}, Limit: 2 * total})
	require.Len(t, found, total)
}

func (m medium) killedOwner(t *testing.T) {
	address := m.fresh(t)
	store, p := m.at(t, address), start(t)
	p.tell("hold", "a", address)
	owner, ok := strings.CutPrefix(p.answer(), "holds as ")
	require.True(t, ok)
	alive, err := store.Alive(t.Context(), owner)
	require.NoError(t, err)
	require.True(t, alive)

	require.NoError(t, p.cmd.Process.Kill())
	killed := time.Now()
	require.Error(t, p.cmd.Wait())
	m.dies(t, store, owner)
	t.Logf("taken for dead after %v", time.Since(killed).Round(time.Microsecond))
	found := find(t, store, idempotency.Query{Fingerprint: "a"})
	require.Len(t, found, 1)
	require.Equal(t, idempotency.Claimed, found[0].State)
	require.Equal(t, owner, found[0].Owner)
}

// killedWriters kills processes in the middle of whatever they are doing. What they said to be written is there, and the
// store goes on.
func (m medium) killedWriters(t *testing.T) {
	address := m.fresh(t)
	var said []string
	for round := range 3 {
		var all []*process
		for i := range 2 {
			p := start(t)
			p.tell("stream", fmt.Sprintf("child%d-%d", round, i), address)
			all = append(all, p)
		}
		for range 20 {
			for _, p := range all {
				answer := p.answer()
				require.NotContains(t, answer, "error")
				said = append(said, answer)
			}
		}
		for _, p := range all {
			require.NoError(t, p.cmd.Process.Kill())
			require.Error(t, p.cmd.Wait())
		}
	}
	store := m.at(t, address)
	found := find(t, store, idempotency.Query{Limit: 1 << 20})
	var done []string
	for _, r := range found {
		if r.State == idempotency.Finished {
			done = append(done, r.Fingerprint)
		}
	}
	require.Subset(t, done, said)
	mustPut(t, store, record("after"), 0)
}
