package access

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// maxFile is the most bytes of a tokens file: some 5,000 tokens.
	maxFile = 1 << 20
	// lookEvery is how long a version of the file may stay unseen while requests come.
	lookEvery = time.Second
)

// A tokenFile keeps what a tokens file grants. It is safe for concurrent use.
type tokenFile struct {
	config Config

	entries atomic.Pointer[[]entry]

	mu     sync.Mutex // held while looking; whoever comes meanwhile goes on with what was granted before
	looked time.Time
	seen   [sha256.Size]byte // what was found by the last look
}

// newTokenFile starts from a file that Validate has just read. If it broke since, nobody is let in by it until it is mended.
func newTokenFile(config Config) *tokenFile {
	f := &tokenFile{config: config}
	f.entries.Store(new([]entry))
	f.mu.Lock()
	defer f.mu.Unlock()
	f.look()
	return f
}

// current returns what the file grants now, as of a second ago at most.
func (f *tokenFile) current() []entry {
	if f.mu.TryLock() {
		defer f.mu.Unlock()
		if time.Since(f.looked) >= lookEvery {
			f.look()
		}
	}
	return *f.entries.Load()
}

// look needs the lock. It reads the whole file, since neither its time nor its size nor its inode tell for sure that it is
// the same. A broken version keeps the last good one in force, and is logged once.
func (f *tokenFile) look() {
	f.looked = time.Now()
	data, err := readFile(f.config.TokensFile)
	found := sha256.Sum256(data)
	if err != nil {
		found = sha256.Sum256([]byte("unreadable: " + err.Error()))
	}
	if found == f.seen {
		return
	}
	f.seen = found
	entries, err := f.config.entries(data, err)
	if err != nil {
		f.config.Logger.Error("the tokens file cannot be used, so the tokens of its last good version stay in force",
			"file", f.config.TokensFile, "cause", err)
		return
	}
	f.entries.Store(&entries)
	f.config.Logger.Info("tokens file read", "file", f.config.TokensFile, "tokens", len(entries))
}

// load reads the file of the configuration as it is.
func (c Config) load() ([]entry, error) {
	data, err := readFile(c.TokensFile)
	entries, err := c.entries(data, err)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", c.TokensFile, err)
	}
	return entries, nil
}

// entries returns what a file with these contents grants, unless it could not be read.
func (c Config) entries(data []byte, unread error) ([]entry, error) {
	if unread != nil {
		return nil, unread
	}
	grants, err := Parse(data, c.Tools)
	if err != nil {
		return nil, err
	}
	var entries []entry
	for _, grant := range grants {
		if c.Token != "" && grant.Name == ownName {
			return nil, fmt.Errorf("the name %s is that of --http-token; rename the entry", ownName)
		}
		if c.Token != "" && grant.hash == sha256.Sum256([]byte(c.Token)) {
			return nil, fmt.Errorf("%s: its token is that of --http-token, which may use every tool; give the entry a token of its own", grant.Name)
		}
		entries = append(entries, granted(grant, c.Tools))
	}
	return entries, nil
}

// readFile reads a file that must be a small one. Its errors do not repeat the path.
func readFile(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, unreadable(err)
	}
	if !info.Mode().IsRegular() { // the reading of a pipe could wait for ever
		return nil, errors.New("it is no file; give the path of a JSON file")
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, unreadable(err)
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, maxFile+1))
	if err != nil {
		return nil, unreadable(err)
	}
	if len(data) > maxFile {
		return nil, errors.New("it has more than 1 MiB; remove tokens that are no longer used")
	}
	return data, nil
}

func unreadable(err error) error {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return errors.New("there is no such file; make one with: kitebase-mcp token NAME --add FILE")
	case errors.Is(err, fs.ErrPermission):
		return errors.New("this user may not read it; change its owner or mode")
	}
	if path, ok := errors.AsType[*fs.PathError](err); ok {
		err = path.Err
	}
	return fmt.Errorf("it cannot be read: %w", err)
}

// Granted returns how many tokens the file has.
func (c *Checker) Granted() int {
	if c.file == nil {
		return 0
	}
	return len(c.file.current())
}

// Expired returns the names of the tokens in the file that have expired: they can be removed.
func (c *Checker) Expired() []string {
	var names []string
	for _, e := range c.entries() {
		if e.expired(time.Now()) {
			names = append(names, e.name)
		}
	}
	return names
}
