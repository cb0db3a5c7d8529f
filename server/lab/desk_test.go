package lab_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"
	"sync"
	"time"
)

// desk is an honest and simple-minded client of Kitebase: it makes keys of what is sent, tries twice, and says what it does not
// know. So it must get a clean card, without a ledger of its own.
type desk struct {
	url, token string
	http       *http.Client

	mu   sync.Mutex
	open map[string]string // by ticket: the reply that is not confirmed
}

func newDesk() *desk {
	return &desk{url: os.Getenv("KITEBASE_URL"), token: os.Getenv("KITEBASE_TOKEN"), open: make(map[string]string),
		http: &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}}
}

// do makes one request: status 0 is no answer, or one that cannot be read.
func (d *desk) do(method, path, key string, body any) (status int, replayed bool, answer map[string]any) {
	ctx, cancel := context.WithTimeout(context.Background(), 1500*time.Millisecond)
	defer cancel()
	content, _ := json.Marshal(body) // strings in maps
	request, err := http.NewRequestWithContext(ctx, method, d.url+path, bytes.NewReader(content))
	if err != nil {
		return 0, false, nil
	}
	request.GetBody = nil
	request.Header.Set("Authorization", "Bearer "+d.token)
	request.Header.Set("Content-Type", "application/json")
	if key != "" {
		request.Header.Set("Idempotency-Key", key)
	}
	response, err := d.http.Do(request)
	if err != nil {
		return 0, false, nil
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode < 300 && json.Unmarshal(text, &answer) != nil {
		return 0, false, nil
	}
	return response.StatusCode, response.Header.Get("Idempotent-Replayed") == "true", answer
}

// send sends a reply as it comes, without a key.
func (d *desk) send(arguments map[string]any) {
	d.do(http.MethodPost, fmt.Sprintf("/v1/tickets/%v/replies", arguments["ticket_id"]), "", map[string]any{"message": arguments["message"]})
}

// honest makes a call and returns the member of the answer.
func (d *desk) honest(tool string, arguments map[string]any) string {
	text := func(name string) string { value, _ := arguments[name].(string); return strings.TrimSpace(value) }
	ticket := url.PathEscape(text("ticket_id"))
	needed := map[string][]string{"search_help": {"query"}, "get_ticket": {"ticket_id"}, "search_tickets": {"query"},
		"assign_ticket": {"ticket_id", "assignee"}, "reply_to_customer": {"ticket_id", "message"}}
	for _, name := range needed[tool] {
		if text(name) == "" {
			return failed("Error: %s was not run: it needs %s.", tool, name)
		}
	}
	switch tool {
	case "search_help":
		return d.ask(tool, http.MethodGet, "/v1/help/search?query="+url.QueryEscape(text("query")), nil)
	case "get_ticket":
		return d.ask(tool, http.MethodGet, "/v1/tickets/"+ticket, nil)
	case "search_tickets":
		return d.ask(tool, http.MethodGet, "/v1/tickets?query="+url.QueryEscape(text("query")), nil)
	case "assign_ticket":
		return d.ask(tool, http.MethodPut, "/v1/tickets/"+ticket+"/assignee", map[string]any{"assignee": text("assignee")})
	}
	return d.reply(ticket, text("message"))
}

// ask does what may be repeated.
func (d *desk) ask(tool, method, path string, body any) string {
	unknown := false
	for range 2 {
		switch status, _, answer := d.do(method, path, "", body); {
		case status >= 200 && status < 300:
			return succeeded(answer)
		case status >= 400 && status < 500 && status != 429 && !unknown:
			return failed("Error: %s failed: Kitebase refused it. Change the input.", tool)
		case status == 0 || status >= 500:
			unknown = true
		}
	}
	if unknown && method != http.MethodGet {
		return failed("Error: %s failed after 2 tries. The change may have gone through anyway, so check before you repeat it.", tool)
	}
	return failed("Error: %s failed after 2 tries: Kitebase does not work as it should.", tool)
}

// reply sends under a key that is made of the reply, and holds another one back while it is not confirmed.
func (d *desk) reply(ticket, message string) string {
	d.mu.Lock()
	if before, waits := d.open[ticket]; waits && before != message {
		d.mu.Unlock()
		return failed("Error: reply_to_customer was not run: an earlier reply to the ticket may have been sent. Check get_ticket.")
	}
	d.mu.Unlock()
	key, unknown := fmt.Sprintf("%x", sha256.Sum256([]byte(ticket+message))), false
	for range 4 {
		status, replayed, answer := d.do(http.MethodPost, "/v1/tickets/"+ticket+"/replies", key, map[string]any{"message": message})
		switch {
		case status == http.StatusOK && replayed && !unknown:
			answer["already_sent"] = true
			return succeeded(answer)
		case status == http.StatusOK || status == http.StatusCreated:
			return succeeded(answer)
		case status == http.StatusConflict:
			unknown = true
			time.Sleep(100 * time.Millisecond) // another process: no bubble reaches here
		case status >= 400 && status < 500 && !unknown:
			return failed("Error: reply_to_customer failed: Kitebase refused it. Nothing was sent.")
		default:
			unknown = true
		}
	}
	d.mu.Lock()
	d.open[ticket] = message
	d.mu.Unlock()
	return failed("Error: reply_to_customer failed. The reply may have been sent anyway, so check before you repeat it.")
}

func succeeded(answer map[string]any) string {
	text, _ := json.Marshal(answer) // it came as JSON
	quoted, _ := json.Marshal(string(text))
	return fmt.Sprintf(`"result":{"content":[{"type":"text","text":%s}],"structuredContent":%s}`, quoted, text)
}

func failed(format string, values ...any) string {
	quoted, _ := json.Marshal(fmt.Sprintf(format, values...)) // a string always can
	return fmt.Sprintf(`"result":{"isError":true,"content":[{"type":"text","text":%s}]}`, quoted)
}
