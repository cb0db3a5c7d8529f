package main_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/kitebase/kitebase-mcp/fakeapi"
)

// deskRecord is what Kitebase says of itself: the emails of all its lives, and the requests that it remembered when it was asked.
type deskRecord struct {
	emails   []fakeapi.Email
	requests []fakeapi.Request
}

// control talks to the controls of the fake. It may be dead just now, which is told by false.
func (d *deskProcess) control(method, path, body string, into any) bool {
	request, err := http.NewRequest(method, d.url+path, strings.NewReader(body))
	if !assert.NoError(d.t, err) {
		return false
	}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: 30 * time.Second}
	response, err := client.Do(request)
	if err != nil {
		return false
	}
	answer, err := io.ReadAll(response.Body)
	_ = response.Body.Close() // it was read
	if err != nil {
		return false
	}
	assert.Less(d.t, response.StatusCode, 300, "%s %s %s: %s", method, path, body, answer)
	return into == nil || assert.NoError(d.t, json.Unmarshal(answer, into))
}

// read adds what the process knows to the record. It must live.
func (d *deskProcess) read() {
	var outbox struct {
		Emails []fakeapi.Email `json:"emails"`
	}
	var seen struct {
		Requests []fakeapi.Request `json:"requests"`
	}
	assert.True(d.t, d.control("GET", "/_outbox", "", &outbox) && d.control("GET", "/_requests", "", &seen), "Kitebase tells nothing")
	d.seen.emails = outbox.Emails
	d.seen.requests = append(d.seen.requests, seen.Requests...)
}

// fault puts a fault in force, unless Kitebase is dead.
func (d *deskProcess) fault(operation, fault string, probability float64, seed uint64) {
	body := fmt.Sprintf(`{%s,"probability":%.2f,"seed":%d}`, fault, probability, seed)
	d.chaos.note("fault of %s: %s", operation, body)
	d.control("PUT", "/_faults/"+operation, body, nil)
}

// clear ends all faults, unless Kitebase is dead.
func (d *deskProcess) clear() {
	d.chaos.note("no faults")
	d.control("DELETE", "/_faults", "", nil)
}
