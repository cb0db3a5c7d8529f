package server_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/stretchr/testify/require"

	"github.com/kitebase/kitebase-mcp/server"
	"github.com/kitebase/kitebase-mcp/server/resilience"
)

func about(i int) mcp.CallToolRequest {
	request := mcp.CallToolRequest{}
	request.Params.Arguments = map[string]any{"ticket_id": fmt.Sprintf("KITE-%d", i)}
	return request
}

func assigning(i int) mcp.CallToolRequest {
	request := about(i)
	request.GetArguments()["assignee"] = "priya"
	return request
}

func TestCopiesAreBounded(t *testing.T) {
	ok := func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return mcp.NewToolResultText("ok"), nil
	}
	t.Run("the latest tickets are kept", func(t *testing.T) {
		copies, _ := server.Copies(time.Hour)
		began := time.Now()
		for i := range 1000 {
			copies.Keep(t.Context(), about(i+1), resilience.Answer{Result: mcp.NewToolResultText("ok"), Began: began})
		}
		kept := 0
		for i := range 1000 {
			if _, ok := copies.Find(t.Context(), about(i+1)); ok {
				kept++
			}
		}
		require.Equal(t, server.KeptTickets, kept)
	})
	t.Run("a write that is forgotten still ends older reads", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			copies, writing := server.Copies(time.Hour)
			assign := writing(ok)
			began := time.Now()
			time.Sleep(time.Second)
			for i := range server.KeptTickets + 50 {
				_, err := assign(t.Context(), assigning(i+1))
				require.NoError(t, err)
			}
			keep := func(began time.Time) bool {
				copies.Keep(t.Context(), about(1), resilience.Answer{Result: mcp.NewToolResultText("ok"), Began: began})
				_, kept := copies.Find(t.Context(), about(1))
				return kept
			}
			require.False(t, keep(began), "it may be from before the write")
			time.Sleep(time.Nanosecond)
			require.True(t, keep(time.Now()))
		})
	})
}
