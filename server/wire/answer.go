package wire

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/mark3labs/mcp-go/mcp"
)

// AppendResult appends the answer to the request id that carries result, without a line end. id is JSON and written as it
// is, so that numbers beyond 2^53 stay themselves; nil becomes null. It fails, and returns nil, if result cannot be written
// as JSON. It does not change result, and is safe for concurrent use.
func AppendResult(dst, id []byte, result any) ([]byte, error) {
	dst = append(appendID(dst, id), `,"result":`...)
	var err error
	switch result := result.(type) {
	case mcp.CallToolResult:
		dst, err = appendToolResult(dst, &result)
	case *mcp.CallToolResult:
		dst, err = appendToolResult(dst, result)
	default:
		dst, err = appendValue(dst, result)
	}
	if err != nil {
		return nil, err
	}
	return append(dst, '}'), nil
}

// AppendError appends the answer to the request id that carries an error, as [AppendResult] does with a result. Without
// data it cannot fail.
func AppendError(dst, id []byte, e mcp.JSONRPCErrorDetails) ([]byte, error) {
	dst = append(appendID(dst, id), `,"error":{"code":`...)
	dst = strconv.AppendInt(dst, int64(e.Code), 10)
	dst = appendString(append(dst, `,"message":`...), e.Message)
	if e.Data != nil {
		var err error
		if dst, err = appendValue(append(dst, `,"data":`...), e.Data); err != nil {
			return nil, err
		}
	}
	return append(dst, "}}"...), nil
}

func appendID(dst, id []byte) []byte {
	dst = append(dst, `{"jsonrpc":"2.0","id":`...)
	if id == nil {
		return append(dst, "null"...)
	}
	return append(dst, id...)
}

// appendString writes text as encoding/json does: what is no UTF-8 is replaced, and so are the two line ends that
// JavaScript knows and JSON does not.
func appendString(dst []byte, text string) []byte {
	start := len(dst)
	dst, _ = jsontext.AppendQuote(dst, text)
	if !strings.Contains(text, "\u2028") && !strings.Contains(text, "\u2029") {
		return dst
	}
	quoted := bytes.ReplaceAll(dst[start:], []byte("\u2028"), []byte(`\u2028`))
	return append(dst[:start], bytes.ReplaceAll(quoted, []byte("\u2029"), []byte(`\u2029`))...)
}

// appendValue writes what nothing faster is known for.
func appendValue(dst []byte, value any) ([]byte, error) {
	b := bytes.NewBuffer(dst)
	encoder := json.NewEncoder(b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		return nil, err
	}
	b.Truncate(b.Len() - len("\n")) // the encoder's
	return b.Bytes(), nil
}
