package idempotency_test

import (
	"testing"

	"github.com/kitebase/kitebase-mcp/idempotency"
	"github.com/kitebase/kitebase-mcp/idempotency/storetest"
)

func TestMemoryIsAStore(t *testing.T) {
	storetest.Run(t, func(*testing.T) idempotency.Store { return &idempotency.Memory{} })
}
