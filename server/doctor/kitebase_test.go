package doctor_test

import (
	"flag"
	"io"
	"log"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/tools/txtar"

	"github.com/kitebase/kitebase-mcp/fakeapi"
	"github.com/kitebase/kitebase-mcp/server/doctor"
)

var update = flag.Bool("update", false, "rewrite the golden file with what is found now")

// startKitebase starts a fake that answers the one read of doctor with a fault, unless that is "".
func startKitebase(t *testing.T, token, fault string) (url string) {
	t.Helper()
	kitebase, err := fakeapi.Start("127.0.0.1:0", fakeapi.Config{Token: token})
	require.NoError(t, err)
	t.Cleanup(kitebase.Close)
	if fault != "" {
		operation, f, err := fakeapi.ParseFault("search_tickets=" + fault)
		require.NoError(t, err)
		require.NoError(t, kitebase.SetFault(operation, f))
	}
	return kitebase.URL()
}

func startServer(t *testing.T, start func(*httptest.Server), handler http.HandlerFunc) (url string) {
	server := httptest.NewUnstartedServer(handler)
	server.Config.ErrorLog = log.New(io.Discard, "", 0) // it is about clients that do not trust it
	start(server)
	t.Cleanup(server.Close)
	return server.URL
}

// dated starts a Kitebase that lives at another time.
func dated(t *testing.T, off time.Duration) (url string) {
	return startServer(t, (*httptest.Server).Start, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Date", time.Now().Add(off).UTC().Format(http.TimeFormat))
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"tickets":[],"total":0}`)
	})
}

// kitebases are set-ups, each by the token that is set and a function that starts its Kitebase.
func kitebases() map[string]struct {
	token string
	start func(*testing.T) (url string)
} {
	type setUp = struct {
		token string
		start func(*testing.T) (url string)
	}
	faulty := func(fault string) setUp {
		return setUp{"tok-secret", func(t *testing.T) string { return startKitebase(t, "", fault) }}
	}
	return map[string]setUp{
		"all well":         {"tok-secret", func(t *testing.T) string { return startKitebase(t, "tok-secret", "") }},
		"all well, open":   {"", func(t *testing.T) string { return startKitebase(t, "", "") + "/" }},
		"wrong token":      {"tok-secret", func(t *testing.T) string { return startKitebase(t, "tok-other", "") }},
		"no token":         {"", func(t *testing.T) string { return startKitebase(t, "tok-other", "") }},
		"no right to read": faulty("status=403"),
		"not paid":         faulty("status=402"),
		"down":             faulty("status=503"),
		"limited":          faulty("status=429"),
		"not this API":     faulty("status=404"),
		"not this method":  faulty("status=405"),
		"cut before":       faulty("drop"),
		"cut after":        faulty("lose"),
		"half an answer":   faulty("truncate"),
		"redirect":         faulty("redirect"),
		"web page":         faulty("garble"),
		"closed port": {"tok-secret", func(t *testing.T) string {
			return startServer(t, func(s *httptest.Server) { s.Start(); s.Close() }, nil)
		}},
		"TLS, but http://":  {"tok-secret", func(t *testing.T) string { return "http" + secure(t)[len("https"):] }},
		"no TLS but https:": {"tok-secret", func(t *testing.T) string { return "https" + startKitebase(t, "", "")[len("http"):] }},
		"unknown authority": {"tok-secret", secure},
		"no HTTP":           {"tok-secret", gibberish},
		"clock behind":      {"tok-secret", func(t *testing.T) string { return dated(t, 2*time.Minute) }},
		"clock far ahead":   {"tok-secret", func(t *testing.T) string { return dated(t, -10*time.Minute) }},
	}
}

// secure starts a server whose certificate nobody knows.
func secure(t *testing.T) (url string) {
	return startServer(t, (*httptest.Server).StartTLS, http.NotFound)
}

// gibberish starts a server that does not speak HTTP.
func gibberish(t *testing.T) (url string) {
	return startServer(t, (*httptest.Server).Start, func(w http.ResponseWriter, _ *http.Request) {
		conn, _, err := http.NewResponseController(w).Hijack()
		if err == nil {
			_, _ = io.WriteString(conn, "220 upstream-secret ESMTP\r\n")
			_ = conn.Close()
		}
	})
}

var lasted = regexp.MustCompile(`(, in|machine is) [\d.]+[^ ]*?s(\.| ahead| behind)`)

func TestKitebase(t *testing.T) {
	const file = "testdata/kitebase.txtar"
	golden, err := txtar.ParseFile(file)
	require.NoError(t, err)
	got := &txtar.Archive{Comment: golden.Comment}
	for _, name := range slices.Sorted(maps.Keys(kitebases())) {
		t.Run(name, func(t *testing.T) {
			config := doctor.Config{}
			config.Server.URL, config.Server.Token = kitebases()[name].start(t), kitebases()[name].token
			config.Server.Guard.AttemptTimeout = time.Minute // on a busy machine
			var text strings.Builder
			for check := range doctor.Checks(t.Context(), config) {
				if slices.Contains([]string{"kitebase", "token", "clock"}, check.Name) {
					text.WriteString(check.String())
				}
				require.NotContains(t, check.String(), "secret")
			}
			found := strings.ReplaceAll(text.String(), strings.TrimSuffix(config.Server.URL, "/"), "http://KITEBASE")
			found = lasted.ReplaceAllString(found, "$1 TIME$2")
			require.Equal(t, strings.HasPrefix(name, "all well") || name == "limited", !strings.Contains(found, "FAIL") && name != "clock behind")
			got.Files = append(got.Files, txtar.File{Name: name, Data: []byte(found)})
		})
	}
	if *update {
		require.NoError(t, os.WriteFile(file, txtar.Format(got), 0o644))
		return
	}
	require.Equal(t, string(txtar.Format(golden)), string(txtar.Format(got)))
}
