package fakeapi_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/kitebase/kitebase-mcp/fakeapi"
)

func TestOpenAPIDocumentIsValid(t *testing.T) {
	spec, err := loadSpec()
	require.NoError(t, err)
	require.NoError(t, spec.Validate(t.Context()))
}

// The document promises no status that the fake never gives, and the fake gives none that is not promised: each
// documented answer is provoked once, and each answer is checked against its schema.
func TestEveryDocumentedAnswerIsGiven(t *testing.T) {
	d := newDesk(t, fakeapi.Config{Token: "secret"})
	auth := []string{"Authorization", "Bearer secret"}
	paths := map[string]string{
		"search_help":       "GET /v1/help/search?query=sso",
		"search_tickets":    "GET /v1/tickets?query=sso",
		"get_ticket":        "GET /v1/tickets/KITE-142",
		"assign_ticket":     "PUT /v1/tickets/KITE-142/assignee",
		"reply_to_customer": "POST /v1/tickets/KITE-142/replies",
	}
	good := map[string]string{"assign_ticket": `{"assignee":"priya"}`, "reply_to_customer": `{"message":"Hello"}`}
	given := map[string][]int{}
	call := func(operation, path, body string, headers ...string) {
		method, path, _ := strings.Cut(path, " ")
		r := d.do(method, path, body, headers...)
		given[operation] = append(given[operation], r.status)
	}
	for operation, path := range paths {
		body := good[operation]
		call(operation, path, body)                                           // 401
		call(operation, path, body, append(auth, "Idempotency-Key", "k1")...) // 200 or 201
		for _, status := range []int{429, 503} {
			require.NoError(t, d.SetFault(operation, fakeapi.Fault{Kind: "status", Status: status, RetryAfter: "7", Times: 1}))
			call(operation, path, body, auth...)
		}
		if strings.Contains(path, "KITE-142") {
			call(operation, strings.Replace(path, "KITE-142", "KITE-412", 1), body, auth...)
			call(operation, strings.Replace(path, "KITE-142", "142", 1), body, auth...)
		} else {
			call(operation, strings.Replace(path, "sso", "", 1), body, auth...)
		}
		if body != "" {
			call(operation, path, `{}`, auth...)
			call(operation, path, body, append(auth, "Content-Type", "text/plain")...)
			call(operation, path, strings.Repeat(" ", 1<<20+1), auth...)
		}
	}
	call("reply_to_customer", paths["reply_to_customer"], good["reply_to_customer"], append(auth, "Idempotency-Key", "k1")...)
	given["reply_to_customer"] = append(given["reply_to_customer"], conflict(t))

	spec, err := loadSpec()
	require.NoError(t, err)
	for path, item := range spec.Paths.Map() {
		for _, op := range item.Operations() {
			if !strings.HasPrefix(path, "/v1/") {
				continue
			}
			var documented []string
			for status := range op.Responses.Map() {
				if status != "default" {
					documented = append(documented, status)
				}
			}
			var seen []string
			for _, status := range given[op.OperationID] {
				seen = append(seen, fmt.Sprint(status))
			}
			slices.Sort(seen)
			require.ElementsMatch(t, documented, slices.Compact(seen), op.OperationID)
		}
	}
}

// conflict provokes the 409 of a reply whose first request is still under way.
func conflict(t *testing.T) (status int) {
	synctest.Test(t, func(t *testing.T) {
		d := newPipeDesk(t, fakeapi.Config{})
		require.NoError(t, d.SetFault("reply_to_customer", fakeapi.Fault{Kind: "slow", Delay: time.Minute, Times: 1}))
		go func() { _, _ = d.try("POST", replies, messageBody("Hello"), "Idempotency-Key", "k") }()
		synctest.Wait()
		status = d.send("k", "Hello").status
	})
	return status
}
