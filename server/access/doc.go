// Package access says who sends an HTTP request, and which tools they may use. It knows HTTP headers, JSON Web Tokens and the
// names of tools; it runs nothing and knows nothing of MCP.
//
//	Authorization: Bearer … ─┬─ the one token of the settings ─────────── may use every tool
//	                         ├─ a token whose hash stands in the file ─── what its entry grants
//	                         └─ a JWT of the issuer, made for us ──────── what its scopes grant
//
// All that are configured hold at once:
//
//	checker, err := access.New(access.Config{TokensFile: "/etc/kitebase-mcp/tokens.json", Tools: tools})
//	...
//	caller, refused := checker.Check(ctx, request.Header.Values("Authorization"))
//	if refused == nil && !caller.May("reply_to_customer") {
//		refused = checker.Forbid(caller, "reply_to_customer")
//	}
//
// A refusal was decided before anything ran. It is 401 only for a token that is certainly not good: hosts answer a 401 by
// repeating any call. While nobody can say, since the issuer's keys cannot be had, it is 503.
//
// # The file
//
// It holds SHA-256 hashes, so that whoever reads it cannot call. That is enough for tokens of 256 random bits, which [Mint]
// makes, and not for passwords. The file is read again at most once a second, when somebody asks: no goroutine, nothing of
// the file system but its contents, so that renames and swapped symbolic links work. A version that is broken, or gone,
// changes nothing but a line in the log.
//
// # What it does not do
//
// It issues no tokens by OAuth, keeps no sessions, asks no introspection endpoint (RFC 7662), and knows no proof of
// possession (RFC 9449). A JWT is good until it expires; only an issuer that withdraws the key ends it before.
package access
