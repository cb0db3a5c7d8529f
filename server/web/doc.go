// Package web serves an MCP server over HTTP: streamable HTTP at /mcp (revisions 2025-03-26, 2025-06-18, 2025-11-25 and
// the stateless 2026-07-28) and the older HTTP+SSE transport at /sse and /message, both behind one fence.
//
//	health ─ connections ─ Host, Origin ─ token ─ path, method ─ type, size, JSON ─ right ─ draining, calls ─┬─ /mcp:
//	  200        503            403      401, 503   404, 405       415, 413, 400     403          503        │   directly, or by
//	                                                                                                         │   mcp-go, stateless
//	                                                                                                         └─ /sse, /message:
//	                                                                                                             our own loop
//
// Behind the token is also /metrics, if there is a handler for it. Health and metrics alone, for servers on stdio, are
// [ServeMonitor]'s.
//
// Whatever is refused was refused before a tool ran, so that a client may repeat it.
//
//	listener, err := net.Listen("tcp", "127.0.0.1:8090")
//	...
//	s, err := web.New(server, web.Config{})
//	...
//	err = s.Serve(ctx, listener) // until ctx ends, then drains
//
// # Sessions
//
// No tool call needs one, so any replica can answer any call. Streamable HTTP is stateless here: the Mcp-Session-Id that
// answers an initialize is a random word of which nothing is kept, and its only use is to scope cancels. mcp-go finds the
// call to cancel by session and request id, and without sessions every client is the session "": a cancel for id 7 would
// end whichever client's call 7 came last. So every request without a session gets an identity of its own, which nobody
// else can name; there a call is cancelled by closing its connection, as revision 2026-07-28 prescribes. GET and DELETE
// on /mcp are answered 405, as every revision allows: nothing is sent outside of calls, and there is nothing to end.
//
// # Callers
//
// Package access says who sends a request and what they may use; the caller is in the context of its messages. A call
// without the right is refused before anything runs, and [Permitted] leaves it out of tools/list. An SSE session belongs to
// the caller who opened it, and every event stream ends with its token: at the next message or keep-alive after the token
// was removed or has expired, unless its caller has come with a newer one. What a stream had under way ends like that of a
// client that left.
//
// # What wraps, what replaces
//
// mcp-go's streamable HTTP server is wrapped: its rules for telling the revisions apart are long and keep growing. What they
// come to for a plain request of a revision before 2026-07-28 is little, though, and a tools/call is nearly always one: such a
// request is answered directly, which halves what HTTP costs. All else goes to mcp-go's server: 2026-07-28, initialize,
// notifications, answers, and versions that it does not know. A client can tell no difference, which is tested against it.
//
// mcp-go's SSE server is replaced, since it answers every web page (Access-Control-Allow-Origin: *), tells a panic's text to
// the client, answers cancelled calls, works on for clients that have left, and cannot be drained.
//
// # What it does not do
//
// No TLS: a reverse proxy's work. No resumable streams, and before revision 2026-07-28 no requests from the server to a client,
// and no log messages, whose level would have to be kept for a session.
package web
