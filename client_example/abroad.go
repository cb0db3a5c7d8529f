package main

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/kitebase/kitebase-mcp/client_example/agent"
)

// abroad is a server that is not started for a scenario, with a help desk that this program knows nothing of: nothing is
// broken there and nothing counted. One of command and url is set.
type abroad struct {
	command []string
	url     string
	env     []string // of the command
	token   string   // of the url
}

// keepFromServers are variables of this program that no server has any business with.
var keepFromServers = []string{"ANTHROPIC_", "MCP_TOKEN="}

// newAbroad returns nil if the scenarios are to have servers of their own: unless there is a URL, or a command that is more
// than the path of a program.
func newAbroad(server, mcpURL string, env []string) (*abroad, error) {
	if mcpURL != "" {
		if server != "" {
			return nil, usageError("-server and -mcp-url cannot be combined")
		}
		u, err := url.Parse(mcpURL)
		if err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") || u.User != nil {
			return nil, usageError("-mcp-url takes an address such as http://127.0.0.1:8090/mcp, without a password in it")
		}
		return &abroad{url: mcpURL, token: lookup(env, "MCP_TOKEN")}, nil
	}
	command := strings.Fields(server)
	if _, err := exec.LookPath(server); len(command) < 2 || err == nil {
		return nil, nil
	}
	own := slices.DeleteFunc(slices.Clone(env), func(pair string) bool {
		return slices.ContainsFunc(keepFromServers, func(kept string) bool { return strings.HasPrefix(pair, kept) })
	})
	return &abroad{command: command, env: own}, nil
}

// String tells the server from others.
func (a abroad) String() string { return a.url + strings.Join(a.command, " ") }

// check returns an error for a scenario that needs a help desk of this program.
func (a abroad) check(s scenario) error {
	if len(s.faults) > 0 || s.keyless || len(s.server) > 0 || s.run != nil {
		return usageError(fmt.Sprintf("scenario %s breaks a help desk or a server of its own; with another server only those run in which it does not, such as happy", s.name))
	}
	return nil
}

// driveAbroad runs a scenario against the other server.
func (d driver) driveAbroad(ctx context.Context, s scenario) (outcome, error) {
	start := time.Now()
	report, err := d.workAbroad(ctx, s)
	if err != nil {
		return outcome{}, err
	}
	o := outcome{scenario: s, report: report, emails: uncounted, took: time.Since(start)}
	if report.Reason == agent.Canceled && d.journal != nil {
		return o, fmt.Errorf("interrupted; to go on, say -resume %s in place of -journal", d.journal.path)
	}
	if err := d.journal.end(o); err != nil {
		d.conclude(o)
		return o, fmt.Errorf("%w; do not resume this run: how it ended has been told", err)
	}
	d.conclude(o)
	if report.Reason == agent.Canceled {
		return o, errors.New("interrupted")
	}
	return o, nil
}

func (d driver) workAbroad(ctx context.Context, s scenario) (report agent.Report, err error) {
	tools, err := d.abroad.connect(ctx, d.serverLog)
	if err != nil {
		return report, err
	}
	defer func() { err = errors.Join(err, tools.Close()) }()
	return d.perform(ctx, s, tools, nil)
}
