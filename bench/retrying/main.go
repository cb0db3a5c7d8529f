// Command retrying is the MCP server unguarded with what is usually added next: every call that fails is tried up to three
// times with a growing wait, by failsafe-go. What Kitebase refuses (4xx but 429) is not repeated. It takes Kitebase from
// KITEBASE_URL and KITEBASE_TOKEN. It is there to be compared with.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/failsafe-go/failsafe-go"
	"github.com/failsafe-go/failsafe-go/retrypolicy"
	"github.com/mark3labs/mcp-go/mcp"
	mcpserver "github.com/mark3labs/mcp-go/server"

	"github.com/kitebase/kitebase-mcp/bench/kitebase"
	"github.com/kitebase/kitebase-mcp/bench/plain"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "retrying: "+err.Error())
		os.Exit(1)
	}
}

func run() error {
	client, err := kitebase.FromEnvironment()
	if err != nil {
		return err
	}
	policy := retrypolicy.NewBuilder[any]().
		HandleIf(func(_ any, err error) bool { return err != nil && !refused(err) }).
		WithMaxRetries(2).
		WithBackoff(200*time.Millisecond, 2*time.Second).
		WithJitterFactor(0.25).
		ReturnLastFailure().
		Build()
	executor := failsafe.With[any](policy)
	return mcpserver.ServeStdio(plain.Server("retrying", client, func(call plain.Call) plain.Call {
		return func(ctx context.Context, request mcp.CallToolRequest) (any, error) {
			return executor.WithContext(ctx).Get(func() (any, error) { return call(ctx, request) })
		}
	}))
}

// refused reports whether Kitebase refused the request for good.
func refused(err error) bool {
	status := (*kitebase.StatusError)(nil)
	return errors.As(err, &status) && status.Status >= 400 && status.Status < 500 && status.Status != 429
}
