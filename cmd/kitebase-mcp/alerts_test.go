package main_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/kitebase/kitebase-mcp/fakeapi"
	"github.com/kitebase/kitebase-mcp/idempotency"
	"github.com/kitebase/kitebase-mcp/idempotency/sqlite"
	"github.com/kitebase/kitebase-mcp/server"
)

func TestAlertRulesAreWellFormed(t *testing.T) {
	t.Parallel()
	needPrometheus(t)
	said, err := exec.Command("promtool", "check", "rules", operations+"alerts.yml").CombinedOutput()
	require.NoError(t, err, "%s", said)
	require.Contains(t, string(said), "5 rules found")
}

// alertScene is one site with a Kitebase and a ledger of its own, and what is made to happen to it.
type alertScene struct {
	want     []string // the alerts that fire then
	prepare  func(*testing.T, *upstream, string)
	happen   func(*testing.T, *site, *upstream)
	kitebase *upstream
	site     *site
}

// ask calls a tool over HTTP.
func (s *site) ask(t *testing.T, tool, arguments string) result {
	t.Helper()
	return s.send(t, s.call(statelessRevision, tool, arguments)).result(t)
}

// alertScenes make each cause happen, and nothing else: what is a failure for one alert must be none for the others. All settings
// that alerts depend on are the defaults.
func alertScenes() map[string]*alertScene {
	return map[string]*alertScene{
		"healthy": {},
		"a reply is unknown": {
			want: []string{"KitebaseReplyUnknown"},
			prepare: func(t *testing.T, kitebase *upstream, ledger string) {
				leaveUnknown(t, kitebase.url, ledger, 10*time.Minute)
				kitebase.fault(t, "get_ticket=drop") // by which it could be settled: looks count for nothing else
			},
		},
		"a reply was just made and is unknown": {
			prepare: func(t *testing.T, kitebase *upstream, ledger string) {
				leaveUnknown(t, kitebase.url, ledger, time.Minute)
				kitebase.fault(t, "get_ticket=drop")
			},
		},
		"a circuit is open": {
			want: []string{"KitebaseCircuitOpen"},
			happen: func(t *testing.T, s *site, kitebase *upstream) {
				kitebase.fault(t, "search_tickets=redirect") // a failure that is not retried takes nothing from the budget
				for i := range 6 {
					require.True(t, s.ask(t, "search_tickets", fmt.Sprintf(`{"query":"q%d"}`, i)).IsError)
				}
			},
		},
		"the budget is exhausted": {
			want: []string{"KitebaseRetryBudgetExhausted"},
			happen: func(t *testing.T, s *site, kitebase *upstream) {
				kitebase.fault(t, "search_tickets=status=429,retry-after=600") // says nothing to a circuit, and has no copies
				for range 6 {
					require.Equal(t, "rate_limited", s.ask(t, "search_tickets", `{"query":"sso"}`).kind())
				}
			},
		},
		"copies are served": {
			want: []string{"KitebaseFallbackRate"},
			happen: func(t *testing.T, s *site, kitebase *upstream) {
				kitebase.fault(t, "search_help=status=429,retry-after=600") // four of which the budget bears
				for range 4 {
					require.False(t, s.ask(t, "search_help", `{"query":"locked out"}`).IsError)
				}
			},
		},
		"two copies are served": {
			happen: func(t *testing.T, s *site, kitebase *upstream) {
				kitebase.fault(t, "search_help=status=429,retry-after=600:2")
				for range 2 {
					require.False(t, s.ask(t, "search_help", `{"query":"locked out"}`).IsError)
				}
			},
		},
		"copies are few among the answers": {
			happen: func(t *testing.T, s *site, kitebase *upstream) {
				for range 60 {
					require.False(t, s.ask(t, "get_ticket", ticket142).IsError)
				}
				kitebase.fault(t, "search_help=status=429,retry-after=600:4")
				for range 4 {
					require.False(t, s.ask(t, "search_help", `{"query":"locked out"}`).IsError)
				}
			},
		},
		"a reply is repeated": {
			want: []string{"KitebaseDuplicatesSuppressed"},
			happen: func(t *testing.T, s *site, kitebase *upstream) {
				require.False(t, s.ask(t, "reply_to_customer", updateReply).reply(t).AlreadySent)
				require.True(t, s.ask(t, "reply_to_customer", updateReply).reply(t).AlreadySent)
				require.Len(t, kitebase.emailsTo("KITE-142"), 1)
			},
		},
	}
}

// everyday is traffic as it should be. It leaves out the tool that some scenes need broken.
func everyday(t *testing.T, s *site, tickets bool) {
	t.Helper()
	for i := range 3 {
		ok := func(tool, arguments string) {
			require.False(t, s.ask(t, tool, arguments).IsError)
		}
		ok("search_help", `{"query":"locked out"}`)
		ok("search_tickets", `{"query":"sso"}`)
		ok("assign_ticket", `{"ticket_id":"KITE-110","assignee":"priya"}`)
		ok("reply_to_customer", replyTo(fmt.Sprintf("KITE-%d", 101+i), "We are on it."))
		if tickets {
			ok("get_ticket", ticket142)
			require.Equal(t, "not_found", s.ask(t, "get_ticket", fmt.Sprintf(`{"ticket_id":"KITE-99999%d"}`, i)).kind())
		}
	}
}

// TestAlerts has a real Prometheus scrape one server for each alert, and one to which nothing happens. Each alert must fire at
// the server to which its cause happened, and nowhere else. Then every panel of the dashboard must have something to show.
func TestAlerts(t *testing.T) {
	t.Parallel()
	needPrometheus(t)
	scenes := alertScenes()
	var sites []string
	atRest, want := map[string][]string{}, map[string][]string{} // what fires before and after the causes
	for name, scene := range scenes {
		scene.kitebase = startUpstream(t, fakeapi.Config{})
		ledger := filepath.Join(t.TempDir(), "ledger.db")
		if scene.prepare != nil {
			scene.prepare(t, scene.kitebase, ledger)
		}
		scene.site = startSiteWith(t, "--url", scene.kitebase.url, "--ledger", ledger)
		addr := strings.TrimPrefix(scene.site.url, "http://")
		t.Logf("%s is %s", addr, name)
		sites = append(sites, addr)
		if scene.want != nil {
			want[addr] = scene.want
			if scene.happen == nil {
				atRest[addr] = scene.want
			}
		}
	}
	p := startPrometheus(t, sites...)
	p.until("every site was scraped", func() bool { return len(p.query("kitebase_mcp_build_info")) == len(scenes) })
	for _, scene := range scenes {
		everyday(t, scene.site, scene.prepare == nil)
	}
	p.until("every ledger was looked at", func() bool { return len(p.query("kitebase_mcp_unknown_replies")) == len(scenes) })
	p.catchUp()
	require.Equal(t, atRest, p.firing(), "while all is well")

	for _, scene := range scenes {
		if scene.happen != nil {
			scene.happen(t, scene.site, scene.kitebase)
		}
	}
	p.catchUp()
	require.Equal(t, want, p.firing())
	t.Run("dashboard", func(t *testing.T) { requireData(t, p) })
}

// leaveUnknown writes into a ledger file what a server leaves behind that could not find out whether its reply was sent.
func leaveUnknown(t *testing.T, kitebase, ledger string, ago time.Duration) {
	t.Helper()
	store, err := sqlite.Open(t.Context(), ledger)
	require.NoError(t, err)
	at := time.Now().Add(-ago)
	_, written, err := store.Put(t.Context(), idempotency.Record{
		Scope: server.Scope(kitebase, ""), Fingerprint: idempotency.Fingerprint("KITE-142", "An earlier reply"), Group: "KITE-142",
		Generation: 1, Key: idempotency.GenerationKey(1, "KITE-142", "An earlier reply"), Tool: "reply_to_customer",
		State: idempotency.Unconfirmed, Attempts: 2, FirstAt: at, LastAt: at, Version: 1,
	}, 0)
	require.NoError(t, err)
	require.True(t, written)
	require.NoError(t, store.Close())
}

// requireData shows that every expression of the dashboard can be evaluated and returns numbers.
func requireData(t *testing.T, p *prometheus) {
	text, err := os.ReadFile(operations + "dashboard.json")
	require.NoError(t, err)
	var dashboard struct {
		Panels []struct {
			Title   string
			Targets []struct{ Expr string }
		}
	}
	require.NoError(t, json.Unmarshal(text, &dashboard))
	require.NotEmpty(t, dashboard.Panels)
	filled := strings.NewReplacer("$__rate_interval", "5m", "$job", ".+", "$instance", ".+", "$tool", ".+")
	for _, panel := range dashboard.Panels {
		for _, target := range panel.Targets {
			expression := filled.Replace(target.Expr)
			require.NotContains(t, expression, "$")
			require.NotEmpty(t, p.query(expression), "%s: %s", panel.Title, expression)
		}
	}
}

// TestScrapeNeedsToken: metrics are for those who may call.
func TestScrapeNeedsToken(t *testing.T) {
	t.Parallel()
	s := startSite(t, closedPort(t))
	r := s.request(http.MethodGet, "/metrics", "")
	require.Contains(t, s.send(t, r.Clone(t.Context())).body, "kitebase_mcp_build_info{")
	r.Header.Del("Authorization")
	got := s.send(t, r)
	require.Equal(t, http.StatusUnauthorized, got.status)
	require.NotContains(t, got.body, "kitebase_mcp")
}
