package lab

import (
	"bytes"
	"fmt"
	"sync"
)

// stray is what a server wrote to stdout beside its messages. It is safe for concurrent use.
type stray struct {
	mu    sync.Mutex
	lines int
	first string
}

// add takes a line that is no message. Blank ones harm nobody. The last line may have no end, and is then let pass if it can
// be the beginning of a message: the server was killed while it wrote.
func (s *stray) add(line []byte) {
	text := bytes.TrimSpace(line)
	if len(text) == 0 || text[0] == '{' && !bytes.HasSuffix(line, []byte("\n")) {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.lines++; s.lines == 1 {
		s.first = shortened(string(text), 160)
	}
}

// says tells it in words; "" for nothing.
func (s *stray) says() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch s.lines {
	case 0:
		return ""
	case 1:
		return "1 line on stdout is no JSON-RPC message: " + s.first
	default:
		return fmt.Sprintf("%d lines on stdout are no JSON-RPC messages; the first: %s", s.lines, s.first)
	}
}
