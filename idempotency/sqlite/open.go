package sqlite

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"modernc.org/sqlite"

	"github.com/kitebase/kitebase-mcp/idempotency/internal/groupcommit"
)

// Open opens the ledger at path and creates what is missing: directories (mode 0700), the file (0600), its tables. Close the
// store to end its owner.
//
// Its errors say what to do. Those that callers branch on: [ErrBadFile] (see [SetAside]), [ErrNewer] and [ErrForeign].
func Open(ctx context.Context, path string) (*Store, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("finding the ledger: %w", err)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, explain("creating the directory of", path, err)
	}
	_, err = os.Lstat(lockPath(path))
	unlocked := errors.Is(err, fs.ErrNotExist) // so far no ledger was here
	release, err := lockFile(ctx, lockPath(path))
	if err != nil {
		return nil, explain("waiting to open", path, err)
	}
	s, err := open(ctx, path)
	release()
	if err != nil {
		if unlocked && isForeign(path, err) {
			_ = os.Remove(lockPath(path)) // nobody but who is refused too can have it
		}
		return nil, explain("opening", path, err)
	}
	return s, nil
}

// isForeign reports whether what is at path can be no ledger, now or later, by why it was not opened.
func isForeign(path string, why error) bool {
	info, err := os.Stat(path)
	return errors.Is(why, ErrForeign) || err == nil && info.IsDir()
}

// open does the work of [Open]; the caller holds the lock file.
func open(ctx context.Context, path string) (*Store, error) {
	f, err := openFile(ctx, path)
	if err != nil {
		return nil, err
	}
	owner, err := newOwner(path)
	if err != nil {
		return nil, errors.Join(err, f.close())
	}
	queue := &groupcommit.Queue[operation]{
		Run:  f.writer.run,
		Lock: func() (func(), error) { return lockFile(context.Background(), lockPath(path)) },
		// On a full disk a small record may still fit where a group does not.
		Alone: func(error) bool { return true },
	}
	return &Store{path: path, file: f, queue: queue, owner: owner}, nil
}

// file is an open database file: one connection that writes, and some that read.
type file struct {
	writes, reads *sql.DB
	writer        *writer // the connection of writes
}

// openFile opens the database with its schema up to date. The caller holds the lock file.
func openFile(ctx context.Context, path string) (*file, error) {
	if err := createFile(path); err != nil {
		return nil, err
	}
	// Process-wide, but nobody's durability changes: the time stamps of the file are left out of each sync, which takes half
	// the time. Where the system has no such call, or SQLite does not use it, the slower one stays.
	_, _ = sqlite.Fdatasync(true)
	// A WAL that once grew is cut to 4 MiB when it is begun anew.
	writes, err := database(path, 1, "synchronous(full)", "journal_size_limit(4194304)")
	if err != nil {
		return nil, err
	}
	reads, err := database(path, 4, "query_only(1)") // dialled at the first read
	if err != nil {
		return nil, err
	}
	f := &file{writes: writes, reads: reads}
	conn, err := writes.Conn(ctx)
	if err == nil {
		f.writer = newWriter(conn)
		err = migrate(ctx, conn)
	}
	if err != nil {
		return nil, errors.Join(err, f.close())
	}
	return f, nil
}

func (f *file) close() error {
	var err error
	if f.writer != nil {
		err = f.writer.close()
	}
	return errors.Join(f.reads.Close(), err, f.writes.Close())
}

// createFile makes sure that the file exists, that it is nobody else's to read, and that it looks like a database: SQLite would
// take a short file of anything for an empty one. SQLite gives its companions the mode of the file.
func createFile(path string) error {
	// A device or a pipe would take what is written, or never answer; not even its mode may be changed.
	if info, err := os.Stat(path); err == nil && info.Mode()&(os.ModeDevice|os.ModeNamedPipe|os.ModeSocket) != 0 {
		return fmt.Errorf("it is a device or a pipe: %w", ErrForeign)
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600) //nolint:gosec // the path is the caller's choice
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }() // nothing was written
	header := make([]byte, smallestPage)
	switch n, err := io.ReadFull(f, header); {
	case errors.Is(err, io.EOF): // fresh
	case errors.Is(err, io.ErrUnexpectedEOF):
		return fmt.Errorf("%w (%d bytes)", badOrForeign(path), n)
	case err != nil:
		return err
	case !bytes.HasPrefix(header, []byte(magic)):
		return fmt.Errorf("%w (it does not begin like one)", badOrForeign(path))
	}
	return os.Chmod(path, 0o600)
}

// badOrForeign takes a file that is no database for a damaged ledger only if it is named like one. Whoever gives a wrong path
// must not lose a file by it.
func badOrForeign(path string) error {
	if filepath.Ext(path) == ".db" {
		return ErrBadFile
	}
	return ErrForeign
}

// https://sqlite.org/fileformat.html, section 1.3.
const (
	magic        = "SQLite format 3\x00"
	smallestPage = 512
)

// database prepares connections to the file. Each waits up to 5s where SQLite itself finds the file busy.
func database(path string, connections int, pragmas ...string) (*sql.DB, error) {
	name := filepath.ToSlash(path)
	if !strings.HasPrefix(name, "/") { // C:/...
		name = "/" + name
	}
	query := url.Values{"_pragma": append([]string{"busy_timeout(5000)"}, pragmas...)}
	dsn := url.URL{Scheme: "file", Path: name, RawQuery: query.Encode()}
	db, err := sql.Open("sqlite", dsn.String())
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(connections)
	db.SetMaxIdleConns(connections)
	return db, nil
}
