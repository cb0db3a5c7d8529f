package access

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
	"time"
	"unicode"
)

// A Tool is a tool that rights can be given to.
type Tool struct {
	Name string
	// Reads says that it changes nothing.
	Reads bool
}

// A Caller is who sends a request. The zero value is a caller of whom no token was asked: it may use every tool. It is safe
// for concurrent use.
type Caller struct {
	// Name is for people and logs: that of the token, or the subject of the JWT. It is printable and short, and two callers
	// who came in by different ways may have the same; see [Caller.Key].
	Name string
	// Way is how the caller came in: "token" or "oauth". With it, a name cannot be taken for that of another way.
	Way string

	key     string
	hash    [sha256.Size]byte // of a token in the file
	expires time.Time         // of a JWT, or of a token in the file; zero for never
	rights  rights
	scopes  []string // those of ours that a JWT has
}

// Key tells callers apart, also where names are alike, and stays the same when a caller gets a new token. It is "" for the
// zero value, else 16 hex digits.
func (c Caller) Key() string { return c.key }

// May says whether the caller may use the tool of that name.
func (c Caller) May(tool string) bool { return c.MayAll() || c.rights.tools[tool] }

// MayAll says whether the caller may use every tool, also one that the configuration does not know.
func (c Caller) MayAll() bool { return c.key == "" || c.rights.all }

type callerKey struct{}

// With returns ctx with its caller.
func With(ctx context.Context, caller Caller) context.Context {
	return context.WithValue(ctx, callerKey{}, caller)
}

// From returns who called. There is nobody on stdio, and on HTTP when no token is asked for.
func From(ctx context.Context) (Caller, bool) {
	caller, ok := ctx.Value(callerKey{}).(Caller)
	return caller, ok && caller.key != ""
}

// keyOf hashes, since a subject may be long and hold anything.
func keyOf(way, name string) string {
	sum := sha256.Sum256([]byte(way + "\x00" + name))
	return hex.EncodeToString(sum[:8])
}

// maxName is the most bytes of a name that came from outside.
const maxName = 100

// printable makes a name fit for a log: no line ends, escapes, or characters that cannot be seen.
func printable(name string) string {
	clean := strings.Map(func(r rune) rune {
		if r == unicode.ReplacementChar || !unicode.IsGraphic(r) || unicode.IsSpace(r) && r != ' ' {
			return '?'
		}
		return r
	}, name)
	for i := range clean {
		if i > maxName-len("…") {
			return clean[:i] + "…"
		}
	}
	return clean
}

// rights are the tools that somebody may use. The zero value is none.
type rights struct {
	all   bool
	tools map[string]bool
}

// readers are the rights to all that changes nothing.
func readers(tools []Tool) rights {
	r := rights{tools: make(map[string]bool)}
	for _, tool := range tools {
		r.tools[tool.Name] = tool.Reads
	}
	return r
}

// Scopes of a JWT. A tool's own is scopeTool and its name.
const (
	scopeRead  = "kitebase:read"
	scopeWrite = "kitebase:write"
	scopeTool  = "kitebase:tool:"
)

// ofScopes returns the rights that scopes give, and which of them gave any.
func ofScopes(scopes []string, tools []Tool) (rights, []string) {
	r, ours := rights{tools: make(map[string]bool)}, []string{}
	for _, scope := range scopes {
		name, one := strings.CutPrefix(scope, scopeTool)
		switch {
		case scope == scopeWrite:
			r.all = true
		case scope == scopeRead:
			for name, reads := range readers(tools).tools {
				r.tools[name] = r.tools[name] || reads
			}
		case one && knows(tools, name):
			r.tools[name] = true
		default:
			continue
		}
		if !slices.Contains(ours, scope) {
			ours = append(ours, scope)
		}
	}
	return r, ours
}

// scopeFor returns the smallest of the general scopes that gives the right to a tool.
func scopeFor(tool string, tools []Tool) string {
	if slices.Contains(tools, Tool{Name: tool, Reads: true}) {
		return scopeRead
	}
	return scopeWrite
}

func knows(tools []Tool, name string) bool {
	return slices.ContainsFunc(tools, func(t Tool) bool { return t.Name == name })
}

// Scopes returns the general scopes; those of single tools are kitebase:tool: and the tool's name.
func Scopes() []string { return []string{scopeRead, scopeWrite} }
