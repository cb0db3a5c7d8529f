package main

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync/atomic"
	"time"
)

// connection is a client on streamable HTTP with one connection and a session of its own. It writes its requests by hand:
// the client of net/http takes more of the CPU than the servers.
type connection struct {
	addr    string
	conn    net.Conn
	in      *bufio.Reader
	session string
	id      int
}

func (c *connection) greet() error {
	var err error
	for wait := time.Now().Add(5 * time.Second); time.Now().Before(wait); time.Sleep(200 * time.Microsecond) {
		if c.conn, err = net.Dial("tcp", c.addr); err == nil { // it does not listen yet
			break
		}
	}
	if err != nil {
		return err
	}
	c.in = bufio.NewReaderSize(c.conn, 16<<10)
	if _, err := c.post(initialize); err != nil {
		return err
	}
	_, err = c.post(initialized)
	return err
}

// post sends one message and returns what came back.
func (c *connection) post(message string) ([]byte, error) {
	session := ""
	if c.session != "" {
		session = "Mcp-Session-Id: " + c.session + "\r\nMcp-Protocol-Version: 2025-11-25\r\n"
	}
	_, err := fmt.Fprintf(c.conn, "POST /mcp HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\n"+
		"Accept: application/json, text/event-stream\r\n%sContent-Length: %d\r\n\r\n%s", c.addr, session, len(message), message)
	if err != nil {
		return nil, err
	}
	response, err := http.ReadResponse(c.in, nil)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	c.session = cmp.Or(response.Header.Get("Mcp-Session-Id"), c.session)
	answer, err := io.ReadAll(response.Body)
	if err == nil && response.StatusCode >= 300 {
		err = fmt.Errorf("status %d: %s", response.StatusCode, answer)
	}
	return answer, err
}

func (c *connection) call() error {
	c.id++
	answer, err := c.post(fmt.Sprintf(getTicket, c.id))
	if err != nil {
		return err
	}
	return check(answer)
}

// load uses a connection for each call under way.
func (c *connection) load(inFlight int, during time.Duration) (tempo, error) {
	all := make([]*connection, inFlight)
	for i := range all {
		all[i] = &connection{addr: c.addr}
		if err := all[i].greet(); err != nil {
			return tempo{}, err
		}
		defer all[i].conn.Close()
	}
	return together(all, during)
}

// together has each of all make one call after another.
func together[C interface{ call() error }](all []C, during time.Duration) (tempo, error) {
	var calls atomic.Int64
	began, ends := time.Now(), make(chan error, len(all))
	for _, one := range all {
		go func() {
			var err error
			for err == nil && time.Since(began) < during {
				err = one.call()
				calls.Add(1)
			}
			ends <- err
		}()
	}
	var err error
	for range all {
		err = cmp.Or(err, <-ends)
	}
	return tempo{int(calls.Load()), time.Since(began)}, err
}
