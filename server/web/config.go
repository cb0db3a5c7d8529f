package web

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"time"

	"github.com/kitebase/kitebase-mcp/server/access"
)

// Config says where and how to serve. The zero value serves this machine only, without a token.
type Config struct {
	// Addr is the host:port that the listener is bound to. Anything but loopback needs a Token, a TokensFile or an
	// OAuthIssuer. Default 127.0.0.1:8090.
	Addr string
	// Token is what clients must send as "Authorization: Bearer TOKEN", on every path but the health checks. Default none.
	Token string
	// TokensFile, OAuthIssuer and OAuthAudience are further ways in, beside the Token; see [access.Config]. Default none.
	TokensFile, OAuthIssuer, OAuthAudience string
	// Tools are the tools to which a way in can give a right. Default none, which is enough for a Token alone.
	Tools []access.Tool
	// AllowedOrigins are the web origins, such as https://desk.example.com, whose pages may call this server, beside
	// pages that it serves itself. Default none.
	AllowedOrigins []string

	// BodyLimit is the most bytes of one request body; -1 for no limit. Default 1 MiB.
	BodyLimit int64
	// MaxCalls is the most tool calls under way at once; -1 for no limit. Default 256.
	MaxCalls int
	// MaxConnections is the most connections that are served; health checks have some more. -1 for no limit. Default 2048.
	MaxConnections int
	// MaxStreams is the most event streams (SSE sessions and subscriptions) at once; less than MaxConnections, so that
	// their messages find a connection. -1 for no limit. Default 1024.
	MaxStreams int

	// KeepAlive is the silence after which an event stream gets a comment line, so that proxies keep it; -1 for none.
	// Default 15s.
	KeepAlive time.Duration
	// SessionIdle is the time without a message after which an event stream is closed: longer than any lunch, so that
	// abandoned ones are gone in the morning; -1 for never. Default 4h.
	SessionIdle time.Duration
	// HeaderTimeout is the time that a client has to send a request's headers; -1 for no limit. Default 10s.
	HeaderTimeout time.Duration
	// ReadTimeout is the time that a client has to send a whole request; -1 for no limit. Default 30s.
	ReadTimeout time.Duration
	// WriteTimeout is the time that one write may wait for a client that does not read; -1 for no limit. Default 30s.
	WriteTimeout time.Duration
	// DrainTimeout is how long a shutdown waits for calls under way: more than the call deadline; -1 for no limit.
	// Default 30s.
	DrainTimeout time.Duration

	// Logger gets refusals, failures and the shutdown; never tokens or bodies. Default discards.
	Logger *slog.Logger
	// Context adds to the context of each message; arrived is when its request had been read. Default adds nothing.
	Context func(ctx context.Context, arrived time.Time) context.Context
	// Ready says whether the server should get calls now, for /readyz, which anybody may ask: err is why not, and is logged,
	// not sent; degraded is what does not work although it should, and is sent. Default always ready.
	Ready func(ctx context.Context) (degraded string, err error)
	// Metrics serves GET /metrics, behind the fence. Default nil: there is nothing at that path.
	Metrics http.Handler
}

func (c Config) withDefaults() Config {
	c.Addr = cmp.Or(c.Addr, "127.0.0.1:8090")
	c.BodyLimit = cmp.Or(c.BodyLimit, 1<<20)
	c.MaxCalls = cmp.Or(c.MaxCalls, 256)
	c.MaxConnections = cmp.Or(c.MaxConnections, 2048)
	c.MaxStreams = cmp.Or(c.MaxStreams, 1024)
	c.KeepAlive = cmp.Or(c.KeepAlive, 15*time.Second)
	c.SessionIdle = cmp.Or(c.SessionIdle, 4*time.Hour)
	c.HeaderTimeout = cmp.Or(c.HeaderTimeout, 10*time.Second)
	c.ReadTimeout = cmp.Or(c.ReadTimeout, 30*time.Second)
	c.WriteTimeout = cmp.Or(c.WriteTimeout, 30*time.Second)
	c.DrainTimeout = cmp.Or(c.DrainTimeout, 30*time.Second)
	c.Logger = cmp.Or(c.Logger, slog.New(slog.DiscardHandler))
	if c.BodyLimit < 0 {
		c.BodyLimit = math.MaxInt64
	}
	if c.Context == nil {
		c.Context = func(ctx context.Context, _ time.Time) context.Context { return ctx }
	}
	if c.Ready == nil {
		c.Ready = func(context.Context) (string, error) { return "", nil }
	}
	return c
}

// Access returns the part of the settings that says who may call.
func (c Config) Access() access.Config {
	return access.Config{
		Token: c.Token, TokensFile: c.TokensFile, Issuer: c.OAuthIssuer, Audience: c.OAuthAudience, Tools: c.Tools, Logger: c.Logger,
	}
}

// Validate reports every setting that New would refuse, each in a sentence that names it and says what it takes.
func (c Config) Validate() error {
	c = c.withDefaults()
	var errs []error
	if _, _, err := net.SplitHostPort(c.Addr); err != nil {
		errs = append(errs, errors.New("--addr takes host:port, such as 127.0.0.1:8090"))
	} else if !isLoopback(c.Addr) && c.Access().Open() {
		errs = append(errs, errTokenNeeded(c.Addr))
	}
	errs = append(errs, c.Access().Validate())
	for _, o := range c.AllowedOrigins {
		if _, ok := parseOrigin(o); !ok {
			errs = append(errs, errors.New("--allowed-origins takes origins such as https://desk.example.com: a scheme and a host, without a path or a user"))
		}
	}
	if c.MaxConnections > 0 && (c.MaxStreams < 0 || c.MaxStreams >= c.MaxConnections) {
		errs = append(errs, fmt.Errorf("the limit of streams, %d, must be below that of connections, %d",
			c.MaxStreams, c.MaxConnections))
	}
	return errors.Join(errs...)
}

func errTokenNeeded(addr string) error {
	return fmt.Errorf("--addr %s can be reached from other machines: say who may call by --http-token, --http-tokens or "+
		"--oauth-issuer, or bind to a loopback address such as 127.0.0.1:8090", addr)
}

// isLoopback says whether hostport, with or without a port, can only be reached from this machine. A name other than
// localhost is not looked up: what it resolves to may change.
func isLoopback(hostport string) bool {
	host, _, err := net.SplitHostPort(hostport)
	if err != nil {
		host = strings.Trim(hostport, "[]")
	}
	if strings.EqualFold(host, "localhost") {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.IsLoopback()
}

// isLocal says whether a listener can only be reached from this machine. What is no TCP (a Unix socket, a pipe) is local.
func isLocal(listener net.Listener) bool {
	addr, isTCP := listener.Addr().(*net.TCPAddr)
	return !isTCP || addr.IP.IsLoopback()
}
