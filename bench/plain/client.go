package plain

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"time"
)

// Client speaks to Kitebase. It is safe for concurrent use.
type Client struct {
	url, token string
	http       *http.Client
}

// FromEnvironment returns a client for KITEBASE_URL and KITEBASE_TOKEN.
func FromEnvironment() (*Client, error) {
	address := os.Getenv("KITEBASE_URL")
	if address == "" {
		return nil, fmt.Errorf("KITEBASE_URL is not set: it takes the address of Kitebase")
	}
	return &Client{url: address, token: os.Getenv("KITEBASE_TOKEN"), http: &http.Client{Timeout: 10 * time.Second}}, nil
}

// StatusError is an answer of Kitebase that is no success.
type StatusError struct {
	Status int
	Body   string
}

// Error has the status and what Kitebase said.
func (e *StatusError) Error() string {
	return fmt.Sprintf("Kitebase answered %d %s: %s", e.Status, http.StatusText(e.Status), e.Body)
}

func (c *Client) get(ctx context.Context, path string, query url.Values) (any, error) {
	if len(query) > 0 {
		path += "?" + query.Encode()
	}
	return c.do(ctx, http.MethodGet, path, nil)
}

// do makes one request and returns the JSON of its answer.
func (c *Client) do(ctx context.Context, method, path string, body any) (any, error) {
	var content io.Reader
	if body != nil {
		encoded, err := json.Marshal(body)
		if err != nil {
			return nil, err
		}
		content = bytes.NewReader(encoded)
	}
	request, err := http.NewRequestWithContext(ctx, method, c.url+path, content)
	if err != nil {
		return nil, err
	}
	request.Header.Set("Authorization", "Bearer "+c.token)
	if body != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	response, err := c.http.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	if err != nil {
		return nil, err
	}
	if response.StatusCode >= 300 {
		return nil, &StatusError{response.StatusCode, string(answer)}
	}
	var result any
	if err := json.Unmarshal(answer, &result); err != nil {
		return nil, err
	}
	return result, nil
}
