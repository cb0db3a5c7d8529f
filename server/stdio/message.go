package stdio

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/mark3labs/mcp-go/mcp"
)

// message is what the loop must know of a line. The slices are parts of the line.
type message struct {
	id      []byte // as written: a number or a string; nil in notifications
	method  mcp.MCPMethod
	params  []byte
	version []byte
	answer  bool // it has a result or an error

	malformed string // what is wrong with its members, in words
}

// refusal is an answer in place of a run: a JSON-RPC error under an id, or under null if id is nil.
type refusal struct {
	id   []byte
	code int
	text string
}

// readMessage reads a line, which has no line end. It returns a refusal for what is no message of JSON-RPC 2.0.
func readMessage(line []byte) (message, *refusal) {
	var m message
	if !members(line, m.add) {
		return m, notObject(line)
	}
	code, text := mcp.INVALID_REQUEST, m.fault()
	if !utf8.Valid(line) {
		code, text = mcp.PARSE_ERROR, "Not run: the message is not valid UTF-8."
	}
	switch {
	case text == "":
		return m, nil
	case !json.Valid(line):
		return m, notJSON()
	case m.isAnswer():
		return m, nil
	}
	return m, &refusal{usableID(m.id), code, text}
}

// add notes one member. mcp-go reads with encoding/json, which takes the last of two members and matches names in any
// case: what it could read another way than we do is refused, or a call could run under an id that we do not know.
func (m *message) add(key, value []byte) {
	name := unquote(key)
	repeated := false
	switch name {
	case "id":
		repeated, m.id = m.id != nil, value
	case "method":
		repeated, m.method = m.method != "", mcp.MCPMethod(unquote(value))
		if m.method == "" {
			m.malformed = "The method must be a string that is not empty."
		}
	case "params":
		repeated, m.params = m.params != nil, value
	case "jsonrpc":
		repeated, m.version = m.version != nil, value
	case "result", "error":
		m.answer = true
	default:
		for _, known := range []string{"id", "method", "params", "jsonrpc", "result", "error"} {
			if strings.EqualFold(name, known) {
				m.malformed = "Members must be written in lower case: " + known + "."
			}
		}
	}
	if repeated {
		m.malformed = "The member " + name + " is given twice."
	}
}

// isAnswer reports whether m answers a request of ours. We send none, so it is ignored whatever is wrong with it: an error
// in return for an answer could go back and forth for ever.
func (m *message) isAnswer() bool { return m.answer && m.method == "" }

// unquote returns the text of a JSON string, "" if value is none. Where the string is not valid, what it returns does
// not matter: HandleMessage will not take the line.
func unquote(value []byte) (text string) {
	if value[0] == '"' && bytes.IndexByte(value, '\\') < 0 {
		return string(value[1 : len(value)-1])
	}
	_ = json.Unmarshal(value, &text)
	return text
}

// fault says what is wrong with m, "" if nothing is.
func (m *message) fault() string {
	switch {
	case m.malformed != "":
		return m.malformed
	case string(m.version) != `"2.0"`:
		return `The member jsonrpc must be "2.0".`
	case m.method == "":
		return "A message needs a method."
	case m.answer:
		return "A message is either a request or an answer, not both."
	case m.id != nil && usableID(m.id) == nil:
		return "An id must be a number or a string."
	case m.id != nil && m.params != nil && m.params[0] != '{':
		return "The member params must be an object."
	}
	return ""
}

// notObject words why a line is no message: no JSON at all, a batch (which MCP dropped in 2025-06-18), or another value.
func notObject(line []byte) *refusal {
	switch {
	case !json.Valid(line):
		return notJSON()
	case line[0] == '[':
		return &refusal{nil, mcp.INVALID_REQUEST, "Batches are not served. Send one message a line."}
	}
	return &refusal{nil, mcp.INVALID_REQUEST, "A message must be a JSON object."}
}

func notJSON() *refusal {
	return &refusal{nil, mcp.PARSE_ERROR, "The line is not valid JSON."}
}

// usableID returns raw if it may stand as an id in an answer, else nil.
func usableID(raw []byte) []byte {
	if len(raw) == 0 || !utf8.Valid(raw) || !json.Valid(raw) {
		return nil
	}
	if c := raw[0]; c == '"' || c == '-' || '0' <= c && c <= '9' {
		return raw
	}
	return nil
}

// idKey returns a key that is equal for equal ids however they are written: 1 and 1.0, "a" and "\u0061"; but not for 1
// and "1", which are different ids.
func idKey(raw []byte) string {
	switch {
	case raw[0] == '"' && bytes.IndexByte(raw, '\\') >= 0:
		return `"` + unquote(raw) + `"`
	case raw[0] != '"' && bytes.ContainsAny(raw, ".eE"):
		if f, err := strconv.ParseFloat(string(raw), 64); err == nil {
			return strconv.FormatFloat(f, 'f', -1, 64)
		}
	}
	return string(raw)
}

// lastMember matches an id that is the last member of the outermost object: before the brace that ends the line.
var lastMember = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`"id"\s*:\s*("(?:[^"\\]|\\.)*"|-?\d+)\s*\}\s*$`) })

// idOf finds the id of a line of which only the two ends are known, nil if it is in neither. Most clients write it
// first or last.
func idOf(head, tail []byte) []byte {
	var m message
	members(head, m.add) // fails at the end of head, after the members before it
	if id := usableID(m.id); id != nil {
		return id
	}
	if match := lastMember().FindSubmatch(tail); match != nil {
		return usableID(match[1])
	}
	return nil
}
