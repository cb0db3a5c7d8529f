package main_test

import (
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	"github.com/kitebase/kitebase-mcp/fakeapi"
)

// held is a fake Kitebase at whose door requests wait until the test lets them in, all at once. Nothing is done before.
type held struct {
	*upstream
	open chan struct{}
	once sync.Once
}

func startHeld(t *testing.T) *held {
	t.Helper()
	h := &held{upstream: startUpstream(t, fakeapi.Config{}), open: make(chan struct{})}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h.count(1)
		defer h.count(-1)
		<-h.open
		h.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	t.Cleanup(h.release)
	h.url = server.URL
	return h
}

// release lets in whatever waits and whatever comes.
func (h *held) release() { h.once.Do(func() { close(h.open) }) }

// underWay waits until exactly n requests are under way.
func (u *upstream) underWay(n int) {
	u.mu.Lock()
	defer u.mu.Unlock()
	for u.under != n {
		u.changed.Wait()
	}
}
