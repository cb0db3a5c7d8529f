package doctor_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/kitebase/kitebase-mcp/server"
	"github.com/kitebase/kitebase-mcp/server/doctor"
	"github.com/kitebase/kitebase-mcp/server/resilience"
	"github.com/kitebase/kitebase-mcp/server/web"
)

// find runs the checks up to the named one, and returns that.
func find(t *testing.T, config doctor.Config, name string) doctor.Check {
	t.Helper()
	for check := range doctor.Checks(t.Context(), config) {
		if check.Name == name {
			return check
		}
	}
	require.Fail(t, "there is no check "+name)
	return doctor.Check{}
}

// dialling is a set-up whose Kitebase is reached by dial.
func dialling(dial func(ctx context.Context, network, addr string) (net.Conn, error)) doctor.Config {
	return doctor.Config{Server: server.Config{URL: "http://kitebase.test", DialContext: dial}}
}

// answering is a set-up whose Kitebase answers every request with the same bytes.
func answering(bytes string) doctor.Config {
	return dialling(func(context.Context, string, string) (net.Conn, error) {
		ours, theirs := net.Pipe()
		go func() {
			defer theirs.Close()
			_, _ = theirs.Read(make([]byte, 4096)) // the whole request, which is written at once
			_, _ = io.WriteString(theirs, bytes)
		}()
		return ours, nil
	})
}

func good(date string) string {
	const body = `{"tickets":[],"total":0}`
	return fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n%s\r\n%s", len(body), date, body)
}

// The clock of the bubble begins at a whole second, so that the bounds can be met exactly.
func TestClock(t *testing.T) {
	for ahead, want := range map[time.Duration]doctor.Status{
		0:                               doctor.OK,
		time.Minute:                     doctor.OK,
		-time.Minute:                    doctor.OK,
		time.Minute + time.Second:       doctor.Warning,
		-time.Minute - time.Second:      doctor.Warning,
		5 * time.Minute:                 doctor.Warning,
		-5 * time.Minute:                doctor.Warning,
		5*time.Minute + time.Second:     doctor.Failed,
		-5*time.Minute - time.Second:    doctor.Failed,
		200 * 365 * 24 * time.Hour:      doctor.Failed,
		-200 * 365 * 24 * time.Hour:     doctor.Failed,
		time.Minute + time.Second - 1e6: doctor.OK, // Date has whole seconds
	} {
		t.Run(ahead.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				date := time.Now().Add(-ahead.Truncate(time.Second))
				time.Sleep(ahead - ahead.Truncate(time.Second))
				got := find(t, answering(good("Date: "+date.UTC().Format(http.TimeFormat)+"\r\n")), "clock")
				require.Equal(t, want, got.Status, got.Found)
				require.Equal(t, want == doctor.OK, got.Advice == "")
				if want != doctor.OK {
					direction := map[bool]string{true: "ahead of", false: "behind"}[ahead > 0]
					require.Equal(t, "The clock of this machine is "+ahead.Abs().String()+" "+direction+" that of Kitebase.", got.Found)
				}
			})
		})
	}
	for name, header := range map[string]string{"no date": "", "no date that can be read": "Date: yesterday\r\n"} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, doctor.Skipped, find(t, answering(good(header)), "clock").Status)
		})
	}
	t.Run("of something else than Kitebase", func(t *testing.T) {
		got := find(t, answering("HTTP/1.1 302 Found\r\nDate: Mon, 02 Jan 2006 15:04:05 GMT\r\nLocation: /\r\nContent-Length: 0\r\n\r\n"), "clock")
		require.Equal(t, doctor.Skipped, got.Status)
	})
}

// What cannot be had on loopback.
func TestUnreachable(t *testing.T) {
	for want, err := range map[string]error{
		"The name of Kitebase's host is not known here.": &net.DNSError{Err: "no such host", Name: "kitebase.test", IsNotFound: true},
		"No connection to Kitebase.":                     errors.New("dial to secret.example failed"),
	} {
		t.Run(want, func(t *testing.T) {
			got := find(t, dialling(func(context.Context, string, string) (net.Conn, error) { return nil, err }), "kitebase")
			require.Equal(t, doctor.Failed, got.Status)
			require.Equal(t, want, got.Found)
			require.Contains(t, got.Advice, "KITEBASE_URL")
		})
	}
	for attempt, want := range map[time.Duration]time.Duration{0: 5 * time.Second, 2 * time.Second: 2 * time.Second, time.Minute: 8 * time.Second} {
		t.Run("no connection with an attempt timeout of "+attempt.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				config := dialling(func(ctx context.Context, _, _ string) (net.Conn, error) { <-ctx.Done(); return nil, ctx.Err() })
				config.Server.Guard = resilience.Policy{AttemptTimeout: attempt}
				began := time.Now()
				require.Equal(t, "No connection to Kitebase within "+want.String()+".", find(t, config, "kitebase").Found)
				require.Equal(t, want, time.Since(began))
			})
		})
	}
}

// A Kitebase that takes the request and says nothing, or begins to answer and goes silent.
func TestHanging(t *testing.T) {
	for name, beginning := range map[string]string{"nothing": "", "half an answer": good("")[:len(good(""))-3]} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				config := dialling(func(context.Context, string, string) (net.Conn, error) {
					ours, theirs := net.Pipe()
					go func() {
						defer theirs.Close()
						_, _ = theirs.Read(make([]byte, 4096))
						_, _ = io.WriteString(theirs, beginning)
						_, _ = theirs.Read(make([]byte, 1)) // until the client has had enough
					}()
					return ours, nil
				})
				began := time.Now()
				got := find(t, config, "kitebase")
				require.Equal(t, "Kitebase took the request but did not answer within 5s.", got.Found)
				require.Contains(t, got.Advice, "--attempt-timeout")
				require.Equal(t, 5*time.Second, time.Since(began))
			})
		})
	}
}

// TestProtocol starts servers that are broken in one way each.
func TestProtocol(t *testing.T) {
	self, err := os.Executable()
	require.NoError(t, err)
	for act, want := range map[string]string{
		"good": "The server starts, speaks MCP ",
		"dies": "The server did not answer to initialize: ",
		"lacks tools": "The server offers the tools get_ticket, search_help, search_tickets instead of " +
			"assign_ticket, get_ticket, reply_to_customer, search_help, search_tickets.",
		"ends badly": "The server ended with exit status 4 instead of exit code 0.",
		"no program": "The server cannot be started: ",
	} {
		t.Run(act, func(t *testing.T) {
			config := doctor.Config{Program: doctor.Program{Path: self, Env: []string{actAs + "=" + act}}}
			config.Server.URL, config.Server.Token = "http://127.0.0.1:1", "tok-secret"
			if act == "no program" {
				config.Program.Path = t.TempDir()
			}
			got := find(t, config, "protocol")
			require.Contains(t, got.Found, want)
			require.Equal(t, act == "good", got.Status == doctor.OK)
			require.Equal(t, act == "good", got.Advice == "")
			if act == "dies" {
				require.Contains(t, got.Found, "Its last words: The floor is lava, … [31m.")
			}
		})
	}
}

func TestAddressIsFreeAgain(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	config := doctor.Config{Web: &web.Config{Addr: listener.Addr().String(), Token: "tok-http"}}
	require.Equal(t, doctor.Failed, find(t, config, "address").Status)
	require.NoError(t, listener.Close())
	require.Equal(t, doctor.OK, find(t, config, "address").Status)
	require.Equal(t, doctor.OK, find(t, config, "address").Status, "the check lets go of the address")
}

func TestNothingIsYieldedAfterTheEnd(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var names []string
	for check := range doctor.Checks(ctx, doctor.Config{}) {
		names = append(names, check.Name)
		if check.Name == "variables" {
			cancel()
		}
	}
	require.Equal(t, []string{"settings", "variables"}, names)
}

func TestReport(t *testing.T) {
	var report doctor.Report
	var empty bytes.Buffer
	require.NoError(t, report.WriteJSON(&empty))
	require.JSONEq(t, `{"ok":true,"checks":[]}`, empty.String())
	report.Add(doctor.Check{Name: "a", Status: doctor.OK, Found: "Fine."})
	report.Add(doctor.Check{Name: "b", Status: doctor.Warning, Found: "Odd.", Advice: "Look."})
	require.Equal(t, "Nothing has to be mended: 1 ok, 1 warning(s), 0 failed, 0 skipped.", report.Summary())
	report.Add(doctor.Check{Name: "c", Status: doctor.Failed, Found: "Bad <here>.", Advice: "Mend."})
	require.Equal(t, 1, report.Failed())
	require.Equal(t, "Mend what is marked FAIL, then run this again: 1 ok, 1 warning(s), 1 failed, 0 skipped.", report.Summary())
	var document bytes.Buffer
	require.NoError(t, report.WriteJSON(&document))
	require.Contains(t, document.String(), "Bad <here>.")
	require.JSONEq(t, `{"ok":false,"checks":[
		{"name":"a","status":"ok","found":"Fine.","advice":""},
		{"name":"b","status":"warning","found":"Odd.","advice":"Look."},
		{"name":"c","status":"failed","found":"Bad <here>.","advice":"Mend."}]}`, document.String())
}
