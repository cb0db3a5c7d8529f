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
	ctx = s.mcp.WithContext(ctx, newSession(cmp.Or(r.Header.Get(mcpserver.HeaderKeySessionID), rand.Text())))
	answers := make([]json.RawMessage, len(batch))
	var running sync.WaitGroup
	for i, raw := range batch {
		part, refused := parseMessage(raw, m.arrived)
		if refused == nil && (part.batch || part.Method == string(mcp.MethodInitialize) || part.isListen() || part.isSubscribe()) {
			refused = badRequest(mcp.INVALID_REQUEST, "This message cannot be part of a batch.")
		}
		if refused == nil && part.isRequest() {
			refused = s.calls.enter(part)
		}
		switch {
		case refused != nil:
			answers[i] = errorBody(idOf(part), refused.code, refused.text)
		case part.isRequest():
			running.Go(func() {
				defer s.calls.leave(part)
				answers[i] = s.handle(ctx, part)
			})
		default:
			s.handle(ctx, part)
		}
	}
	running.Wait()
	writeBatch(w, slices.DeleteFunc(answers, func(a json.RawMessage) bool { return a == nil }))
	return nil
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
