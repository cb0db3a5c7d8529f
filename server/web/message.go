package web

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"os"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
)

const (
	// maxDrained is how much of a body that is too large is read and thrown away, in bytes.
	maxDrained = 8 << 20
	// maxAhead is how much of a body has its room before it comes, in bytes.
	maxAhead = 8 << 10
)

const jsonType = "application/json"

// A message is what a POST brought, read as far as the fence must understand it.
type message struct {
	raw     json.RawMessage
	arrived time.Time
	batch   bool

	ID     json.RawMessage `json:"id"` // nil in notifications
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
}

// isRequest says whether the message wants an answer.
func (m *message) isRequest() bool { return m.Method != "" && m.ID != nil }

// isCall says whether the message runs a tool, which takes long and has effects; all else is answered from memory.
func (m *message) isCall() bool { return m.isRequest() && m.Method == string(mcp.MethodToolsCall) }

// isListen says whether the message opens a stream that stays open.
func (m *message) isListen() bool {
	return m.isRequest() && m.Method == string(mcp.MethodSubscriptionsListen)
}

// isSubscribe says whether the message asks to be told of changes on a stream of its session.
func (m *message) isSubscribe() bool {
	return m.isRequest() && m.Method == string(mcp.MethodResourcesSubscribe)
}

// cancels returns the id of the request that the message takes back, or "".
func (m *message) cancels() string {
	var params struct {
		RequestID json.RawMessage `json:"requestId"`
	}
	if m.Method != string(mcp.MethodNotificationCancelled) || json.Unmarshal(m.Params, &params) != nil {
		return ""
	}
	return string(params.RequestID)
}

// readMessage reads the body of a POST, which must be one JSON-RPC message, or an array of them: then only batch is set.
func readMessage(w http.ResponseWriter, r *http.Request, limit int64) (*message, *refusal) {
	if !isJSON(r.Header.Get("Content-Type")) {
		return nil, &refusal{status: http.StatusUnsupportedMediaType, code: serverError,
			text: "The request's content type must be application/json."}
	}
	tooLarge := &refusal{status: http.StatusRequestEntityTooLarge, code: serverError,
		text: fmt.Sprintf("The request is too large: at most %d bytes are taken.", limit)}
	if r.ContentLength > limit {
		// A client that is still writing sees the answer only if somebody reads on; the read timeout bounds that.
		_, _ = io.CopyN(io.Discard, r.Body, maxDrained)
		return nil, tooLarge
	}
	raw, err := readBody(http.MaxBytesReader(w, r.Body, limit), r.ContentLength)
	if _, over := errors.AsType[*http.MaxBytesError](err); over {
		return nil, tooLarge
	}
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return nil, &refusal{status: http.StatusRequestTimeout, code: serverError, text: "The request came too slowly.",
			header: [2]string{"Connection", "close"}}
	}
	if err != nil {
		return nil, badRequest(mcp.PARSE_ERROR, "The request's body was cut off.")
	}
	return parseMessage(raw, time.Now())
}

// isJSON says whether a content type is that of JSON, with whichever parameters.
func isJSON(contentType string) bool {
	if contentType == jsonType { // as most clients write it
		return true
	}
	kind, _, err := mime.ParseMediaType(contentType)
	return err == nil && kind == jsonType
}

// readBody makes room for what was announced, but not before it comes for more than most requests need.
func readBody(body io.Reader, announced int64) ([]byte, error) {
	var b bytes.Buffer
	b.Grow(int(min(max(announced, 0), maxAhead)) + bytes.MinRead)
	_, err := b.ReadFrom(body)
	return b.Bytes(), err
}

func parseMessage(raw json.RawMessage, arrived time.Time) (*message, *refusal) {
	m := &message{raw: raw, arrived: arrived}
	if m.batch = bytes.HasPrefix(bytes.TrimLeft(raw, " \t\r\n"), []byte("[")); m.batch {
		return m, nil
	}
	err := json.Unmarshal(raw, m)
	if _, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return nil, badRequest(mcp.INVALID_REQUEST, "The message is not a JSON-RPC object.")
	}
	if err != nil {
		return nil, badRequest(mcp.PARSE_ERROR, "The message is not valid JSON.")
	}
	if string(m.ID) == "null" { // a notification, as in mcp-go
		m.ID = nil
	}
	if m.ID != nil && bytes.ContainsAny(m.ID[:1], "{[tf") {
		return nil, badRequest(mcp.INVALID_REQUEST, "The message's id is neither a string nor a number.")
	}
	return m, nil
}
