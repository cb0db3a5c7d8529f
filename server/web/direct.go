package web

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/mark3labs/mcp-go/mcp"
	mcpserver "github.com/mark3labs/mcp-go/server"

	"github.com/kitebase/kitebase-mcp/server/wire"
	"github.com/kitebase/kitebase-mcp/server/wording"
)

// isDirect says whether a message is one that serveDirect can take: a request of a revision before 2026-07-28 that is answered
// when it has been handled. By what else mcp-go tells the revisions apart is its own affair: whatever could be of the newer one,
// or of none that there is, goes to it.
func isDirect(m *message, header http.Header) bool {
	version := header.Get(mcp.HeaderProtocolVersion)
	switch {
	case !m.isRequest(), m.isListen(), m.Method == string(mcp.MethodInitialize):
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
	x := &exchange{header: r.Header, w: w, log: s.cfg.Logger}
	if id := r.Header.Get(mcpserver.HeaderKeySessionID); id != "" {
		x.id = ownSession(ctx, id)
	} else {
		x.id = rand.Text() // which nobody else can name
	}
	defer x.close() // also when a handler panics
	response := s.mcp.HandleMessage(s.mcp.WithContext(ctx, x), m.raw)
	x.close()
	switch {
	case response == nil: // mcp-go takes what has a method and a result for an answer, to nothing that was asked
		w.WriteHeader(http.StatusAccepted)
	case ctx.Err() != nil: // the client has left or the server stops: what says so comes with the end of the reply
	default:
		line, err := s.encode(m, response)
		if err != nil {
			w.fail(stoppedText)
			return
		}
		w.answer(line)
	}
}

// encode returns the answer to m as one line of JSON, with protocol errors in public words, or an error, which was logged.
func (s *Server) encode(m *message, response mcp.JSONRPCMessage) (line []byte, err error) {
	switch response := response.(type) {
	case mcp.JSONRPCResponse:
		line, err = wire.AppendResult(nil, m.ID, response.Result)
	case mcp.JSONRPCError:
		s.cfg.Logger.Info("request failed outside of its tool", "method", wording.Method(m.Method))
		id, details := m.ID, response.Error
		if response.ID.IsNil() { // a number so large that mcp-go cannot read it, nor perhaps can the client
			id = nil
		}
		details.Message = wording.Public(details.Message)
		line, err = wire.AppendError(nil, id, details)
	default:
		err = fmt.Errorf("it is a %T", response)
	}
	if err != nil {
		s.cfg.Logger.Error("an answer cannot be written as JSON", "method", wording.Method(m.Method), "err", err)
	}
	return line, err
}

// Headers gives a tools/call the headers of its HTTP request, as mcp-go does for what its own server has taken. A server with
// tools that read the Header of their requests should have it as a hook before tools/call.
func Headers(ctx context.Context, _ any, request *mcp.CallToolRequest) {
	if x, ok := mcpserver.ClientSessionFromContext(ctx).(*exchange); ok {
		request.Header = x.header
	}
}
