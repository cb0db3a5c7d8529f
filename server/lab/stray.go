package lab

import (
	"bytes"
	"fmt"
	"strings"
	"sync"
)

// stray is what a server wrote to stdout beside its messages. It is safe for concurrent use.
type stray struct {
	mu          sync.Mutex
	other, long strayLines
}

type strayLines struct {
	count int
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
	s.other.add(text)
}

// addLong takes the beginning of a line that is too long to be read.
func (s *stray) addLong(line []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.long.add(line)
}

func (l *strayLines) add(text []byte) {
	if l.count++; l.count == 1 {
		l.first = shortened(strings.ToValidUTF8(string(text), "\uFFFD"), beginning)
	}
}

// says tells it in words; "" for nothing.
func (s *stray) says() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var says []string
	switch s.other.count {
	case 0:
	case 1:
		says = append(says, "1 line on stdout is no JSON-RPC message: "+s.other.first)
	default:
		says = append(says, fmt.Sprintf("%d lines on stdout are no JSON-RPC messages; the first: %s", s.other.count, s.other.first))
	}
	if s.long.count > 0 {
		says = append(says, fmt.Sprintf("%s on stdout longer than %d MiB, which the lab does not read; the first: %s…",
			count(s.long.count, "line"), maxLine>>20, s.long.first))
	}
	return strings.Join(says, "; ")
}
