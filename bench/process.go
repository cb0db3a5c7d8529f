package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// process is a child with its streams. What it writes to standard error is kept in a file.
type process struct {
	cmd    *exec.Cmd
	in     io.WriteCloser
	out    *bufio.Reader
	stderr *os.File
}

func start(dir string, cmd *exec.Cmd) (*process, error) {
	stderr, err := os.CreateTemp(dir, "stderr-")
	if err != nil {
		return nil, err
	}
	p := &process{cmd: cmd, stderr: stderr}
	cmd.Stderr = stderr
	if p.in, err = cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	p.out = bufio.NewReaderSize(out, 64<<10)
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("starting %s: %w", filepath.Base(cmd.Path), err)
	}
	return p, nil
}

// stop ends the process: its figures are taken, so it need not end well.
func (p *process) stop() {
	_ = p.in.Close()
	_ = p.cmd.Process.Kill()
	_ = p.cmd.Wait()
	_ = p.stderr.Close()
}

// failed is err with what the process said last.
func (p *process) failed(err error) error {
	said, _ := os.ReadFile(p.stderr.Name())
	return fmt.Errorf("%s: %w; it said: %q", filepath.Base(p.cmd.Path), err, said[max(0, len(said)-500):])
}

// errNoProc is why there are no figures of memory and CPU.
var errNoProc = errors.New("this system has no /proc")

// tick is the unit of CPU time in /proc, on every Linux that Go runs on.
const tick = 10 * time.Millisecond

// cpu is the CPU time that the process has used.
func (p *process) cpu() (time.Duration, error) {
	stat, err := os.ReadFile(p.proc("stat"))
	if err != nil {
		return 0, errNoProc
	}
	_, rest, _ := strings.Cut(string(stat), ") ") // the name before it may hold anything
	fields := strings.Fields(rest)
	const utime, stime = 11, 12 // 14 and 15 in proc(5), which counts from 1, less the two before rest
	if len(fields) <= stime {
		return 0, errNoProc
	}
	user, _ := strconv.Atoi(fields[utime])
	system, _ := strconv.Atoi(fields[stime])
	return time.Duration(user+system) * tick, nil
}

// rss is the resident memory of the process, in MiB.
func (p *process) rss() (float64, error) {
	status, err := os.ReadFile(p.proc("status"))
	if err != nil {
		return 0, errNoProc
	}
	for line := range strings.Lines(string(status)) {
		if text, ok := strings.CutPrefix(line, "VmRSS:"); ok {
			kib, err := strconv.Atoi(strings.Fields(text)[0])
			return float64(kib) / 1024, err
		}
	}
	return 0, errNoProc
}

func (p *process) proc(file string) string {
	return fmt.Sprintf("/proc/%d/%s", p.cmd.Process.Pid, file)
}
