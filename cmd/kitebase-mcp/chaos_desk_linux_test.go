package main_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kitebase/kitebase-mcp/fakeapi"
)

// deskProcess is a fake Kitebase that keeps its data when it dies, and its address.
type deskProcess struct {
	t     *testing.T
	chaos *chaos
	url   string
	args  []string
	cmd   *exec.Cmd

	seen deskRecord
}

func startDesk(t *testing.T, c *chaos) *deskProcess {
	t.Helper()
	d := &deskProcess{t: t, chaos: c}
	// No other test has this address, so that the port is still free when the process comes back to it.
	host := fmt.Sprintf("127.%d.%d.%d", 1+rand.IntN(250), 1+rand.IntN(250), 1+rand.IntN(250))
	d.args = []string{"fake", fmt.Sprintf("--keys=%t", c.keys), "--data", t.TempDir() + "/desk.json", "--addr"}
	d.begin(host + ":0")
	require.NotEmpty(t, d.url)
	t.Cleanup(func() { _ = d.cmd.Process.Kill(); _ = d.cmd.Wait() }) // errors say that it has ended
	return d
}

func (d *deskProcess) start() { d.begin(strings.TrimPrefix(d.url, "http://")) }

// begin starts the process and waits until it listens.
func (d *deskProcess) begin(addr string) {
	d.chaos.note("start Kitebase")
	d.cmd = start{within: chaosWatchdog, args: append(d.args[:len(d.args):len(d.args)], addr)}.command(d.t)
	var stderr bytes.Buffer
	d.cmd.Stderr = &stderr
	stdout, err := d.cmd.StdoutPipe()
	assert.NoError(d.t, err)
	assert.NoError(d.t, d.cmd.Start())
	line, _ := bufio.NewReader(stdout).ReadString('\n') // an error shows as a line that is not the expected one
	url, found := strings.CutPrefix(strings.TrimSpace(line), "fake Kitebase at ")
	if !found {
		_ = d.cmd.Wait() // its words say more
		assert.Fail(d.t, "Kitebase did not start", "%s%s", line, stderr.String())
		return
	}
	if d.url == "" { // from then on others read it
		d.url = url
	}
	assert.Equal(d.t, d.url, url)
}

// kill ends the process as kill -9 does. What it has seen is read before.
func (d *deskProcess) kill() {
	d.read()
	d.chaos.note("kill Kitebase")
	_ = d.cmd.Process.Kill() // an error says that it is dead already
	_ = d.cmd.Wait()         // it was killed
}

// deskRecord is what Kitebase says of itself: the emails of all its lives, and the requests that it remembered when it was asked.
type deskRecord struct {
	emails   []fakeapi.Email
	requests []fakeapi.Request
}

// control talks to the controls of the fake. It may be dead just now, which is told by false.
func (d *deskProcess) control(method, path, body string, into any) bool {
	request, err := http.NewRequest(method, d.url+path, strings.NewReader(body))
	if !assert.NoError(d.t, err) {
		return false
	}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: 30 * time.Second}
	response, err := client.Do(request)
	if err != nil {
		return false
	}
	answer, err := io.ReadAll(response.Body)
	_ = response.Body.Close() // it was read
	if err != nil {
		return false
	}
	assert.Less(d.t, response.StatusCode, 300, "%s %s %s: %s", method, path, body, answer)
	return into == nil || assert.NoError(d.t, json.Unmarshal(answer, into))
}

// read adds what the process knows to the record. It must live.
func (d *deskProcess) read() {
	var outbox struct {
		Emails []fakeapi.Email `json:"emails"`
	}
	var seen struct {
		Requests []fakeapi.Request `json:"requests"`
	}
	assert.True(d.t, d.control("GET", "/_outbox", "", &outbox) && d.control("GET", "/_requests", "", &seen), "Kitebase tells nothing")
	d.seen.emails = outbox.Emails
	d.seen.requests = append(d.seen.requests, seen.Requests...)
}

// fault puts a fault in force, unless Kitebase is dead.
func (d *deskProcess) fault(operation, fault string, probability float64, seed uint64) {
	body := fmt.Sprintf(`{%s,"probability":%.2f,"seed":%d}`, fault, probability, seed)
	d.chaos.note("fault of %s: %s", operation, body)
	d.control("PUT", "/_faults/"+operation, body, nil)
}

// clear ends all faults, unless Kitebase is dead.
func (d *deskProcess) clear() {
	d.chaos.note("no faults")
	d.control("DELETE", "/_faults", "", nil)
}
