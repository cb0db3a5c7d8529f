package storetest

import (
	"os"
	"syscall"
)

// syncData makes what was written to f durable, without its time stamps.
func syncData(f *os.File) error { return syscall.Fdatasync(int(f.Fd())) }
