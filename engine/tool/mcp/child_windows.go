package mcp

import (
	"os/exec"
	"strconv"
	"syscall"
)

// group keeps the console's Ctrl-C from ending the program before we do.
func group(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP}
}

// terminate ends the program and what it has started: Windows has no signal that asks.
func terminate(cmd *exec.Cmd) {
	_ = exec.Command("taskkill", "/T", "/F", "/PID", strconv.Itoa(cmd.Process.Pid)).Run()
}

// kill ends the program itself. It may be gone: that is no error.
func kill(cmd *exec.Cmd) { _ = cmd.Process.Kill() }
