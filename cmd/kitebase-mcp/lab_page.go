package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/kitebase/kitebase-mcp/server/lab"
)

// labPage is the file of --html. It is opened before the run, which takes minutes, so that a wrong name is told at once; what
// it holds stays until there is a new page. Nil is no file.
type labPage struct {
	file  *os.File
	fresh bool // it was not there before
}

// openPage returns nil for no name.
func openPage(name string) (*labPage, error) {
	if name == "" {
		return nil, nil
	}
	file, err := os.OpenFile(name, os.O_WRONLY, 0)
	fresh := errors.Is(err, fs.ErrNotExist)
	if fresh {
		file, err = os.OpenFile(name, os.O_WRONLY|os.O_CREATE, 0o666)
	}
	if err != nil {
		return nil, fmt.Errorf("--html: %w", err)
	}
	return &labPage{file, fresh}, nil
}

// write replaces what the file holds.
func (p *labPage) write(report *lab.Report) error {
	if p == nil {
		return nil
	}
	err := p.empty()
	if err == nil {
		err = report.WriteHTML(p.file)
	}
	if closed := p.file.Close(); err == nil {
		err = closed
	}
	if err != nil {
		return fmt.Errorf("--html: writing %s: %w", p.file.Name(), err)
	}
	return nil
}

// empty does nothing to a pipe or a device.
func (p *labPage) empty() error {
	if is, err := p.file.Stat(); err != nil || !is.Mode().IsRegular() {
		return err
	}
	return p.file.Truncate(0)
}

// discard leaves everything as it was before the run.
func (p *labPage) discard() {
	if p == nil {
		return
	}
	_ = p.file.Close() // nothing was written
	if p.fresh {
		_ = os.Remove(p.file.Name()) // an empty file is as good
	}
}
