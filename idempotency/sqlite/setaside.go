package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"
)

// SetAside renames a file that [Open] called bad, with SQLite's files beside it, to path.bad- and the time (UTC), and returns
// the new name. Nothing is ever overwritten. If the file turns out to be good, because another process was quicker and has
// already made a new one, it is left alone and the name is "".
func SetAside(path string) (string, error) {
	ctx, cancel := context.WithTimeoutCause(context.Background(), lockWait, errBusy)
	defer cancel()
	release, err := lockFile(ctx, lockPath(path))
	if err != nil {
		return "", explain("waiting to set aside", path, err)
	}
	defer release()
	bad, err := isBad(path)
	if err != nil {
		return "", explain("setting aside", path, err)
	}
	if !bad {
		return "", nil
	}
	aside := path + ".bad-" + time.Now().UTC().Format("20060102T150405.000000000Z")
	// The file itself goes last: a log left beside a new file would be replayed into it.
	for _, suffix := range []string{"-wal", "-shm", ""} {
		if err := rename(path+suffix, aside+suffix); err != nil {
			return "", explain("setting aside", path, err)
		}
	}
	return aside, nil
}

// isBad looks closer than Open does, since damage can also show later than at the opening.
func isBad(path string) (bool, error) {
	f, err := openFile(context.Background(), path)
	if err == nil {
		err = errors.Join(check(f.writer.conn), f.close())
	}
	if errors.Is(err, ErrBadFile) || errors.Is(advise(err), ErrBadFile) {
		return true, nil
	}
	return false, err
}

func check(conn *sql.Conn) error {
	var verdict string
	err := conn.QueryRowContext(context.Background(), "PRAGMA quick_check(1)").Scan(&verdict)
	if err == nil && verdict != "ok" {
		err = fmt.Errorf("%w: %s", ErrBadFile, verdict)
	}
	return err
}

func rename(from, to string) error {
	if _, err := os.Lstat(to); !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s is already there", to)
	}
	if err := os.Rename(from, to); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
