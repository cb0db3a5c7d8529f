package main

import (
	"context"
	"time"
)

// exitInterrupted is how a shell counts what Ctrl-C has ended.
const exitInterrupted = 130

// interrupted reports whether what failed did so because of a signal. Ctrl-C reaches the servers as well, and that they are
// gone may be noticed a moment before.
func interrupted(ctx context.Context) bool {
	select {
	case <-ctx.Done():
		return true
	case <-time.After(200 * time.Millisecond):
		return false
	}
}
