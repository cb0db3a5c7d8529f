package stdio_test

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"runtime"
	"strconv"
	"testing"
	"testing/synctest"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/stretchr/testify/require"

	"github.com/kitebase/kitebase-mcp/server/stdio"
)

// writes counts the lines that are written to it, and in how many writes.
type writes struct{ lines, writes int }

func (w *writes) Write(p []byte) (int, error) {
	w.lines += bytes.Count(p, []byte("\n"))
	w.writes++
	return len(p), nil
}

// Under load each answer, and each line of the log, was written by itself: two writes a call beside the request to the
// service, each of which may wake a process.
func TestWhatIsReadyTogetherIsWrittenTogether(t *testing.T) {
	const calls = 64
	t.Run("answers", func(t *testing.T) {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
		synctest.Test(t, func(t *testing.T) {
			ready := make(chan struct{})
			server := tool(func(ctx context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
				<-ready
				return done(ctx, r)
			})
			in, stdin := net.Pipe()
			var out writes
			ended := make(chan error, 1)
			go func() { ended <- stdio.Serve(t.Context(), server, in, &out, stdio.Config{}) }()
			for n := range calls {
				_, err := fmt.Fprintln(stdin, call(strconv.Itoa(n)))
				require.NoError(t, err)
			}
			synctest.Wait()
			close(ready)
			require.NoError(t, stdin.Close())
			require.NoError(t, <-ended)
			require.Equal(t, calls, out.lines)
			require.Less(t, out.writes, calls/4)
		})
	})
	t.Run("lines of the log", func(t *testing.T) {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
		synctest.Test(t, func(t *testing.T) {
			var stderr writes
			log := stdio.NewLogWriter(&stderr, 0)
			for n := range calls {
				go writeLog(t, log, n)
			}
			synctest.Wait()
			require.Equal(t, calls, stderr.lines)
			require.Less(t, stderr.writes, calls/4)
		})
	})
}
