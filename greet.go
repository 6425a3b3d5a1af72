package main

import (
	"cmp"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"strings"

	"github.com/mattn/go-isatty"

	"holdfast/engine/llm"
	"holdfast/web"
)

// newLog writes what the config asks for to w. Nothing that is logged holds a secret, so nothing is
// taken out here.
func newLog(w io.Writer, c Log) *web.Log {
	var level slog.Level
	if err := level.UnmarshalText([]byte(c.Level)); err != nil {
		level = slog.LevelInfo // judged already
	}
	options := &slog.HandlerOptions{Level: level}
	if c.Format == "json" {
		return web.NewLog(slog.NewJSONHandler(w, options))
	}
	return web.NewLog(slog.NewTextHandler(w, options))
}

// quiet is a log that nobody reads.
func quiet() *slog.Logger { return slog.New(slog.DiscardHandler) }

// greet tells whoever has started the daemon where it is, which model answers and how to get in, in
// one piece.
func (c *call) greet(l *loaded, site *web.Server, found string) {
	address := site.Addr()
	if address == "" {
		return // it could not listen, and says so itself
	}
	lines := []string{fmt.Sprintf("Holdfast %s listens at http://%s (pid %d)", version, address, os.Getpid())}
	for _, b := range l.Bots {
		lines = append(lines, b.Name+" answers with "+chain(b))
	}
	for _, note := range l.Notes {
		lines = append(lines, "Note: "+note)
	}
	if found == demoModel {
		lines = append(lines, "That is the built-in demo, since there is no config with a bot and no model was found. "+setKey())
	}
	if line := tunnel(c.place, address); line != "" {
		lines = append(lines, "You are here over SSH; on your own machine first: "+line)
	}
	lines = append(lines, c.wayIn(site), "")
	fmt.Fprint(c.out, strings.Join(lines, "\n"))
}

// wayIn is a login link if somebody watches, else how to get one.
func (c *call) wayIn(site *web.Server) string {
	if !isTerminal(c.out) {
		return c.line("login") + " prints a link to the page"
	}
	link, err := site.LoginLink()
	if err != nil {
		return fmt.Sprintf("%s prints a link to the page (%v)", c.line("login"), err)
	}
	return fmt.Sprintf("Open %s (it works once, for 15 minutes)", link)
}

// loginLine is wayIn's command for the page and the API, which tell it to anybody: the path of a
// config is not for everybody's eyes.
func (c *call) loginLine() string {
	told := *c
	if told.config != "" {
		told.config = "FILE"
	}
	return told.line("login")
}

// setKey tells how to get a real model.
func setKey() string {
	var names []string
	for _, s := range detectable() {
		_, keyVar, _ := llm.Known(s.provider)
		names = append(names, keyVar)
	}
	return "For a real one set " + strings.Join(names[:len(names)-1], ", ") + " or " + names[len(names)-1] + " and start again, or start Ollama."
}

// tunnel is the ssh command that brings the page to the machine somebody sits at; "" without SSH.
func tunnel(p place, address string) string {
	connection := strings.Fields(p.get("SSH_CONNECTION")) // client, its port, server, its port
	if len(connection) != 4 {
		return ""
	}
	_, port, err := net.SplitHostPort(address)
	if err != nil {
		return ""
	}
	login := cmp.Or(p.get("USER"), p.get("LOGNAME"))
	if login != "" {
		login += "@"
	}
	ssh := "ssh"
	if connection[3] != "22" {
		ssh += " -p " + connection[3]
	}
	return fmt.Sprintf("%s -L %s:%s %s%s", ssh, port, address, login, connection[2])
}

// isTerminal tells whether somebody watches.
func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && (isatty.IsTerminal(f.Fd()) || isatty.IsCygwinTerminal(f.Fd()))
}
