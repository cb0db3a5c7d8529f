package web

import (
	"context"
	"log/slog"
	"net/http"
	"sync/atomic"
)

// health answers the two checks that need no token and pass no fence: they tell nothing that is not for anybody. It is safe
// for concurrent use.
//
//	/healthz   200 ok                   the process lives
//	/readyz    200 ok                   it should get calls
//	           200 degraded: …          it should, but not all of it works
//	           503 not ready            it should not: it is ending, or its ready says so
type health struct {
	ready    func(context.Context) (degraded string, err error)
	draining func() bool
	log      *slog.Logger
	unready  atomic.Bool // what was logged last
}

// serve reports whether r was one of the two.
func (h *health) serve(w http.ResponseWriter, r *http.Request) bool {
	status, text := http.StatusOK, "ok"
	switch r.URL.Path {
	case "/healthz":
	case "/readyz":
		status, text = h.readiness(r.Context())
	default:
		return false
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_, _ = w.Write([]byte(text + "\n"))
	return true
}

// readiness logs a change, not each time that it is asked: checks come every few seconds.
func (h *health) readiness(ctx context.Context) (status int, text string) {
	if h.draining() {
		return http.StatusServiceUnavailable, "not ready"
	}
	degraded, err := h.ready(ctx)
	if was := h.unready.Swap(err != nil); was != (err != nil) {
		if err != nil {
			h.log.Warn("not ready", "err", err)
		} else {
			h.log.Info("ready again")
		}
	}
	switch {
	case err != nil:
		return http.StatusServiceUnavailable, "not ready"
	case degraded != "":
		return http.StatusOK, "degraded: " + degraded
	default:
		return http.StatusOK, "ok"
	}
}
