package lab

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/kitebase/kitebase-mcp/fakeapi"
)

// scene is one case while it runs: a fresh Kitebase, a fresh state directory, and the server that comes and goes. Its
// methods are safe for concurrent use, but for those that start or end the server.
type scene struct {
	ctx      context.Context
	config   Config
	kitebase *fakeapi.Server
	token    string
	state    string
	server   *child
	tools    []string // of the server
	stray    stray    // of all its processes
	failed   bool     // a start; then there is no other one
	began    time.Time

	mu        sync.Mutex
	slowest   time.Duration // that Kitebase was told to take for a request
	calls     []*Call
	events    []Event
	lastWords []string
}

// newScene prepares Kitebase and starts the server. The caller closes it.
func newScene(ctx context.Context, config Config, keyless bool) (*scene, error) {
	s := &scene{ctx: ctx, config: config, token: "lab-token-7f3a9c1e"}
	var err error
	if s.state, err = os.MkdirTemp("", "kitebase-lab-"); err != nil {
		return nil, fmt.Errorf("a state directory for the server: %w", err)
	}
	s.kitebase, err = fakeapi.Start("127.0.0.1:0", fakeapi.Config{Token: s.token, IgnoreKeys: keyless})
	if err == nil {
		if failed := s.start(); failed != nil {
			err = failed
		}
	}
	if err != nil {
		s.close()
		return nil, err
	}
	s.began = time.Now()
	return s, nil
}

func (s *scene) close() {
	if s.server != nil {
		s.server.kill()
	}
	if s.kitebase != nil {
		s.kitebase.Close()
	}
	_ = os.RemoveAll(s.state) // what cannot be removed is left to the system
}

// start starts the server. It fails for good: nobody tries it again.
func (s *scene) start() *startError {
	c, err := startChild(s.command(), s.environment(), &s.stray)
	if err != nil {
		s.failed = true
		return &startError{err: err}
	}
	s.server = c
	ctx, cancel := context.WithTimeoutCause(s.ctx, s.config.StartLimit, fmt.Errorf("no answer within %s", s.config.StartLimit))
	defer cancel()
	if s.tools, err = c.greet(ctx); err != nil {
		s.failed = true
		c.kill()
		return &startError{err: err, status: c.cmd.ProcessState.String(), lastWords: c.stderr.lines(), stray: s.stray.says()}
	}
	return nil
}

func (s *scene) command() []string {
	filled := slices.Clone(s.config.Command)
	replacer := strings.NewReplacer("{url}", s.kitebase.URL(), "{token}", s.token, "{state}", s.state)
	for i := range filled {
		filled[i] = replacer.Replace(filled[i])
	}
	return filled
}

func (s *scene) environment() []string {
	var env []string
	for _, pair := range s.config.Env {
		if !strings.HasPrefix(pair, "KITEBASE_") {
			env = append(env, pair)
		}
	}
	return append(env, "KITEBASE_URL="+s.kitebase.URL(), "KITEBASE_TOKEN="+s.token, "XDG_STATE_HOME="+s.state)
}

// since returns the milliseconds since the first call could be made.
func (s *scene) since(at time.Time) float64 {
	return max(0, float64(at.Sub(s.began).Microseconds())/1000)
}

func (s *scene) happened(format string, values ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.events = append(s.events, Event{s.since(time.Now()), fmt.Sprintf(format, values...)})
}

// quiet is how long Kitebase must have heard nothing before a case is over, quietLimit how long that is waited for.
const (
	quiet      = 300 * time.Millisecond
	quietLimit = 10 * time.Second
)

// finish lets the server and Kitebase come to rest, ends the server, and returns what is true then.
func (s *scene) finish() truth {
	s.kitebase.ClearFaults()
	for until := time.Now().Add(quietLimit); time.Now().Before(until); {
		n := len(s.kitebase.Requests())
		s.pause(quiet)
		if s.ctx.Err() != nil || n == len(s.kitebase.Requests()) {
			break
		}
	}
	s.pause(time.Until(s.workedThrough()))
	s.mourn()
	s.server.end(s.ctx)
	is := truth{began: s.began, emails: s.kitebase.Outbox(), token: s.token, stray: s.stray.says(), assignees: make(map[string]string)}
	for _, call := range s.calls {
		if call.change.assignee != "" {
			is.assignees[call.change.ticket] = s.assignee(call.change.ticket)
		}
	}
	return is
}

// workedThrough returns when Kitebase is done with the last request that it is slow with.
func (s *scene) workedThrough() time.Time {
	var last time.Time
	for _, r := range s.kitebase.Requests() {
		if r.Fault == fakeapi.FaultSlow {
			last = r.At.Add(s.slowest + quiet)
		}
	}
	return last
}

// mourn keeps the last words of a server that has died by itself.
func (s *scene) mourn() {
	if s.server.dead() && s.lastWords == nil && !s.failed {
		s.lastWords = append([]string{"the server ended by itself: " + s.server.cmd.ProcessState.String()}, s.server.stderr.lines()...)
		s.happened("the server ended by itself (%s)", s.server.cmd.ProcessState)
	}
}
