package main

import (
	"cmp"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"

	"github.com/mattn/go-isatty"

	"holdfast/engine/llm"
	"holdfast/web"
)

// newLog writes what the config asks for to w. Nothing that is logged holds a secret, so nothing is
// taken out here.
func newLog(w io.Writer, c Log) *slog.Logger {
	var level slog.Level
	if err := level.UnmarshalText([]byte(c.Level)); err != nil {
		level = slog.LevelInfo // judged already
	}
	options := &slog.HandlerOptions{Level: level}
	if c.Format == "json" {
		return slog.New(slog.NewJSONHandler(w, options))
	}
	return slog.New(slog.NewTextHandler(w, options))
}

// quiet is a log that nobody reads.
func quiet() *slog.Logger { return slog.New(slog.DiscardHandler) }

// greet tells whoever has started the daemon where it is, which model answers and how to get in.
func (c *call) greet(l *loaded, site *web.Server, found string) {
	address := site.Addr()
	if address == "" {
		return // it could not listen, and says so itself
	}
	fmt.Fprintf(c.out, "Holdfast %s listens at http://%s (pid %d)\n", version, address, os.Getpid())
	for _, b := range l.Bots {
		fmt.Fprintf(c.out, "%s answers with %s\n", b.Name, chain(b))
	}
	for _, note := range l.Notes {
		fmt.Fprintf(c.out, "Note: %s\n", note)
	}
	if found == demoModel {
		fmt.Fprintln(c.out, "That is the built-in demo, since there is no config and no model was found. "+setKey())
	}
	if line := tunnel(c.place, address); line != "" {
		fmt.Fprintf(c.out, "You are here over SSH; on your own machine first: %s\n", line)
	}
	if !isTerminal(c.out) {
		fmt.Fprintln(c.out, "holdfast login prints a link to the page")
		return
	}
	link, err := site.LoginLink()
	if err != nil {
		fmt.Fprintln(c.err, "holdfast:", err)
		return
	}
	fmt.Fprintf(c.out, "Open %s (it works once, for 15 minutes)\n", link)
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
	_, port, _ := strings.Cut(address[strings.LastIndex(address, ":"):], ":")
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
