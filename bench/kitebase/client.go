// Package kitebase is a client of Kitebase as most people would write it: one HTTP request a call, and a timeout. The servers
// that kitebase-mcp is compared with are made of it, whatever SDK they use, so that what differs is the SDK and the guard.
//
// It shares nothing with the client of kitebase-mcp, on purpose.
package kitebase

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
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
	return New(address, os.Getenv("KITEBASE_TOKEN"), nil), nil
}

// New returns a client for the Kitebase at url. It dials with dial, or if that is nil as net/http does.
func New(url, token string, dial func(ctx context.Context, network, addr string) (net.Conn, error)) *Client {
	// The default transport keeps two idle connections a host. With 64 calls in flight that costs half the throughput, which
	// says nothing about the SDKs, so nobody here has it.
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.MaxIdleConnsPerHost = 64
	if dial != nil {
		transport.DialContext = dial
	}
	return &Client{url: url, token: token, http: &http.Client{Timeout: 10 * time.Second, Transport: transport}}
}

// SearchHelp returns the articles that fit.
func (c *Client) SearchHelp(ctx context.Context, query string) (any, error) {
	return c.get(ctx, "/v1/help/search", url.Values{"query": {query}})
}

// GetTicket returns a ticket with its messages.
func (c *Client) GetTicket(ctx context.Context, id string) (any, error) {
	return c.get(ctx, "/v1/tickets/"+url.PathEscape(id), nil)
}

// SearchTickets returns the tickets that fit; a status of "" is any.
func (c *Client) SearchTickets(ctx context.Context, query, status string) (any, error) {
	values := url.Values{"query": {query}}
	if status != "" {
		values.Set("status", status)
	}
	return c.get(ctx, "/v1/tickets", values)
}

// AssignTicket gives a ticket to an agent.
func (c *Client) AssignTicket(ctx context.Context, id, assignee string) (any, error) {
	return c.do(ctx, http.MethodPut, "/v1/tickets/"+url.PathEscape(id)+"/assignee", map[string]string{"assignee": assignee})
}

// Reply sends a message to the customer of a ticket.
func (c *Client) Reply(ctx context.Context, id, message string) (any, error) {
	return c.do(ctx, http.MethodPost, "/v1/tickets/"+url.PathEscape(id)+"/replies", map[string]string{"message": message})
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
