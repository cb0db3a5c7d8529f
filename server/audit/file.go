package audit

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
)

// File is a file that lines are appended to, each by one write, so that several processes may share it. It survives
// rotation: when its path leads elsewhere, or a write fails, it is opened anew. It is safe for concurrent use.
type File struct {
	path string

	mu   sync.Mutex
	file *os.File // nil after it could not be opened anew
	torn bool     // the last line has no end
}

// OpenFile opens the file at path, or makes one that nobody but its owner can read.
func OpenFile(path string) (*File, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("finding the audit log: %w", err)
	}
	f := &File{path: path}
	return f, f.open()
}

// Try reports whether [OpenFile] could open the file at path, and makes none: if there is none yet, another file is made beside it
// and removed again.
func Try(path string) error {
	path, err := filepath.Abs(path)
	if err != nil {
		return fmt.Errorf("finding the audit log: %w", err)
	}
	f := &File{path: path}
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		return errors.Join(f.open(), f.close())
	}
	trial, err := os.CreateTemp(filepath.Dir(path), ".kitebase-mcp-try-")
	if err != nil {
		return fmt.Errorf("making a file in %s: %w", filepath.Dir(path), errors.Unwrap(err))
	}
	return errors.Join(trial.Close(), os.Remove(trial.Name()))
}

// Handler returns a handler that writes JSON lines into f.
func (f *File) Handler() slog.Handler {
	return slog.NewJSONHandler(f, &slog.HandlerOptions{ReplaceAttr: func(groups []string, a slog.Attr) slog.Attr {
		if len(groups) == 0 && (a.Key == slog.LevelKey || a.Key == slog.MessageKey) {
			return slog.Attr{} // the same in each line
		}
		return a
	}})
}

// Write appends a line. If that fails, the file is opened anew for one more try.
func (f *File) Write(line []byte) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	var err error
	if f.moved() {
		if err = f.reopen(); err != nil {
			return 0, err
		}
	}
	if err = f.append(line); err != nil {
		if again := f.reopen(); again != nil {
			return 0, errors.Join(err, again)
		}
		err = f.append(line)
	}
	if err != nil {
		return 0, err
	}
	return len(line), nil
}

// Close closes the file. Writing into it then opens it again.
func (f *File) Close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.close()
}

func (f *File) close() error {
	if f.file == nil {
		return nil
	}
	err := f.file.Close()
	f.file = nil
	return err
}

// open opens the file at the path. What is no regular file could block, or be a terminal.
func (f *File) open() error {
	if info, err := os.Stat(f.path); err == nil && !info.Mode().IsRegular() {
		return fmt.Errorf("opening the audit log: %s is no regular file", f.path)
	}
	file, err := os.OpenFile(f.path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("opening the audit log: %w", err)
	}
	f.file = file
	return nil
}

func (f *File) reopen() error {
	_ = f.close() // the new one counts
	return f.open()
}

// moved reports whether the path leads to another file than the one that is open.
func (f *File) moved() bool {
	if f.file == nil {
		return true
	}
	here, err := f.file.Stat()
	if err != nil {
		return true
	}
	there, err := os.Stat(f.path)
	return err != nil || !os.SameFile(here, there)
}

// append writes the line whole. Behind half a line, which a full disk leaves, it begins a new one.
func (f *File) append(line []byte) error {
	if f.torn {
		line = append([]byte{'\n'}, line...)
	}
	n, err := f.file.Write(line)
	if err != nil {
		f.torn = f.torn && n == 0 || n > 0
		return fmt.Errorf("writing the audit log: %w", err)
	}
	f.torn = false
	return nil
}
