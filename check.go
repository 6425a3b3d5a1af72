package main

import (
	"fmt"
	"io"
	"strings"

	"holdfast/engine"
)

// checkCmd judges the config as the start does (S8).
type checkCmd struct{}

func (checkCmd) Run(c *call) error {
	l, err := c.load()
	if err != nil {
		return err
	}
	if len(l.Problems) > 0 {
		printProblems(c.out, l)
		return errSaid
	}
	for _, note := range l.Notes {
		fmt.Fprintln(c.out, "note:", note)
	}
	if l.File == "" {
		fmt.Fprintln(c.out, "There is no config; built-in defaults hold. That is fine.")
	} else {
		fmt.Fprintf(c.out, "%s is fine.\n", l.File)
	}
	rows := [][]string{{"page", "http://" + l.Web.Listen}, {"store", l.Store.Dir}}
	for _, b := range l.Bots {
		rows = append(rows, []string{"bot " + b.Name, chain(b)})
	}
	if len(l.Bots) == 0 {
		rows = append(rows, []string{"bot bot", "answers with the first model that is found at the start"})
	}
	table(c.out, rows)
	return nil
}

// chain is a bot's models as people read them.
func chain(b engine.Bot) string {
	return strings.Join(b.Models, ", then ")
}

// printProblems prints one problem a line, and how many there are.
func printProblems(w io.Writer, l *loaded) {
	for _, p := range l.Problems {
		fmt.Fprintln(w, p)
	}
	n := "one problem"
	if len(l.Problems) > 1 {
		n = fmt.Sprintf("%d problems", len(l.Problems))
	}
	fmt.Fprintf(w, "%s has %s; nothing was started.\n", l.File, n)
}
