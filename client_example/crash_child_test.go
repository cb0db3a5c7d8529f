//go:build unix

package main

import (
	"context"
	"fmt"
	"os"
	"syscall"
)

// deathVariable makes this test binary the program, and lets it die: "5 half group" dies amid the fifth write to the journal,
// and takes its server along.
const deathVariable = "CLIENT_EXAMPLE_DEATH"

// death is when a process dies, and who goes with it.
type death struct {
	write  int    // to the journal, from 1
	moment string // before, half or after it
	who    string // client or group
}

func (d death) String() string { return fmt.Sprintf("%d %s %s", d.write, d.moment, d.who) }

// diesOnPurpose runs the program if it is to die. It comes back only if there is no such order.
func diesOnPurpose() bool {
	var d death
	if _, err := fmt.Sscan(os.Getenv(deathVariable), &d.write, &d.moment, &d.who); err != nil {
		return false
	}
	options, err := parseArguments(os.Args[1:], os.Stderr)
	if err == nil {
		options.wrap = func(file journalFile) journalFile { return &dyingFile{journalFile: file, death: d} }
		err = options.run(context.Background(), os.Environ(), os.Stdout, os.Stderr)
	}
	fmt.Fprintln(os.Stderr, "it did not die:", err)
	os.Exit(4)
	return true
}

// dyingFile is the file of a journal.
type dyingFile struct {
	journalFile
	death  death
	writes int
}

func (f *dyingFile) Write(p []byte) (int, error) {
	f.writes++
	if f.writes != f.death.write {
		return f.journalFile.Write(p)
	}
	switch f.death.moment {
	case "half":
		p = p[:len(p)/2]
	case "before":
		p = nil
	}
	if _, err := f.journalFile.Write(p); err != nil {
		return 0, err
	}
	if err := f.Sync(); err != nil {
		return 0, err
	}
	whom := os.Getpid()
	if f.death.who == "group" {
		whom = 0
	}
	if err := syscall.Kill(whom, syscall.SIGKILL); err != nil {
		return 0, err
	}
	select {} // until the signal arrives
}
