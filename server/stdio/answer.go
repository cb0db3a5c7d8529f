package stdio

import (
	"encoding/json"
	"fmt"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/kitebase/kitebase-mcp/server/wire"
	"github.com/kitebase/kitebase-mcp/server/wording"
)

// The words that a client, and with it a model, may read. They say whether anything ran, and nothing of the inside.
const (
	textRepeated = "Not run: a request with this id is under way already. It goes on and is answered under this id as " +
		"well, so check what became of it before you repeat it."
	textInternal   = "Internal error in the server. If the call was to change something, check before you repeat it."
	textUnwritable = "The answer could not be written as JSON. The call itself was run: if it was to change something, " +
		"check before you repeat it."
	textTooLong = "Not run: the message is longer than %d bytes."
	textUnfit   = wording.Unfit
)

// encodeResult returns the line of an answer with a result.
func encodeResult(id []byte, result any) ([]byte, error) {
	line, err := wire.AppendResult(nil, id, result)
	if err != nil {
		return nil, err
	}
	return append(line, '\n'), nil
}

// encodeError returns the line of an error answer without data.
func encodeError(r refusal) []byte {
	line, err := wire.AppendError(nil, r.id, mcp.JSONRPCErrorDetails{Code: r.code, Message: r.text})
	if err != nil { // a number and a string always encode
		panic(err)
	}
	return append(line, '\n')
}

// encodeResponse returns the line that answers c, and what of the response must go into the log instead.
func encodeResponse(c *call, text []byte, response mcp.JSONRPCMessage) ([]byte, error) {
	switch r := response.(type) {
	case mcp.JSONRPCResponse:
		line, err := encodeResult(c.id, r.Result)
		if err != nil {
			return encodeError(refusal{c.id, mcp.INTERNAL_ERROR, textUnwritable}), fmt.Errorf("encoding the result: %w", err)
		}
		return line, nil
	case mcp.JSONRPCError:
		return encodeFailure(c, text, r.Error)
	}
	return encodeError(refusal{c.id, mcp.INTERNAL_ERROR, textInternal}), fmt.Errorf("no answer to %s: %T", wording.Method(string(c.method)), response)
}

// askedWrongly is a failure that is the client's doing.
type askedWrongly struct{ error }

// encodeFailure words the errors in which mcp-go quotes Go: of encoding/json, and whatever a handler returned.
func encodeFailure(c *call, text []byte, e mcp.JSONRPCErrorDetails) ([]byte, error) {
	private := fmt.Errorf("%s failed with code %d: %s", wording.Method(string(c.method)), e.Code, wording.Private(e.Message))
	if e.Code != mcp.INTERNAL_ERROR {
		private = askedWrongly{private}
	}
	switch {
	case e.Code == mcp.PARSE_ERROR && !json.Valid(text):
		return encodeError(*notJSON()), private
	case e.Code == mcp.PARSE_ERROR, e.Code == mcp.INVALID_REQUEST:
		return encodeError(refusal{c.id, mcp.INVALID_REQUEST, textUnfit}), private
	case e.Code == mcp.INTERNAL_ERROR:
		return encodeError(refusal{c.id, mcp.INTERNAL_ERROR, textInternal}), private
	}
	if public := wording.Public(e.Message); public != e.Message {
		e.Message = public
	} else {
		private = nil
	}
	line, err := wire.AppendError(nil, c.id, e)
	if err != nil {
		return encodeError(refusal{c.id, e.Code, e.Message}), fmt.Errorf("encoding the data of an error: %w", err)
	}
	return append(line, '\n'), private
}

// encodeFull answers a tool call that found too many under way. It is a result, since hosts show results to the model
// and errors as crashes; resultType is required from protocol revision 2026-07-28 on and unknown to the older ones.
func encodeFull(m message, limit int) []byte {
	var params struct {
		Name string         `json:"name"`
		Meta map[string]any `json:"_meta"`
	}
	_ = json.Unmarshal(m.params, &params) // valid as far as it was scanned; without a name the text still holds
	result := mcp.NewToolResultError(fmt.Sprintf(
		"Error: %s was not run: %d calls are under way already. Wait until some have been answered, then call it again.",
		params.Name, limit))
	if version, _ := params.Meta[mcp.MetaKeyProtocolVersion].(string); mcp.IsModernProtocol(version) {
		result.SetResultType(mcp.ResultTypeComplete)
	}
	line, err := encodeResult(m.id, result)
	if err != nil { // strings always encode
		panic(err)
	}
	return line
}
