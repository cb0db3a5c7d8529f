package access

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"
)

// A Refusal is why a request is not let in, or a call not run: nothing was run. It holds no token and no URL of the issuer.
type Refusal struct {
	// Status is that of the HTTP answer.
	Status int
	// Challenge is its WWW-Authenticate, "" for none.
	Challenge string
	// RetryAfter is its Retry-After, 0 for none; whole seconds.
	RetryAfter time.Duration
	// Text may be shown to a model.
	Text string
	// Reason is for the log: a few words, without the token.
	Reason string
}

// Error codes of RFC 6750 section 3.1.
const (
	invalidRequest    = "invalid_request"
	invalidToken      = "invalid_token"
	insufficientScope = "insufficient_scope"
)

func (c *Checker) unauthorized(code, reason string) *Refusal {
	return &Refusal{
		Status: http.StatusUnauthorized, Challenge: c.challenge(code, ""), Reason: reason,
		Text: "The server needs a token, and the request brought none or one that is not good here. Nothing was run. A person must set it.",
	}
}

func (c *Checker) malformed() *Refusal {
	return &Refusal{
		Status: http.StatusBadRequest, Challenge: c.challenge(invalidRequest, ""), Reason: "more than one Authorization header",
		Text: "The request has more than one Authorization header. Nothing was run. Send one.",
	}
}

func unavailable(wait time.Duration) *Refusal {
	wait = max(time.Second, (wait + time.Second - 1).Truncate(time.Second))
	return &Refusal{
		Status: http.StatusServiceUnavailable, RetryAfter: wait, Reason: "the keys of the issuer cannot be had",
		Text: fmt.Sprintf("The server cannot check the token now, because the keys of its issuer cannot be had. Nothing was run. "+
			"Wait %d seconds, then try again.", int(wait.Seconds())),
	}
}

// Forbid returns the refusal of a tool that the caller may not use.
func (c *Checker) Forbid(caller Caller, tool string) *Refusal {
	scope, named := "", "this tool"
	if knows(c.config.Tools, tool) {
		named = tool
	}
	if caller.scopes != nil { // with those it has, or a client that asks for more would lose them
		scope = strings.Join(slices.Compact(append(slices.Clone(caller.scopes), scopeFor(tool, c.config.Tools))), " ")
	}
	return &Refusal{
		Status: http.StatusForbidden, Challenge: c.challenge(insufficientScope, scope), Reason: "no right to the tool",
		Text: "The token of this client gives no right to use " + named + ". Nothing was run. Use another tool, or ask a person for the right.",
	}
}

// challenge is a WWW-Authenticate by RFC 6750 section 3 and RFC 9728 section 5.1. Without a code, the request tried nothing.
func (c *Checker) challenge(code, scope string) string {
	challenge := `Bearer realm="kitebase-mcp"`
	if code != "" {
		challenge += `, error="` + code + `"`
	}
	if scope != "" {
		challenge += `, scope="` + scope + `"`
	}
	if c.metadata != "" {
		challenge += `, resource_metadata="` + c.metadata + `"`
	}
	return challenge
}
