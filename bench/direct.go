package main

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"time"
)

// direct asks Kitebase for the ticket itself, with no server in between, on one connection.
type direct struct {
	host string
	conn net.Conn
	in   *bufio.Reader
}

func (d *direct) call() error {
	if _, err := fmt.Fprintf(d.conn, "GET /v1/tickets/KITE-142 HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer bench\r\n\r\n", d.host); err != nil {
		return err
	}
	response, err := http.ReadResponse(d.in, nil)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	if err == nil && response.StatusCode != http.StatusOK {
		err = fmt.Errorf("Kitebase answered %s: %.500s", response.Status, answer)
	}
	return err
}

// waits measures what as many requests under way at once come to: no server can be faster.
func (d *desk) waits(inFlight int, during time.Duration) (tempo, error) {
	address, err := url.Parse(d.url)
	if err != nil {
		return tempo{}, err
	}
	all := make([]*direct, inFlight)
	for i := range all {
		conn, err := net.Dial("tcp", address.Host)
		if err != nil {
			return tempo{}, err
		}
		defer conn.Close()
		all[i] = &direct{host: address.Host, conn: conn, in: bufio.NewReader(conn)}
	}
	return together(all, during)
}
