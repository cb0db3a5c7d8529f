package simulation_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/kitebase/kitebase-mcp/fakeapi"
)

// kitebase is the real fake behind a network that takes time, and a record of which process asked what. Processes are told
// apart by their bearer token.
type kitebase struct {
	*fakeapi.Fake
	world   *world
	network *network
	http    *http.Server
	served  chan struct{}

	mu       sync.Mutex
	requests []*request
}

// request is one request as it reached Kitebase.
type request struct {
	process    *process // nil: of none, which cannot be
	tool       string   // by its operation; "" for a path of none
	ticket     string
	text       int // of a reply; else -1
	argument   string
	key        string
	at         time.Time
	ended      time.Time     // the zero time while it runs
	id         string        // by which Outbox knows it; "" while it runs
	status     int           // that was sent; 0: none
	retryAfter time.Duration // that was asked for
	fault      fakeapi.FaultKind
}

func newKitebase(w *world) (*kitebase, error) {
	fake, err := fakeapi.New(fakeapi.Config{IgnoreKeys: w.schedule.Setup.Keys != KeysHonoured})
	if err != nil {
		return nil, err
	}
	k := &kitebase{Fake: fake, world: w, network: newNetwork(), served: make(chan struct{})}
	k.http = &http.Server{Handler: k}
	go func() {
		defer close(k.served)
		_ = k.http.Serve(k.network) // ends by close
	}()
	return k, nil
}

func (k *kitebase) close() {
	k.Fake.Close()
	k.http.Close()
	<-k.served
}

// ServeHTTP takes the time that a request needs to get here, works, and takes the time of the way back.
func (k *kitebase) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body) // a body that was cut off is cut off for the fake as well
	r.Body = io.NopCloser(bytes.NewReader(body))
	got := k.arrive(r, body)
	date := time.Now().Add(k.world.schedule.Setup.KitebaseClock)
	w.Header().Set("Date", date.UTC().Format(http.TimeFormat))
	seen := &answerStatus{ResponseWriter: w}
	defer k.leave(got, seen, date)

	time.Sleep(k.world.latency())
	if got.tool == toolReply {
		got.process.at(pointArrive)
	}
	k.Fake.ServeHTTP(seen, r)
	if got.tool == toolReply {
		got.process.at(pointWorked)
	}
	time.Sleep(k.world.latency())
}

func (k *kitebase) arrive(r *http.Request, body []byte) *request {
	got := &request{at: time.Now(), text: -1, key: r.Header.Get("Idempotency-Key"), process: k.world.named(strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer "))}
	var fields struct{ Message, Assignee string }
	_ = json.Unmarshal(body, &fields) // a GET has none
	rest, isTicket := strings.CutPrefix(r.URL.Path, "/v1/tickets/")
	id, tail, _ := strings.Cut(rest, "/")
	switch {
	case isTicket && tail == "replies":
		got.tool, got.ticket, got.text, got.argument = toolReply, id, textOf(fields.Message), fields.Message
	case isTicket && tail == "assignee":
		got.tool, got.ticket, got.argument = toolAssign, id, fields.Assignee
	case isTicket:
		got.tool, got.ticket = toolGet, id
	case r.URL.Path == "/v1/tickets":
		got.tool, got.argument = toolSearch, r.URL.Query().Get("query")
	case r.URL.Path == "/v1/help/search":
		got.tool, got.argument = toolHelp, r.URL.Query().Get("query")
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.requests = append(k.requests, got)
	return got
}

func (k *kitebase) leave(got *request, seen *answerStatus, date time.Time) {
	k.mu.Lock()
	defer k.mu.Unlock()
	got.ended, got.id, got.status = time.Now(), seen.Header().Get("X-Request-Id"), seen.status
	asked := seen.Header().Get("Retry-After")
	if seconds, err := strconv.Atoi(asked); err == nil && seconds > 0 {
		got.retryAfter = time.Duration(seconds) * time.Second
	} else if at, err := http.ParseTime(asked); err == nil {
		got.retryAfter = max(0, at.Sub(date.Truncate(time.Second)))
	}
}

// all returns the requests so far.
func (k *kitebase) all() []request {
	k.mu.Lock()
	defer k.mu.Unlock()
	list := make([]request, len(k.requests))
	for i, r := range k.requests {
		list[i] = *r
	}
	return list
}

// answerStatus knows which status was sent.
type answerStatus struct {
	http.ResponseWriter
	status int
}

// WriteHeader is part of [http.ResponseWriter].
func (a *answerStatus) WriteHeader(status int) {
	a.status = status
	a.ResponseWriter.WriteHeader(status)
}

// Unwrap lets the fake cut the connection.
func (a *answerStatus) Unwrap() http.ResponseWriter { return a.ResponseWriter }
