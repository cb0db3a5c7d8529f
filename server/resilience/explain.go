package resilience

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	mcpserver "github.com/mark3labs/mcp-go/server"

	"github.com/kitebase/kitebase-mcp/idempotency"
	"github.com/kitebase/kitebase-mcp/server/wording"
)

// ExplainConfig says what [Explain] needs to know of a tool. The zero value works and is the careful one: a write.
type ExplainConfig struct {
	// Upstream is the name of the guarded service in texts. Default "Upstream".
	Upstream string
	// ReadOnly says that the tool changes nothing, so that it may be cut short and its failures need no word about
	// effects. Default false.
	ReadOnly bool
	// CallDeadline is the limit of a whole call, see [Policy]. Default 25s; -1 means none.
	CallDeadline time.Duration
	// Logger gets one record per call. Default: none.
	Logger *slog.Logger
	// NewID names the calls, see [Policy]. Default: a [CallIDs] of its own.
	NewID func() string
	// Observe is told how each call ended, see [Policy]. Default nil.
	Observe func(context.Context, Observation)

	counted bool                                        // Retry stands within, so that no attempt means that nothing ran
	echo    func(*mcp.CallToolResult) (time.Time, bool) // the Replayed of the policy
}

// Explain returns the outermost layer. It begins the call (its deadline, its progress, its log), lets a write run on when
// the caller goes away, and turns every error and panic from within into a result with isError whose text a model can
// act on: no error leaves it. Nor does a character that nobody can see, see package legible. The deadline is kept by the layers within, each before it waits.
func Explain(config ExplainConfig) mcpserver.ToolHandlerMiddleware {
	defaults := Policy{Upstream: config.Upstream, CallDeadline: config.CallDeadline, Logger: config.Logger, NewID: config.NewID}.withDefaults()
	e := &explainer{
		words: words{defaults.Upstream}, readOnly: config.ReadOnly, counted: config.counted,
		limit: defaults.CallDeadline, log: defaults.Logger, newID: defaults.NewID, observe: config.Observe, echo: config.echo,
	}
	return func(next mcpserver.ToolHandlerFunc) mcpserver.ToolHandlerFunc {
		return func(ctx context.Context, request mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return e.run(ctx, request, next), nil
		}
	}
}

type explainer struct {
	words    words
	readOnly bool
	counted  bool
	limit    time.Duration
	log      *slog.Logger
	newID    func() string
	observe  func(context.Context, Observation)
	echo     func(*mcp.CallToolResult) (time.Time, bool)
}

func (e *explainer) run(ctx context.Context, request mcp.CallToolRequest, next mcpserver.ToolHandlerFunc) *mcp.CallToolResult {
	within := &callContext{Context: ctx, call: call{
		began:    time.Now(),
		caller:   ctx,
		id:       CallID(ctx),
		progress: progressFor(request),
		words:    e.words,
		log:      e.log,
	}}
	c := &within.call
	if c.id == "" {
		c.id = e.newID()
	}
	c.limitTime(ctx, request, e.limit)
	c.queued = c.began.Sub(c.arrived)
	if e.log.Enabled(ctx, slog.LevelDebug) {
		e.log.LogAttrs(ctx, slog.LevelDebug, "call began", slog.String("call", c.id), slog.String("tool", request.Params.Name))
	}
	result, end := e.answer(within, request, next)
	result = readable(result)
	seen := e.observation(c, end, result)
	e.record(ctx, &seen, end.err)
	if e.observe != nil {
		e.observe(ctx, seen)
	}
	return result
}

// answer runs the call and returns its result, which is never nil, and how it ended.
func (e *explainer) answer(ctx *callContext, request mcp.CallToolRequest, next mcpserver.ToolHandlerFunc) (*mcp.CallToolResult, ending) {
	c := &ctx.call
	if c.abandoned() {
		return e.failed(ctx, c, request, &Failure{What: Canceled, Effect: idempotency.NotDone, NotRun: true})
	}
	if !e.readOnly {
		ctx.Context = context.WithoutCancel(c.caller) // a write that has started is finished
	}
	result, err := guardPanic(ctx, request, next)
	if err == nil && result == nil {
		err = errors.New("the handler returned neither a result nor an error")
	}
	if err != nil {
		return e.failed(ctx, c, request, err)
	}
	end := ending{tool: request.Params.Name, attempts: c.attempts, outcome: idempotency.Done, write: !e.readOnly}
	if result.IsError {
		end.kind, end.outcome = Internal, idempotency.Unknown
	}
	return withMeta(result, MetaAttempts, c.attempts), end
}

// panicked is what a panic in a layer or handler becomes. Its text is for the log alone.
type panicked struct {
	value any
	stack []byte
}

func (p *panicked) Error() string {
	return fmt.Sprintf("panic: %s\n%s", wording.Panic(p.value), p.stack)
}

func guardPanic(ctx context.Context, request mcp.CallToolRequest, next mcpserver.ToolHandlerFunc) (result *mcp.CallToolResult, err error) {
	defer func() {
		if value := recover(); value != nil {
			result, err = nil, &panicked{value, debug.Stack()}
		}
	}()
	return next(ctx, request)
}

// failed words err and adds what programs want to know.
func (e *explainer) failed(ctx context.Context, c *call, request mcp.CallToolRequest, err error) (*mcp.CallToolResult, ending) {
	end := ending{
		tool: request.Params.Name, err: err, kind: kindOf(err), attempts: c.attempts, outcome: outcomeOf(err), write: !e.readOnly,
	}
	if e.readOnly {
		end.outcome = idempotency.NotDone
	}
	if end.attempts == 0 && !e.counted && !refused(err) {
		end.attempts = 1
	}
	if end.attempts == 0 && end.kind == Internal && !refused(err) {
		end.outcome = idempotency.NotDone // a layer failed before the handler ran
	}
	result := withMeta(mcp.NewToolResultError(e.words.failure(end)), MetaError, ErrorInfo{
		Kind: end.kind, Attempts: end.attempts, ModelCanFix: end.kind.modelCanFix(), Next: end.next(),
		RetryAfterMS: retryAfter(err).Milliseconds(), Outcome: end.outcome.String(),
	})
	return result, end
}
