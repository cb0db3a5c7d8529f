package stdio

import (
	"errors"
	"fmt"
	"io"
	"runtime"
	"sync"
	"time"
)

// ErrUnread is wrapped by the error of [Serve] when, after the end of the input or of ctx, the client did not read what
// was written to it within [Config.Stall].
var ErrUnread = errors.New("the client does not read")

// maxSpare is the largest buffer that is kept for the next write.
const maxSpare = 1 << 20

// output writes messages whole and in the order in which they were added. It has no goroutine of its own: whoever
// flushes first writes for all who add meanwhile, which joins writes under load and costs no wake-up without. A write, and
// the waking of who reads it, costs more than an answer, so others that are ready to run may add before it.
type output struct {
	w      io.Writer
	busy   func() bool   // others may be about to add
	failed chan struct{} // closed when err is set

	mu      sync.Mutex
	moved   sync.Cond // after each write, and when the output fails
	queue   []byte
	spare   []byte
	writing bool
	writes  int // completed
	seen    int // the write under way at the last call of checkStalled, -1 if none was
	err     error
}

func newOutput(w io.Writer, busy func() bool) *output {
	o := &output{w: w, busy: busy, seen: -1, failed: make(chan struct{})}
	o.moved.L = &o.mu
	return o
}

// add queues one message with its line end. It never blocks. A call of flush must follow.
func (o *output) add(message []byte) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.err == nil {
		o.queue = append(o.queue, message...)
	}
}

// flush writes what is queued, unless another goroutine is at it already.
func (o *output) flush() {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.writing {
		return
	}
	o.writing = true
	for len(o.queue) > 0 && o.err == nil {
		o.yield()
		batch := o.queue
		o.queue = o.spare[:0]
		o.mu.Unlock()
		_, err := o.w.Write(batch)
		o.mu.Lock()
		if o.spare = batch; cap(batch) > maxSpare {
			o.spare = nil
		}
		o.writes++
		if err != nil {
			o.fail(fmt.Errorf("writing to the client: %w", err))
		}
		o.moved.Broadcast()
	}
	o.writing = false
}

// yield lets others run that are ready to. o.mu is held, but not meanwhile.
func (o *output) yield() {
	if !o.busy() { // it would wake a thread to look for somebody
		return
	}
	o.mu.Unlock()
	runtime.Gosched()
	o.mu.Lock()
}

// waitRoom returns when no more than limit bytes are queued (-1: at once), or when the output has failed, which it does
// when one write takes longer than patience meanwhile (-1: never): a client that reads no answers, and whose end we
// cannot see since we do not read either, is as good as gone.
func (o *output) waitRoom(limit int, patience time.Duration) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for limit >= 0 && len(o.queue) > limit && o.err == nil {
		write := o.writes
		timer := time.AfterFunc(max(patience, 0), func() {
			o.mu.Lock()
			defer o.mu.Unlock()
			if patience >= 0 && o.writing && o.writes == write {
				o.abandon()
			}
		})
		o.moved.Wait()
		timer.Stop()
	}
}

// waitFlushed returns when everything is written, or with the error that keeps it from being written.
func (o *output) waitFlushed() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	for (len(o.queue) > 0 || o.writing) && o.err == nil {
		o.moved.Wait()
	}
	return o.err
}

// checkStalled lets the output fail if one and the same write was under way at the last call and is now.
func (o *output) checkStalled() {
	o.mu.Lock()
	defer o.mu.Unlock()
	switch {
	case !o.writing:
		o.seen = -1
	case o.seen == o.writes:
		o.abandon()
	default:
		o.seen = o.writes
	}
}

// abandon gives up on the write under way: it is left behind, with its goroutine, unless the stream knows deadlines.
// o.mu is held.
func (o *output) abandon() {
	o.fail(ErrUnread)
	if w, ok := o.w.(interface{ SetWriteDeadline(time.Time) error }); ok {
		_ = w.SetWriteDeadline(time.Now()) // files without deadlines say so; nothing else can be done
	}
}

// fail records the first error. o.mu is held.
func (o *output) fail(err error) {
	if o.err == nil {
		o.err = err
		close(o.failed)
		o.moved.Broadcast()
	}
}
