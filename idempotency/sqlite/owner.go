package sqlite

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/gofrs/flock"
)

// owner is one opening of the ledger: a file that is locked for as long as the store is open. The system frees the lock when
// the process dies, kill -9 included, so that a lock that can be had is proof of death.
type owner struct {
	name string
	lock *flock.Flock
}

// newOwner makes the owner's file and removes those of the dead. The caller holds the lock file of the ledger, so that no
// file is taken for a dead owner's between its making and its locking.
func newOwner(path string) (*owner, error) {
	if err := os.MkdirAll(ownersPath(path), 0o700); err != nil {
		return nil, err
	}
	if err := buryDead(path); err != nil {
		return nil, err
	}
	name := fmt.Sprintf("%d-%s", os.Getpid(), rand.Text())
	lock := flock.New(filepath.Join(ownersPath(path), name))
	locked, err := lock.TryLock()
	if err == nil && !locked {
		err = errors.New("someone else locked the owner file of this process")
	}
	if err != nil {
		return nil, err
	}
	return &owner{name: name, lock: lock}, nil
}

// close ends the owner. Whoever asks between the two steps finds the file free, thus the owner dead; who asks later finds none.
func (o *owner) close() error {
	err := o.lock.Unlock()
	if removed := os.Remove(o.lock.Path()); !errors.Is(removed, fs.ErrNotExist) {
		err = errors.Join(err, removed)
	}
	return err
}

func ownersPath(path string) string { return path + ".owners" }

// alive reports whether the owner of that name holds its file. Those who ask share the lock, so that they do not take each
// other for the owner.
func alive(path, name string) (bool, error) {
	if name == "" || name != filepath.Base(name) || len(name) > 100 {
		return false, nil // no name that newOwner gives
	}
	lock := flock.New(filepath.Join(ownersPath(path), name), flock.SetFlag(os.O_RDONLY))
	free, err := lock.TryRLock()
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return false, nil
	case err != nil:
		return false, err
	case free:
		return false, lock.Unlock()
	}
	return true, nil
}

// buryDead removes the files of owners who no longer live. What cannot be removed now is left for the next: on Windows a file
// stays for as long as somebody has it open, and whoever asks [alive] does.
func buryDead(path string) error {
	files, err := os.ReadDir(ownersPath(path))
	if err != nil {
		return err
	}
	for _, f := range files {
		lives, err := alive(path, f.Name())
		if err != nil || lives {
			continue // of another user, or alive
		}
		_ = os.Remove(filepath.Join(ownersPath(path), f.Name()))
	}
	return nil
}
