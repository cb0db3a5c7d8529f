package main_test

import (
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kitebase/kitebase-mcp/fakeapi"
)

// upstream is a fake Kitebase on loopback that knows when it is idle: a slow one sends its email after the caller left,
// and emails must not be counted before.
type upstream struct {
	*fakeapi.Fake
	url string

	mu      sync.Mutex
	changed *sync.Cond
	under   int // requests under way
	began   int // requests that ever were
}

func startUpstream(t *testing.T, config fakeapi.Config) *upstream {
	t.Helper()
	fake, err := fakeapi.New(config)
	require.NoError(t, err)
	u := &upstream{Fake: fake}
	u.changed = sync.NewCond(&u.mu)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		u.count(1)
		defer u.count(-1)
		fake.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	t.Cleanup(fake.Close) // first, so that it lets go of what a fault holds
	u.url = server.URL
	return u
}

func (u *upstream) count(n int) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.under += n
	u.began += max(0, n)
	u.changed.Broadcast()
}

// settle waits until no request is under way.
func (u *upstream) settle() {
	u.mu.Lock()
	defer u.mu.Unlock()
	for u.under > 0 {
		u.changed.Wait()
	}
}

// arrived waits until n requests have come.
func (u *upstream) arrived(n int) {
	u.mu.Lock()
	defer u.mu.Unlock()
	for u.began < n {
		u.changed.Wait()
	}
}

// fault switches a fault on, written as for the command line: get_ticket=drop:1.
func (u *upstream) fault(t *testing.T, spec string) {
	t.Helper()
	operation, fault, err := fakeapi.ParseFault(spec)
	require.NoError(t, err)
	require.NoError(t, u.SetFault(operation, fault))
}

// requestsOf counts the requests for an operation, leaving out the first skip requests of all.
func (u *upstream) requestsOf(operation string, skip int) int {
	n := 0
	for _, request := range u.Requests()[skip:] {
		if request.Operation == operation {
			n++
		}
	}
	return n
}

// emailsTo returns the ids of the replies that went out for a ticket.
func (u *upstream) emailsTo(ticket string) []string {
	ids := []string{}
	for _, email := range u.Outbox() {
		if email.TicketID == ticket {
			ids = append(ids, email.ReplyID)
		}
	}
	return ids
}
