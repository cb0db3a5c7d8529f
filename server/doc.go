// Package server is the one place where the tools of Kitebase meet the policies that guard them, and where both meet a
// transport.
//
//	stdio, HTTP ──▶ Server ──▶ resilience.Wrap(tool, policy) ──▶ tools ──▶ kitebase.Client ──▶ Kitebase
//
// A [Config] with nothing in it makes a server that works on an embedded fake Kitebase:
//
//	s, err := server.New(server.Config{})
//	…
//	defer s.Close()
//	err = s.ServeStdio(ctx, os.Stdin, os.Stdout)
//
// What a tool does is said in package tools, how a call is guarded in server/resilience, how lines and requests are read
// in server/stdio and server/web. This package only joins them, and knows what of a reply makes it the same reply.
//
// How it all stands, people and programs read as the resource kitebase://status. Who subscribed is told when a circuit
// changes: a session on stdio and SSE, a subscriptions/listen stream of revision 2026-07-28 on stdio and streamable HTTP.
// Streamable HTTP of the older revisions has no stream here on which to tell it, and promises nothing.
//
// With [Config.Metrics] it is counted for Prometheus as well ([Server.Metrics]), and [Server.Ready] says whether the server
// should get calls.
package server
