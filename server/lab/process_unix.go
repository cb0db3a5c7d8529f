//go:build unix

package lab

import (
	"os/exec"
	"syscall"
)

// ownGroup makes the process the first of a group, so that a server behind a wrapper (npx, uv run, a shell) can be ended as
// a whole, and a Ctrl-C at the lab's terminal does not reach it before the lab.
func ownGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// killGroup kills the group. It fails when there is nobody left, which is as well.
func killGroup(cmd *exec.Cmd) { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }

// interrupt and terminate are what Claude Code sends at the end of a session: SIGINT, and SIGTERM 100 ms later.
func interrupt(cmd *exec.Cmd) { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGINT) }

func terminate(cmd *exec.Cmd) { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }
