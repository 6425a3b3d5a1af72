package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"holdfast/internal/cli"
)

// grammar is the command line.
type grammar struct {
	Config string `short:"c" placeholder:"FILE" help:"The config, instead of $HOLDFAST_CONFIG, ./holdfast.toml or the one in the user's config directory."`
	OnDemo bool   `name:"demo" help:"Speak to the daemon that holdfast demo has started, or work on its store."`

	Run      runCmd      `cmd:"" default:"1" help:"Run the daemon. This is what happens without a command."`
	Demo     demoCmd     `cmd:"" help:"Run with a built-in model that fails when you ask it to."`
	Init     initCmd     `cmd:"" help:"Write a short config that works."`
	Check    checkCmd    `cmd:"" help:"Tell everything that is wrong with the config, or that nothing is."`
	Doctor   doctorCmd   `cmd:"" help:"Look whether everything is well, from the store to the providers."`
	Login    loginCmd    `cmd:"" help:"Print a fresh link that opens the page logged in, once."`
	Turns    turnsCmd    `cmd:"" help:"List turns, the newest first."`
	Turn     turnCmd     `cmd:"" help:"Show one turn and every request it made."`
	Resume   resumeCmd   `cmd:"" help:"Let waiting turns try again now."`
	Cancel   cancelCmd   `cmd:"" help:"End turns without an answer."`
	Release  releaseCmd  `cmd:"" help:"End what holds a model back: its turns go on now."`
	Pause    pauseCmd    `cmd:"" help:"Send nothing any more; what comes in is kept."`
	Unpause  unpauseCmd  `cmd:"" help:"Send again."`
	Ask      askCmd      `cmd:"" help:"Ask a bot one question, here on the terminal."`
	Backup   backupCmd   `cmd:"" help:"Copy the store, also while the daemon runs."`
	MCP      mcpCmd      `cmd:"" name:"mcp" help:"Try tool servers."`
	Selftest selftestCmd `cmd:"" help:"Prove on this machine that no turn is lost."`
	Version  versionCmd  `cmd:"" help:"Print the versions of Holdfast, Go and SQLite."`
}

// call is one use of the command line.
type call struct {
	place  place
	config string // --config
	demo   bool   // --demo
	in     io.Reader
	out    io.Writer
	err    io.Writer
	now    func() time.Time
	crash  func(point string) // engine.Parts.Crash; only the child process of a test sets it
}

// verb is what every command of the grammar can do.
type verb interface {
	Run(*call) error
}

// errSaid ends a command whose output has said already what is wrong.
var errSaid = errors.New("said already")

// holdfast carries out a command line and returns the exit code: 0, 1 for a failure, 2 for a line
// that was not understood.
func holdfast(args []string, p place, out, errOut io.Writer) int {
	var g grammar
	line, err := cli.Parse[verb]("holdfast", "A self-hosted agent daemon that never loses a turn.\n\nStart it without anything to try it: it takes the first model it finds, "+
		"or a built-in one, and prints a link to its page.", &g, args)
	switch {
	case err != nil:
		fmt.Fprintf(errOut, "holdfast: %v\nTry: holdfast --help\n", err)
		return 2
	case line.Help != "":
		fmt.Fprint(out, line.Help)
		return 0
	}
	err = line.Command.Run(&call{place: p, config: g.Config, demo: g.OnDemo, in: os.Stdin, out: out, err: errOut, now: time.Now})
	switch {
	case err == nil:
		return 0
	case !errors.Is(err, errSaid):
		fmt.Fprintln(errOut, "holdfast:", err)
	}
	return 1
}

// load reads the config that this line is about.
func (c *call) load() (*loaded, error) {
	if c.demo {
		return c.place.demo(), nil
	}
	return c.place.load(c.config)
}

// line is a command line that does words on the house that this line is about: a hint that leaves out
// --config or --demo would speak to another daemon, or to none.
func (c *call) line(words string) string {
	switch {
	case c.demo && words == "run":
		return "holdfast demo"
	case c.demo:
		return "holdfast " + words + " --demo"
	case c.config == "":
		return "holdfast " + words
	case strings.ContainsAny(c.config, " \t\"'$\\"):
		return fmt.Sprintf("holdfast --config %q %s", c.config, words)
	}
	return "holdfast --config " + c.config + " " + words
}

// valid loads the config and refuses one with problems: every one stands on a line of its own.
func (c *call) valid() (*loaded, error) {
	l, err := c.load()
	if err != nil {
		return nil, err
	}
	if len(l.Problems) > 0 {
		printProblems(c.err, l)
		return nil, errSaid
	}
	return l, nil
}

// untilSignal is a context that ends at the first SIGINT or SIGTERM; a second one ends the process
// at once.
func untilSignal() (context.Context, context.CancelFunc) {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // from here on a signal does what it does by default
	return ctx, stop
}
