package main

import (
	"io"
	"log/slog"
)

// Main is main, for the test binary that acts as the program.
func Main() { main() }

// Read reads a command line and an environment as the program does, and carries nothing out. It reports whether it is to serve.
func Read(args, environ []string) (serves bool, code int, err error) {
	err = parse(args, environ, streams{nil, io.Discard, io.Discard}, func(c command) (err error) {
		if serve, ok := c.(*serveCommand); ok {
			serves = true
			_, err = serve.config(slog.New(slog.DiscardHandler))
		}
		return err
	})
	return serves, exitCode(err), err
}

// ReadSize reads a size as a flag does.
func ReadSize(text string) (int64, error) {
	var s size
	err := s.UnmarshalText([]byte(text))
	return int64(s), err
}
