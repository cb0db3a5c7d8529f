package main

import (
	"errors"
	"io"
	"log/slog"
	"strings"
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

// ReadPlainly returns the settings of serve as they are read without kong, and as kong reads them. The first are nil if they
// are left to kong.
func ReadPlainly(args, environ []string) (plain, whole any, err error) {
	if serve := plainServe(args, newEnvironment(environ)); serve != nil {
		plain = *serve
	}
	var said strings.Builder
	err = parseAll(args, environ, streams{nil, &said, &said}, func(c command) error {
		if serve, ok := c.(*serveCommand); ok {
			whole = *serve
		}
		return nil
	})
	if said.Len() > 0 {
		err = errors.Join(err, errors.New(said.String()))
	}
	return plain, whole, err
}

// ReadSize reads a size as a flag does.
func ReadSize(text string) (int64, error) {
	var s size
	err := s.UnmarshalText([]byte(text))
	return int64(s), err
}
