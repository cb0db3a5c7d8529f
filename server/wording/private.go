package wording

import (
	"fmt"
	"runtime"
	"slices"
)

// What clients write does not go into logs: it may be a secret, or the words of a customer. The functions of this file
// return what is known of it instead. They are safe for concurrent use.

var quotation = pattern(`(?s)['"].*['"]`)

// Private returns the message of a protocol error as it may be logged: without what the client wrote, which stands in
// quotation marks, but for the names of methods.
func Private(message string) string {
	return quotation().ReplaceAllString(missingMethod().ReplaceAllString(message, "Method '' not found"), "'…'")
}

// Method returns the method of a message as it may be logged: its name, if the protocol has one like it.
func Method(method string) string {
	return known(method, "initialize", "ping", "server/discover", "completion/complete", "logging/setLevel",
		"prompts/list", "prompts/get", "resources/list", "resources/templates/list", "resources/read", "resources/subscribe",
		"resources/unsubscribe", "subscriptions/listen", "tools/list", "tools/call", "tasks/list", "tasks/get", "tasks/result", "tasks/cancel")
}

// Verb returns the method of an HTTP request as it may be logged.
func Verb(method string) string {
	return known(method, "GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "CONNECT", "TRACE")
}

// Path returns the path of an HTTP request as it may be logged: the name of one that there is.
func Path(path string) string {
	return known(path, "/.well-known/oauth-protected-resource", "/mcp", "/sse", "/message", "/healthz", "/readyz", "/metrics")
}

func known(word string, words ...string) string {
	if slices.Contains(words, word) {
		return word
	}
	return "another"
}

// Panic returns the value of a panic as it may be logged: the runtime's own words, which name types and numbers, and of
// others the type alone. Where it happened is told by the stack.
func Panic(value any) string {
	if err, ok := value.(runtime.Error); ok {
		return err.Error()
	}
	return fmt.Sprintf("a %T", value)
}
