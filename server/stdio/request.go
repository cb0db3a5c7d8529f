package stdio

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"runtime/debug"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/kitebase/kitebase-mcp/server/wording"
)

// refuse answers without a run.
func (l *loop) refuse(r refusal) func() {
	l.cfg.Logger.Warn("message refused", "code", r.code, "reason", r.text)
	return l.send(encodeError(r))
}

// send queues an answer and leaves; the job that it returns has only to write.
func (l *loop) send(answer []byte) func() {
	l.out.add(answer)
	l.calls.leave()
	return l.out.flush
}

// cancel ends the request that a notifications/cancelled names. It does so itself, since mcp-go takes 1 and "1" for the
// same id and answers what was cancelled.
func (l *loop) cancel(params []byte) {
	var p struct {
		RequestID json.RawMessage `json:"requestId"`
	}
	if json.Unmarshal(params, &p) != nil || usableID(p.RequestID) == nil {
		l.cfg.Logger.Warn("cancellation ignored: it names no request")
		return
	}
	l.calls.cancel(idKey(p.RequestID))
}

func (l *loop) notification(text []byte) func() {
	return func() {
		defer l.calls.leave()
		defer func() {
			if r := recover(); r != nil {
				l.logPanic("a notification", r)
			}
		}()
		ctx := l.server.WithContext(l.ctx, l.session)
		l.server.HandleMessage(ctx, text) // what it returns is no answer: notifications have none
	}
}

// request admits a request or refuses it. The initialize request is handled in the turn: what a client sends after it
// without waiting must find the session initialized, and a cancellation must find it done, since it cannot be cancelled.
func (l *loop) request(m message, text []byte, arrived time.Time) func() {
	c := l.newCall(m)
	if admission := l.calls.admit(c); admission != admitted {
		c.cancel()
		return l.turnAway(m, text, admission)
	}
	if m.method == mcp.MethodInitialize {
		l.handle(c, text, arrived)
		return l.out.flush
	}
	return func() {
		defer l.out.flush() // in every case, as handle
		l.handle(c, text, arrived)
	}
}

func (l *loop) turnAway(m message, text []byte, why admission) func() {
	switch {
	case !json.Valid(text): // not parsed yet: it would not have run anyway
		return l.refuse(*notJSON())
	case why == full:
		return l.send(encodeFull(m, l.cfg.MaxCalls))
	}
	return l.refuse(refusal{m.id, mcp.INVALID_REQUEST, textRepeated})
}

func (l *loop) newCall(m message) *call {
	c := &call{id: m.id, key: idKey(m.id), method: m.method}
	c.session = newSession(l.session.client, l.out, l.cfg.Logger, c.cancelled.Load)
	c.ctx, c.cancel = context.WithCancel(l.server.WithContext(l.ctx, c.session))
	return c
}

// handle runs a request and queues its answer, in every case: when the handler panics, and when it ends its goroutine.
func (l *loop) handle(c *call, text []byte, arrived time.Time) {
	var answer []byte
	defer func() {
		if r := recover(); r != nil {
			l.logPanic(wording.Method(string(c.method)), r)
		}
		if answer == nil {
			answer = encodeError(refusal{c.id, mcp.INTERNAL_ERROR, textInternal})
		}
		c.cancel()
		c.session.notes.Close()
		if l.calls.remove(c) {
			l.out.add(answer)
		}
		l.calls.leave()
	}()
	ctx := l.cfg.Context(c.ctx, arrived)
	if c.cancelled.Load() {
		return
	}
	line, err := encodeResponse(c, text, l.server.HandleMessage(ctx, text))
	if err != nil {
		level := slog.LevelInfo // a client asked for what there is not, or wrongly
		if !errors.As(err, new(askedWrongly)) {
			level = slog.LevelError
		}
		l.cfg.Logger.Log(ctx, level, "request failed outside of its tool", "error", err)
	}
	answer = line
}

func (l *loop) logPanic(where string, r any) {
	l.cfg.Logger.Error("panic", "in", where, "panic", wording.Panic(r), "stack", string(debug.Stack()))
}
