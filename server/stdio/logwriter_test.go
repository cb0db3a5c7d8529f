package stdio_test

import (
	"bufio"
	"fmt"
	"io"
	"log/slog"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/kitebase/kitebase-mcp/server/stdio"
)

func TestLogWriter(t *testing.T) {
	t.Run("lines come out in order", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			lines, stderr := logPipe(t)
			log := stdio.NewLogWriter(stderr, 0)
			for n := range 100 {
				writeLog(t, log, n)
			}
			for n := range 100 {
				require.Equal(t, fmt.Sprintf("line %d", n), next(t, lines))
			}
			require.NoError(t, log.Close())
			require.Zero(t, log.Dropped())
		})
	})
	t.Run("what is not read is dropped, counted and told", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			lines, stderr := logPipe(t)
			log := stdio.NewLogWriter(stderr, 20)
			writeLog(t, log, 0)
			synctest.Wait() // line 0 is under way, not queued
			for n := 1; n < 10; n++ {
				writeLog(t, log, n)
			}
			require.EqualValues(t, 7, log.Dropped())
			for _, want := range []string{"line 0", "line 1", "line 2", "dropped 7 log lines: stderr was not read"} {
				require.Equal(t, want, next(t, lines))
			}
			writeLog(t, log, 10)
			require.Equal(t, "line 10", next(t, lines))
		})
	})
	t.Run("after a gap nothing is written before the gap is told", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			lines, stderr := logPipe(t)
			log := stdio.NewLogWriter(stderr, 20)
			writeLog(t, log, 0)
			synctest.Wait()
			_, err := fmt.Fprintln(log, "a line of more than twenty bytes")
			require.NoError(t, err)
			writeLog(t, log, 1)
			require.Equal(t, "line 0", next(t, lines))
			require.Equal(t, "dropped 2 log lines: stderr was not read", next(t, lines))
		})
	})
	t.Run("a line beyond the limit does not end the log", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			lines, stderr := logPipe(t)
			log := stdio.NewLogWriter(stderr, 3)
			writeLog(t, log, 0)
			require.Equal(t, "dropped 1 log lines: stderr was not read", next(t, lines))
		})
	})
	t.Run("close flushes", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			lines, stderr := logPipe(t)
			log := stdio.NewLogWriter(stderr, 0)
			writeLog(t, log, 0)
			got := make(chan string, 1)
			go func() {
				time.Sleep(100 * time.Millisecond)
				got <- next(t, lines)
			}()
			start := time.Now()
			require.NoError(t, log.Close())
			require.Equal(t, 100*time.Millisecond, time.Since(start))
			require.Equal(t, "line 0", <-got)
			writeLog(t, log, 1)
			require.EqualValues(t, 1, log.Dropped())
		})
	})
	t.Run("close does not wait for long", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			_, stderr := logPipe(t)
			log := stdio.NewLogWriter(stderr, 0)
			writeLog(t, log, 0)
			start := time.Now()
			require.NoError(t, log.Close())
			require.Equal(t, 200*time.Millisecond, time.Since(start))
		})
	})
}

// With a stderr that nobody reads, logging blocked the calls that logged.
func TestUnreadStderrBlocksNoCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, stderr := logPipe(t)
		log := slog.New(slog.NewTextHandler(stdio.NewLogWriter(stderr, 1000), nil))
		c := connect(t, tool(done), stdio.Config{Logger: log})
		for range 100 {
			c.send("not JSON") // each is logged
		}
		require.Len(t, c.received(), 100)
	})
}

func logPipe(t *testing.T) (*bufio.Reader, io.Writer) {
	read, write := net.Pipe()
	t.Cleanup(func() { _ = read.Close() })
	return bufio.NewReader(read), write
}

func writeLog(t *testing.T, log io.Writer, n int) {
	_, err := fmt.Fprintf(log, "line %d\n", n)
	require.NoError(t, err)
}

func next(t *testing.T, lines *bufio.Reader) string {
	line, err := lines.ReadString('\n')
	require.NoError(t, err)
	return line[:len(line)-1]
}
