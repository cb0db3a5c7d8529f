//go:build !unix

package lab

import "os/exec"

// There are no groups of processes here that could be signalled: only the process itself is ended, and always at once.

func ownGroup(*exec.Cmd) {}

func killGroup(cmd *exec.Cmd) { _ = cmd.Process.Kill() } // fails when it is gone

func interrupt(*exec.Cmd) {}

func terminate(cmd *exec.Cmd) { killGroup(cmd) }
