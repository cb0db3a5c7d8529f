package main_test

import (
	"math/rand/v2"
	"syscall"
	"time"
)

// harm kills some servers and stops them for less than their lease, in the long form also for more than the horizon.
func (c *chaos) harm(dice *rand.Rand, servers []*mortal) {
	longest := 1500 * time.Millisecond
	if *long {
		longest = 2 * settleHorizon
	}
	for c.lasts(upTo(dice, 800*time.Millisecond)) {
		server := servers[dice.IntN(len(servers))]
		if dice.IntN(2) == 0 {
			server.kill()
			c.lasts(upTo(dice, 300*time.Millisecond))
			server.start(dice)
			continue
		}
		server.stop(func() { c.lasts(upTo(dice, longest)) })
	}
}

// sleep stops a server for longer than its lease, as a laptop does that is closed.
func (c *chaos) sleep(dice *rand.Rand, server *mortal) {
	if !*long || !c.keys || !c.lasts(time.Second+upTo(dice, time.Second)) {
		return
	}
	const lease = time.Minute
	server.stop(func() { c.lasts(lease + 5*time.Second) })
}

// breakDesk kills Kitebase and starts it again where it was.
func (c *chaos) breakDesk(dice *rand.Rand) {
	for c.lasts(300*time.Millisecond + upTo(dice, 2*time.Second)) {
		c.desk.kill()
		c.lasts(upTo(dice, 500*time.Millisecond))
		c.desk.start()
	}
}

// chaosFaults are what goes wrong at Kitebase, without what it takes a person to mend.
func chaosFaults() []string {
	return []string{
		`"fault":"drop"`, `"fault":"lose"`, `"fault":"lose"`, `"fault":"hang"`, `"fault":"garble"`, `"fault":"truncate"`,
		`"fault":"stall"`, `"fault":"fail_after_commit"`, `"fault":"slow","delay":"300ms"`, `"fault":"slow","delay":"700ms"`,
		`"fault":"status","status":503`, `"fault":"status","status":500`, `"fault":"status","status":502`,
		`"fault":"status","status":429,"retry_after":"1"`,
	}
}

// disturb switches faults on and off at Kitebase.
func (c *chaos) disturb(dice *rand.Rand) {
	faults := chaosFaults()
	for c.lasts(upTo(dice, 400*time.Millisecond)) {
		operation := []string{"reply_to_customer", "reply_to_customer", "get_ticket", "*"}[dice.IntN(4)]
		c.desk.fault(operation, faults[dice.IntN(len(faults))], 0.2+0.6*dice.Float64(), dice.Uint64())
		if dice.IntN(3) == 0 {
			c.desk.clear()
		}
	}
}

// fillDisk takes the last byte from the ledger for a while; with keys not before half of the replies.
func (c *chaos) fillDisk(dice *rand.Rand) {
	for c.fill != nil && c.lasts(300*time.Millisecond+upTo(dice, 3*time.Second)) {
		if c.keys && !c.halfDone() {
			continue
		}
		if c.full.IsZero() {
			c.full = time.Now()
		}
		c.note("disk full")
		c.fill()
		c.lasts(upTo(dice, time.Second))
		c.free()
		c.note("disk free")
	}
}

func (c *chaos) halfDone() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.wants) > c.replies/2
}

// stop keeps the process from running until f returns.
func (m *mortal) stop(f func()) {
	m.chaos.note("stop server %d", m.number)
	m.signal(syscall.SIGSTOP)
	f()
	m.signal(syscall.SIGCONT)
	m.chaos.note("continue server %d", m.number)
}
