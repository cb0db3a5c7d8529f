package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// secret is the key. Nothing that a person reads may hold it.
const secret = "sk-ant-test-0123456789"

// messagesAPI is the Messages API as far as this program can see it. It plays one answer after the other, and the last one for
// ever; and refuses with a 400 what the real one would refuse.
type messagesAPI struct {
	*httptest.Server
	t        *testing.T
	mu       sync.Mutex
	answers  []http.HandlerFunc
	requests []messagesRequest
}

type messagesRequest struct {
	Model     string        `json:"model"`
	MaxTokens int           `json:"max_tokens"`
	System    []wireBlock   `json:"system"`
	Messages  []wireMessage `json:"messages"`
	Tools     []struct {
		Name        string          `json:"name"`
		Description string          `json:"description"`
		InputSchema json.RawMessage `json:"input_schema"`
	} `json:"tools"`
}

func newMessagesAPI(t *testing.T, answers ...http.HandlerFunc) *messagesAPI {
	api := &messagesAPI{t: t, answers: answers}
	api.Server = httptest.NewServer(api)
	t.Cleanup(api.Close)
	return api
}

// env is what the program needs to reach it, and some that it must not follow.
func (api *messagesAPI) env() []string {
	return []string{"ANTHROPIC_API_KEY= " + secret + "\n", "ANTHROPIC_BASE_URL=" + api.URL, "NO_COLOR=1"}
}

func (api *messagesAPI) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the client went away
	}
	var request messagesRequest
	err = json.Unmarshal(body, &request)
	if err == nil {
		err = pairing(request.Messages)
	}
	if r.Method+r.URL.Path != "POST/v1/messages" || r.Header.Get("X-Api-Key") != secret || r.Header.Get("Anthropic-Version") == "" {
		err = fmt.Errorf("%s %s with a wrong head", r.Method, r.URL.Path)
	}
	if err != nil {
		api.t.Errorf("a request that the API would refuse: %v\n%s", err, body)
		http.Error(w, `{"type":"error","error":{"type":"invalid_request_error","message":"wrong"}}`, http.StatusBadRequest)
		return
	}
	api.mu.Lock()
	answer := api.answers[min(len(api.requests), len(api.answers)-1)]
	api.requests = append(api.requests, request)
	api.mu.Unlock()
	answer(w, r.WithContext(context.WithValue(r.Context(), requestKey{}, request)))
}

// requestKey is for answers that depend on the request.
type requestKey struct{}

// asked returns the requests so far.
func (api *messagesAPI) asked() []messagesRequest {
	api.mu.Lock()
	defer api.mu.Unlock()
	return slices.Clone(api.requests)
}

// turned answers with a turn of these content blocks.
func turned(stop string, blocks ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"id":"msg_1","type":"message","role":"assistant","model":"claude-opus-5-5","content":[%s],"stop_reason":%q,"stop_sequence":null,"usage":{"input_tokens":1000,"output_tokens":100,"cache_read_input_tokens":10}}`,
			strings.Join(blocks, ","), stop)
	}
}

// refused answers with an error that a careless proxy put the key into. The header has the SDK try again at once.
func refused(status int, kind string, headers ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Request-Id", "req_1")
		for _, header := range headers {
			name, value, _ := strings.Cut(header, ": ")
			w.Header().Set(name, value)
		}
		w.WriteHeader(status)
		fmt.Fprintf(w, `{"type":"error","error":{"type":%q,"message":"no luck\nwith %s"}}`, kind, secret)
	}
}

func written(contentType, text string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", contentType)
		_, _ = io.WriteString(w, text)
	}
}

func cut(w http.ResponseWriter, _ *http.Request) {
	if conn, _, err := w.(http.Hijacker).Hijack(); err == nil {
		_ = conn.Close()
	}
}

// slow never answers. The body has been read, so it notices when the client leaves.
func slow(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }

func textBlock(text string) string { return fmt.Sprintf(`{"type":"text","text":%q}`, text) }

func useBlock(id, tool, input string) string {
	return fmt.Sprintf(`{"type":"tool_use","id":%q,"name":%q,"input":%s}`, id, tool, input)
}

func requireNoSecret(t *testing.T, got result) {
	t.Helper()
	text := got.stdout + got.stderr
	if got.err != nil {
		text += got.err.Error()
	}
	require.NotContains(t, text, secret)
	require.NotContains(t, text, "goroutine ", "no stack trace")
}
