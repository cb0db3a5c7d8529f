//go:build unix

package otlp_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kitebase/kitebase-mcp/server/tracing/otlp"
)

// What is no file, or has no end that is near, is told instead of holding up the start.
func TestCertificatesAreFiles(t *testing.T) {
	certificate, key := certificateFiles(t, startTLS(t))
	pipe, large := filepath.Join(t.TempDir(), "pipe"), filepath.Join(t.TempDir(), "large")
	require.NoError(t, syscall.Mkfifo(pipe, 0o600))
	text, err := os.ReadFile(certificate)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(large, append(text, strings.Repeat("\n", 1<<20)...), 0o600))
	for _, wrong := range []string{pipe, large} {
		for _, e := range []environ{
			{"ENDPOINT": "https://collector.example", "CERTIFICATE": wrong},
			{"ENDPOINT": "https://collector.example", "CLIENT_CERTIFICATE": wrong, "CLIENT_KEY": key},
			{"ENDPOINT": "https://collector.example", "CLIENT_CERTIFICATE": certificate, "CLIENT_KEY": wrong},
		} {
			e.set(t, "")
			var warnings []string
			settings, err := otlp.FromEnvironment(os.Getenv, func(text string) { warnings = append(warnings, text) })
			require.NoError(t, err)
			require.Zero(t, settings.Certificates)
			require.Len(t, warnings, 1)
			require.NotContains(t, warnings[0], wrong)
		}
	}
}
