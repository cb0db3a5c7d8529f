package web

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"net/http"

	"github.com/mark3labs/mcp-go/mcp"
	mcpserver "github.com/mark3labs/mcp-go/server"
)

// isDirect says whether a message is one that serveDirect can take: a request of a revision before 2026-07-28 that is answered
// once it has been handled. Whatever names the newer revision anywhere, or one that there is not, is mcp-go's to judge.
func isDirect(m *message, header http.Header) bool {
	version := header.Get(mcp.HeaderProtocolVersion)
	switch {
	case !m.isRequest(), m.Method == string(mcp.MethodInitialize):
		return false
	case version != "" && (mcp.IsModernProtocol(version) || !mcp.IsValidProtocolVersion(version)):
		return false
	}
	return !m.namesModern()
}

var nameOfVersion = []byte(mcp.MetaKeyProtocolVersion)

// namesModern says whether the message names a revision from 2026-07-28 on in its _meta, as mcp-go reads it. That is decoded only
// of a message in which the name of the field stands, plainly or perhaps by escapes.
func (m *message) namesModern() bool {
	if !bytes.Contains(m.raw, nameOfVersion) && bytes.IndexByte(m.raw, '\\') < 0 {
		return false
	}
	var request struct {
		Params struct {
			Meta *mcp.Meta `json:"_meta"`
		} `json:"params"`
	}
	return json.Unmarshal(m.raw, &request) == nil && mcp.IsModernProtocol(request.Params.Meta.ProtocolVersion())
}

// serveDirect answers a request that [isDirect] without mcp-go's HTTP server, which would parse it twice more, and make a session
// with four channels and a goroutine for what most requests do not use. A client can tell no difference.
func (s *Server) serveDirect(ctx context.Context, w *reply, r *http.Request, m *message) {
	x := newExchange(r.Header, w, s.cfg.Logger)
	if id := r.Header.Get(mcpserver.HeaderKeySessionID); id != "" {
		x.id = ownSession(ctx, id)
	} else {
		x.id = rand.Text() // which nobody else can name
	}
	defer x.notes.Close() // also when a handler panics
	response := s.mcp.HandleMessage(s.mcp.WithContext(ctx, x), m.raw)
	x.notes.Close()
	switch {
	case response == nil: // mcp-go takes what has a method and a result for an answer, to nothing that was asked
		w.WriteHeader(http.StatusAccepted)
	case ctx.Err() != nil: // the client has left or the server stops: what says so comes with the end of the reply
	default:
		line, err := s.encode(ctx, m, response)
		if err != nil {
			w.fail(stoppedText)
			return
		}
		w.answer(line)
	}
}

// Headers gives a tools/call the headers of its HTTP request, as mcp-go does for what its own server has taken. A server with
// tools that read the Header of their requests should have it as a hook before tools/call. What of mcp-go begins before its hooks,
// such as its own spans, sees none.
func Headers(ctx context.Context, _ any, request *mcp.CallToolRequest) {
	if x, ok := mcpserver.ClientSessionFromContext(ctx).(*exchange); ok {
		request.Header = x.header
	}
}
