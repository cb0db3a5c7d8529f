package main_test

import (
	"database/sql"
	"encoding/json"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/tools/txtar"

	"github.com/kitebase/kitebase-mcp/fakeapi"
)

// setUp is a set-up to examine: how doctor is called, and what of the output differs from run to run.
type setUp struct {
	start
	volatile map[string]string // what it is replaced by
}

// at is a set-up with a Kitebase, and with arguments, or variables if they look like that.
func at(url string, words ...string) setUp {
	s := setUp{volatile: map[string]string{}}
	if strings.Contains(url, "//127.0.0.1:") {
		s.volatile[url] = "http://KITEBASE"
	}
	s.args = []string{"doctor", "--token", "tok-secret"}
	if url != "" {
		s.args = append(s.args, "--url", url)
	}
	for _, word := range words {
		if strings.HasPrefix(word, "KITEBASE_") {
			s.env = append(s.env, word)
		} else {
			s.args = append(s.args, word)
		}
	}
	return s
}

// healthy is a set-up whose Kitebase is in order, with arguments.
func healthy(words ...string) func(*testing.T) setUp {
	return func(t *testing.T) setUp {
		return at(startUpstream(t, fakeapi.Config{Token: "tok-secret"}).url, words...)
	}
}

// filed is a healthy set-up with its ledger in a file, which may have something in it.
func filed(name, content string) func(*testing.T) setUp {
	return func(t *testing.T) setUp {
		dir := t.TempDir()
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(filepath.Join(dir, "file"), nil, 0o600))
		if content != "" {
			require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
			t.Cleanup(func() {
				left, err := os.ReadFile(path)
				require.NoError(t, err)
				require.Equal(t, content, string(left), "it is not for doctor to set it aside")
			})
		}
		s := healthy("--ledger=" + path)(t)
		s.volatile[dir] = "/DIR"
		return s
	}
}

// audited is a healthy set-up with its audit log at a path, where doctor leaves nothing.
func audited(path string) func(*testing.T) setUp {
	return func(t *testing.T) setUp {
		dir := t.TempDir()
		require.NoError(t, os.WriteFile(filepath.Join(dir, "file"), nil, 0o600))
		t.Cleanup(func() {
			left, err := filepath.Glob(filepath.Join(dir, "*"))
			require.NoError(t, err)
			require.Equal(t, []string{filepath.Join(dir, "file")}, left)
		})
		s := healthy("--audit-log=" + filepath.Join(dir, path))(t)
		s.volatile[dir] = "/DIR"
		return s
	}
}

// relative is a healthy set-up whose paths begin where doctor is started.
func relative(t *testing.T) setUp {
	s := healthy("--ledger=ledger.db", "--audit-log=audit.jsonl")(t)
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	s.dir, s.volatile[dir] = dir, "/DIR"
	return s
}

// occupied returns the address of a listener that nobody asks.
func occupied(t *testing.T) string {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, listener.Close()) })
	return listener.Addr().String()
}

// faulty is a set-up whose Kitebase has a fault.
func faulty(fault string) func(*testing.T) setUp {
	return func(t *testing.T) setUp {
		kitebase := startUpstream(t, fakeapi.Config{})
		kitebase.fault(t, fault)
		return at(kitebase.url)
	}
}

// elsewhen starts a Kitebase whose clock is off by that much.
func elsewhen(t *testing.T, off time.Duration) (url string) {
	kitebase := startUpstream(t, fakeapi.Config{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Date", time.Now().Add(off).UTC().Format(http.TimeFormat))
		kitebase.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	return server.URL
}

// afterALostAnswer is a set-up in which a server that trusts in keys has repeated a reply.
func afterALostAnswer(ignored bool) func(*testing.T) setUp {
	return func(t *testing.T) setUp {
		s := newScene(t, !ignored)
		s.keys = true // so it is said
		s.kitebase.fault(t, "reply_to_customer=lose:1")
		server := s.serve(t)
		server.call("reply_to_customer", replyTo(crashTicket, crashText)).reply(t)
		server.end()
		sentBefore := len(s.kitebase.Outbox())
		t.Cleanup(func() { require.Len(t, s.kitebase.Outbox(), sentBefore, "doctor sends nothing") })
		up := at(s.kitebase.url, "--ledger="+s.ledger)
		up.volatile[filepath.Dir(s.ledger)] = "/DIR"
		return up
	}
}

func setUps() map[string]func(*testing.T) setUp {
	return map[string]func(*testing.T) setUp{
		"all well":             filed("ledger.db", ""),
		"damaged ledger":       filed("ledger.db", "this is no database, and never was one"),
		"ledger under a file":  filed("file/ledger.db", ""),
		"memory":               healthy("--ledger=memory"),
		"all well, embedded":   func(*testing.T) setUp { return setUp{start: start{args: []string{"doctor"}}} },
		"all well, HTTP":       healthy("--transport=http", "--addr=127.0.0.1:0"),
		"all well, some tools": healthy("--tools=read-only", "KITEBASE_ATTEMPTS=3", "--no-upstream-keys"),
		"all well, token in words": func(t *testing.T) setUp { // which are not struck through, as they would spell it
			return at(startUpstream(t, fakeapi.Config{Token: "reading"}).url, "--token=reading", "--transport=http", "--addr=127.0.0.1:0", "--http-token=kitebase")
		},
		"ledger below ~":      healthy("KITEBASE_LEDGER=~/ledger.db"),
		"memory in capitals":  healthy("--ledger=Memory"),
		"no whole paths":      relative,
		"token without URL":   func(*testing.T) setUp { return at("", "KITEBASE_URL=") },
		"URL without scheme":  func(*testing.T) setUp { return at("kitebase.example") },
		"URL with password":   func(*testing.T) setUp { return at("https://priya:tok-secret@kitebase.example") },
		"closed port":         func(t *testing.T) setUp { s := httptest.NewServer(nil); s.Close(); return at(s.URL) },
		"wrong token":         func(t *testing.T) setUp { return at(startUpstream(t, fakeapi.Config{Token: "tok-other"}).url) },
		"token with space":    healthy("--token=Bearer tok-secret"),
		"unread variable":     healthy("KITEBASE_ATTEMPT=1", "KITEBASE_JSON=true"),
		"wrong values":        healthy("--attempts=0", "--tools=get_tickets", "KITEBASE_LOG_LEVEL=loud", "KITEBASE_SETTLE_AFTER=soon", "KITEBASE_ADDR="),
		"all well, flag wins": healthy("KITEBASE_ATTEMPTS=many", "--attempts=2"),
		"public, no token":    healthy("--transport=http", "--addr=0.0.0.0:0"),
		"no tokens file":      healthy("--transport=http", "--addr=127.0.0.1:0", "--http-tokens=/nonexistent/tokens.json"),
		"no audience":         healthy("--transport=http", "--addr=127.0.0.1:0", "--oauth-issuer=https://login.example"),
		"issuer does not answer": healthy("--transport=http", "--addr=127.0.0.1:0", "--oauth-issuer=http://127.0.0.1:1",
			"--oauth-audience=https://desk.example/mcp"),
		"port taken": func(t *testing.T) setUp {
			addr := occupied(t)
			s := healthy("--transport=http", "--addr="+addr)(t)
			s.volatile[addr] = "ADDRESS"
			return s
		},
		"audit log is a directory": audited("."),
		"audit log under a file":   audited("file/audit.jsonl"),
		"audit log in no folder":   audited("none/audit.jsonl"),
		"all well, audit log":      audited("audit.jsonl"),
		"metrics port taken": func(t *testing.T) setUp {
			addr := occupied(t)
			s := healthy("--metrics-addr=" + addr)(t)
			s.volatile[addr] = "ADDRESS"
			return s
		},
		"metrics port taken, HTTP": func(t *testing.T) setUp {
			addr := occupied(t)
			s := healthy("--transport=http", "--addr=127.0.0.1:0", "--metrics-addr="+addr)(t)
			s.volatile[addr] = "ADDRESS"
			return s
		},
		"metrics where MCP is": func(t *testing.T) setUp {
			addr := occupiedOnce(t)
			s := healthy("--transport=http", "--addr="+addr, "--metrics-addr="+addr)(t)
			s.volatile[addr] = "ADDRESS"
			return s
		},
		"wrong metrics address": healthy("--metrics-addr=0.0.0.0:0"),
		"wrong URL":             faulty("search_tickets=status=404"), "Kitebase down": faulty("search_tickets=status=503"),
		"clock off": func(t *testing.T) setUp { return at(elsewhen(t, 10*time.Minute)) },
		"newer ledger": func(t *testing.T) setUp {
			s := filed("ledger.db", "")(t)
			s.run(t, "")
			db, err := sql.Open("sqlite", "file:"+strings.TrimPrefix(s.args[len(s.args)-1], "--ledger="))
			require.NoError(t, err)
			_, err = db.Exec("PRAGMA user_version = 99")
			require.NoError(t, err)
			require.NoError(t, db.Close())
			return s
		},
		"keys ignored":  afterALostAnswer(true),
		"keys honoured": afterALostAnswer(false),
		"PostgreSQL unreachable": func(t *testing.T) setUp {
			addr := occupiedOnce(t)
			s := healthy("--ledger=postgres://priya:tok-secret@" + addr + "/ledger?sslmode=disable")(t)
			s.volatile[addr] = "ADDRESS"
			return s
		},
		"no address": healthy("--transport=sse", "--addr=8090", "--http-token=tok-http"),
		"no dedupe":  healthy("--no-dedupe", "--upstream-keys=false"),
	}
}

var lasted = regexp.MustCompile(`(, in|machine is) [\d.]+[^ ]*?s(\.| ahead| behind)`)

var well = regexp.MustCompile(`(?m)^ok .*\n`)

// TestDoctor holds what doctor finds in good and broken set-ups to testdata/doctor.txtar. Of broken ones, what is well is
// left out there. What can be wrong with Kitebase is in server/doctor.
func TestDoctor(t *testing.T) {
	t.Parallel()
	const file = "testdata/doctor.txtar"
	archive, err := txtar.ParseFile(file)
	require.NoError(t, err)
	if *update {
		archive.Files = nil
		t.Cleanup(func() { require.NoError(t, os.WriteFile(file, txtar.Format(archive), 0o644)) })
	}
	require.True(t, *update || len(archive.Files) == len(setUps()))
	for _, name := range slices.Sorted(maps.Keys(setUps())) {
		t.Run(name, func(t *testing.T) {
			s := setUps()[name](t)
			end := s.run(t, "")
			require.NotContains(t, end.stdout+end.stderr, "tok-secret")
			text := lasted.ReplaceAllString(end.stdout, "$1 TIME$2")
			for volatile, fixed := range s.volatile {
				text = strings.ReplaceAll(text, volatile, fixed)
			}
			if !strings.HasPrefix(name, "all well") && name != "keys honoured" {
				text = well.ReplaceAllString(text, "")
			}
			if *update {
				archive.Files = append(archive.Files, txtar.File{Name: name, Data: []byte(text)})
			}
			require.Equal(t, section(archive, name), text)
			failed := strings.Contains(text, "FAIL ")
			require.Equal(t, map[bool]int{true: 1, false: 0}[failed], end.code)
			require.False(t, failed && strings.HasPrefix(name, "all well"))
		})
	}
}

// TestDoctorJSON: a program reads the same as a person.
func TestDoctorJSON(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]bool{"all well": true, "wrong token": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := setUps()[name](t)
			s.args = append(s.args, "--json")
			end := s.run(t, "")
			var report struct {
				OK     *bool `json:"ok"`
				Checks []struct{ Name, Status, Found, Advice string }
			}
			require.NoError(t, json.Unmarshal([]byte(end.stdout), &report))
			require.Equal(t, want, *report.OK)
			require.Equal(t, want, end.code == 0)
			status := map[string]string{}
			for _, check := range report.Checks {
				require.NotEmpty(t, check.Found)
				require.True(t, check.Status == "ok" || check.Status == "skipped" || check.Advice != "", check.Name)
				status[check.Name] = check.Status
			}
			delete(status, "ledger") // not the same in both
			require.Equal(t, map[string]string{
				"settings": "ok", "variables": "ok", "kitebase": "ok", "token": map[bool]string{true: "ok", false: "failed"}[want], "clock": "ok",
				"keys": "ok", "protocol": "ok",
			}, status)
		})
	}
}

// TestDoctorUsage: what cannot be read on the command line is a slip of the hand and not a set-up to examine.
func TestDoctorUsage(t *testing.T) {
	t.Parallel()
	for _, arg := range []string{"--attempts=many", "--no-such-flag", "--log-level=loud", "extra"} {
		end := start{args: []string{"doctor", arg}}.run(t, "")
		require.Equal(t, 2, end.code, arg)
		require.Empty(t, end.stdout)
		require.Equal(t, 1, strings.Count(end.stderr, "\n"), end.stderr)
	}
}

// TestDoctorIsInterrupted while it waits for a Kitebase that hangs.
func TestDoctorIsInterrupted(t *testing.T) {
	t.Parallel()
	kitebase := startUpstream(t, fakeapi.Config{})
	kitebase.fault(t, "search_tickets=hang")
	cmd := start{args: []string{"doctor", "--url", kitebase.url, "--attempt-timeout=1m", "--call-deadline=1m"}}.command(t)
	var stdout, stderr strings.Builder
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	require.NoError(t, cmd.Start())
	kitebase.arrived(1)
	require.NoError(t, cmd.Process.Signal(os.Interrupt))
	require.Error(t, cmd.Wait())
	require.Equal(t, 1, cmd.ProcessState.ExitCode())
	require.Equal(t, "kitebase-mcp: doctor was interrupted before all checks were done\n", stderr.String())
	require.NotContains(t, stdout.String(), "clock")
}
