// Package plain has the five tools of Kitebase written plainly on mcp-go, as most people would: one HTTP request a call, a
// timeout, and whatever goes wrong told as an error. It is what the servers unguarded and retrying are made of, which
// kitebase-mcp is compared with.
//
// It shares nothing with kitebase-mcp, on purpose.
package plain
