package main_test

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/kitebase/kitebase-mcp/fakeapi"
)

// scene is one Kitebase and one ledger, which outlive the servers that come and go.
type scene struct {
	kitebase *upstream
	ledger   string
	keys     bool
}

func newScene(t *testing.T, keys bool) *scene {
	t.Helper()
	return &scene{startUpstream(t, fakeapi.Config{IgnoreKeys: !keys}), filepath.Join(t.TempDir(), "ledger.db"), keys}
}

// eachUpstream runs f with a Kitebase that honours keys and with one that never heard of them.
func eachUpstream(t *testing.T, f func(t *testing.T, keys bool)) {
	t.Helper()
	for _, keys := range []bool{true, false} {
		t.Run(fmt.Sprintf("keys=%t", keys), func(t *testing.T) {
			t.Parallel()
			f(t, keys)
		})
	}
}

// eachLedger runs f with a fresh ledger of each kind that processes can share.
func eachLedger(t *testing.T, f func(t *testing.T, ledger string)) {
	t.Helper()
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		f(t, filepath.Join(t.TempDir(), "ledger.db"))
	})
	t.Run("postgres", func(t *testing.T) {
		t.Parallel()
		f(t, freshPostgres(t))
	})
}

// freshPostgres returns the URL of a schema that does not exist yet and is dropped after the test.
func freshPostgres(t *testing.T) string {
	t.Helper()
	server := os.Getenv("KITEBASE_TEST_POSTGRES")
	if server == "" {
		t.Skip("KITEBASE_TEST_POSTGRES is not set to the URL of a PostgreSQL server")
	}
	address, err := url.Parse(server)
	require.NoError(t, err)
	schema := "test_" + strings.ToLower(rand.Text())
	t.Cleanup(func() {
		ctx := context.Background() // the test's own has ended
		conn, err := pgx.Connect(ctx, server)
		if err == nil {
			_, err = conn.Exec(ctx, "DROP SCHEMA IF EXISTS "+schema+" CASCADE")
			require.NoError(t, conn.Close(ctx))
		}
		require.NoError(t, err)
	})
	query := address.Query()
	query.Set("search_path", schema)
	address.RawQuery = query.Encode()
	return address.String()
}

// serve starts a server on the scene.
func (s *scene) serve(t *testing.T, extra ...string) *child {
	t.Helper()
	args := []string{"--url", s.kitebase.url, "--ledger", s.ledger, fmt.Sprintf("--upstream-keys=%t", s.keys)}
	return start{args: append(args, extra...)}.serve(t)
}

// command runs a ledger command on the scene.
func (s *scene) command(t *testing.T, args ...string) finished {
	t.Helper()
	return start{args: append(append([]string{"ledger"}, args...), "--ledger", s.ledger)}.run(t, "")
}

// entry is a record as ledger list --json prints it.
type entry struct {
	Key          string          `json:"key"`
	Ticket       string          `json:"ticket"`
	Tool         string          `json:"tool"`
	State        string          `json:"state"`
	Generation   int             `json:"generation"`
	Attempts     int             `json:"attempts"`
	HostRepeats  int             `json:"host_repeats"`
	ModelRepeats int             `json:"model_repeats"`
	Evidence     string          `json:"evidence"`
	Result       json.RawMessage `json:"result"`
}

// list returns what ledger list prints, with filters.
func (s *scene) list(t *testing.T, filters ...string) []entry {
	t.Helper()
	listed := s.command(t, append([]string{"list", "--json", "--limit=10000"}, filters...)...)
	require.Zero(t, listed.code, listed.stderr)
	var entries []entry
	require.NoError(t, json.Unmarshal([]byte(listed.stdout), &entries))
	return entries
}

// only returns the one record that there is.
func (s *scene) only(t *testing.T) entry {
	t.Helper()
	entries := s.list(t)
	require.Len(t, entries, 1)
	return entries[0]
}

// becomes waits until the one record has that state.
func (s *scene) becomes(t *testing.T, state string) {
	t.Helper()
	var last string
	for range 300 { // each takes as long as a process takes to start
		if last = s.only(t).State; last == state {
			return
		}
	}
	require.Equal(t, state, last)
}

// answer makes the call until the server no longer asks for patience. Each answer on the way must be true.
func (s *scene) answer(t *testing.T, c *child, ticket, text string) sent {
	t.Helper()
	for range 200 {
		r := c.call("reply_to_customer", replyTo(ticket, text))
		requireTrue(t, r, s.kitebase.emailsTo(ticket))
		if r.kind() != "held" {
			return r.reply(t)
		}
		require.Equal(t, "unknown", r.Meta.Error.Outcome, r.text())
		pause(time.Duration(r.Meta.Error.RetryAfterMS) * time.Millisecond)
	}
	require.Fail(t, "the reply was held for ever")
	return sent{}
}

// replyTo returns the arguments of a reply.
func replyTo(ticket, text string) string {
	arguments, _ := json.Marshal(map[string]string{"ticket_id": ticket, "message": text}) // strings always can
	return string(arguments)
}

// pause lets a child work, which lives in real time. No test depends on how long it is.
func pause(d time.Duration) { <-time.After(max(d, 5*time.Millisecond)) }
