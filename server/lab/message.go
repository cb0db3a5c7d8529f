package lab

import (
	"encoding/json"
	"fmt"
)

// message is one JSON-RPC message of the server. The lab reads the wire itself instead of through a client library, since
// what a library would mend or hide is what is judged here.
type message struct {
	JSONRPC string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Method  string          `json:"method"`
	Result  json.RawMessage `json:"result"`
	Error   *struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
	} `json:"error"`
}

// parse takes a line apart, and reports whether it is a JSON-RPC message at all. A host takes nothing else, be it as good as one.
func parse(line []byte) (m message, ok bool) {
	if json.Unmarshal(line, &m) != nil || m.JSONRPC != "2.0" {
		return message{}, false
	}
	return m, m.Method != "" || m.Result != nil || m.Error != nil
}

// request is one JSON-RPC message to the server; without ID it is a notification.
type request struct {
	JSONRPC string `json:"jsonrpc"`
	ID      int64  `json:"id,omitempty"`
	Method  string `json:"method"`
	Params  any    `json:"params,omitempty"`
}

func (r request) line() []byte {
	r.JSONRPC = "2.0"
	line, err := json.Marshal(r)
	if err != nil { // the parameters are maps of strings and numbers
		panic(fmt.Sprintf("lab: a request cannot be written: %v", err))
	}
	return append(line, '\n')
}

// reaction answers a request of the server as a host without any capability does. Nil for what is no request.
func reaction(m message) []byte {
	if m.Method == "" || len(m.ID) == 0 {
		return nil
	}
	if m.Method == "ping" {
		return fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"result":{}}`+"\n", m.ID)
	}
	return fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"Method not found"}}`+"\n", m.ID)
}
