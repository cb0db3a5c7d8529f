package kitebase

import (
	"encoding/json"
	"io"
	"net/http"
	"time"
)

const (
	// maxProblem bounds what is read of the body of a failure, in bytes.
	maxProblem = 64 << 10
	// drainFor bounds the wait for the body of a failure that nobody reads. A new connection costs less than that.
	drainFor = 50 * time.Millisecond
)

// problem is what the client takes from a problem document (RFC 9457).
type problem struct {
	Type     string `json:"type"`
	readable bool   // a whole JSON object came
}

// readProblem reads the problem document of a 4xx. The bodies of other failures decide nothing, so they are only drained,
// to keep the connection, and not for long.
func readProblem(resp *http.Response) problem {
	body := io.LimitReader(resp.Body, maxProblem)
	if resp.StatusCode/100 != 4 {
		abort := time.AfterFunc(drainFor, func() { _ = resp.Body.Close() })
		defer abort.Stop()
		_, _ = io.Copy(io.Discard, body)
		return problem{}
	}
	raw, err := io.ReadAll(body)
	if err != nil {
		return problem{}
	}
	var p *problem // a pointer, to tell null from an object
	if err := json.Unmarshal(raw, &p); err != nil || p == nil {
		return problem{}
	}
	p.readable = true
	return *p
}
