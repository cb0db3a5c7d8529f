package fakeapi_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kitebase/kitebase-mcp/fakeapi"
)

func TestControls(t *testing.T) {
	d := newDesk(t, fakeapi.Config{Token: "secret"})
	require.JSONEq(t, `{"requests":[]}`, d.do("GET", "/_requests", "").body)
	require.JSONEq(t, `{"emails":[]}`, d.do("GET", "/_outbox", "").body)

	require.Equal(t, http.StatusNoContent, d.do("PUT", "/_faults/reply_to_customer", `{"fault":"lose","times":1}`).status)
	auth := []string{"Authorization", "Bearer secret", "Idempotency-Key", "k", "Traceparent", "00-4b-00-01"}
	_, err := d.try("POST", replies, messageBody("Hello"), auth...)
	require.Error(t, err)
	require.Equal(t, http.StatusOK, d.do("POST", replies, messageBody("Hello"), auth...).status)

	first := d.do("GET", "/_requests", "").field(t, "requests").([]any)[0].(map[string]any)
	require.NotEmpty(t, first["at"])
	delete(first, "at")
	require.Equal(t, map[string]any{
		"operation": "reply_to_customer", "method": "POST", "path": replies,
		"idempotency_key": "k", "traceparent": "00-4b-00-01", "status": 0.0, "fault": "lose", "request_id": first["request_id"],
	}, first)
	emails := d.do("GET", "/_outbox", "").field(t, "emails").([]any)
	require.Len(t, emails, 1)
	require.Equal(t, "rpl_001", emails[0].(map[string]any)["reply_id"])
	require.Equal(t, first["request_id"], emails[0].(map[string]any)["request_id"], "the request that sent it")

	r := d.do("POST", "/_messages", `{"ticket_id":"KITE-142","body":"Any news?"}`)
	require.Equal(t, http.StatusCreated, r.status)
	require.Equal(t, "customer", r.field(t, "author"))
	require.Equal(t, "msg_142_5", r.field(t, "id"))
	require.Len(t, d.Requests(), 2, "controls are not among the requests")
}

func TestFaultsOverHTTP(t *testing.T) {
	d := newDesk(t, fakeapi.Config{})
	get := func() int {
		r, err := d.try("GET", "/v1/tickets/KITE-142", "")
		require.NoError(t, err)
		return r.status
	}
	d.do("PUT", "/_faults/get_ticket", `{"fault":"status","status":503,"retry_after":"30"}`)
	require.Equal(t, http.StatusServiceUnavailable, get())
	require.Equal(t, http.StatusNoContent, d.do("DELETE", "/_faults/get_ticket", "").status)
	require.Equal(t, http.StatusOK, get())
	d.do("PUT", "/_faults/*", `{"fault":"status","status":500,"probability":1,"seed":7}`)
	require.Equal(t, http.StatusInternalServerError, get())
	require.Equal(t, http.StatusNoContent, d.do("DELETE", "/_faults", "").status)
	require.Equal(t, http.StatusOK, get())
	require.Equal(t, http.StatusNoContent, d.do("PUT", "/_faults/get_ticket", `{"fault":"slow","delay":"1ms"}`).status)
	require.Equal(t, http.StatusOK, get())
}

func TestRefusedControls(t *testing.T) {
	d := newDesk(t, fakeapi.Config{})
	for name, tt := range map[string]struct {
		method, path, body string
		status             int
		detail             string
	}{
		"unknown kind":      {"PUT", "/_faults/get_ticket", `{"fault":"explode"}`, 400, `Fault "explode" is unknown; it is one of drop,`},
		"misspelt field":    {"PUT", "/_faults/get_ticket", `{"fault":"lose","time":1}`, 400, `Unknown field "time"`},
		"wrong type":        {"PUT", "/_faults/get_ticket", `{"fault":"lose","times":"1"}`, 400, "Times cannot be of the type string."},
		"negative times":    {"PUT", "/_faults/get_ticket", `{"fault":"lose","times":-1}`, 400, "Times is -1"},
		"no status":         {"PUT", "/_faults/get_ticket", `{"fault":"status"}`, 400, "Status is 0"},
		"bad delay":         {"PUT", "/_faults/get_ticket", `{"fault":"slow","delay":"soon"}`, 400, `Delay is "soon"`},
		"no JSON":           {"PUT", "/_faults/get_ticket", `fault=lose`, 400, "Not a JSON object."},
		"no body":           {"PUT", "/_faults/get_ticket", ``, 400, "Not a JSON object."},
		"an array":          {"PUT", "/_faults/get_ticket", `[]`, 400, "Not a JSON object but of the type array."},
		"two objects":       {"PUT", "/_faults/get_ticket", `{"fault":"lose"}}`, 400, "Something follows after the JSON object."},
		"unknown operation": {"PUT", "/_faults/reply", `{"fault":"lose"}`, 404, `Operation "reply" is unknown`},
		"unknown to clear":  {"DELETE", "/_faults/reply", ``, 404, `Operation "reply" is unknown`},
		"wrong method":      {"POST", "/_faults/get_ticket", ``, 405, "This path takes PUT, DELETE."},
		"unknown ticket":    {"POST", "/_messages", `{"ticket_id":"KITE-412","body":"Hi"}`, 400, `There is no ticket "KITE-412".`},
		"blank message":     {"POST", "/_messages", `{"ticket_id":"KITE-142","body":" "}`, 400, "The body is blank"},
		"unknown control":   {"GET", "/_nothing", ``, 404, "The controls are"},
		"posted outbox":     {"POST", "/_outbox", ``, 405, "This path takes GET."},
	} {
		t.Run(name, func(t *testing.T) {
			r := d.do(tt.method, tt.path, tt.body)
			require.Equal(t, tt.status, r.status, r.body)
			require.Contains(t, r.field(t, "detail"), tt.detail)
		})
	}
	require.Equal(t, http.StatusOK, d.do("GET", "/v1/tickets/KITE-142", "").status, "no fault came into force")
}

func TestOnlyTheLatestRequestsAreKept(t *testing.T) {
	d := newDesk(t, fakeapi.Config{KeepRequests: 2})
	for _, id := range []string{"1", "2", "3", "4", "5"} {
		d.do("GET", "/v1/tickets/KITE-"+id, "")
		require.LessOrEqual(t, len(d.Requests()), 2)
	}
	require.Equal(t, "/v1/tickets/KITE-4", d.Requests()[0].Path)
	require.Equal(t, "/v1/tickets/KITE-5", d.Requests()[1].Path)
}

func TestConfigSaysWhatIsWrong(t *testing.T) {
	_, err := fakeapi.New(fakeapi.Config{KeepRequests: -2})
	require.ErrorContains(t, err, "KeepRequests is -2")
	_, err = fakeapi.New(fakeapi.Config{Token: "a\nb"})
	require.ErrorContains(t, err, "Token holds a line break")
}
