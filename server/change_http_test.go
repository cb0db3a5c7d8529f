package server_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/kitebase/kitebase-mcp/fakeapi"
	"github.com/kitebase/kitebase-mcp/server"
	"github.com/kitebase/kitebase-mcp/server/web"
)

// site is a server on HTTP and what a client needs to talk to it, inside a synctest bubble.
type site struct {
	*fakeapi.Fake
	t      *testing.T
	client *http.Client
}

func onHTTP(t *testing.T, name string, config server.Config, test func(t *testing.T, s *site)) {
	t.Run(name, func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			fake, upstream := kitebase(t, fakeapi.Config{})
			config.URL, config.DialContext = "http://kitebase.test", upstream.dial
			srv, err := server.New(config)
			require.NoError(t, err)
			listener := newPipeListener()
			s := &site{Fake: fake, t: t, client: &http.Client{Transport: &http.Transport{DialContext: listener.dial}}}
			ctx, end := context.WithCancel(context.Background())
			served := make(chan error, 1)
			go func() { served <- srv.ServeHTTP(ctx, listener, web.Config{}) }()
			t.Cleanup(func() {
				end()
				require.NoError(t, <-served)
				s.client.CloseIdleConnections()
				srv.Close()
			})
			test(t, s)
		})
	})
}

// do sends a request; its answer must be read to the end or left by ending ctx.
func (s *site) do(ctx context.Context, method, path, body string, header map[string]string) *http.Response {
	s.t.Helper()
	r, err := http.NewRequestWithContext(ctx, method, "http://127.0.0.1:8090"+path, strings.NewReader(body))
	require.NoError(s.t, err)
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	for name, value := range header {
		r.Header.Set(name, value)
	}
	response, err := s.client.Do(r)
	require.NoError(s.t, err)
	return response
}

// post sends one message and returns the answer.
func (s *site) post(path, method, params string, header map[string]string) (status int, body string) {
	s.t.Helper()
	response := s.do(s.t.Context(), http.MethodPost, path, request(method, params), header)
	defer response.Body.Close()
	data, err := io.ReadAll(response.Body)
	require.NoError(s.t, err)
	return response.StatusCode, string(data)
}

func request(method, params string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":"x","method":%q,"params":%s}`, method, params)
}

// events reads the data of a stream until it ends.
func events(stream io.Reader) <-chan string {
	all := make(chan string, 100)
	go func() {
		defer close(all)
		for lines := bufio.NewScanner(stream); lines.Scan(); {
			if data, ok := strings.CutPrefix(lines.Text(), "data: "); ok {
				all <- data
			}
		}
	}()
	return all
}

// outage lets get_ticket fail until its circuit opens.
func (s *site) outage(call func(params string)) {
	s.t.Helper()
	faulty(s.t, s.Fake, "get_ticket=drop")
	for range 5 {
		call(`{"name":"get_ticket","arguments":` + readTicket + `}`)
	}
}

func TestChangesOverHTTP(t *testing.T) {
	const hello = `{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"test","version":"0"}}`
	onHTTP(t, "an SSE session is told", server.Config{HideOpenTools: true}, func(t *testing.T, s *site) {
		ctx, leave := context.WithCancel(t.Context())
		defer leave()
		stream := s.do(ctx, http.MethodGet, "/sse", "", nil)
		defer stream.Body.Close()
		came := events(stream.Body)
		path := <-came
		say := func(method, params string) string {
			status, body := s.post(path, method, params, nil)
			require.Equal(t, http.StatusAccepted, status, body)
			return <-came
		}
		require.Contains(t, say("initialize", hello), `"resources":{"subscribe":true},"tools":{"listChanged":true}`)
		say("resources/subscribe", `{"uri":"kitebase://status"}`)
		s.outage(func(params string) {
			s.post(path, "tools/call", params, nil)
			time.Sleep(time.Second)
		})
		synctest.Wait()
		var told []string
		for range len(came) {
			if event := <-came; strings.Contains(event, `"method"`) {
				told = append(told, event)
			}
		}
		require.Equal(t, []string{
			`{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"kitebase://status"}}`,
			`{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`,
		}, told)
	})
	onHTTP(t, "a stream of 2026-07-28 is told", server.Config{HideOpenTools: true}, func(t *testing.T, s *site) {
		header := func(method, name string) map[string]string {
			return map[string]string{"Mcp-Protocol-Version": "2026-07-28", "Mcp-Method": method, "Mcp-Name": name}
		}
		ctx, leave := context.WithCancel(t.Context())
		defer leave()
		stream := s.do(ctx, http.MethodPost, "/mcp", request("subscriptions/listen",
			`{"notifications":{"resourceSubscriptions":["kitebase://status"],"toolsListChanged":true},`+modernMeta+`}`),
			header("subscriptions/listen", ""))
		defer stream.Body.Close()
		came := events(stream.Body)
		require.Contains(t, <-came, "notifications/subscriptions/acknowledged")
		s.outage(func(params string) {
			status, body := s.post("/mcp", "tools/call", strings.TrimSuffix(params, "}")+","+modernMeta+"}", header("tools/call", "get_ticket"))
			require.Equal(t, http.StatusOK, status, body)
		})
		const tag = `"_meta":{"io.modelcontextprotocol/subscriptionId":"x"}`
		require.Equal(t, `{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{`+tag+`,"uri":"kitebase://status"}}`, <-came)
		require.Equal(t, `{"jsonrpc":"2.0","method":"notifications/tools/list_changed","params":{`+tag+`}}`, <-came)
		leave()
		time.Sleep(time.Minute)
	})
	// mcp-go ends such a stream at once, and dropped the acknowledgement when the end was quicker.
	onHTTP(t, "a stream for nothing that is on offer is acknowledged all the same", server.Config{}, func(t *testing.T, s *site) {
		header := map[string]string{"Mcp-Protocol-Version": "2026-07-28", "Mcp-Method": "subscriptions/listen"}
		for range 50 {
			_, body := s.post("/mcp", "subscriptions/listen", `{"notifications":{"toolsListChanged":true},`+modernMeta+`}`, header)
			require.Contains(t, body, "notifications/subscriptions/acknowledged")
			require.Contains(t, body, `"result":`)
		}
	})
	// It has no stream in these revisions, and a promise would be kept by nobody.
	onHTTP(t, "streamable HTTP before it promises nothing", server.Config{HideOpenTools: true}, func(t *testing.T, s *site) {
		_, body := s.post("/mcp", "initialize", hello, nil)
		require.Contains(t, body, `"resources":{},"tools":{}`)
		status, body := s.post("/mcp", "resources/subscribe", `{"uri":"kitebase://status"}`, nil)
		require.Equal(t, http.StatusBadRequest, status)
		require.Contains(t, body, `"code":-32601`)
		require.Contains(t, body, "Nothing was subscribed.")
		_, body = s.post("/mcp", "resources/read", `{"uri":"kitebase://status"}`, nil)
		require.Contains(t, body, "State of Kitebase at ")
		s.outage(func(params string) { s.post("/mcp", "tools/call", params, nil) })
		_, body = s.post("/mcp", "tools/list", "{}", nil)
		require.NotContains(t, body, `"name":"get_ticket"`, "but the list says what is so")
	})
}
