// Package wire writes answers of JSON-RPC as bytes, for the transports.
//
//	line, err := wire.AppendResult(nil, id, result) // {"jsonrpc":"2.0","id":7,"result":{"content":[…]}}
//
// An answer is the same JSON that encoding/json makes of mcp-go's types, on one line, for less: the MarshalJSON of
// mcp.CallToolResult makes a map of a result, and what it returns is copied and checked twice more on its way into an
// answer, which was a fifth of the CPU time of a call.
//
// Nothing is escaped for HTML, and a result's JSON in RawStructuredContent keeps its strings and numbers as written.
//
// [Notes] keeps the notifications of a request before its answer.
//
// What it does not do: read messages, and word errors.
package wire
