package main_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestNothingLeaks drives the program against a Kitebase that does everything wrong, by clients that do, with settings that
// are, and looks for every canary in all that it gives out.
func TestNothingLeaks(t *testing.T) {
	t.Parallel()
	s := &leakScene{
		t: t, out: make(outputs), hostile: startHostile(t), collector: startCollector(t), dir: t.TempDir(),
		ledger: filepath.Join(t.TempDir(), "ledger.db"),
	}
	s.speakStdio()
	s.speakHTTP()
	s.readFiles("ledger: file", filepath.Dir(s.ledger)) // before a command forgets what is in it
	s.runCommands()
	s.readFiles("ledger: file", filepath.Dir(s.ledger))
	s.readFiles("other files: of the commands", s.dir)
	s.out.add("traces: collector", s.collector.String())
	s.hostile.requireHeard(t, "message of a reply", "message of a failed reply", "message of a repeated reply", "assignee of a call",
		"words of a search", "host of Kitebase", "path of Kitebase")
	for _, leak := range s.out.leaks() {
		t.Error(leak)
	}
	// What is allowed is there: the program was not just silent.
	for place, name := range map[string]string{
		"body of a customer's message": "reads: stdio", "name of an unknown tool": "answers: stdio", "recipient of a reply": "ledger: file",
		"X-Request-Id": "stderr: stdio", "title of a ticket": "reads: HTTP",
	} {
		require.Contains(t, s.out[name], canary(place), "%s in %s", place, name)
	}
}

// TestEveryCanaryIsPlanted: one that is only in the table is looked for in vain.
func TestEveryCanaryIsPlanted(t *testing.T) {
	t.Parallel()
	var sources string
	for _, file := range []string{"canary_upstream_test.go", "canary_scene_test.go", "canary_commands_test.go", "canary_http_test.go"} {
		source, err := os.ReadFile(file)
		require.NoError(t, err)
		sources += string(source)
	}
	for _, c := range canaries {
		require.True(t, strings.Contains(sources, `"`+c.planted+`"`), c.planted)
	}
}

// leakScene is one Kitebase and one ledger, and the outputs of all that was done with them.
type leakScene struct {
	t         *testing.T
	out       outputs
	hostile   *hostileKitebase
	ledger    string
	dir       string // in which the commands run
	collector *collector
}

// collector is where traces are sent, if the program sends any. It keeps what it gets, as it is.
type collector struct {
	url string

	mu  sync.Mutex
	got bytes.Buffer
}

func startCollector(t *testing.T) *collector {
	t.Helper()
	c := new(collector)
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.got.WriteString(r.URL.String())
		_, _ = io.Copy(&c.got, r.Body)
	}))
	t.Cleanup(server.Close)
	c.url = server.URL
	return c
}

// String returns what it got so far.
func (c *collector) String() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.got.String()
}

// env is the environment of a host that holds the keys of others, and the settings that are right.
func (s *leakScene) env() []string {
	return []string{
		"AWS_SECRET_ACCESS_KEY=" + canary("AWS_SECRET_ACCESS_KEY"),
		"DATABASE_URL=postgres://app:" + canary("DATABASE_URL") + "@127.0.0.1/app",
		"ANTHROPIC_API_KEY=" + canary("ANTHROPIC_API_KEY"), "GITHUB_TOKEN=" + canary("GITHUB_TOKEN"), "PGPASSWORD=" + canary("PGPASSWORD"),
		"OTEL_EXPORTER_OTLP_ENDPOINT=" + s.collector.url, "OTEL_EXPORTER_OTLP_HEADERS=authorization=" + canary("OTEL_EXPORTER_OTLP_HEADERS"),
		"HTTP_PROXY=" + s.hostile.proxy,
		"KITEBASE_UNKNOWN=" + canary("value of an unknown variable"),
		"KITEBASE_URL=" + s.hostile.url(), "KITEBASE_TOKEN=" + canary("token for Kitebase"), "KITEBASE_LEDGER=" + s.ledger,
		"KITEBASE_HTTP_TOKEN=" + canary("http token"),
	}
}

// patiently are the flags of a server that tries again and again, and says all that it can.
func patiently() []string {
	return []string{"--log-level=debug", "--breaker-threshold=-1", "--retry-budget=-1", "--backoff-base=1ms", "--backoff-cap=1ms",
		"--repeat-guard=false", "--settle-after=1ms"}
}

// exchange is one request of a client and the output that its answer belongs to.
type exchange struct{ output, method, params string }

// exchanges are what a client asks that asks for everything.
func exchanges() []exchange {
	tool := func(output, name, arguments string) exchange {
		return exchange{output, "tools/call", fmt.Sprintf(`{"name":%q,"arguments":%s}`, name, arguments)}
	}
	text := func(planted string) string {
		encoded, err := json.Marshal(words(planted))
		if err != nil {
			panic(err) // strings always encode
		}
		return string(encoded)
	}
	with := func(template string, planted ...string) string {
		for _, place := range planted {
			template = strings.Replace(template, "@", text(place), 1)
		}
		return template
	}
	assign := `","assignee":"` + canary("assignee of a call") + `"}`
	all := []exchange{
		tool("reads", "get_ticket", `{"ticket_id":"KITE-142"}`),
		tool("reads", "search_tickets", with(`{"query":@}`, "words of a search")),
		tool("reads", "search_help", with(`{"query":@}`, "words of a search")),
		tool("reads", "search_help", `{"query":"nothing `+canary("words of a search that finds nothing")+`"}`),
		tool("reads", "search_tickets", `{"query":"nothing `+canary("words of a search that finds nothing")+`"}`),
		tool("reads", "assign_ticket", `{"ticket_id":"KITE-142`+assign),
		tool("reads", "reply_to_customer", with(`{"ticket_id":"KITE-142","message":@}`, "message of a reply")),
		tool("reads", "reply_to_customer", with(`{"ticket_id":"KITE-143","message":@}`, "message of a repeated reply")),
		tool("reads", "reply_to_customer", with(`{"ticket_id":"KITE-143","message":@}`, "message of a repeated reply")),

		tool("answers", "reply_to_customer", with(`{"ticket_id":"KITE-142","message":[@]}`, "message of a wrong type")),
		tool("answers", "reply_to_customer", `{"ticket_id":"KITE-142","message":"\u0007`+canary("message with a control character")+`"}`),
		tool("answers", "get_ticket", with(`{"ticket_id":@}`, "ticket id that is none")),
		tool("answers", "get_ticket", `{"ticket_id":"KITE-142","`+canary("name of an unknown argument")+`":1}`),
		tool("answers", "get_ticket", with(`{"ticket_id":"KITE-142","x y":@}`, "value of an unknown argument")),
		tool("answers", canary("name of an unknown tool"), with(`{"x":@}`, "arguments of an unknown tool")),
		tool("answers", "sh -c "+words("arguments of an unknown tool"), `{}`),
		{"answers", "tools/call", with(`{"name":[@],"arguments":@}`, "parameters of a wrong type", "parameters of a wrong type")},
		{"answers", "tools/call", with(`@`, "parameters of a wrong type")},
		{"answers", canary("name of an unknown method"), `{}`},
		{"answers", words("name of an unknown method"), `{}`},
		{"answers", "resources/read", `{"uri":"file:///` + canary("address of an unknown resource") + `"}`},
		{"answers", "prompts/get", `{"name":"` + canary("name of an unknown prompt") + `"}`},
		{"answers", "resources/read", `{"uri":"kitebase://status"}`},
	}
	for ticket := range faultTickets {
		all = append(all,
			tool("answers", "get_ticket", `{"ticket_id":"`+ticket+`"}`),
			tool("answers", "assign_ticket", `{"ticket_id":"`+ticket+assign),
			tool("answers", "reply_to_customer", with(`{"ticket_id":"`+ticket+`","message":@}`, "message of a failed reply")),
			tool("answers", "reply_to_customer", with(`{"ticket_id":"`+ticket+`","message":@}`, "message of a reworded reply")),
			tool("answers", "search_help", `{"query":"`+canary("words of a search")+` `+ticket+`"}`),
			tool("answers", "search_tickets", `{"query":"`+canary("words of a search")+` `+ticket+`"}`),
		)
	}
	return all
}

// speakStdio asks everything over stdio.
func (s *leakScene) speakStdio() {
	server := start{args: patiently(), env: s.env()}.serve(s.t)
	server.ask("initialize", `{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"`+canary("name of a client")+`","version":"1"}}`)
	server.write(`{"jsonrpc":"2.0","method":"notifications/initialized"}` + "\n")
	server.write(`{"broken: ` + words("body that is no JSON") + "\n")
	server.write(`{"jsonrpc":"2.0","id":"x","method":"tools/call","params":{"name":"reply_to_customer","arguments":{"message":"` +
		canary("message in a broken request") + "\n")
	var ids []string
	asked := exchanges()
	for _, one := range asked {
		ids = append(ids, server.request(one.method, one.params))
	}
	for i, one := range asked {
		s.out.add(one.output+": stdio", server.await(ids[i]).line)
	}
	server.end()
	s.out.add("stderr: stdio", server.stderr.String())
	for _, one := range server.received() {
		if !slices.Contains(ids, string(one.ID)) { // errors without an id, notifications
			s.out.add("answers: stdio", one.line)
		}
	}
}

// readFiles reads the bytes of all files in a directory, and their names.
func (s *leakScene) readFiles(output, dir string) {
	require.NoError(s.t, filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := os.ReadFile(path)
		s.out.add(output, path, string(content))
		return err
	}))
}
