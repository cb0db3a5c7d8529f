package main_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

var chaosSeed = flag.Uint64("chaos-seed", 0, "the seed of TestChaos; 0 takes a new one")

// chaos is several servers on one ledger and one Kitebase, all of them processes, what befalls them at random, and agents who
// want their replies sent all the same.
//
//	agents ── calls, repeats ──▶ servers ── requests ──▶ Kitebase
//	                             kill -9, SIGSTOP        kill -9, faults
//	                                │
//	                             ledger: its disk is full at times
//
// The seed fixes what is done to whom in which order. Processes are not simulated, so that a seed does not fix what comes of it.
type chaos struct {
	seed    uint64
	keys    bool
	replies int
	agents  int

	desk    *deskProcess
	servers []*mortal
	ledger  string
	fill    func() // nil if the disk cannot be filled
	free    func()

	over    chan struct{} // closed when the agents are content
	mu      sync.Mutex
	told    []told
	wants   []*want
	history []event
	full    time.Time // when the disk was full for the first time
}

// event is something that happened.
type event struct {
	at   time.Time
	text string
}

// settleHorizon is longer than the fake ever works on a reply, see chaosFaults, also on a busy machine.
const settleHorizon = 2 * time.Second

// TestChaos has agents send replies while servers and Kitebase are killed, stopped and started, answers get lost and the disk is
// full, and holds what they were told against what the customers got: one email for each reply, nothing told as sent that was
// not, nothing told as not done that was, and at the end nothing unknown.
//
// Without keys a server is stopped for less than its lease: one that is stopped for longer in the wrong instant may send what
// another one has sent meanwhile, see docs/dedupe.md. The shortest lease is a minute, so that only the long form has such a stop.
//
// With keys a server whose disk is full sends all the same and keeps the record to itself, for a while also afterwards. Another one
// that then says that it did not send speaks of its own call. The disk is therefore full only in the second half, and what was sent
// from then on is not held against those who cannot know it. Without keys nothing is sent then; a server that cannot use the ledger
// says that it does not know what was sent before.
func TestChaos(t *testing.T) {
	t.Parallel()
	eachUpstream(t, func(t *testing.T, keys bool) {
		c := newChaos(t, keys)
		t.Logf("for the same once more: go test -v ./cmd/kitebase-mcp -run '%s' -args -chaos-seed %d -long=%t", t.Name(), c.seed, *long)
		c.run(t)
		c.requireTruth(t)
	})
}

func newChaos(t *testing.T, keys bool) *chaos {
	t.Helper()
	c := &chaos{seed: *chaosSeed, keys: keys, replies: 36, agents: 9, over: make(chan struct{})}
	if c.seed == 0 {
		c.seed = rand.Uint64()
	}
	if *long {
		c.replies, c.agents = 500, 25 // with keys, and as many without
	}
	dir, fill, free, err := mountDisk(t, "32m")
	if err != nil {
		t.Logf("the disk is never full: mounting a small file system takes root: %v", err)
	}
	c.ledger, c.fill, c.free = filepath.Join(dir, "ledger.db"), fill, free
	c.desk = startDesk(t, c)
	for n := range 4 {
		c.servers = append(c.servers, newMortal(t, c, n))
	}
	return c
}

// dice returns a source of chance of its own for one of those who act at the same time.
func (c *chaos) dice(who uint64) *rand.Rand { return rand.New(rand.NewPCG(c.seed, who)) }

// run lets everything loose until each agent is content, then ends the servers as a host does.
func (c *chaos) run(t *testing.T) {
	t.Helper()
	var troubles, agents sync.WaitGroup
	last := len(c.servers) - 1
	for who, trouble := range []func(*rand.Rand){
		func(dice *rand.Rand) { c.harm(dice, c.servers[:last/2]) },
		func(dice *rand.Rand) { c.harm(dice, c.servers[last/2:last]) },
		func(dice *rand.Rand) { c.sleep(dice, c.servers[last]) },
		c.breakDesk, c.disturb, c.fillDisk,
	} {
		troubles.Go(func() { trouble(c.dice(uint64(who))) })
	}
	for n := range c.agents {
		agents.Go(func() { c.agent(c.dice(100+uint64(n)), n) })
	}
	agents.Wait()
	close(c.over)
	troubles.Wait()
	for _, server := range c.servers {
		server.end()
	}
	counts := map[string]int{}
	for _, e := range c.history {
		counts[strings.Join(strings.Fields(e.text)[:2], " ")]++
	}
	t.Logf("%d calls for %d replies; %v", len(c.told), len(c.wants), counts)
}

// note writes down what was done, for whoever has to find out why a run failed.
func (c *chaos) note(format string, args ...any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.history = append(c.history, event{time.Now(), fmt.Sprintf(format, args...)})
}

// lasts waits, and reports whether the chaos still goes on.
func (c *chaos) lasts(d time.Duration) bool {
	select {
	case <-c.over:
		return false
	case <-time.After(d):
		return true
	}
}

// upTo returns a time from nothing to most, more often a short one.
func upTo(dice *rand.Rand, most time.Duration) time.Duration {
	share := dice.Float64()
	return time.Duration(share * share * float64(most))
}

// settled waits until nothing in the ledger is unknown, by the command for that, and returns the records.
func (c *chaos) settled(t *testing.T) []entry {
	t.Helper()
	s := &scene{ledger: c.ledger, keys: c.keys}
	for range 100 { // each takes as long as a process takes to start
		settled := s.command(t, "settle", "--url", c.desk.url, "--settle-after", settleHorizon.String())
		if !assert.Zero(t, settled.code, settled.stderr) {
			return nil // the rest is still worth checking
		}
		if len(s.list(t, "--state=claimed,unknown")) == 0 {
			return s.list(t)
		}
		pause(100 * time.Millisecond)
	}
	assert.Fail(t, "unknown for ever", "%+v", s.list(t, "--state=claimed,unknown"))
	return nil
}
