package web

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/kitebase/kitebase-mcp/server/wire"
	"github.com/kitebase/kitebase-mcp/server/wording"
)

// handle lets mcp-go handle one message, and turns whatever happens into an answer, or nil if none is due.
func (s *Server) handle(ctx context.Context, m *message) (answer json.RawMessage) {
	defer func() {
		if p := recover(); p != nil {
			s.cfg.Logger.Error("panic while handling a message", "method", wording.Method(m.Method), "panic", wording.Panic(p))
			answer = errorBody(m.ID, mcp.INTERNAL_ERROR, failedText)
		}
	}()
	response := s.mcp.HandleMessage(ctx, m.raw)
	if response == nil || !m.isRequest() {
		return nil
	}
	answer, err := s.encode(ctx, m, response)
	if err != nil {
		return errorBody(m.ID, mcp.INTERNAL_ERROR, failedText)
	}
	return answer
}

// encode returns the answer to m as one line of JSON, with protocol errors in public words, or an error, which was logged.
func (s *Server) encode(ctx context.Context, m *message, response mcp.JSONRPCMessage) (line []byte, err error) {
	switch response := response.(type) {
	case mcp.JSONRPCResponse:
		line, err = wire.AppendResult(nil, m.ID, response.Result)
	case mcp.JSONRPCError:
		s.logFailed(ctx, m)
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
		s.cfg.Logger.ErrorContext(ctx, "an answer cannot be written as JSON", "method", wording.Method(m.Method), "err", err)
	}
	return line, err
}

// logFailed leaves out the error's text, which may quote what the client wrote.
func (s *Server) logFailed(ctx context.Context, m *message) {
	s.cfg.Logger.InfoContext(ctx, "request failed outside of its tool", "method", wording.Method(m.Method))
}
