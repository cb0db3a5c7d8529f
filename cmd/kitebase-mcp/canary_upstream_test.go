package main_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// hostileKitebase answers everything wrongly that can be answered wrongly, puts a canary into each place of each answer, and
// sends back what it was sent. It stands behind a name that no name server knows: clients reach it as their proxy.
type hostileKitebase struct {
	proxy string

	mu     sync.Mutex
	faults map[string]bool // the ones that were asked for
	bodies strings.Builder // what it was sent
}

// startHostile starts it on loopback.
func startHostile(t *testing.T) *hostileKitebase {
	t.Helper()
	h := &hostileKitebase{faults: make(map[string]bool)}
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	h.proxy = strings.Replace(server.URL, "http://", "http://user:"+canary("password of the proxy")+"@", 1)
	return h
}

// url is its name.
func (h *hostileKitebase) url() string {
	return "http://" + canary("host of Kitebase") + ".example/" + canary("path of Kitebase")
}

// faultTickets are the tickets about which each question gets one sort of bad answer.
var faultTickets = map[string]func(w http.ResponseWriter, r *http.Request){
	"KITE-1":  page("text/html", 500, `<html><b>`+words("page of HTML with status 500")+`</b></html>`),
	"KITE-2":  page("text/html", 200, `<html><b>`+words("page of HTML with status 200")+`</b></html>`),
	"KITE-3":  page("application/json", 200, `{"id":"KITE-3","title":"`+canary("truncated JSON")),
	"KITE-4":  page("application/json", 200, `{"id":{"x":"`+canary("JSON of a wrong type")+`"},"version":"`+canary("JSON of a wrong type")+`"}`),
	"KITE-5":  page("application/json", 200, `{"`+canary("name in unfit JSON")+`":[`+canary("name in unfit JSON")+`]}`),
	"KITE-6":  page("application/json", 200, anyTicket(canary("another ticket than was asked for"))),
	"KITE-7":  page("text/"+canary("Content-Type")+`; charset="`+canary("Content-Type")+``, 200, `{}`),
	"KITE-8":  raw(canary("what is no HTTP") + "\r\n\r\n"),
	"KITE-9":  raw("HTTP/1.1 200 OK\r\n" + canary("broken header") + "\x00: x\r\n\r\n"),
	"KITE-10": raw("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n" + canary("broken chunk") + "\r\n"),
	"KITE-11": raw("HTTP/1.1 502 " + canary("reason phrase") + "\r\nContent-Length: 0\r\n\r\n"),
	"KITE-12": raw("HTTP/1.1 " + canary("what is no HTTP") + " OK\r\nContent-Length: 0\r\n\r\n"),
	"KITE-13": raw(""),
	"KITE-14": raw("HTTP/1.1 101 Switching Protocols\r\nUpgrade: " + canary("Server") + "\r\nConnection: Upgrade\r\n\r\n"),
	"KITE-15": problemOf(302), "KITE-16": problemOf(307), "KITE-17": problemOf(400), "KITE-18": problemOf(401),
	"KITE-19": problemOf(403), "KITE-20": problemOf(404), "KITE-21": problemOf(409), "KITE-22": problemOf(410),
	"KITE-23": problemOf(412), "KITE-24": problemOf(418), "KITE-25": problemOf(422), "KITE-26": problemOf(429),
	"KITE-27": problemOf(503), "KITE-28": problemOf(451), "KITE-29": problemOf(413),
}

// page answers with a body, and no word of it is meant for a model.
func page(media string, status int, body string) func(http.ResponseWriter, *http.Request) {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", media)
		w.WriteHeader(status)
		_, _ = w.Write([]byte(body))
	}
}

// raw answers with bytes and cuts the connection.
func raw(bytes string) func(http.ResponseWriter, *http.Request) {
	return func(w http.ResponseWriter, _ *http.Request) {
		conn, buffer, err := w.(http.Hijacker).Hijack()
		if err != nil {
			return
		}
		defer conn.Close()
		writeRaw(conn, buffer, bytes)
	}
}

func writeRaw(conn net.Conn, buffer *bufio.ReadWriter, bytes string) {
	_, _ = buffer.WriteString(bytes)
	_ = buffer.Flush()
	_ = conn.Close()
}

// problemOf answers with a status and a problem document, and with whatever else may stand in a header.
func problemOf(status int) func(http.ResponseWriter, *http.Request) {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/problem+json")
		w.Header().Set("Location", "https://evil.example/"+canary("Location"))
		w.Header().Set("Retry-After", canary("Retry-After"))
		w.Header().Set("WWW-Authenticate", `Bearer realm="`+canary("WWW-Authenticate")+`"`)
		w.Header().Set("Date", canary("Date"))
		w.Header().Set("X-Request-Id", strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer "))
		w.WriteHeader(status)
		_ = json.NewEncoder(w).Encode(map[string]string{
			"title": words("title of a problem"), "detail": words("detail of a problem") + r.Header.Get("Authorization"),
			"instance": "/" + canary("instance of a problem"), "type": "urn:" + canary("type of a problem"),
		})
	}
}

func (h *hostileKitebase) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var body strings.Builder
	_, _ = bufio.NewReader(r.Body).WriteTo(&body)
	h.mu.Lock()
	h.bodies.WriteString(r.Host + r.URL.RequestURI() + " " + body.String() + "\n")
	h.mu.Unlock()

	w.Header().Set("Set-Cookie", "session="+canary("Set-Cookie"))
	w.Header().Set("Server", canary("Server"))
	w.Header().Set("X-Request-Id", canary("X-Request-Id"))
	w.Header().Set("Trailer", "X-Trailer")
	defer w.Header().Set("X-Trailer", canary("trailer"))

	for ticket, fault := range faultTickets {
		if strings.Contains(r.URL.Path+"?", "/tickets/"+ticket+"/") || strings.Contains(r.URL.Path+"?", "/tickets/"+ticket+"?") ||
			strings.HasSuffix(r.URL.Query().Get("query"), " "+ticket) {
			h.mu.Lock()
			h.faults[ticket] = true
			h.mu.Unlock()
			fault(w, r)
			return
		}
	}
	h.answerWell(w, r)
}

// answerWell answers as Kitebase does, in words of others.
func (h *hostileKitebase) answerWell(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	switch path := r.URL.Path; {
	case strings.Contains(r.URL.Query().Get("query"), "nothing"):
		_, _ = w.Write([]byte(`{"articles":[],"tickets":[],"total":0}`))
	case strings.HasSuffix(path, "/help/search"):
		_ = json.NewEncoder(w).Encode(map[string]any{"articles": []any{map[string]string{
			"id": "account#1", "title": words("title of an article"), "text": words("text of an article"),
		}}})
	case strings.HasSuffix(path, "/replies"):
		w.WriteHeader(http.StatusCreated)
		_ = json.NewEncoder(w).Encode(map[string]string{
			"reply_id": "rpl_001", "sent_to": words("recipient of a reply"), "created_at": "2026-01-02T03:04:05Z",
		})
	case strings.HasSuffix(path, "/v1/tickets"):
		_, _ = fmt.Fprintf(w, `{"tickets":[%s],"total":7,"next_cursor":%q}`, anyTicket("KITE-142"), canary("cursor of a page"))
	default:
		_, id, _ := strings.Cut(path, "/tickets/")
		id, _, _ = strings.Cut(id, "/")
		ticket := anyTicket(id)
		if strings.HasSuffix(path, "/assignee") {
			ticket = strings.Replace(ticket, canary("assignee in a ticket"), canary("assignee of a call"), 1)
		}
		_, _ = w.Write([]byte(ticket))
	}
}

// anyTicket is a ticket as Kitebase writes it.
func anyTicket(id string) string {
	text, err := json.Marshal(map[string]any{
		"id": id, "title": words("title of a ticket"), "status": "open", "priority": "high", "version": 1,
		"customer":   map[string]string{"name": words("name of a customer"), "email": canary("address of a customer") + "@northwind.example"},
		"assignee":   canary("assignee in a ticket"),
		"created_at": "2026-01-02T03:04:05Z", "updated_at": "2026-01-02T03:04:05Z",
		"messages": []any{map[string]string{
			"id": "msg_1", "author": "customer", "body": words("body of a customer's message"), "created_at": "2026-01-02T03:04:05Z",
			"idempotency_key": canary("key of a reply in a ticket"),
		}},
	})
	if err != nil {
		panic(err) // strings always encode
	}
	return string(text)
}

// requireHeard checks that the canaries of the calls came here, and every fault was met: what was not sent is not looked for.
func (h *hostileKitebase) requireHeard(t *testing.T, planted ...string) {
	t.Helper()
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, place := range planted {
		require.Contains(t, h.bodies.String(), canary(place), place)
	}
	require.Len(t, h.faults, len(faultTickets))
}
