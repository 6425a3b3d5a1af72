//go:build unix

package mcp

import (
	"os/exec"
	"syscall"
)

// group puts the program at the head of a process group of its own: what it starts ends with it, and
// the terminal's Ctrl-C does not end it before we do.
func group(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// terminate asks the whole group to end.
func terminate(cmd *exec.Cmd) { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }

// kill ends the whole group. There may be none any more: that is no error.
func kill(cmd *exec.Cmd) { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
