package web_test

import (
	"context"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/kitebase/kitebase-mcp/server/web"
)

// usage is what must be flat. Files are 0 where they cannot be counted.
type usage struct{ goroutines, files, objects int }

func measure() usage {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	files, _ := os.ReadDir("/proc/self/fd")
	return usage{runtime.NumGoroutine(), len(files), int(m.HeapObjects)}
}

// requireFlat waits for goroutines and files to be what they were, and wants fewer new objects on the heap than there
// were rounds: nothing is kept of each.
func requireFlat(t *testing.T, before usage, rounds int) {
	t.Helper()
	const slack = 3 // the subtest's own goroutine, and Eventually's
	require.Greater(t, rounds, 10*slack)
	require.Eventually(t, func() bool {
		now := measure()
		return now.goroutines <= before.goroutines+slack && now.files <= before.files && now.objects < before.objects+max(rounds, 5000)
	}, patience, 50*time.Millisecond, "before: %+v", before)
}

// quiet keeps nothing of arrivals, for tests that count.
func quiet() web.Config {
	return web.Config{Context: func(ctx context.Context, _ time.Time) context.Context { return ctx }}
}

func TestChurn(t *testing.T) {
	cycles := 50
	if *long {
		cycles = 10_000
	}
	d := openDesk(t, quiet())
	cycle := func() {
		d.client.CloseIdleConnections()
		require.NoError(t, callWith(t.Context(), d, `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25"}}`))
		require.NoError(t, callWith(t.Context(), d, toolCall("1", "echo")))
		ctx, leave := context.WithCancel(t.Context())
		gone := inBackground(func() error { return callWith(ctx, d, toolCall("2", "hang")) })
		<-d.started
		leave()
		require.Error(t, <-gone)
		require.Error(t, <-d.ended)
		cycleSSE(t, d)
	}
	for range 10 {
		cycle()
	}
	d.client.CloseIdleConnections()
	settle(t, d)
	before := measure()
	for range cycles {
		cycle()
	}
	d.client.CloseIdleConnections()
	requireFlat(t, before, cycles)
}

// cycleSSE connects, calls and leaves, without t.Cleanup, which would keep what is counted.
func cycleSSE(t *testing.T, d *desk) {
	t.Helper()
	ctx, leave := context.WithCancel(t.Context())
	defer leave()
	s := dialSSE(t, ctx, d)
	r, err := d.client.Post("http://"+d.addr+s.next(t), "application/json", strings.NewReader(toolCall("1", "echo")))
	require.NoError(t, err)
	require.Equal(t, 202, r.StatusCode)
	require.NoError(t, r.Body.Close())
	require.Contains(t, s.next(t), `"text":"echo"`)
}

// settle waits until the connections of the warm-up are gone at both ends.
func settle(t *testing.T, d *desk) {
	t.Helper()
	last := measure()
	require.Eventually(t, func() bool {
		d.client.CloseIdleConnections()
		now := measure()
		same := now.goroutines == last.goroutines && now.files == last.files
		last = now
		return same
	}, patience, 100*time.Millisecond)
}

func TestIdleSessions(t *testing.T) {
	sessions := 100
	if *long {
		sessions = 5_000
	}
	cfg := quiet()
	cfg.MaxStreams, cfg.MaxConnections = sessions, sessions+100
	d := openDesk(t, cfg)
	require.NoError(t, callWith(t.Context(), d, toolCall("1", "echo")))
	cycleSSE(t, d)
	settle(t, d)
	before := measure()
	t.Run("streamable", func(t *testing.T) {
		for range sessions {
			require.NoError(t, callWith(t.Context(), d, `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25"}}`))
		}
		d.client.CloseIdleConnections()
		requireFlat(t, before, sessions)
	})
	t.Run("sse", func(t *testing.T) {
		held := holdSSE(t, d, sessions) // first, since the runtime keeps the records of dead goroutines
		// At most two of the server's (serving, noticing that the client left) and two of the client's own.
		require.LessOrEqual(t, held.goroutines-before.goroutines, 4*sessions+10)
		settle(t, d)
		before := measure()
		holdSSE(t, d, sessions)
		d.client.CloseIdleConnections()
		requireFlat(t, before, sessions)
	})
}

// holdSSE opens sessions at once, measures, makes a call beside them, and leaves them all.
func holdSSE(t *testing.T, d *desk, sessions int) usage {
	t.Helper()
	ctx, leave := context.WithCancel(t.Context())
	defer leave()
	for range sessions {
		dialSSE(t, ctx, d).next(t)
	}
	defer func() { require.NoError(t, callWith(t.Context(), d, toolCall("1", "echo"))) }()
	return measure()
}
