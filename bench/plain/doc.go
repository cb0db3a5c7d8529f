// Package plain has the five tools of Kitebase written plainly, as most people would: one HTTP request a call, a timeout, and
// whatever goes wrong told as an error. It is what the servers beside it are made of, which kitebase-mcp is compared with.
//
// It shares nothing with kitebase-mcp, on purpose.
package plain
