package tracing_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/stretchr/testify/require"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"github.com/kitebase/kitebase-mcp/server/tracing"
	"github.com/kitebase/kitebase-mcp/server/tracing/otlp"
)

// delivery is a way to the collector that does what is set.
type delivery struct {
	mu        sync.Mutex
	does      func(context.Context) error // nil: succeeds
	delivered int
}

func (d *delivery) ExportSpans(ctx context.Context, spans []sdktrace.ReadOnlySpan) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.does != nil {
		if err := d.does(ctx); err != nil {
			return err
		}
	}
	d.delivered += len(spans)
	return nil
}

func (*delivery) Shutdown(context.Context) error { return nil }

func (d *delivery) becomes(does func(context.Context) error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.does = does
}

// scene is traces on a delivery, in a bubble, and the log without its times.
type scene struct {
	*delivery
	traces *tracing.Tracing
	log    bytes.Buffer
	call   func()
}

// logged returns the log once everybody who writes into it waits.
func (s *scene) logged() string {
	synctest.Wait()
	return s.log.String()
}

func run(t *testing.T, name string, test func(t *testing.T, s *scene)) {
	t.Run(name, func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			s := &scene{delivery: new(delivery)}
			log := slog.New(slog.NewTextHandler(&s.log, &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
				if a.Key == slog.TimeKey {
					return slog.Attr{}
				}
				return a
			}}))
			s.traces = tracing.StartWith(tracing.Config{Logger: log}, s.delivery)
			handler := s.traces.Call(func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) { return nil, nil })
			s.call = func() {
				_, err := handler(t.Context(), mcp.CallToolRequest{})
				require.NoError(t, err)
			}
			test(t, s)
			s.traces.Close()
		})
	})
}

func TestDelivery(t *testing.T) {
	dead := func(context.Context) error {
		return fmt.Errorf("canary: %w", &net.OpError{Op: "dial", Err: errors.New("canary")})
	}
	run(t, "an hour of a dead collector is a line every ten minutes", func(t *testing.T, s *scene) {
		s.becomes(dead)
		for range 60 * 60 / 5 {
			s.call()
			time.Sleep(5 * time.Second)
		}
		lines := strings.Split(strings.TrimSpace(s.logged()), "\n")
		require.Len(t, lines, 6, s.logged())
		require.Equal(t, `level=WARN msg="traces cannot be delivered" cause="no connection to the collector" spans_lost=1`, lines[0])
		require.Equal(t, `level=WARN msg="traces cannot be delivered" cause="no connection to the collector" spans_lost=120`, lines[1])
	})
	run(t, "that it is back is told", func(t *testing.T, s *scene) {
		s.becomes(dead)
		for range 2 {
			s.call()
			time.Sleep(6 * time.Second)
		}
		s.becomes(nil)
		for range 3 {
			s.call()
			time.Sleep(6 * time.Second)
		}
		require.Equal(t, `level=WARN msg="traces cannot be delivered" cause="no connection to the collector" spans_lost=1`+"\n"+
			`level=INFO msg="traces are delivered again" spans_lost=1`+"\n", s.logged())
		require.Equal(t, 3, s.delivered)
	})
	run(t, "the SDK's own limit is told as one", func(t *testing.T, s *scene) {
		s.becomes(func(ctx context.Context) error {
			<-ctx.Done()
			return context.Cause(ctx)
		})
		s.call()
		time.Sleep(time.Minute)
		require.Equal(t, `level=WARN msg="traces cannot be delivered" cause="no answer from the collector in time" spans_lost=1`+"\n", s.logged())
	})
	run(t, "of a batch only what was rejected is lost", func(t *testing.T, s *scene) {
		for _, rejected := range []otlp.Rejected{2, 1000} {
			s.becomes(func(context.Context) error { return rejected })
			for range 5 {
				s.call()
			}
			time.Sleep(10 * time.Minute)
		}
		require.Equal(t, `level=WARN msg="traces cannot be delivered" cause="the collector rejected some of them" spans_lost=2`+"\n"+
			`level=WARN msg="traces cannot be delivered" cause="the collector rejected some of them" spans_lost=5`+"\n", s.logged())
	})
	run(t, "the end delivers what is left", func(t *testing.T, s *scene) {
		s.call()
		began := time.Now()
		s.traces.Close()
		require.Equal(t, 1, s.delivered)
		require.Zero(t, time.Since(began))
		require.Empty(t, s.logged())
	})
	run(t, "the end waits 200 ms at the most and leaves nothing behind", func(t *testing.T, s *scene) {
		s.becomes(func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() })
		s.call()
		time.Sleep(6 * time.Second) // the first delivery hangs
		s.call()
		began := time.Now()
		s.traces.Close()
		require.Equal(t, 200*time.Millisecond, time.Since(began))
		synctest.Wait()
		require.Zero(t, s.delivered)
		require.Contains(t, s.logged(), "the last traces were not delivered before the end")
	})
	run(t, "a full queue holds up no call", func(t *testing.T, s *scene) {
		s.becomes(func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() })
		began := time.Now()
		for range 10_000 {
			s.call()
		}
		require.Zero(t, time.Since(began))
	})
}

// The words for what goes wrong are ours: those of the errors repeat the address of the collector and what it answered.
func TestCauses(t *testing.T) {
	for want, err := range map[string]error{
		"no answer from the collector in time":                                 context.DeadlineExceeded,
		"the collector rejected some of them":                                  fmt.Errorf("canary: %w", otlp.Rejected(1)),
		"no connection to the collector":                                       &net.OpError{Op: "read", Err: errors.New("canary")},
		"the collector did not take them: check its address, path and headers": errors.New("canary"),
	} {
		run(t, want, func(t *testing.T, s *scene) {
			s.becomes(func(context.Context) error { return err })
			s.call()
			time.Sleep(6 * time.Second)
			require.Contains(t, s.logged(), `cause="`+want+`" spans_lost=1`)
			require.NotContains(t, s.logged(), "canary")
		})
	}
}
