package access_test

import (
	"cmp"
	crand "crypto/rand"
	"io"
	"net/http"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/kitebase/kitebase-mcp/server/access"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const audience = "https://desk.example.com/mcp"

// tools are two of each kind.
func tools() []access.Tool {
	return []access.Tool{{Name: "look", Reads: true}, {Name: "find", Reads: true}, {Name: "set"}, {Name: "send"}}
}

// may returns the tools of [tools] that a caller may use, and "…" for one that is not among them.
func may(caller access.Caller) (all []string) {
	for _, tool := range tools() {
		if caller.May(tool.Name) {
			all = append(all, tool.Name)
		}
	}
	if caller.May("other") {
		all = append(all, "…")
	}
	return all
}

// answered is an answer of an issuer.
func answered(status int, header http.Header, text string) *http.Response {
	return &http.Response{
		StatusCode: cmp.Or(status, http.StatusOK), Header: header, Body: io.NopCloser(strings.NewReader(text)), ContentLength: -1,
	}
}

func rand(t *testing.T) string { t.Helper(); return strings.ToLower(crand.Text()) }
