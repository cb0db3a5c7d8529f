package main

import (
	"bytes"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// serverLog shows the log of the server to people. Its lines about an attempt belong to the run and go into the transcript,
// as they read; all others are set off.
type serverLog struct {
	attempts io.Writer
	others   io.Writer
	begun    []byte // of a line whose end has not come yet
}

func (l *serverLog) Write(p []byte) (int, error) {
	l.begun = append(l.begun, p...)
	for {
		line, rest, whole := bytes.Cut(l.begun, []byte("\n"))
		if !whole {
			return len(p), nil
		}
		if err := l.show(string(line)); err != nil {
			return 0, err
		}
		l.begun = rest
	}
}

func (l *serverLog) show(line string) error {
	if said := messageOf(line); strings.HasPrefix(said, "attempt ") {
		_, err := fmt.Fprintf(l.attempts, "    %s\n", said)
		return err
	}
	_, err := fmt.Fprintf(l.others, "    | %s\n", line)
	return err
}

// messageOf returns the msg of a line of log/slog's text, or "".
func messageOf(line string) string {
	_, rest, _ := strings.Cut(line, ` msg=`)
	quoted, err := strconv.QuotedPrefix(rest)
	if err != nil {
		return ""
	}
	said, _ := strconv.Unquote(quoted) // it is quoted
	return said
}
