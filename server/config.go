package server

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/kitebase/kitebase-mcp/idempotency"
	"github.com/kitebase/kitebase-mcp/server/audit"
	"github.com/kitebase/kitebase-mcp/server/resilience"
	"github.com/kitebase/kitebase-mcp/server/tracing"
	"github.com/kitebase/kitebase-mcp/tools"
	"github.com/kitebase/kitebase-mcp/tools/kitebase"
)

// ReadOnly is, as the only entry of [Config.Tools], the name for all tools that change nothing.
const ReadOnly = "read-only"

// Config says which Kitebase a server works on and how it guards its calls. The zero value works.
type Config struct {
	// URL is the base URL of Kitebase. Default: an embedded fake, which [Server.Embedded] reports.
	URL string
	// Token is the bearer token for Kitebase. Default none.
	Token string
	// Version is what the server calls its version. Default "dev".
	Version string
	// Tools are the names of the tools to offer, or [ReadOnly] alone. Default all.
	Tools []string
	// Guard has the attempts, times and waits of every tool; what depends on the tool is set by [New]. Its Observe
	// is told beside the counts of the status. Defaults see [resilience.Policy].
	Guard resilience.Policy
	// Store keeps the ledger of what was sent; whoever opened it closes it, after the server. Default: one in memory, which
	// ends with the process.
	Store idempotency.Store
	// Account tells several accounts at one URL apart in the ledger. Default "".
	Account string
	// Warning returns what every reply has to say about the ledger, such as that it will not outlive the process; "" for
	// nothing. Default nil.
	Warning func() string
	// NoDedupe lets the same reply go out as often as it is asked for. Default false.
	NoDedupe bool
	// DedupeWindow is how long the same reply is a repeat. Default 24h.
	DedupeWindow time.Duration
	// SettleAfter is how long after the last attempt a reply that cannot be found was certainly not sent: until then
	// Kitebase may still be working on it. Default 30s.
	SettleAfter time.Duration
	// IgnoresKeys says that Kitebase does not honour Idempotency-Key, so that a reply must not be tried twice. Default
	// false.
	IgnoresKeys bool
	// BreakerThreshold is how many failed calls of a tool in a row open its circuit; BreakerCooldown is how long it then
	// refuses calls. Defaults 5, -1 for never, and 30s.
	BreakerThreshold int
	BreakerCooldown  time.Duration
	// RetryBudget is the size of the budget of retries that all tools share, in tokens. Default 10; -1 for no limit.
	RetryBudget int
	// NoRepeatGuard lets a call that just failed for good be made again and again. Default false.
	NoRepeatGuard bool
	// CopiesFor is how old an answer may be that is given again while Kitebase does not answer. Default 1h; -1 for none.
	CopiesFor time.Duration
	// HideOpenTools leaves a tool out of tools/list while its circuit is open, and says where the protocol can that the
	// list has changed. It costs hosts their prompt cache each time, and models the copies that would have been served.
	// Default false.
	HideOpenTools bool
	// Metrics counts calls for [Server.Metrics]. Default false: at no cost.
	Metrics bool
	// Logger gets what the server has to say. Default: none.
	Logger *slog.Logger
	// Tracing gets a span of each call and attempt. Default nil: nothing is traced, at no cost.
	Tracing *tracing.Tracing
	// Audit gets a line for each write. Default nil: none.
	Audit *audit.Log
	// Settler is who settles what was left unknown, for Audit. Default "server".
	Settler string
	// DialContext opens the connections to Kitebase. Default: a [net.Dialer].
	DialContext func(ctx context.Context, network, addr string) (net.Conn, error)
}

func (c Config) withDefaults() Config {
	c.Version = cmp.Or(c.Version, "dev")
	c.Settler = cmp.Or(c.Settler, "server")
	c.DedupeWindow = cmp.Or(c.DedupeWindow, 24*time.Hour)
	c.SettleAfter = cmp.Or(c.SettleAfter, 30*time.Second)
	c.CopiesFor = cmp.Or(c.CopiesFor, time.Hour)
	c.Logger = slog.New(callerLog{cmp.Or(c.Logger, slog.New(slog.DiscardHandler)).Handler()})
	c.Guard.Upstream = "Kitebase"
	c.Guard.Logger = c.Logger
	if c.Guard.NewID == nil {
		c.Guard.NewID = resilience.CallIDs() // one for all tools
	}
	if c.Store == nil {
		c.Store = new(idempotency.Memory)
	}
	return c
}

// Scope returns what the ledger calls the account at the Kitebase of that URL; the account may be "". However the URL is
// written (RFC 3986 section 6.2: case of scheme and host, the default port, a slash at the end), the scope is the same.
// It is a hash, so that a ledger that gets into other hands does not say where the help desk is.
func Scope(address, account string) string {
	scope := strings.TrimRight(address, "/")
	if u, err := url.Parse(scope); err == nil && u.Host != "" {
		u.Host = strings.ToLower(u.Host)
		u.Host = strings.TrimSuffix(u.Host, map[string]string{"http": ":80", "https": ":443"}[u.Scheme])
		scope = u.String()
	}
	if account != "" {
		scope += "#" + account
	}
	sum := sha256.Sum256([]byte(scope))
	return hex.EncodeToString(sum[:16])
}

// ledger returns the ledger of this upstream and account. Its leases outlast any call.
func (c Config) ledger() *idempotency.Ledger {
	return idempotency.NewLedger(c.Store, idempotency.Config{
		Scope:     Scope(c.URL, c.Account),
		Lease:     max(time.Minute, 2*c.Guard.CallDeadline),
		Retention: 2 * c.DedupeWindow,
	})
}

// patience is how long one look at a ticket may take.
func (c Config) patience() time.Duration {
	if c.Guard.AttemptTimeout > 0 {
		return c.Guard.AttemptTimeout
	}
	return 5 * time.Second
}

// offers reports whether the tool is among those to offer.
func (c Config) offers(tool tools.Tool) bool {
	switch {
	case len(c.Tools) == 0:
		return true
	case slices.Equal(c.Tools, []string{ReadOnly}):
		return tool.Effect == tools.Reads
	default:
		return slices.Contains(c.Tools, tool.Name)
	}
}

// typo is a word that can be repeated to whoever typed it: a secret would have digits, or be longer.
var typo = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-z_-]{1,20}$`) })

// ToolNames returns the names of the tools to offer, sorted as in tools/list, or what is wrong with [Config.Tools].
func (c Config) ToolNames() ([]string, error) {
	var all, offered []string
	for _, tool := range tools.Table(nil) { // names need no Kitebase
		all = append(all, tool.Name)
		if c.offers(tool) {
			offered = append(offered, tool.Name)
		}
	}
	slices.Sort(offered)
	if slices.Equal(c.Tools, []string{ReadOnly}) {
		return offered, nil
	}
	for _, name := range c.Tools {
		if !slices.Contains(all, name) {
			given := "of that name"
			if typo().MatchString(name) {
				given = strconv.Quote(name)
			}
			return nil, fmt.Errorf("there is no tool %s; give %s alone, or some of %s", given, ReadOnly, strings.Join(all, ", "))
		}
	}
	return offered, nil
}

// SettingError is a setting that cannot work.
type SettingError struct {
	// Setting is its name, as the flag has it: url, token or tools.
	Setting string
	// Err says what it takes.
	Err error
}

// Error names the setting and says what it takes.
func (s *SettingError) Error() string { return s.Setting + ": " + s.Err.Error() }

// Unwrap returns what it takes.
func (s *SettingError) Unwrap() error { return s.Err }

// Validate reports the first setting that cannot work, as a [SettingError].
func (c Config) Validate() error {
	if c.URL != "" {
		if err := (kitebase.Config{BaseURL: c.URL}).Validate(); err != nil {
			return &SettingError{"url", cmp.Or(errors.Unwrap(err), err)}
		}
		if err := (kitebase.Config{BaseURL: c.URL, Token: c.Token}).Validate(); err != nil {
			return &SettingError{"token", err}
		}
	}
	if _, err := c.ToolNames(); err != nil {
		return &SettingError{"tools", err}
	}
	return nil
}
