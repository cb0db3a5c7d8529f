package server

import (
	"context"
	"slices"
	"sync"

	"github.com/mark3labs/mcp-go/mcp"
	mcpserver "github.com/mark3labs/mcp-go/server"
)

// audience are the clients that can be told of a change without having asked just now, and of what they want to be told.
// It is safe for concurrent use.
//
//	stdio, SSE        a session: resources/subscribe, and list_changed for all that shook hands
//	2026-07-28        a subscriptions/listen stream, on stdio and on streamable HTTP
//	streamable HTTP   of the older revisions: nothing, for it has no stream here; it is offered nothing either
//
// mcp-go keeps no list of those who subscribed, and its own broadcasts also reach clients of 2026-07-28 that did not ask,
// which that revision forbids.
type audience struct {
	mu       sync.Mutex
	sessions map[string]*listener // the registered ones, by their ids
	streams  map[*listener]struct{}
}

// listener is one session or stream.
type listener struct {
	session mcpserver.ClientSession
	stream  any  // the id of the request that opened the stream; nil for a session
	status  bool // it wants to know when the status changes
	tools   bool // it wants to know when the list of tools changes
}

// hook lets the audience see who comes and goes.
func (a *audience) hook(hooks *mcpserver.Hooks) {
	a.sessions, a.streams = make(map[string]*listener), make(map[*listener]struct{})
	hooks.AddOnRegisterSession(func(_ context.Context, session mcpserver.ClientSession) {
		a.mu.Lock()
		defer a.mu.Unlock()
		a.sessions[session.SessionID()] = &listener{session: session}
	})
	hooks.AddOnUnregisterSession(func(_ context.Context, session mcpserver.ClientSession) {
		a.mu.Lock()
		defer a.mu.Unlock()
		delete(a.sessions, session.SessionID())
	})
	hooks.AddAfterInitialize(func(ctx context.Context, _ any, _ *mcp.InitializeRequest, result *mcp.InitializeResult) {
		if !a.change(ctx, func(l *listener) { l.tools = true }) {
			promiseNothing(&result.Capabilities)
		}
	})
	hooks.AddAfterSubscribe(func(ctx context.Context, _ any, request *mcp.SubscribeRequest, _ *mcp.EmptyResult) {
		if request.Params.URI == statusURI {
			a.change(ctx, func(l *listener) { l.status = true })
		}
	})
	hooks.AddAfterUnsubscribe(func(ctx context.Context, _ any, request *mcp.UnsubscribeRequest, _ *mcp.EmptyResult) {
		if request.Params.URI == statusURI {
			a.change(ctx, func(l *listener) { l.status = false })
		}
	})
	hooks.AddBeforeSubscriptionsListen(a.listen)
}

// promiseNothing takes back what a client that cannot be told of changes was told it would be.
func promiseNothing(capabilities *mcp.ServerCapabilities) {
	if capabilities.Resources != nil {
		capabilities.Resources.Subscribe = false
	}
	if capabilities.Tools != nil {
		capabilities.Tools.ListChanged = false
	}
}

// change changes what the session of a request wants to be told, and reports whether it can be told anything.
func (a *audience) change(ctx context.Context, change func(*listener)) bool {
	session := mcpserver.ClientSessionFromContext(ctx)
	if session == nil {
		return false
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	l := a.sessions[session.SessionID()]
	if l != nil {
		change(l)
	}
	return l != nil
}

// listen adds a stream until its request ends.
func (a *audience) listen(ctx context.Context, id any, request *mcp.SubscriptionsListenRequest) {
	session := mcpserver.ClientSessionFromContext(ctx)
	if session == nil {
		return
	}
	want := request.Params.Notifications
	l := &listener{
		session: session, stream: id, tools: want.ToolsListChanged, status: slices.Contains(want.ResourceSubscriptions, statusURI),
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.streams[l] = struct{}{}
	context.AfterFunc(ctx, func() {
		a.mu.Lock()
		defer a.mu.Unlock()
		delete(a.streams, l)
	})
}

// statusChanged tells those who subscribed to the status. It never waits.
func (a *audience) statusChanged() {
	a.tell(mcp.MethodNotificationResourceUpdated, map[string]any{"uri": statusURI}, func(l *listener) bool { return l.status })
}

// toolsChanged tells those who want to know that the list of tools is another one. It never waits.
func (a *audience) toolsChanged() {
	a.tell(mcp.MethodNotificationToolsListChanged, nil, func(l *listener) bool { return l.tools })
}

func (a *audience) tell(method string, params map[string]any, wants func(*listener) bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, l := range a.sessions {
		if wants(l) {
			l.tell(method, params)
		}
	}
	for l := range a.streams {
		if wants(l) {
			l.tell(method, params)
		}
	}
}

// tell sends one notification. A client that reads so slowly that there is no room for it misses it, as with mcp-go's own.
func (l *listener) tell(method string, params map[string]any) {
	n := mcp.JSONRPCNotification{JSONRPC: mcp.JSONRPC_VERSION}
	n.Method, n.Params.AdditionalFields = method, params
	if l.stream != nil {
		n.Params.Meta = map[string]any{mcp.MetaKeySubscriptionID: l.stream}
	}
	select {
	case l.session.NotificationChannel() <- n:
	default:
	}
}
