package stdio

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/mark3labs/mcp-go/mcp"
)

// call is one request under way.
type call struct {
	id        []byte
	key       string
	method    mcp.MCPMethod
	ctx       context.Context
	cancel    context.CancelFunc
	session   *session
	cancelled atomic.Bool // by the client: it must not be answered
}

// calls is the table of requests under way, and the count of everything that must end before Serve may.
type calls struct {
	maxTools int           // -1: no limit
	idle     chan struct{} // closed when the table was closed and nothing is under way

	mu     sync.Mutex
	byID   map[string]*call
	tools  int
	jobs   int
	closed bool
}

func newCalls(maxTools int) *calls {
	return &calls{maxTools: maxTools, idle: make(chan struct{}), byID: map[string]*call{}}
}

// enter counts one job, or reports that the end has come and no more may begin. Each enter needs a leave.
func (t *calls) enter() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return false
	}
	t.jobs++
	return true
}

func (t *calls) leave() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.jobs--
	t.checkIdle()
}

// underWay reports whether there are jobs that have not left.
func (t *calls) underWay() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.jobs > 0
}

// close lets no more jobs enter. Requests that end by their cancellation only are told to end.
func (t *calls) close() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return
	}
	t.closed = true
	for _, c := range t.byID {
		if c.method == mcp.MethodSubscriptionsListen {
			c.cancel()
		}
	}
	t.checkIdle()
}

func (t *calls) checkIdle() {
	if t.closed && t.jobs == 0 {
		close(t.idle)
	}
}

// admission is what became of a request at the door.
type admission int

const (
	admitted admission = iota
	repeated           // its id is under way
	full               // too many tool calls are
)

func (t *calls) admit(c *call) admission {
	t.mu.Lock()
	defer t.mu.Unlock()
	isTool := c.method == mcp.MethodToolsCall
	switch {
	case t.byID[c.key] != nil:
		return repeated
	case isTool && t.maxTools >= 0 && t.tools >= t.maxTools:
		return full
	case isTool:
		t.tools++
	}
	t.byID[c.key] = c
	return admitted
}

// remove takes a request that has ended out of the table, and reports whether it may be answered.
func (t *calls) remove(c *call) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.byID, c.key)
	if c.method == mcp.MethodToolsCall {
		t.tools--
	}
	return !c.cancelled.Load()
}

// cancel ends the request with this key, if it is under way, and sees to it that it is not answered.
func (t *calls) cancel(key string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if c := t.byID[key]; c != nil && c.method != mcp.MethodInitialize {
		c.cancelled.Store(true)
		c.cancel()
	}
}
