package main_test

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/kitebase/kitebase-mcp/fakeapi"
)

// BenchmarkBesideHungCalls makes the same call of get_ticket at two servers in turn, so that what else the machine does
// hits both alike: one is idle otherwise, at the other 30 calls of search_help hang. One op is a call at each; compare the
// four metrics with each other, within one run.
func BenchmarkBesideHungCalls(b *testing.B) {
	fake, err := fakeapi.New(fakeapi.Config{})
	require.NoError(b, err)
	require.NoError(b, fake.SetFault("search_help", fakeapi.Fault{Kind: fakeapi.FaultHang}))
	hanging := make(chan struct{}, 30)
	kitebase := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/v1/help/") {
			hanging <- struct{}{}
		}
		fake.ServeHTTP(w, r)
	}))
	defer kitebase.Close()
	defer fake.Close()

	alone, beside := startBenchmarked(b, kitebase.URL), startBenchmarked(b, kitebase.URL)
	for id := range cap(hanging) {
		beside.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":"hung-%d","method":"tools/call",`+
			`"params":{"name":"search_help","arguments":{"query":"sso"}}}`, id))
	}
	for range cap(hanging) {
		<-hanging
	}
	for _, server := range []*benchmarked{alone, beside} { // the first call opens a connection
		server.measure()
		server.took = nil
	}
	for b.Loop() {
		alone.measure()
		beside.measure()
	}
	for name, server := range map[string]*benchmarked{"alone": alone, "beside": beside} {
		slices.Sort(server.took)
		for _, percent := range []int{50, 99} {
			took := server.took[(len(server.took)-1)*percent/100]
			b.ReportMetric(float64(took.Microseconds()), fmt.Sprintf("p%d-%s-µs", percent, name))
		}
	}
}

// benchmarked is the program over real pipes, one call after another.
type benchmarked struct {
	b       *testing.B
	stdin   io.WriteCloser
	answers *bufio.Reader
	took    []time.Duration
}

func startBenchmarked(b *testing.B, kitebase string) *benchmarked {
	b.Helper()
	self, err := os.Executable()
	require.NoError(b, err)
	cmd := exec.Command(self, patient(kitebase)...)
	cmd.Env = []string{actAsProgram + "=1"}
	stdin, err := cmd.StdinPipe()
	require.NoError(b, err)
	stdout, err := cmd.StdoutPipe()
	require.NoError(b, err)
	require.NoError(b, cmd.Start())
	b.Cleanup(func() {
		_ = cmd.Process.Kill() // its calls hang for an hour
		_ = cmd.Wait()
	})
	return &benchmarked{b: b, stdin: stdin, answers: bufio.NewReader(stdout)}
}

func (s *benchmarked) send(line string) {
	_, err := io.WriteString(s.stdin, line+"\n")
	require.NoError(s.b, err)
}

// measure makes one call of get_ticket and notes how long it took.
func (s *benchmarked) measure() {
	began := time.Now()
	s.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"get_ticket","arguments":` + ticket142 + `}}`)
	line, err := s.answers.ReadString('\n')
	s.took = append(s.took, time.Since(began))
	require.NoError(s.b, err)
	require.Contains(s.b, line, `"id":1,"result":`)
	require.NotContains(s.b, line, `"isError":true`)
}
