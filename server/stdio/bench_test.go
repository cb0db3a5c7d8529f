package stdio_test

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"
)

// BenchmarkServe compares the loop with mcp-go's own, each in a process of its own behind its real stdin and stdout,
// with a tool that does nothing, so that what is left is the transport. Compare the two within one run only.
func BenchmarkServe(b *testing.B) {
	for _, inFlight := range []int{1, 64} {
		for _, loop := range []string{"ours", "mcp-go"} {
			b.Run(fmt.Sprintf("in-flight=%d/%s", inFlight, loop), func(b *testing.B) {
				child := exec.Command(os.Args[0])
				child.Env = append(os.Environ(), actAs+"="+loop)
				requests, err := child.StdinPipe()
				require.NoError(b, err)
				answers, err := child.StdoutPipe()
				require.NoError(b, err)
				require.NoError(b, child.Start())
				drive(b, requests, answers, inFlight)
				require.NoError(b, requests.Close())
				require.NoError(b, child.Wait())
				cpu := child.ProcessState.UserTime() + child.ProcessState.SystemTime()
				b.ReportMetric(float64(cpu.Microseconds())/float64(b.N), "server-cpu-µs/op")
			})
		}
	}
}

// drive keeps inFlight calls under way until b.N are answered.
func drive(b *testing.B, requests io.Writer, answers io.Reader, inFlight int) {
	read := bufio.NewReader(answers)
	sent := 0
	send := func() {
		sent++
		_, err := fmt.Fprintf(requests, `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"noop",`+
			`"arguments":{"ticket_id":"KITE-142"},"_meta":{"progressToken":%d}}}`+"\n", sent, sent)
		require.NoError(b, err)
	}
	b.ResetTimer()
	for range min(inFlight, b.N) {
		send()
	}
	for range b.N {
		_, err := read.ReadSlice('\n')
		require.NoError(b, err)
		if sent < b.N {
			send()
		}
	}
	b.StopTimer()
}
