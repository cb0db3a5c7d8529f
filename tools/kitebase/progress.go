package kitebase

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"net/http/httptrace"
	"sync/atomic"
	"syscall"

	"github.com/kitebase/kitebase-mcp/idempotency"
)

// progress is how far a request came. It is atomic because net/http goes on dialling after a call was given up.
type progress struct {
	secured   atomic.Bool // a TLS handshake began
	connected atomic.Bool // there was a connection to write to
	written   atomic.Bool // the header was handed over whole: from here on Kitebase may act
	answered  atomic.Bool // something came back
}

func (p *progress) trace() *httptrace.ClientTrace {
	return &httptrace.ClientTrace{
		TLSHandshakeStart:    func() { p.secured.Store(true) },
		GotConn:              func(httptrace.GotConnInfo) { p.connected.Store(true) },
		WroteHeaders:         func() { p.written.Store(true) },
		GotFirstResponseByte: func() { p.answered.Store(true) },
	}
}

// outcome is what can be said of a request without an answer. No server acts on half a header, so before its end nothing
// was done. After it even a failed write counts as written: how much of the body arrived cannot be known.
func (p *progress) outcome() idempotency.Outcome {
	if p.written.Load() {
		return idempotency.Unknown
	}
	return idempotency.NotDone
}

// unanswered judges a call that ended without the header of an answer.
func unanswered(ctx context.Context, operation string, seen *progress, err error) *Error {
	v, over := ended(ctx, seen.outcome())
	if !over {
		v = verdict{KindUnavailable, reasonReset, seen.outcome()}
		switch {
		case !seen.connected.Load() && seen.secured.Load():
			v.reason = reasonNoTLS
		case !seen.connected.Load():
			v.reason = reasonNoConnection
		case seen.answered.Load() && !isCut(err):
			v.kind, v.reason = KindBadAnswer, reasonUnreadable
		}
	}
	return &Error{Operation: operation, verdict: v, detail: describe(err), err: err}
}

// isCut tells a connection that ended from bytes that are not HTTP.
func isCut(err error) bool {
	var op *net.OpError
	return errors.As(err, &op) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) ||
		errors.Is(err, io.ErrClosedPipe)
}

// describe returns the part of err that is worth logging and free of addresses and upstream text, or "". It names what it
// knows instead of passing texts on: those of net hold the address, those of net/http what the server wrote.
func describe(err error) string {
	var (
		dns         *net.DNSError
		errno       syscall.Errno
		certificate *tls.CertificateVerificationError
		authority   x509.UnknownAuthorityError
		network     net.Error
	)
	switch {
	case errors.As(err, &dns):
		return "the name lookup failed: " + dns.Err
	case errors.As(err, &errno):
		return errno.Error()
	case errors.As(err, &authority):
		return "the certificate is signed by an unknown authority"
	case errors.As(err, &certificate):
		return "the certificate is not valid for this server"
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.ErrClosedPipe):
		return "end of stream"
	case errors.As(err, &network) && network.Timeout():
		return "timeout"
	}
	return ""
}
