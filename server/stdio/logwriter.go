package stdio

import (
	"cmp"
	"fmt"
	"io"
	"runtime"
	"sync"
	"time"
)

// LogWriter passes log lines on to a stream that may not be read, such as the stderr of a child process whose parent
// lets the pipe fill. Write never blocks: beyond the limit lines are dropped and counted, and a line that says how many
// follows when the stream flows again.
//
// It keeps no goroutine while there is nothing to write. It is safe for concurrent use; each Write should be one or more
// whole lines, as slog handlers write them.
type LogWriter struct {
	// Gap makes the line that says how many were dropped; it is to be set before the first Write. Default: a plain sentence.
	Gap func(dropped int) []byte

	w     io.Writer
	limit int

	mu       sync.Mutex
	moved    sync.Cond
	queue    []byte
	spare    []byte
	writing  bool
	dropping int   // lines dropped since the last that was taken
	dropped  int64 // lines dropped in all
	closed   bool
}

// closeWait is how long Close waits for a stream that is not read. A host may kill the process 500 ms after it has asked
// it to end.
const closeWait = 200 * time.Millisecond

// maxSpareLog is the largest buffer that is kept for the next write.
const maxSpareLog = 64 << 10

// NewLogWriter returns a LogWriter on w that queues at most limit bytes beside the write under way; 0 means the default,
// 1 MiB.
func NewLogWriter(w io.Writer, limit int) *LogWriter {
	l := &LogWriter{w: w, limit: cmp.Or(limit, 1<<20)}
	l.moved.L = &l.mu
	return l
}

// Write queues p, or drops and counts it. It always reports success.
func (l *LogWriter) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.closed:
		l.dropped++
		return len(p), nil
	case l.dropping > 0 || len(l.queue)+len(p) > l.limit:
		// Once one was dropped, so are all until the gap has been told: lines stay in order.
		l.dropping++
		l.dropped++
	default:
		l.queue = append(l.queue, p...)
	}
	if !l.writing {
		l.writing = true
		go l.flush()
	}
	return len(p), nil
}

// Dropped returns how many lines were dropped so far.
func (l *LogWriter) Dropped() int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.dropped
}

// Close writes what is queued, for at most 200 ms, and drops what is written later. It leaves the stream open, and a
// write that blocks behind. It always returns nil.
func (l *LogWriter) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	late := false
	timer := time.AfterFunc(closeWait, func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		late = true
		l.moved.Broadcast()
	})
	defer timer.Stop()
	for l.writing && !late {
		l.moved.Wait()
	}
	return nil
}

func (l *LogWriter) gap() []byte {
	if l.Gap != nil {
		return l.Gap(l.dropping)
	}
	return fmt.Appendf(nil, "dropped %d log lines: stderr was not read\n", l.dropping)
}

func (l *LogWriter) flush() {
	runtime.Gosched() // who logs goes first, and whoever else is ready to: one write does for all
	l.mu.Lock()
	defer l.mu.Unlock()
	for len(l.queue) > 0 || l.dropping > 0 {
		batch := l.queue
		if l.dropping > 0 {
			batch = append(batch, l.gap()...)
		}
		l.queue, l.dropping = l.spare[:0], 0
		l.mu.Unlock()
		_, _ = l.w.Write(batch) // there is nowhere left to report an error
		l.mu.Lock()
		if l.spare = batch; cap(batch) > maxSpareLog {
			l.spare = nil
		}
	}
	l.writing = false
	l.moved.Broadcast()
}
