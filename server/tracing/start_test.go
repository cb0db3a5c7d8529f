package tracing_test

import (
	"bytes"
	"context"
	"encoding/pem"
	"log/slog"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/stretchr/testify/require"

	"github.com/kitebase/kitebase-mcp/server/tracing"
	"github.com/kitebase/kitebase-mcp/server/tracing/tracetest"
)

// started starts traces with these variables, and returns the log.
func started(t *testing.T, variables map[string]string) (*tracing.Tracing, *bytes.Buffer) {
	t.Helper()
	for name, value := range variables {
		t.Setenv(name, value)
	}
	var log bytes.Buffer
	return tracing.Start(tracing.Config{Version: "1.2.3", Logger: slog.New(slog.NewTextHandler(&log, nil))}), &log
}

// A wrong setting is told by its name; traces are delivered without it.
func TestStartTellsWhatIsWrong(t *testing.T) {
	collector := tracetest.Start(t)
	traces, log := started(t, map[string]string{
		"OTEL_EXPORTER_OTLP_ENDPOINT":           collector.URL,
		"OTEL_EXPORTER_OTLP_HEADERS":            "x-key=key,canary",
		"OTEL_EXPORTER_OTLP_TRACES_TIMEOUT":     "canary",
		"OTEL_EXPORTER_OTLP_COMPRESSION":        "canary",
		"OTEL_EXPORTER_OTLP_CERTIFICATE":        "/canary",
		"OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE": "/canary",
	})
	handler := traces.Call(func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) { return nil, nil })
	_, err := handler(t.Context(), mcp.CallToolRequest{})
	require.NoError(t, err)
	traces.Close()
	collector.Arrived(1)
	_, headers := collector.Raw()
	require.Equal(t, "key", headers[0].Get("X-Key"))
	require.Equal(t, "kitebase-mcp/1.2.3", headers[0].Get("User-Agent"))
	require.Equal(t, 5, strings.Count(log.String(), "level=WARN"), log)
	for _, name := range []string{"HEADERS", "TRACES_TIMEOUT", "COMPRESSION", "CERTIFICATE", "CLIENT_CERTIFICATE"} {
		require.Contains(t, log.String(), `msg="OTEL_EXPORTER_OTLP_`+name+" ")
	}
	require.NotContains(t, log.String(), "canary")
}

// Who names certificates wants nothing sent in the clear.
func TestCertificatesWithoutTLSAreOff(t *testing.T) {
	known := httptest.NewTLSServer(nil)
	defer known.Close()
	file := filepath.Join(t.TempDir(), "certificate.pem")
	block := pem.Block{Type: "CERTIFICATE", Bytes: known.Certificate().Raw}
	require.NoError(t, os.WriteFile(file, pem.EncodeToMemory(&block), 0o600))
	traces, log := started(t, map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "http://canary.example", "OTEL_EXPORTER_OTLP_CERTIFICATE": file})
	require.Nil(t, traces)
	require.Contains(t, log.String(), "traces are off: certificates are set")
	require.NotContains(t, log.String(), "canary")
}
