package mcp

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"
)

// child is a tool server that we have started: a program that speaks the protocol over its standard
// input and output. It ends with everything that it has started itself.
type child struct {
	cmd    *exec.Cmd
	in     *once    // its standard input
	out    *os.File // its standard output
	words  *lastWords
	exited chan struct{} // closed once it and its group are gone
	err    error         // of the exit; valid once exited is closed
}

// once is a pipe's end that may be closed more than once.
type once struct {
	io.WriteCloser
	close func() error
}

func (o *once) Close() error { return o.close() }

// start starts a program. Its standard error goes to the log, without what hide takes out.
func start(command []string, env map[string]string, hide hider, log *slog.Logger) (*child, error) {
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Env = environment(os.Environ(), env)
	cmd.WaitDelay = time.Second // for programs that leave others behind which hold its standard error
	group(cmd)
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", command[0], err)
	}
	out, theirs, err := os.Pipe() // not StdoutPipe, which loses what is written just before the exit
	if err != nil {
		return nil, errors.Join(fmt.Errorf("start %s: %w", command[0], err), in.Close())
	}
	words := &lastWords{hide: hide, log: log}
	cmd.Stdout, cmd.Stderr = theirs, words
	err = cmd.Start()
	theirs.Close()
	if err != nil {
		in.Close()
		out.Close()
		return nil, cannotStart(command[0], err)
	}
	c := &child{cmd: cmd, in: &once{in, sync.OnceValue(in.Close)}, out: out, words: words, exited: make(chan struct{})}
	go c.wait()
	return c, nil
}

// cannotStart says what to do about a program that is not there.
func cannotStart(program string, err error) error {
	if errors.Is(err, exec.ErrNotFound) || errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("the program %s is not found; install it, or write its whole path in command", program)
	}
	return fmt.Errorf("start %s: %w", program, err)
}

// wait sees the program end and takes with it what it has left behind.
func (c *child) wait() {
	c.err = c.cmd.Wait()
	kill(c.cmd)
	_ = c.out.SetReadDeadline(time.Now().Add(time.Second)) // somebody who has left the group may still hold it
	close(c.exited)
}

// stop ends it: it is told by its closed standard input, then asked, then killed; each time it gets
// grace to end. It returns once the program is gone.
func (c *child) stop(grace time.Duration) {
	c.in.Close()
	for _, end := range []func(*exec.Cmd){terminate, kill} {
		select {
		case <-c.exited:
		case <-time.After(grace):
			end(c.cmd)
		}
	}
	<-c.exited
	c.out.Close()
}

// ended says in plain words how the program has ended, if it has within a second.
func (c *child) ended() string {
	select {
	case <-c.exited:
	case <-time.After(time.Second):
		return "has closed the line"
	}
	how := "has ended"
	if c.err != nil {
		how = "has ended with " + c.err.Error()
	}
	if last := c.words.last(); last != "" {
		how += fmt.Sprintf(" after it wrote %q", last)
	}
	return how
}

// environment is what a program gets to see of ours, which holds keys that are not its business: where
// things are, how people speak, how the network is reached. What the config states comes last.
func environment(ours []string, stated map[string]string) (env []string) {
	for _, v := range ours {
		name, _, _ := strings.Cut(v, "=")
		if _, ok := stated[name]; !ok && handedOn(name) {
			env = append(env, v)
		}
	}
	for name, value := range stated {
		env = append(env, name+"="+value)
	}
	return env
}

// handedOn reports whether a variable holds nothing secret and programs need it.
func handedOn(name string) bool {
	switch strings.ToUpper(name) {
	case "PATH", "HOME", "USER", "LOGNAME", "SHELL", "TERM", "LANG", "LANGUAGE", "TZ", "TMPDIR", "TMP", "TEMP",
		"HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS", "NODE_PATH", "NVM_DIR",
		"APPDATA", "LOCALAPPDATA", "PROGRAMDATA", "PROGRAMFILES", "HOMEDRIVE", "HOMEPATH", "USERNAME", "USERPROFILE",
		"COMSPEC", "PATHEXT", "SYSTEMDRIVE", "SYSTEMROOT", "WINDIR", "PROCESSOR_ARCHITECTURE":
		return true
	}
	return strings.HasPrefix(name, "LC_") || strings.HasPrefix(name, "XDG_")
}
