package fakeapi_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	"github.com/getkin/kin-openapi/routers/gorillamux"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/kitebase/kitebase-mcp/fakeapi"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// desk is a fake and a client of it that checks every complete answer against openapi.yaml.
type desk struct {
	*fakeapi.Fake
	t      *testing.T
	url    string
	router routers.Router
	client *http.Client
}

// newDesk serves on a TCP port.
func newDesk(t *testing.T, cfg fakeapi.Config) *desk {
	t.Helper()
	server, err := fakeapi.Start("127.0.0.1:0", cfg)
	require.NoError(t, err)
	t.Cleanup(server.Close)
	return clientOf(t, server.Fake, server.URL(), nil)
}

// newPipeDesk serves over in-memory pipes, for synctest bubbles.
func newPipeDesk(t *testing.T, cfg fakeapi.Config) *desk {
	t.Helper()
	fake, err := fakeapi.New(cfg)
	require.NoError(t, err)
	listener := newPipeListener()
	server := &http.Server{Handler: fake}
	served := make(chan error)
	go func() { served <- server.Serve(listener) }()
	t.Cleanup(func() {
		fake.Close()
		require.NoError(t, server.Close())
		require.ErrorIs(t, <-served, http.ErrServerClosed)
	})
	return clientOf(t, fake, "http://kitebase.test", listener.dial)
}

func clientOf(t *testing.T, fake *fakeapi.Fake, url string, dial func(context.Context, string, string) (net.Conn, error)) *desk {
	t.Helper()
	router, err := specRouter()
	require.NoError(t, err)
	return &desk{Fake: fake, t: t, url: url, router: router, client: &http.Client{
		// On a connection of its own no request is sent again behind our back.
		Transport:     &http.Transport{DisableKeepAlives: true, DialContext: dial},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

type reply struct {
	status int
	header http.Header
	body   string
}

// field returns a member of the JSON object in the body.
func (r reply) field(t *testing.T, name string) any {
	t.Helper()
	var object map[string]any
	require.NoError(t, json.Unmarshal([]byte(r.body), &object), r.body)
	return object[name]
}

// do sends a request with JSON headers and returns the checked answer. headers come as name, value, name, value.
func (d *desk) do(method, path, body string, headers ...string) reply {
	d.t.Helper()
	r, err := d.try(method, path, body, headers...)
	require.NoError(d.t, err)
	d.check(method, path, r)
	return r
}

// try is do without any check: for answers that a fault breaks.
func (d *desk) try(method, path, body string, headers ...string) (reply, error) {
	d.t.Helper()
	return d.tryContext(d.t.Context(), method, path, body, headers...)
}

func (d *desk) tryContext(ctx context.Context, method, path, body string, headers ...string) (reply, error) {
	d.t.Helper()
	request, err := http.NewRequestWithContext(ctx, method, d.url+path, strings.NewReader(body))
	require.NoError(d.t, err)
	if body != "" {
		request.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i < len(headers); i += 2 {
		request.Header.Set(headers[i], headers[i+1])
	}
	response, err := d.client.Do(request)
	if err != nil {
		return reply{}, err
	}
	defer response.Body.Close()
	data, err := io.ReadAll(response.Body)
	return reply{response.StatusCode, response.Header, string(data)}, err
}

// check holds an answer to the document. What is no path or method of the document must be a problem all the same.
func (d *desk) check(method, path string, r reply) {
	d.t.Helper()
	request, err := http.NewRequest(method, d.url+path, nil)
	require.NoError(d.t, err)
	route, params, err := d.router.FindRoute(request)
	if err != nil {
		require.Regexp(d.t, "^req_", r.header.Get("X-Request-Id"))
		require.Equal(d.t, "application/problem+json", r.header.Get("Content-Type"))
		require.EqualValues(d.t, r.status, r.field(d.t, "status"))
		return
	}
	err = openapi3filter.ValidateResponse(d.t.Context(), &openapi3filter.ResponseValidationInput{
		RequestValidationInput: &openapi3filter.RequestValidationInput{Request: request, PathParams: params, Route: route},
		Status:                 r.status,
		Header:                 r.header,
		Body:                   io.NopCloser(bytes.NewReader([]byte(r.body))),
		Options:                &openapi3filter.Options{IncludeResponseStatus: true},
	})
	require.NoError(d.t, err, "%s %s: %d %s", method, path, r.status, r.body)
}

// The document is parsed once: under the race detector that takes longer than most tests.
var (
	loadSpec = sync.OnceValues(func() (*openapi3.T, error) {
		return openapi3.NewLoader().LoadFromFile("openapi.yaml")
	})
	specRouter = sync.OnceValues(func() (routers.Router, error) {
		spec, err := loadSpec()
		if err != nil {
			return nil, err
		}
		return gorillamux.NewRouter(spec)
	})
)

const replies = "/v1/tickets/KITE-142/replies"

// send replies to KITE-142; key "" sends none.
func (d *desk) send(key, text string) reply {
	d.t.Helper()
	return d.do("POST", replies, messageBody(text), keyHeader(key)...)
}

func messageBody(text string) string {
	body, _ := json.Marshal(map[string]string{"message": text})
	return string(body)
}

func keyHeader(key string) []string {
	if key == "" {
		return nil
	}
	return []string{"Idempotency-Key", key}
}
