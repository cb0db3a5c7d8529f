package main

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"strconv"
	"strings"

	"github.com/kitebase/kitebase-mcp/server"
	"github.com/kitebase/kitebase-mcp/server/web"
)

// serveHTTP serves until ctx ends and what is under way is done.
func (s *serveCommand) serveHTTP(ctx context.Context, srv *server.Server, log *slog.Logger) error {
	listener, err := net.Listen("tcp", s.Addr)
	if err != nil {
		return fmt.Errorf("listening at --addr (%s): %w", envName("addr"), err)
	}
	log.Info("serving MCP over HTTP", "streamable", "http://"+listener.Addr().String()+"/mcp", "sse", "http://"+listener.Addr().String()+"/sse",
		"asks_for", s.asksFor())
	return srv.ServeHTTP(ctx, listener, s.webConfig())
}

// asksFor says in a few words what callers have to bring.
func (s *serveCommand) asksFor() string {
	var ways []string
	for _, way := range []struct{ set, name string }{
		{s.HTTPToken, "the token"}, {s.HTTPTokens, "a token of the file"}, {s.OAuthIssuer, "a JWT"},
	} {
		if way.set != "" {
			ways = append(ways, way.name)
		}
	}
	if len(ways) == 0 {
		return "nothing: whoever is on this machine may call"
	}
	return strings.Join(ways, " or ")
}

// webConfig returns the settings of the HTTP transport.
func (s *serveCommand) webConfig() web.Config {
	return web.Config{
		Addr: s.Addr, AllowedOrigins: trimmed(s.AllowedOrigins), BodyLimit: int64(s.BodyLimit),
		Token: s.HTTPToken, TokensFile: s.HTTPTokens, OAuthIssuer: s.OAuthIssuer, OAuthAudience: s.OAuthAudience, Tools: server.Rights(),
	}
}

// size is a number of bytes, written as 512KiB or 1MiB or plainly.
type size int64

// UnmarshalText is how kong reads a size.
func (s *size) UnmarshalText(text []byte) error {
	digits, unit := string(text), int64(1)
	if rest, ok := strings.CutSuffix(digits, "KiB"); ok {
		digits, unit = rest, 1<<10
	} else if rest, ok := strings.CutSuffix(digits, "MiB"); ok {
		digits, unit = rest, 1<<20
	}
	n, err := strconv.ParseInt(digits, 10, 32)
	if err != nil || n < 1 {
		return fmt.Errorf("takes a size above 0, such as 512KiB or 1MiB")
	}
	*s = size(n * unit)
	return nil
}
