package sqlite

import (
	"context"
	"errors"
	"syscall"

	"github.com/gofrs/flock"
)

func lockPath(path string) string { return path + ".lock" }

// lockFile waits for the lock file at path and returns what releases it. It waits in the system's queue rather than by
// polling, since on a busy file the lock is free for microseconds only. If ctx ends first the lock is given back as soon as
// it comes.
func lockFile(ctx context.Context, path string) (func(), error) {
	lock := flock.New(path)
	if ctx.Done() == nil {
		return release(lock), await(lock)
	}
	locked := make(chan error, 1)
	go func() { locked <- await(lock) }()
	select {
	case err := <-locked:
		return release(lock), err
	case <-ctx.Done():
		go func() {
			<-locked
			release(lock)()
		}()
		return nil, context.Cause(ctx)
	}
}

func await(lock *flock.Flock) error {
	for {
		if err := lock.Lock(); !errors.Is(err, syscall.EINTR) {
			return err
		}
	}
}

// release gives the lock back. Closing the file does it in any case, so that an error would say nothing.
func release(lock *flock.Flock) func() { return func() { _ = lock.Unlock() } }
