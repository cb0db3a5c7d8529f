package web

import (
	"context"
	"encoding/json"
	"net/http"
	"strconv"

	"github.com/mark3labs/mcp-go/mcp"
	mcpserver "github.com/mark3labs/mcp-go/server"

	"github.com/kitebase/kitebase-mcp/server/access"
)

// recognise returns the context of r with its caller, or why nobody is let in with what it brought.
func (s *Server) recognise(r *http.Request) (context.Context, *refusal) {
	if s.access.Open() {
		return r.Context(), nil
	}
	caller, refused := s.access.Check(r.Context(), r.Header.Values("Authorization"))
	if refused != nil {
		s.endOrphan(r)
		return nil, refusedAccess(refused)
	}
	return access.With(r.Context(), caller), nil
}

// endOrphan ends the SSE session that a refused message is for, if that was opened with what is no longer good either.
func (s *Server) endOrphan(r *http.Request) {
	if r.URL.Path != "/message" {
		return
	}
	if one := s.sessions.find(r.URL.Query().Get("sessionId")); one != nil {
		one.stream.allowed()
	}
}

// permit says why m may not be run, or nil. A call is decoded as mcp-go does it: where two ways of reading could differ,
// such as in two fields of one name, what was checked would not be what is run.
func (s *Server) permit(ctx context.Context, m *message) *refusal {
	caller, ok := access.From(ctx)
	if !ok || caller.MayAll() || m.Method != string(mcp.MethodToolsCall) {
		return nil
	}
	var call mcp.CallToolRequest
	if err := json.Unmarshal(m.raw, &call); err != nil {
		return badRequest(mcp.INVALID_PARAMS, "The parameters of the call cannot be read. Nothing was run.")
	}
	if caller.May(call.Params.Name) {
		return nil
	}
	refused := refusedAccess(s.access.Forbid(caller, call.Params.Name))
	refused.reason += " (caller " + strconv.Quote(caller.Name) + ")"
	refused.denied = true
	return refused
}

func refusedAccess(why *access.Refusal) *refusal {
	refused := &refusal{status: why.Status, code: serverError, text: why.Text, reason: why.Reason}
	switch {
	case why.Challenge != "":
		refused.header = [2]string{"WWW-Authenticate", why.Challenge}
	case why.RetryAfter > 0:
		refused.header = [2]string{"Retry-After", strconv.Itoa(int(why.RetryAfter.Seconds()))}
	}
	return refused
}

// Permitted leaves out of a tools/list what the caller may not use. A server that gives different rights to its callers
// should have it as a hook after tools/list: without it, they see tools whose calls are refused.
func Permitted(ctx context.Context, _ any, _ *mcp.ListToolsRequest, list *mcp.ListToolsResult) {
	caller, ok := access.From(ctx)
	if !ok || caller.MayAll() {
		return
	}
	shown := make([]mcp.Tool, 0, len(list.Tools))
	for _, tool := range list.Tools {
		if caller.May(tool.Name) {
			shown = append(shown, tool)
		}
	}
	list.Tools = shown
}

// metadata answers who asks where to get a token (RFC 9728). It tells nothing that is not public, and web pages of any origin
// may read it. nil answers nothing.
type metadata struct {
	paths   map[string]bool
	handler http.Handler
}

func newMetadata(cfg *Config) *metadata {
	if cfg.OAuthIssuer == "" {
		return nil
	}
	return &metadata{
		paths: map[string]bool{
			mcpserver.WellKnownProtectedResourcePath:                   true,
			mcpserver.ProtectedResourceMetadataPath(cfg.OAuthAudience): true,
		},
		handler: mcpserver.NewProtectedResourceMetadataHandler(mcpserver.ProtectedResourceMetadataConfig{
			Resource: cfg.OAuthAudience, AuthorizationServers: []string{cfg.OAuthIssuer},
			ScopesSupported: access.Scopes(), BearerMethodsSupported: []string{"header"}, ResourceName: "Kitebase help desk",
		}),
	}
}

// serve reports whether it answered.
func (m *metadata) serve(w http.ResponseWriter, r *http.Request) bool {
	if m == nil || !m.paths[r.URL.Path] {
		return false
	}
	m.handler.ServeHTTP(w, r)
	return true
}
