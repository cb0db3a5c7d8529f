package web_test

import (
	"bufio"
	"bytes"
	"context"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// An sse is the client's end of an SSE session, or of any event stream.
type sse struct {
	d        *desk
	endpoint string
	response *http.Response
	lines    *bufio.Scanner
	leave    context.CancelFunc
}

func openSSE(t *testing.T, d *desk, header ...string) *sse {
	t.Helper()
	ctx, leave := context.WithCancel(t.Context())
	s := dialSSE(t, ctx, d, header...)
	s.leave = leave
	t.Cleanup(leave)
	t.Cleanup(func() { _ = s.response.Body.Close() })
	if s.response.StatusCode == http.StatusOK {
		s.endpoint = s.next(t)
	}
	return s
}

// dialSSE opens a stream that ends with ctx, and reads nothing of it.
func dialSSE(t *testing.T, ctx context.Context, d *desk, header ...string) *sse {
	t.Helper()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+d.addr+"/sse", nil)
	require.NoError(t, err)
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	response, err := d.client.Do(r)
	require.NoError(t, err)
	return &sse{d: d, response: response, lines: bufio.NewScanner(response.Body)}
}

// next returns the data of the next event, or a comment line, or "" at the end.
func (s *sse) next(t *testing.T) string {
	t.Helper()
	for s.lines.Scan() {
		if data, ok := strings.CutPrefix(s.lines.Text(), "data: "); ok {
			return data
		}
		if strings.HasPrefix(s.lines.Text(), ":") {
			return s.lines.Text()
		}
	}
	return ""
}

func (s *sse) post(t *testing.T, body string, header ...string) *http.Response {
	t.Helper()
	return s.d.do(t, http.MethodPost, s.endpoint, body, header...)
}

// lockedBuffer is a log that tests can read while the server writes.
type lockedBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}
