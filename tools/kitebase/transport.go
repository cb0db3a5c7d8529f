package kitebase

import (
	"net"
	"net/http"
	"time"
)

const (
	// callsInFlight is how many connections are kept: the bulkhead of the server lets 64 calls of a tool through, and
	// with the two that http.DefaultTransport keeps, half of them would dial anew.
	callsInFlight = 64
	// idleFor stays below the 60 s after which common load balancers drop a silent connection, because a call on a dead
	// one fails: nothing is re-sent here.
	idleFor = 30 * time.Second
	// abandonedFor bounds dials and handshakes that no call waits for any more. net/http lets them run on when the
	// context of their request ends, so without it a silent host would collect sockets. It limits no call: deadlines
	// are shorter.
	abandonedFor = time.Minute
	// maxHeader bounds the header of an answer, in bytes.
	maxHeader = 64 << 10
)

// newTransport returns a connection pool of the client's own, so that neither the settings nor the load of other users of
// net/http reach it. It speaks HTTP/1.1 only: there, RoundTrip returns after the writing of the request has ended, which
// is what makes "was it written?" a question with an answer.
//
// Proxies: a program that ignored HTTPS_PROXY and NO_PROXY could not reach Kitebase from many offices, so they are
// honoured, as everywhere else on the machine. A caller that dials by itself has said where to go, and gets no proxy.
func newTransport(config Config) *http.Transport {
	transport := &http.Transport{
		Proxy:                  http.ProxyFromEnvironment,
		DialContext:            (&net.Dialer{Timeout: abandonedFor}).DialContext,
		TLSHandshakeTimeout:    abandonedFor,
		MaxIdleConns:           callsInFlight,
		MaxIdleConnsPerHost:    callsInFlight,
		IdleConnTimeout:        idleFor,
		MaxResponseHeaderBytes: maxHeader,
		DisableCompression:     true, // answers are small, and a bound on bytes should mean bytes on the wire
		Protocols:              new(http.Protocols),
	}
	transport.Protocols.SetHTTP1(true)
	if config.DialContext != nil {
		transport.Proxy = nil
		transport.DialContext = config.DialContext
	}
	return transport
}
