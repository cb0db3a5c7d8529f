package main_test

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"os/exec"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

const (
	// chaosWatchdog is the watchdog of the processes of a long run.
	chaosWatchdog = 8 * time.Minute
	// chaosDeadline is the deadline of a call.
	chaosDeadline = 4 * time.Second
)

// mortal is a server that dies and is started again. Its calls are for any goroutine, the rest for the one that owns it.
type mortal struct {
	t      *testing.T
	chaos  *chaos
	number int

	mu   sync.Mutex
	life *life
}

// life is one process of a mortal.
type life struct {
	cmd    *exec.Cmd
	stdin  io.WriteCloser
	stderr bytes.Buffer  // to be read after dead
	dead   chan struct{} // closed when its stdout has ended

	mu     sync.Mutex
	lastID int
	waits  map[string]chan answer
	broken []string // lines that are no answer
}

func newMortal(t *testing.T, c *chaos, number int) *mortal {
	m := &mortal{t: t, chaos: c, number: number}
	m.start(c.dice(200 + uint64(number)))
	return m
}

// start begins a life, with one of the settings that people have.
func (m *mortal) start(dice *rand.Rand) {
	m.chaos.note("start server %d", m.number)
	l := &life{dead: make(chan struct{}), waits: map[string]chan answer{}}
	l.cmd = start{within: chaosWatchdog, args: []string{
		"--url", m.chaos.desk.url, "--ledger", m.chaos.ledger, fmt.Sprintf("--upstream-keys=%t", m.chaos.keys),
		"--settle-after", settleHorizon.String(), "--attempt-timeout=500ms", "--call-deadline", chaosDeadline.String(),
		fmt.Sprintf("--attempts=%d", 1+dice.IntN(3)), "--breaker-cooldown=500ms", "--retry-budget=-1", "--repeat-guard=false",
	}}.command(m.t)
	l.cmd.Stderr = &l.stderr
	var err error
	l.stdin, err = l.cmd.StdinPipe()
	assert.NoError(m.t, err)
	stdout, err := l.cmd.StdoutPipe()
	assert.NoError(m.t, err)
	if !assert.NoError(m.t, l.cmd.Start()) {
		close(l.dead)
	} else {
		go l.read(stdout)
	}
	m.mu.Lock()
	m.life = l
	m.mu.Unlock()
}

func (l *life) read(stdout io.Reader) {
	defer close(l.dead)
	lines := bufio.NewReader(stdout)
	for {
		line, err := lines.ReadString('\n')
		if err != nil {
			return // what a killed process has half written is nothing
		}
		a := readAnswer(line)
		l.mu.Lock()
		wait := l.waits[string(a.ID)]
		delete(l.waits, string(a.ID))
		if a.broken != "" || wait == nil && len(a.ID) > 0 { // a second answer is as bad as no JSON-RPC
			l.broken = append(l.broken, line)
		}
		l.mu.Unlock()
		if wait != nil {
			wait <- a
		}
	}
}

// call makes a reply and waits for its answer, or for the death of the server.
func (m *mortal) call(ticket, text string) (a answer, answered bool) {
	m.mu.Lock()
	l := m.life
	m.mu.Unlock()
	wait := make(chan answer, 1)
	l.mu.Lock()
	l.lastID++
	l.waits[fmt.Sprint(l.lastID)] = wait
	_, err := fmt.Fprintf(l.stdin, `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"reply_to_customer","arguments":%s}}`+"\n",
		l.lastID, replyTo(ticket, text))
	l.mu.Unlock()
	if err != nil {
		<-l.dead
		return answer{}, false
	}
	select {
	case a := <-wait:
		return a, true
	case <-l.dead:
	}
	select {
	case a := <-wait: // it was the last word
		return a, true
	default:
		return answer{}, false
	}
}

func (m *mortal) signal(s syscall.Signal) { _ = m.life.cmd.Process.Signal(s) } // an error says that it is dead already

// kill ends the process as kill -9 does.
func (m *mortal) kill() {
	m.chaos.note("kill server %d", m.number)
	m.signal(syscall.SIGKILL)
	<-m.life.dead
	_ = m.life.cmd.Wait() // it was killed
	m.requireSound()
}

// end closes the input and waits for a good end.
func (m *mortal) end() {
	_ = m.life.stdin.Close() // fails only when the process is gone, which the exit code tells better
	<-m.life.dead
	assert.NoError(m.t, m.life.cmd.Wait(), "server %d:\n%s", m.number, m.life.stderr.String())
	assert.Empty(m.t, m.life.waits, "calls without an answer at the end of the input")
	m.requireSound()
}

// requireSound shows that the process did nothing on its way that no process may do.
func (m *mortal) requireSound() {
	assert.Empty(m.t, m.life.broken, "lines on stdout that answer nothing")
	assert.NotRegexp(m.t, `(?m)^(panic:|fatal error:|WARNING: DATA RACE)`, m.life.stderr.String())
}
