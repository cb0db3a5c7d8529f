package web

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	mcpserver "github.com/mark3labs/mcp-go/server"
)

// maxBatch is the most messages of one batch: more than any client has sent, and few enough to answer each of them.
const maxBatch = 100

// serveBatch serves an array of messages, which revision 2025-03-26 asks servers to take, and later ones have dropped.
// Calls of a batch run side by side, each counted as one. Progress is not sent: the answer is one JSON array.
func (s *Server) serveBatch(ctx context.Context, w *reply, r *http.Request, m *message) *refusal {
	// A request without the header counts as 2025-03-26, the last revision that did not have it.
	if cmp.Or(r.Header.Get(mcp.HeaderProtocolVersion), "2025-03-26") != "2025-03-26" {
		return badRequest(mcp.INVALID_REQUEST, "Batches ended with protocol revision 2025-03-26: send one message per request.")
	}
	var batch []json.RawMessage
	if err := json.Unmarshal(m.raw, &batch); err != nil {
		return badRequest(mcp.PARSE_ERROR, "The message is not valid JSON.")
	}
	if len(batch) == 0 || len(batch) > maxBatch {
		return badRequest(mcp.INVALID_REQUEST, fmt.Sprintf("A batch holds 1 to %d messages, this one %d.", maxBatch, len(batch)))
	}
	parts, answers := make([]*message, len(batch)), make([]json.RawMessage, len(batch))
	for i, raw := range batch {
		part, refused := parsePart(raw, m.arrived)
		if refused != nil {
			answers[i] = errorBody(idOf(part), refused.code, refused.text)
		} else if refused = s.permit(ctx, part); refused != nil {
			return refused // the whole batch, since its answer has one status
		}
		parts[i] = part
	}
	ctx = s.mcp.WithContext(ctx, newSession(cmp.Or(r.Header.Get(mcpserver.HeaderKeySessionID), rand.Text())))
	var running sync.WaitGroup
	for i, part := range parts {
		if answers[i] != nil {
			continue
		}
		if !part.isRequest() {
			s.handle(ctx, part)
			continue
		}
		if refused := s.calls.enter(part); refused != nil {
			answers[i] = errorBody(part.ID, refused.code, refused.text)
			continue
		}
		running.Go(func() {
			defer s.calls.leave(part)
			answers[i] = s.handle(ctx, part)
		})
	}
	running.Wait()
	writeBatch(w, slices.DeleteFunc(answers, func(a json.RawMessage) bool { return a == nil }))
	return nil
}

// parsePart parses one message of a batch. What may not be part of one is a refusal.
func parsePart(raw json.RawMessage, arrived time.Time) (*message, *refusal) {
	part, refused := parseMessage(raw, arrived)
	if refused == nil && (part.batch || part.Method == string(mcp.MethodInitialize) || part.isListen() || part.isSubscribe()) {
		refused = badRequest(mcp.INVALID_REQUEST, "This message cannot be part of a batch.")
	}
	return part, refused
}

func idOf(m *message) json.RawMessage {
	if m == nil {
		return nil
	}
	return m.ID
}

func writeBatch(w *reply, answers []json.RawMessage) {
	if len(answers) == 0 {
		w.WriteHeader(http.StatusAccepted)
		return
	}
	body, err := json.Marshal(answers)
	if err != nil {
		w.fail(failedText)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(body)
}
