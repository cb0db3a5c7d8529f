package kitebase

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strings"

	"github.com/kitebase/kitebase-mcp/idempotency"
)

// maxBody bounds the body of an answer, in bytes. The largest ticket worth reading is far smaller.
const maxBody = 1 << 20

// request is one call before it is HTTP.
type request struct {
	operation string
	method    string
	path      string // escaped; "" if it could not be built
	query     url.Values
	body      map[string]string // nil = none
	key       string            // Idempotency-Key; "" = none
}

// succeeds reports whether status is what the operation promises. A reply is 201 when it was sent and 200 when it was
// replayed; 202 and 204 tell nothing that could be checked.
func (r request) succeeds(status int) bool {
	return status == http.StatusOK || status == http.StatusCreated && r.method == http.MethodPost
}

// exchange sends one request and returns the answer to it if that has the right status, is JSON by its own word, and came
// whole. Everything else is an *Error.
func (c *Client) exchange(ctx context.Context, r request) (answer, error) {
	if r.path == "" {
		refusal := verdict{KindInvalid, reasonBadID, idempotency.NotDone}
		return answer{}, &Error{Operation: r.operation, verdict: refusal, refused: true}
	}
	var seen progress
	req, err := c.build(httptrace.WithClientTrace(ctx, seen.trace()), r)
	if err != nil {
		return answer{}, unanswered(ctx, r.operation, &seen, err)
	}
	// RoundTrip rather than http.Client: that one follows redirects, keeps cookies, and puts the URL into its errors.
	resp, err := c.transport.RoundTrip(req)
	if err != nil {
		return answer{}, unanswered(ctx, r.operation, &seen, err)
	}
	defer resp.Body.Close()
	c.onAnswer(resp.Header)

	got := answer{operation: r.operation, secret: c.token, status: resp.StatusCode, header: resp.Header}
	if !r.succeeds(resp.StatusCode) {
		return answer{}, got.refusal(readProblem(resp))
	}
	got.body, err = readAll(io.LimitReader(resp.Body, maxBody+1), resp.ContentLength)
	if v, over := ended(ctx, idempotency.Unknown); over && err != nil {
		return answer{}, got.fail(v, "while reading the answer", err)
	}
	if err != nil {
		return answer{}, got.bad(reasonCutOff, describe(err), err)
	}
	return got, got.checkForm()
}

// readAll is io.ReadAll with room for what was announced from the start.
func readAll(from io.Reader, announced int64) ([]byte, error) {
	var body bytes.Buffer
	if announced > 0 {
		body.Grow(int(min(announced, maxBody)) + bytes.MinRead) // the end is seen by a read into room that is left
	}
	_, err := body.ReadFrom(from)
	return body.Bytes(), err
}

// build makes the HTTP request, in a form that net/http cannot send twice.
func (c *Client) build(ctx context.Context, r request) (*http.Request, error) {
	address := c.base + r.path
	if len(r.query) > 0 {
		address += "?" + r.query.Encode()
	}
	req, err := http.NewRequestWithContext(ctx, r.method, address, nil)
	if err != nil {
		return nil, err
	}
	req.Header = c.header.Clone()
	if c.headers != nil {
		c.headers(ctx, req.Header)
	}
	if r.key != "" {
		req.Header.Set("Idempotency-Key", r.key)
	}
	// The transport re-sends a request when a kept connection turns out to be dead, if it has no body, or if GetBody can
	// make another one: GETs always, and everything that carries an Idempotency-Key. A body that can be read only once
	// stops that, so a GET gets an empty one. With "identity" net/http does not probe it first (a goroutine, a timer, and
	// "chunked" on the wire when the probe is late).
	if r.body == nil {
		req.Body = io.NopCloser(strings.NewReader(""))
		req.TransferEncoding = []string{"identity"}
		return req, nil
	}
	body, err := json.Marshal(r.body)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Body = io.NopCloser(bytes.NewReader(body))
	req.ContentLength = int64(len(body))
	return req, nil
}
