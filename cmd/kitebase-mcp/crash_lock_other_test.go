//go:build !linux

package main_test

// lockedKillPoints needs the kernel's list of locks.
func lockedKillPoints() map[string]killPoint { return nil }
