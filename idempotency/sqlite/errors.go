package sqlite

import (
	"errors"
	"fmt"
	"io/fs"
	"syscall"

	"modernc.org/sqlite"
	codes "modernc.org/sqlite/lib"
)

// What callers branch on.
var (
	// ErrBadFile means that the file is damaged, cut short, or no database at all. [SetAside] keeps it for a person to look
	// at and makes room for a new one.
	ErrBadFile = errors.New("the file is damaged or not a ledger; keep it aside and start a new one")
	// ErrNewer means that a later release of this program wrote the file. It was not touched.
	ErrNewer = errors.New("a newer kitebase-mcp wrote this file; update kitebase-mcp, or choose another file with --ledger")
	// ErrForeign means that the file is the database of another program. It was not touched.
	ErrForeign = errors.New("the file belongs to another program; choose another file with --ledger")
)

// What a person can mend.
var (
	errBusy   = errors.New("another process keeps it locked; try again, or end that process")
	errFull   = errors.New("the disk is full; free some space")
	errAccess = errors.New("make the file and its directory writable for this user, or choose another file with --ledger")
)

// explain wraps err with what was being tried on which file, and with what to do, if that is known.
func explain(doing, path string, err error) error {
	if advice := advise(err); advice != nil && !errors.Is(err, advice) {
		return fmt.Errorf("%s the ledger %s: %w: %w", doing, path, advice, err)
	}
	return fmt.Errorf("%s the ledger %s: %w", doing, path, err)
}

func advise(err error) error {
	if failure, ok := errors.AsType[*sqlite.Error](err); ok {
		return adviseCode(failure.Code())
	}
	switch {
	case errors.Is(err, syscall.ENOSPC):
		return errFull
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS), errors.Is(err, syscall.EISDIR), errors.Is(err, syscall.ENOTDIR):
		return errAccess
	}
	return nil
}

// adviseCode goes by SQLite's primary result code, the low byte of the extended one.
func adviseCode(code int) error {
	switch code & 0xff {
	case codes.SQLITE_NOTADB, codes.SQLITE_CORRUPT:
		return ErrBadFile
	case codes.SQLITE_BUSY, codes.SQLITE_LOCKED:
		return errBusy
	case codes.SQLITE_FULL:
		return errFull
	case codes.SQLITE_READONLY, codes.SQLITE_CANTOPEN, codes.SQLITE_PERM:
		return errAccess
	}
	return nil
}
