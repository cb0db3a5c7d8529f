package main_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

const operations = root + "docs/operations/"

// root is the folder of the module.
const root = "../../"

// needPrometheus skips the test without Debian's package, unless it must not be skipped.
func needPrometheus(t *testing.T) {
	t.Helper()
	for _, program := range []string{"prometheus", "promtool"} {
		if _, err := exec.LookPath(program); err != nil {
			require.Empty(t, os.Getenv("KITEBASE_TEST_PROMETHEUS"), "KITEBASE_TEST_PROMETHEUS is set: %v", err)
			t.Skipf("%v; install Debian's package prometheus", err)
		}
	}
}

// prometheus is a real one that scrapes sites, with the alerts that we ship. Its methods are for one goroutine.
type prometheus struct {
	t      *testing.T
	url    string
	client *http.Client
}

// startPrometheus starts one in a folder of its own. It ends with the test.
func startPrometheus(t *testing.T, sites ...string) *prometheus {
	t.Helper()
	dir := t.TempDir()
	rules, err := filepath.Abs(operations + "alerts.yml")
	require.NoError(t, err)
	quoted, err := json.Marshal(sites) // JSON is YAML
	require.NoError(t, err)
	config := filepath.Join(dir, "prometheus.yml")
	require.NoError(t, os.WriteFile(config, fmt.Appendf(nil, `
global: {scrape_interval: 500ms, scrape_timeout: 500ms, evaluation_interval: 250ms}
rule_files: [%q]
scrape_configs:
  - {job_name: kitebase-mcp, authorization: {credentials: tok-http}, static_configs: [{targets: %s}]}
`, rules, quoted), 0o600))
	addr := strings.TrimPrefix(closedPort(t), "http://")
	p := &prometheus{t: t, url: "http://" + addr, client: &http.Client{Transport: new(http.Transport)}}
	cmd := exec.Command("prometheus", "--config.file="+config, "--storage.tsdb.path="+filepath.Join(dir, "data"),
		"--web.listen-address="+addr, "--log.level=warn")
	var log bytes.Buffer
	cmd.Stderr = &log
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		p.client.CloseIdleConnections()
		_ = cmd.Process.Signal(syscall.SIGTERM) // it may be gone
		_ = cmd.Wait()
		if t.Failed() {
			t.Log(log.String())
		}
	})
	p.until("it is ready", func() bool {
		response, err := p.client.Get(p.url + "/-/ready")
		if err != nil {
			return false
		}
		_ = response.Body.Close() // nothing in it is read
		return response.StatusCode == http.StatusOK
	})
	return p
}

// until waits for something that comes by itself.
func (p *prometheus) until(what string, done func() bool) {
	p.t.Helper()
	for began := time.Now(); !done(); pause(50 * time.Millisecond) {
		require.Less(p.t, time.Since(began), watchdog, "Prometheus: waiting until %s", what)
	}
}

// get asks its HTTP API.
func (p *prometheus) get(path string, into any) {
	p.t.Helper()
	response, err := p.client.Get(p.url + "/api/v1/" + path)
	require.NoError(p.t, err)
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	require.NoError(p.t, err)
	require.Equal(p.t, http.StatusOK, response.StatusCode, "%s: %s", path, body)
	answer := struct{ Data any }{into}
	require.NoError(p.t, json.Unmarshal(body, &answer))
}

// query evaluates an expression and returns what is a number of its result.
func (p *prometheus) query(expression string) []float64 {
	p.t.Helper()
	var got struct {
		Result []struct{ Value [2]any }
	}
	p.get("query?query="+url.QueryEscape(expression), &got)
	var numbers []float64
	for _, sample := range got.Result {
		number, err := strconv.ParseFloat(sample.Value[1].(string), 64)
		require.NoError(p.t, err)
		if !math.IsNaN(number) {
			numbers = append(numbers, number)
		}
	}
	return numbers
}

// scraped is when a site was scraped last, and how that went.
type scraped struct {
	LastScrape time.Time
	Health     string
}

// catchUp waits until what has happened so far was scraped and then judged by the rules, twice.
func (p *prometheus) catchUp() {
	p.t.Helper()
	for range 2 {
		happened := time.Now()
		p.until("every site was scraped", func() bool {
			var got struct{ ActiveTargets []scraped }
			p.get("targets?state=active", &got)
			return len(got.ActiveTargets) > 0 && !slices.ContainsFunc(got.ActiveTargets, func(site scraped) bool {
				return site.Health != "up" || !site.LastScrape.After(happened)
			})
		})
		seen := time.Now()
		p.until("the rules were evaluated", func() bool {
			var got struct {
				Groups []struct{ LastEvaluation time.Time }
			}
			p.get("rules", &got)
			return len(got.Groups) == 1 && got.Groups[0].LastEvaluation.After(seen)
		})
	}
}

// firing returns the alerts that fire, by the site; "(pending)" and the like if they do anything else.
func (p *prometheus) firing() map[string][]string {
	p.t.Helper()
	var got struct {
		Alerts []struct {
			State  string
			Labels struct{ Alertname, Instance string }
		}
	}
	p.get("alerts", &got)
	all := make(map[string][]string)
	for _, alert := range got.Alerts {
		name := alert.Labels.Alertname
		if alert.State != "firing" {
			name += " (" + alert.State + ")"
		}
		if !slices.Contains(all[alert.Labels.Instance], name) {
			all[alert.Labels.Instance] = append(all[alert.Labels.Instance], name)
		}
	}
	return all
}
