// Package stdio serves an mcp-go server over a pair of streams, one JSON-RPC message a line, as MCP hosts start it.
//
// It replaces the loop of mcp-go's own StdioServer and leaves the protocol to it: every message goes through
// (*mcpserver.MCPServer).HandleMessage. Replacing is smaller than wrapping, since what has to differ is inside that
// loop: who reads, what runs, and what may be written.
//
//	            turn at reading                       one goroutine each
//	stdin ──▶ line ──▶ scan: id, method ──▶ admit ──▶ HandleMessage ──▶ answer ──┐
//	            │            │                │                                  ├──▶ queue ──▶ stdout
//	            │            │                └─ refused: repeated id, too many ─┤
//	            │            └─ cancel: done at once, in the turn                │
//	            └─ too long, not JSON: refused ──────────────────────────────────┘
//
// Goroutines take turns at reading (leader and followers): the one that has read a message hands the turn on and
// handles the message itself, so that a message costs no wake-up on its way to its handler. Nothing is queued in front of
// a handler: hung calls hold a goroutine each and delay nobody.
//
// What it promises:
//
//   - A request gets one answer, a cancelled one none. A call cancelled before it began does not run.
//   - A request whose id is still under way is refused with -32600 under that id, and does not run. See [Serve].
//   - Notifications that a handler sends come out before the answer of its request, and none after it.
//   - Input that is no request (not JSON, not UTF-8, a batch, over [Config.MaxLine]) is answered in words, under its id
//     where one can be read, and the next line is served.
//   - At the end of the input what was received is still answered. When ctx ends, contexts of calls end, and what is under
//     way is answered. A client that does not read cannot hold up the end.
//   - The text of a panic or of a Go error goes into the log, never to the client.
//
// Example:
//
//	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
//	defer stop()
//	err := stdio.Serve(ctx, mcpServer, os.Stdin, os.Stdout, stdio.Config{})
//
// What it does not do: requests from server to client (sampling, elicitation by request, roots), so answers from the
// client are ignored; signals, which belong to main; time limits of calls, which belong to whoever wraps the handlers.
package stdio
