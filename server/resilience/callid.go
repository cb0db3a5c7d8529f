package resilience

import (
	"context"
	"crypto/rand"
	"strconv"
	"strings"
	"sync/atomic"
)

// CallIDs returns a function that names calls: a few random letters that tell this process from others, and a number that
// counts, such as kq3zfa-17. It is safe for concurrent use, and takes one allocation a name.
func CallIDs() func() string {
	prefix := strings.ToLower(rand.Text()[:6]) + "-" // 30 bits: enough to tell the processes of one log apart
	var last atomic.Uint64
	return func() string {
		name := append(make([]byte, 0, 32), prefix...)
		return string(strconv.AppendUint(name, last.Add(1), 10))
	}
}

type callIDKey struct{}

// WithCallID returns a context in which the next call is named id, for whoever has a name for it already. Without it [Explain]
// names the call, see [Policy.NewID].
func WithCallID(ctx context.Context, id string) context.Context {
	return context.WithValue(ctx, callIDKey{}, id)
}

// CallID returns the name of the call that ctx belongs to, which log records have as call, or "" if it belongs to none.
func CallID(ctx context.Context) string {
	if c, ok := ctx.Value(callKey{}).(*call); ok {
		return c.id
	}
	id, _ := ctx.Value(callIDKey{}).(string)
	return id
}
