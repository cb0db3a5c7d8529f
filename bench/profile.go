package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

// perfInto is perf as it records into a file, followed by what it is to watch.
func perfInto(file string, watch ...string) *exec.Cmd {
	return exec.Command("perf", append([]string{"record", "-q", "-F", "999", "-g", "-o", file}, watch...)...)
}

// tryPerf makes the directory for profiles and records one, so that what cannot work is known before the rounds rather
// than after them.
func tryPerf(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("-perf: %w", err)
	}
	file := filepath.Join(dir, "trial.perf")
	defer os.Remove(file)
	if said, err := perfInto(file, "--", "true").CombinedOutput(); err != nil {
		return fmt.Errorf("-perf: perf cannot record into %s: %w: %s", dir, err, bytes.TrimSpace(said))
	}
	return nil
}

// profile records what the server does under load. That it was not recorded is kept for the end: the figures are worth more.
func (r *round) profile(one *entrant) error {
	seconds := max(r.slice, 3*time.Second)
	perf := perfInto(filepath.Join(r.perf, one.name+" "+one.transport+".perf"),
		"-p", fmt.Sprint(one.cmd.Process.Pid), "--", "sleep", fmt.Sprint(seconds.Seconds()))
	var said bytes.Buffer
	perf.Stderr = &said
	failed := perf.Start()
	_, err := one.client.load(inFlight, seconds)
	if failed == nil {
		failed = perf.Wait()
	}
	if failed != nil {
		r.unprofiled = errors.Join(r.unprofiled,
			fmt.Errorf("no profile of %s on %s: perf: %w: %s", one.name, one.transport, failed, bytes.TrimSpace(said.Bytes())))
	}
	return err
}
