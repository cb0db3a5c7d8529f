package web

import (
	"encoding/json"
	"net/http"

	"github.com/mark3labs/mcp-go/mcp"
)

// A refusal is an answer from before the MCP server: nothing was run. Its text may be shown to a model.
type refusal struct {
	status int
	code   int // JSON-RPC
	text   string
	header [2]string // one more header, if any
	reason string    // for the log, if it says more than the text
	denied bool      // a known caller lacks the right
}

// serverError is the first of the JSON-RPC codes that are left to servers; the MCP revisions give it no meaning.
const serverError = -32000

// Texts for the two ends that leave it open what was done.
const (
	failedText  = "The server failed while it handled this request. What was asked for may have been done: check before you repeat it."
	stoppedText = "The server ended this request without an answer. What was asked for may have been done: check before you repeat it."
)

// unsubscribedText is for resources/subscribe where there is no stream on which an update could come.
const unsubscribedText = "Streamable HTTP has no stream for updates here before protocol revision 2026-07-28, which has subscriptions/listen. " +
	"Nothing was subscribed. Read the resource again instead, or connect by SSE."

func busy(text string) *refusal {
	return &refusal{status: http.StatusServiceUnavailable, code: serverError,
		text: text + " Nothing was run. Wait a second, then try again.", header: [2]string{"Retry-After", "1"}}
}

func draining() *refusal {
	return &refusal{status: http.StatusServiceUnavailable, code: serverError,
		text: "The server is shutting down. Nothing was run. Wait a few seconds, then try again.", header: [2]string{"Retry-After", "5"}}
}

func forbidden(text string) *refusal {
	return &refusal{status: http.StatusForbidden, code: serverError, text: text}
}

func badRequest(code int, text string) *refusal {
	return &refusal{status: http.StatusBadRequest, code: code, text: text}
}

func wrongMethod(allow string) *refusal {
	return &refusal{status: http.StatusMethodNotAllowed, code: serverError, text: "This path takes " + allow + " only.",
		header: [2]string{"Allow", allow}}
}

// errorBody is a JSON-RPC error. Without an id it has id null, as JSON-RPC 2.0 section 5 wants.
func errorBody(id json.RawMessage, code int, text string) json.RawMessage {
	type detail struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
	}
	body, err := json.Marshal(struct {
		Version string          `json:"jsonrpc"`
		ID      json.RawMessage `json:"id"`
		Error   detail          `json:"error"`
	}{mcp.JSONRPC_VERSION, id, detail{code, text}})
	if err != nil { // only an id that is no JSON, and ids come out of the decoder
		return errorBody(nil, code, text)
	}
	return body
}
