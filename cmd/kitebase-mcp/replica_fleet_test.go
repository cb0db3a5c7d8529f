package main_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// fleet is one Kitebase, one ledger in PostgreSQL, and replicas of the server behind a balancer.
type fleet struct {
	*scene
	gate     *gate
	replicas []*site
	balancer *balancer
	front    *site // the balancer, as clients see it; no process of its own
}

// newFleet starts n replicas. Their calls may take as long as a test needs.
func newFleet(t *testing.T, n int, keys bool, extra ...string) *fleet {
	t.Helper()
	return newFleetOn(t, freshPostgres(t), n, keys, extra...)
}

// newFleetOn is newFleet on some ledger.
func newFleetOn(t *testing.T, ledger string, n int, keys bool, extra ...string) *fleet {
	t.Helper()
	s, g := newGatedScene(t, keys)
	s.ledger = ledger
	f := &fleet{scene: s, gate: g, balancer: new(balancer)}
	for range n {
		f.add(t, s.ledger, extra...)
	}
	server := httptest.NewServer(f.balancer)
	t.Cleanup(server.Close)
	f.front = &site{t: t, url: server.URL, client: &http.Client{Transport: new(http.Transport)}}
	t.Cleanup(f.front.client.CloseIdleConnections)
	return f
}

// add starts one more replica, which may see the ledger under another address than the others.
func (f *fleet) add(t *testing.T, ledger string, extra ...string) *site {
	t.Helper()
	args := append([]string{
		"--url", f.kitebase.url, "--ledger", ledger, fmt.Sprintf("--upstream-keys=%t", f.keys),
		"--attempt-timeout=1m", "--call-deadline=2m", "--settle-after=300ms",
	}, extra...)
	replica := startSiteWith(t, args...)
	f.replicas = append(f.replicas, replica)
	f.balancer.join(t, replica.url)
	return replica
}

// reply is a request for a reply, in one of the two eras of the protocol.
func (s *site) reply(revision, text string) *http.Request {
	s.t.Helper()
	return s.call(revision, "reply_to_customer", replyTo(crashTicket, text))
}

// answered makes the reply through the balancer until no server asks for patience. Each answer on the way must be true.
func (f *fleet) answered(t *testing.T, revision, text string) sent {
	t.Helper()
	return f.answeredBy(t, f.front, revision, text)
}

// answeredBy is answered of one replica.
func (f *fleet) answeredBy(t *testing.T, s *site, revision, text string) sent {
	t.Helper()
	for range 200 {
		r := s.send(t, s.reply(revision, text)).result(t)
		if r.cannotTell() {
			pause(500 * time.Millisecond) // it will look at the ledger again
			continue
		}
		requireTrue(t, r, f.kitebase.emailsTo(crashTicket))
		if r.kind() != "held" {
			return r.reply(t)
		}
		pause(time.Duration(r.Meta.Error.RetryAfterMS) * time.Millisecond)
	}
	require.Fail(t, "the reply was held for ever")
	return sent{}
}

// cannotTell says that a reply was refused for want of the ledger, so that it says nothing about earlier ones.
func (r result) cannotTell() bool {
	return r.IsError && strings.Contains(r.text(), "whether the same was done before is not known")
}

// eachRevision runs f with both eras of streamable HTTP.
func eachRevision(t *testing.T, f func(t *testing.T, revision string)) {
	t.Helper()
	for _, revision := range []string{handshakeRevision, statelessRevision} {
		t.Run(revision, func(t *testing.T) {
			t.Parallel()
			f(t, revision)
		})
	}
}

// balancer hands requests out in turn, and knows nothing of sessions. Who does not answer /readyz with 200 is left out, if
// checks is set. A request whose server dies is answered by 502, as proxies do, or, if retries is set, handed to the next.
type balancer struct {
	checks, retries bool

	mu      sync.Mutex
	servers []*url.URL
	next    int
	served  []int // requests by server
}

func (b *balancer) join(t *testing.T, server string) {
	t.Helper()
	address, err := url.Parse(server)
	require.NoError(t, err)
	b.mu.Lock()
	defer b.mu.Unlock()
	b.servers, b.served = append(b.servers, address), append(b.served, 0)
}

// turn says whose turn it is next.
func (b *balancer) turn(server int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.next = server
}

// counts returns how many requests each server was given.
func (b *balancer) counts() []int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return append([]int(nil), b.served...)
}

func (b *balancer) pick() *url.URL {
	b.mu.Lock()
	defer b.mu.Unlock()
	for range b.servers {
		i := b.next % len(b.servers)
		b.next = i + 1
		if !b.checks || isReady(b.servers[i]) {
			b.served[i]++
			return b.servers[i]
		}
	}
	return b.servers[0]
}

func isReady(server *url.URL) bool {
	answer, err := http.Get(server.String() + "/readyz")
	if err != nil {
		return false
	}
	_ = answer.Body.Close()
	return answer.StatusCode == http.StatusOK
}

// ServeHTTP is part of [http.Handler].
func (b *balancer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	proxy := &httputil.ReverseProxy{
		Rewrite:       func(p *httputil.ProxyRequest) { p.SetURL(b.pick()) },
		Transport:     &http.Transport{DisableKeepAlives: true},
		FlushInterval: -1,
		ErrorHandler:  func(w http.ResponseWriter, _ *http.Request, _ error) { w.WriteHeader(http.StatusBadGateway) },
	}
	if b.retries {
		again := *proxy
		body := bodyOf(r)
		r.Body = body()
		proxy.ErrorHandler = func(w http.ResponseWriter, r *http.Request, _ error) {
			r.Body = body()
			again.ServeHTTP(w, r)
		}
	}
	proxy.ServeHTTP(w, r)
}

// bodyOf reads the body of a request, and returns what makes another one like it.
func bodyOf(r *http.Request) func() io.ReadCloser {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		body = nil // the client has gone, and nobody is left to be answered
	}
	return func() io.ReadCloser { return io.NopCloser(bytes.NewReader(body)) }
}
