//go:build unix

package lab_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/kitebase/kitebase-mcp/server/lab"
)

// watchdog ends the waiting for what should have ended long before.
const watchdog = time.Minute

// TestLeftBehind: a server started something in a session of its own, which no signal to the group reaches and which keeps the
// output open. The lab waited for that to end, also after a Ctrl-C.
func TestLeftBehind(t *testing.T) {
	t.Parallel()
	t.Run("cases end", func(t *testing.T) {
		t.Parallel()
		report, err := left(t, t.Context(), func(c *lab.Config) { c.Cases = []string{"once/well", "end/after"} })
		require.NoError(t, err)
		found, says := kinds(report)
		require.Equal(t, []lab.Kind{lab.Duplicate}, found, says)
		require.Equal(t, 3, report.Card.Well)
	})
	t.Run("the server dies", func(t *testing.T) {
		t.Parallel()
		report, err := left(t, t.Context(), func(c *lab.Config) {
			c.Cases, c.Command, c.CallLimit = []string{"repeat/lose"}, append(c.Command, "-does=dies"), 200*time.Millisecond
		})
		require.NoError(t, err)
		found, says := kinds(report)
		require.NotEmpty(t, found)
		require.NotContains(t, found, lab.Duplicate, says)
	})
	t.Run("interrupted", func(t *testing.T) {
		t.Parallel()
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel) // somewhere in the case, or before it
		_, err := left(t, ctx, func(c *lab.Config) {
			c.Cases, c.Command = []string{"once/hang"}, append(c.Command, "-does=silent")
		})
		require.ErrorIs(t, err, context.Canceled)
	})
	t.Run("does not start", func(t *testing.T) {
		t.Parallel()
		_, err := left(t, t.Context(), func(c *lab.Config) {
			c.Command, c.StartLimit = append(c.Command, "-does=exits"), 2*time.Second
		})
		require.ErrorContains(t, err, "the setting FLUX is missing")
	})
}

// left runs the lab on a server that leaves something behind, which stays until the test is over.
func left(t *testing.T, ctx context.Context, with func(*lab.Config)) (*lab.Report, error) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "stay")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	c := config(t, nil, "-answer="+text("Sent."), "-leaves="+file)
	with(&c)
	var (
		report *lab.Report
		err    error
		done   = make(chan struct{})
	)
	go func() {
		defer close(done)
		report, err = lab.Run(ctx, c)
	}()
	select {
	case <-done:
	case <-time.After(watchdog):
		t.Error("the lab waits for what the server has left behind")
		require.NoError(t, os.Remove(file))
		<-done
	}
	return report, err
}

// leave starts a process that has a session of its own, and this one's output.
func leave(file string) {
	cmd := exec.Command(os.Args[0], "-stays="+file)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		panic(err)
	}
}
