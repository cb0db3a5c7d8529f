package fakeapi

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
)

// Config says how the fake behaves. The zero value is a help desk in memory that honours Idempotency-Key and lets
// everyone in.
type Config struct {
	// IgnoreKeys makes the fake ignore Idempotency-Key, as a help desk does that never heard of it: every reply is
	// sent, and no message carries a key. Default false.
	IgnoreKeys bool
	// Token is the bearer token that the five operations ask for; any other gets 401. The control endpoints never
	// ask. Default "": no token is needed and any is accepted.
	Token string
	// DataFile keeps replies, customer messages and assignments across restarts. It is rewritten whole at each change,
	// before the answer goes out. One process at a time. Default "": nothing is kept.
	DataFile string
	// KeepRequests is how many of the latest requests Requests remembers; -1 keeps all. Default 200000.
	KeepRequests int
}

// Validate says which field is wrong and what it takes.
func (c Config) Validate() error {
	if c.KeepRequests < -1 {
		return fmt.Errorf("fakeapi: KeepRequests is %d; it takes a number of requests, 0 for the default, or -1 to keep all", c.KeepRequests)
	}
	if strings.ContainsAny(c.Token, "\r\n") {
		return errors.New("fakeapi: Token holds a line break; it takes one line")
	}
	return nil
}

func (c Config) withDefaults() Config {
	c.KeepRequests = cmp.Or(c.KeepRequests, 200_000)
	return c
}

// Fake is the help desk: an http.Handler for any server and listener. All methods are safe for concurrent use.
// Inside a synctest bubble, create it there.
type Fake struct {
	cfg     Config
	agents  map[string]bool
	search  *searchIndex
	closing chan struct{}
	closed  sync.Once

	mu       sync.Mutex // guards everything below, and makes each piece of work one step
	tickets  map[string]*ticket
	outbox   []Email
	sent     map[string]int   // Idempotency-Key to the index of its email in outbox
	running  map[string]*call // Idempotency-Key to the slow call that will commit it
	faults   map[string]*faultRule
	requests []*Request
	arrived  int
}

// New returns a fake with the seed data and, when DataFile exists, the changes kept there. It fails when the file
// cannot be read or is not one of ours, and leaves such a file untouched.
func New(cfg Config) (*Fake, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	seeds, err := loadSeeds()
	if err != nil {
		return nil, err
	}
	f := &Fake{
		cfg:     cfg.withDefaults(),
		agents:  seeds.agents,
		search:  seeds.search,
		closing: make(chan struct{}),
		tickets: seeds.freshTickets(),
		sent:    make(map[string]int),
		running: make(map[string]*call),
		faults:  make(map[string]*faultRule),
	}
	if err := f.load(); err != nil {
		return nil, err
	}
	return f, nil
}

// Close lets go of every request that a fault holds back: they end without an answer. The fake takes further requests,
// but holds none. Close may be called more than once.
func (f *Fake) Close() {
	f.closed.Do(func() { close(f.closing) })
}

// ServeHTTP answers the five operations of Kitebase and, under paths that begin with /_, the controls of the fake.
func (f *Fake) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if strings.HasPrefix(r.URL.Path, "/_") {
		f.serveControl(w, r)
		return
	}
	f.serveOperation(w, r)
}
