package idempotency_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kitebase/kitebase-mcp/idempotency"
)

func TestOutcome(t *testing.T) {
	var zero idempotency.Outcome
	require.Equal(t, idempotency.Unknown, zero, "who says nothing about the effect does not know it")
	require.Equal(t, "unknown", idempotency.Unknown.String())
	require.Equal(t, "not_done", idempotency.NotDone.String())
	require.Equal(t, "done", idempotency.Done.String())
}

func TestKeyTravelsInTheContext(t *testing.T) {
	require.Empty(t, idempotency.KeyFrom(t.Context()))
	require.Equal(t, "abc", idempotency.KeyFrom(idempotency.WithKey(t.Context(), "abc")))
}

func ExampleKey() {
	fmt.Println(idempotency.Key("KITE-142", "Any update?"))
	fmt.Println(idempotency.Key("KITE-142", "  Any update?\n"))
	fmt.Println(idempotency.Key("KITE-143", "Any update?"))
	// Output:
	// 9edb4ee9f524df95
	// 9edb4ee9f524df95
	// 5e374165e286c6ad
}
