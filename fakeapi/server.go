package fakeapi

import (
	"context"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"time"
)

// Server is a Fake that listens on a TCP port of its own.
type Server struct {
	*Fake
	listener net.Listener
	http     *http.Server
	done     chan struct{}
}

// Start makes a Fake and serves it at addr ("127.0.0.1:0" takes a free port). It has no TLS and asks nobody who they
// are before they switch faults: listen on loopback. It fails as New does, or when it cannot listen.
func Start(addr string, cfg Config) (*Server, error) {
	fake, err := New(cfg)
	if err != nil {
		return nil, err
	}
	if _, err := fake.search.open(); err != nil { // here, so that the first search is as fast as the others
		return nil, err
	}
	listener, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("fakeapi: listening: %w", err)
	}
	s := &Server{
		Fake:     fake,
		listener: listener,
		// What net/http has to say is about clients that left, which is what this server is for.
		http: &http.Server{Handler: fake, ReadHeaderTimeout: 10 * time.Second, ErrorLog: log.New(io.Discard, "", 0)},
		done: make(chan struct{}),
	}
	go func() {
		defer close(s.done)
		// Ends with ErrServerClosed, or with the listener's error, which the next client sees as well.
		_ = s.http.Serve(listener)
	}()
	return s, nil
}

// URL returns the base URL, such as http://127.0.0.1:41234, without a final slash. A wildcard address becomes loopback.
func (s *Server) URL() string {
	addr := s.listener.Addr().(*net.TCPAddr)
	if addr.IP.IsUnspecified() {
		return fmt.Sprintf("http://127.0.0.1:%d", addr.Port)
	}
	return "http://" + addr.String()
}

// Close ends every connection, also those that a fault holds, and waits for the goroutines behind them. Work that is
// being done is finished first. What was recorded can still be read. Close may be called more than once.
func (s *Server) Close() {
	s.Fake.Close()
	// Connections on which no request has come yet would make Shutdown wait for seconds.
	ctx, cancel := context.WithTimeout(context.Background(), time.Second/4)
	defer cancel()
	_ = s.http.Shutdown(ctx)
	_ = s.http.Close()
	<-s.done
}
