package tools_test

import (
	"errors"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/kitebase/kitebase-mcp/idempotency"
	"github.com/kitebase/kitebase-mcp/tools"
	"github.com/kitebase/kitebase-mcp/tools/kitebase"
)

// Whatever the arguments are: no panic, and what is accepted can be sent as it is.
func FuzzArguments(f *testing.F) {
	for _, seed := range []string{
		`{"ticket_id":"KITE-142","message":"Any update?"}`, `{"ticket_id":" kite-1\t","message":"\ud83d\ude80"}`,
		`{"ticket_id":"KITE-1","assignee":"priya"}`, `{"query":"","status":"In Progress"}`, `[]`, `{"a":{"b":[1]}}`,
		`{"ticket_id":"KITE-1","message":"\ud83d"}`, "{\"message\":\"\xff\"}", `{"message":"a","message":"b"}`, ``,
	} {
		f.Add(seed)
	}
	client, err := kitebase.New(kitebase.Config{BaseURL: "http://127.0.0.1:1"}) // nothing listens there
	require.NoError(f, err)
	f.Fuzz(func(t *testing.T, raw string) {
		id, message, err := tools.ReplyArguments(wireRequest(raw))
		if err != nil {
			requireRefused(t, err)
		} else {
			require.Regexp(t, `^KITE-[0-9]{1,9}$`, id)
			require.True(t, utf8.ValidString(message))
			require.LessOrEqual(t, len(message), 64<<10)
			require.NotEmpty(t, message)
			require.Equal(t, idempotency.Strip(message), message)
		}
		for _, tool := range tools.Table(client) {
			_, err := tool.Handle(t.Context(), wireRequest(raw))
			require.Error(t, err, "refused, or no connection")
			if _, sent := errors.AsType[*kitebase.Error](err); !sent {
				requireRefused(t, err)
			}
		}
	})
}
