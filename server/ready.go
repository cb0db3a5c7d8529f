package server

import (
	"context"
	"errors"
	"strings"

	"github.com/kitebase/kitebase-mcp/server/resilience"
	"github.com/kitebase/kitebase-mcp/tools"
)

var errEnding = errors.New("the server is ending")

// Ready reports whether the server should get calls: err is why not, and not for strangers. Without its ledger a repeat may
// not be recognised, so then it should not. While Kitebase fails it should, since its refusals say more than none would;
// degraded then says, in words for anybody, which tools are refused. It returns in about two seconds, whatever hangs.
func (s *Server) Ready(context.Context) (degraded string, err error) {
	if s.ending.Load() {
		return "", errEnding
	}
	if s.writes() {
		if err := s.watch.state(lookWithin).err; err != nil {
			return "", err
		}
	}
	var refused []string
	for _, name := range s.names {
		if s.circuits[name].Status().State != resilience.Closed {
			refused = append(refused, name)
		}
	}
	if len(refused) > 0 {
		return "Kitebase keeps failing, and most calls are refused of " + strings.Join(refused, ", "), nil
	}
	return "", nil
}

// writes reports whether a tool is offered that writes; those that only read need no ledger.
func (s *Server) writes() bool {
	for _, tool := range tools.Table(s.client) {
		if tool.Effect != tools.Reads && s.config.offers(tool) {
			return true
		}
	}
	return false
}

// endWith makes the server not ready as soon as ctx ends, while it finishes what is under way.
func (s *Server) endWith(ctx context.Context) (stop func() bool) {
	return context.AfterFunc(ctx, func() { s.ending.Store(true) })
}
