package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"

	"github.com/gofrs/flock"

	"github.com/kitebase/kitebase-mcp/client_example/agent"
)

// journal is a run in a file: one JSON document a line, each written and synced before what follows happens. It is the
// agent.Journal of the run, and adds who runs what at its start and how the run ended at its end:
//
//	{"journal":1,"scenario":"happy","ticket":"KITE-142","model":"script","server":"5e0c…"}
//	{"begin":{"step":1}}
//	{"end":{"step":1,"turn":{"calls":[…],"stop_reason":"tool_use"}}}
//	{"begin":{"step":1,"use":{"id":"toolu_01","name":"get_ticket","input":{…}}}}
//	{"end":{"step":1,"use":{…},"result":{…}}}
//	…
//	{"ending":{"text":"DONE (end_turn) after 4 step(s)\n","document":{…}}}
//	{"told":true}
//
// A last line without its line end was being written when the process died; what it tells of is taken as not having
// happened. A step without an end is done again. An ending that was not told is told: a note that a person may get twice is
// better than one that nobody gets.
type journal struct {
	path string
	file journalFile
	lock *flock.Flock

	mu     sync.Mutex
	past   map[string][]agent.Step // ended in an earlier life, by key
	ending *ending                 // of the run; nil while it goes on
	told   bool
	broken error // of a write; a line after half a line would be lost with it
}

// journalFile is what a journal is written to.
type journalFile interface {
	io.WriteCloser
	Sync() error
}

// identity says which run a journal is of. All of it must be the same for the run to go on.
type identity struct {
	Version  int    `json:"journal"`
	Scenario string `json:"scenario"`
	Ticket   string `json:"ticket"`
	Model    string `json:"model"`
	Server   string `json:"server"` // a hash: a command may hold secrets
}

// ending is how a run ended, in the words in which it is told.
type ending struct {
	Text       string          `json:"text"`
	Document   json.RawMessage `json:"document"`
	HandedOver bool            `json:"handed_over,omitempty"`
}

// record is one line but the first. One of its fields is set.
type record struct {
	Begin  *agent.Step `json:"begin,omitempty"`
	End    *agent.Step `json:"end,omitempty"`
	Ending *ending     `json:"ending,omitempty"`
	Told   bool        `json:"told,omitempty"`
}

// openJournal makes the journal of a run, or takes up the one that resumes. The caller has to Close it.
func openJournal(path string, resumes bool, id identity, wrap func(journalFile) journalFile) (*journal, error) {
	j := &journal{path: path, lock: flock.New(path + ".lock"), past: map[string][]agent.Step{}}
	if !resumes {
		if _, err := os.Lstat(path); err == nil {
			return nil, usageError(fmt.Sprintf("there is a file %s; go on with its run by -resume, or name another", path))
		}
	} else if _, err := os.Stat(path); err != nil {
		return nil, fmt.Errorf("take up a run: %w", err)
	}
	locked, err := j.lock.TryLock()
	if err != nil {
		return nil, fmt.Errorf("lock the journal: %w", err)
	}
	if !locked {
		return nil, fmt.Errorf("the run of %s is still going on", path)
	}
	if err := j.open(resumes, id, wrap); err != nil {
		_ = j.Close()
		return nil, err
	}
	return j, nil
}

func (j *journal) open(resumes bool, id identity, wrap func(journalFile) journalFile) error {
	flags := os.O_RDWR | os.O_APPEND
	if !resumes {
		flags |= os.O_CREATE | os.O_EXCL
	}
	file, err := os.OpenFile(j.path, flags, 0o600) // it holds what customers wrote
	if err != nil {
		return fmt.Errorf("open the journal: %w", err)
	}
	j.file = file
	if wrap != nil {
		j.file = wrap(file)
	}
	text, err := io.ReadAll(file)
	if err != nil {
		return fmt.Errorf("read the journal: %w", err)
	}
	whole, err := j.read(text, id)
	if err == nil && whole < len(text) {
		err = file.Truncate(int64(whole))
	}
	if err == nil && whole == 0 {
		err = errors.Join(j.write(id), syncDirectory(j.path))
	}
	return err
}

// syncDirectory makes a new file last, where directories can be synced.
func syncDirectory(path string) error {
	dir, err := os.Open(filepath.Dir(path))
	if err != nil {
		return fmt.Errorf("keep the journal: %w", err)
	}
	_ = dir.Sync() // not everywhere can it
	return dir.Close()
}

// Close frees the file for others. A nil journal has nothing to close.
func (j *journal) Close() error {
	if j == nil {
		return nil
	}
	var err error
	if j.file != nil {
		err = j.file.Close()
	}
	// The lock file stays: whoever waits for it would else hold a lock on a file that is gone.
	return errors.Join(err, j.lock.Unlock())
}
