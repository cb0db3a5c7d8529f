package otlp_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kitebase/kitebase-mcp/server/tracing/otlp"
)

// startTLS returns a receiver with a certificate that no system knows, which wants to see one.
func startTLS(t *testing.T) *receiver {
	t.Helper()
	r := &receiver{}
	r.Server = httptest.NewUnstartedServer(r)
	r.TLS = &tls.Config{ClientAuth: tls.RequireAnyClientCert}
	r.EnableHTTP2 = true
	r.Config.ErrorLog = log.New(io.Discard, "", 0)
	r.StartTLS()
	t.Cleanup(r.Close)
	return r
}

// certificateFiles writes the receiver's certificate and its key.
func certificateFiles(t *testing.T, r *receiver) (certificate, key string) {
	t.Helper()
	private, err := x509.MarshalPKCS8PrivateKey(r.TLS.Certificates[0].PrivateKey)
	require.NoError(t, err)
	write := func(name, kind string, bytes []byte) string {
		file := filepath.Join(t.TempDir(), name)
		require.NoError(t, os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: bytes}), 0o600))
		return file
	}
	return write("certificate.pem", "CERTIFICATE", r.Certificate().Raw), write("key.pem", "PRIVATE KEY", private)
}

// Both exporters reach a collector that has a certificate of its own and wants to see one, by the same variables.
func TestCertificatesAreThoseOfTheOfficialExporter(t *testing.T) {
	receiver := startTLS(t)
	certificate, key := certificateFiles(t, receiver)
	for name, env := range map[string]environ{
		"for all signals": {"CERTIFICATE": certificate, "CLIENT_CERTIFICATE": certificate, "CLIENT_KEY": key},
		"for traces":      {"TRACES_CERTIFICATE": certificate, "TRACES_CLIENT_CERTIFICATE": certificate, "TRACES_CLIENT_KEY": key},
		"traces win": {"CERTIFICATE": "missing", "TRACES_CERTIFICATE": certificate, "CLIENT_CERTIFICATE": "missing", "CLIENT_KEY": "missing",
			"TRACES_CLIENT_CERTIFICATE": certificate, "TRACES_CLIENT_KEY": key},
	} {
		t.Run(name, func(t *testing.T) {
			env["ENDPOINT"] = "RECEIVER"
			env.set(t, receiver.URL)
			require.NoError(t, official(t, t.Context(), oneSpan()))
			warnings, err := ours(t, t.Context(), oneSpan())
			require.NoError(t, err)
			require.Empty(t, warnings)
			got := receiver.take()
			require.Equal(t, "HTTP/2.0", got[1].protocol)
			sameRequests(t, got, name)
		})
	}
}

// Shutdown ends what is under way, and then closes the connection, which HTTP/2 would keep.
func TestShutdownEndsTheAttempt(t *testing.T) {
	arrived, closed := make(chan struct{}), make(chan struct{}, 10)
	receiver := &receiver{answer: func(_ http.ResponseWriter, request *http.Request) {
		close(arrived)
		<-request.Context().Done()
	}}
	receiver.Server = httptest.NewUnstartedServer(receiver)
	receiver.EnableHTTP2 = true
	receiver.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateClosed {
			closed <- struct{}{}
		}
	}
	receiver.StartTLS()
	defer receiver.Close()
	known := x509.NewCertPool()
	known.AddCert(receiver.Certificate())
	exporter := otlp.New(otlp.Settings{URL: receiver.URL, Certificates: otlp.Certificates{Collector: known}})
	failed := make(chan error)
	go func() { failed <- exporter.ExportSpans(t.Context(), oneSpan()) }()
	<-arrived
	require.NoError(t, exporter.Shutdown(t.Context()))
	require.ErrorIs(t, <-failed, context.Canceled)
	<-closed
}

// A collector that is not to be trusted gets nothing, is not tried again, and is told apart from one that is gone.
func TestUnknownCertificate(t *testing.T) {
	receiver := startTLS(t)
	environ{"ENDPOINT": "RECEIVER", "HEADERS": "x-key=canary"}.set(t, receiver.URL)
	_, err := ours(t, t.Context(), oneSpan())
	var unknown *tls.CertificateVerificationError
	require.ErrorAs(t, err, &unknown)
	require.NotContains(t, err.Error(), receiver.URL)
	require.Empty(t, receiver.take())
}
