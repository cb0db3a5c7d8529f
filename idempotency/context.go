package idempotency

import "context"

type keyContext struct{}

// WithKey returns a context that carries the idempotency key of the call under way.
func WithKey(ctx context.Context, key string) context.Context {
	return context.WithValue(ctx, keyContext{}, key)
}

// KeyFrom returns the idempotency key that [WithKey] put into ctx, or "" if there is none.
func KeyFrom(ctx context.Context) string {
	key, _ := ctx.Value(keyContext{}).(string)
	return key
}
