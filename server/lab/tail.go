package lab

import (
	"strings"
	"sync"
	"unicode/utf8"
)

// maxTail bounds what is kept of a log, in bytes, and maxTailLines in lines.
const (
	maxTail      = 4000
	maxTailLines = 12
)

// tail keeps the end of what was written to it. It is safe for concurrent use.
type tail struct {
	mu   sync.Mutex
	kept []byte
}

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.kept = append(t.kept, p...)
	t.kept = t.kept[max(0, len(t.kept)-maxTail):]
	return len(p), nil
}

// lines returns the last lines, the oldest first.
func (t *tail) lines() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	text := strings.TrimSpace(strings.ReplaceAll(strings.ToValidUTF8(string(t.kept), ""), "\r\n", "\n"))
	if text == "" {
		return nil
	}
	all := strings.Split(text, "\n")
	return all[max(0, len(all)-maxTailLines):]
}

// shortened cuts a text to limit bytes, whole characters, and says so.
func shortened(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	for limit > 0 && !utf8.RuneStart(text[limit]) {
		limit--
	}
	return text[:limit] + "…"
}
