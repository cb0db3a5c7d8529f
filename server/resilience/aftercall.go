package resilience

import "context"

// afterCall is the context of work that a call leaves behind: it ends when the work is to end, not with the call, and has no
// deadline of the call, but it knows the call's name, log, and whatever else its context carried, such as who called and the
// span of its trace.
type afterCall struct {
	context.Context
	of   context.Context
	call *call
}

// after returns the context for work that the call of ctx leaves behind; work ends it.
func after(ctx, work context.Context) context.Context {
	c := callFrom(ctx)
	return afterCall{Context: work, of: ctx, call: &call{caller: work, words: c.words, log: c.log, id: c.id}}
}

// Value is that of the call, but for the call itself, which is over.
func (a afterCall) Value(key any) any {
	if key == (callKey{}) {
		return a.call
	}
	if value := a.Context.Value(key); value != nil {
		return value
	}
	return a.of.Value(key)
}
