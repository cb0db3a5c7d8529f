package main

import (
	"bytes"
	"errors"
	"fmt"
	"time"
)

const (
	initialize  = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"bench","version":"1"}}}`
	initialized = `{"jsonrpc":"2.0","method":"notifications/initialized"}`
	getTicket   = `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"get_ticket","arguments":{"ticket_id":"KITE-142"}}}`
)

// client makes calls of get_ticket at one server.
type client interface {
	// greet opens the session.
	greet() error
	// call makes one call and waits for its answer.
	call() error
	// load keeps inFlight calls under way for a while, and waits for the last answer.
	load(inFlight int, during time.Duration) (tempo, error)
}

// tempo is how many calls were answered from the first request to the last answer.
type tempo struct {
	calls int
	took  time.Duration
}

func (t tempo) perSecond() float64 { return float64(t.calls) / t.took.Seconds() }

// check reports an answer that is none, or that tells of a failure: a server that fails fast wins no race.
func check(answer []byte) error {
	if !bytes.Contains(answer, []byte(`"result":`)) || !bytes.Contains(answer, []byte("KITE-142")) || bytes.Contains(answer, []byte(`"isError":true`)) {
		return fmt.Errorf("the call failed: %.500s", answer)
	}
	return nil
}

// lines is a client on stdio.
type lines struct {
	*process
	id int
}

func (l *lines) greet() error {
	if _, err := l.in.Write([]byte(initialize + "\n")); err != nil {
		return err
	}
	answer, err := l.out.ReadSlice('\n')
	if err != nil {
		return err
	}
	if !bytes.Contains(answer, []byte(`"serverInfo"`)) {
		return errors.New("initialize failed")
	}
	_, err = l.in.Write([]byte(initialized + "\n"))
	return err
}

func (l *lines) send() error {
	l.id++
	_, err := fmt.Fprintf(l.in, getTicket+"\n", l.id)
	return err
}

func (l *lines) receive() error {
	answer, err := l.out.ReadSlice('\n')
	if err != nil {
		return err
	}
	return check(answer)
}

func (l *lines) call() error {
	if err := l.send(); err != nil {
		return err
	}
	return l.receive()
}

// load sends the next call when an answer has come. It is one goroutine, so that it takes little of the CPU from the servers.
func (l *lines) load(inFlight int, during time.Duration) (tempo, error) {
	began, sent, answered := time.Now(), 0, 0
	for ; sent < inFlight; sent++ {
		if err := l.send(); err != nil {
			return tempo{}, err
		}
	}
	for ; answered < sent; answered++ {
		if err := l.receive(); err != nil {
			return tempo{}, err
		}
		if time.Since(began) < during {
			if err := l.send(); err != nil {
				return tempo{}, err
			}
			sent++
		}
	}
	return tempo{answered, time.Since(began)}, nil
}
