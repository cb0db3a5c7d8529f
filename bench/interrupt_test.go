package main

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// TestInterrupted has Ctrl-C told as such also when a server ended by it before its signal arrived: that was once told as a
// failure of the server.
func TestInterrupted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		require.False(t, interrupted(t.Context()))
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(50*time.Millisecond, cancel)
		require.True(t, interrupted(ctx))
		require.True(t, interrupted(ctx))
	})
}
