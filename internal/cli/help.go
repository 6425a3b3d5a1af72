package cli

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

const (
	width    = 80 // of the help, in characters
	leftMost = 30 // of its left column
)

// helpText is what --help prints at a command.
func (n *node) helpText() string {
	var b strings.Builder
	usage := n.name
	if n.parent != nil {
		usage = n.root().name + " " + n.path()
	}
	for _, a := range n.args {
		usage += " " + a.inUsage()
	}
	if len(n.commands) > 0 {
		usage += " <command>"
	}
	fmt.Fprintf(&b, "Usage: %s [flags]\n\n%s\n", usage, folded(n.help, 0))
	if len(n.args) > 0 {
		var rows [][2]string
		for _, a := range n.args {
			rows = append(rows, [2]string{a.inUsage(), a.help})
		}
		b.WriteString("\nArguments:\n" + table(rows))
	}
	rows := [][2]string{{"-h, --help", "Show this."}}
	for _, f := range n.all() {
		rows = append(rows, [2]string{f.asFlag(), f.help})
	}
	b.WriteString("\nFlags:\n" + table(rows))
	if len(n.commands) > 0 {
		rows = nil
		for leaf := range n.leaves() {
			rows = append(rows, [2]string{leaf.path(), leaf.help})
		}
		b.WriteString("\nCommands:\n" + table(rows))
		fmt.Fprintf(&b, "\n%s <command> --help tells more about one.\n", n.root().name)
	}
	return b.String()
}

func (n *node) root() *node {
	for n.parent != nil {
		n = n.parent
	}
	return n
}

// inUsage is a word as the usage line shows it.
func (f *field) inUsage() string {
	if f.optional {
		return "[" + f.shown() + "]"
	}
	return f.shown()
}

// asFlag is a flag as the left column shows it.
func (f *field) asFlag() string {
	left := "    --" + f.name
	if f.letter != "" {
		left = "-" + f.letter + ", --" + f.name
	}
	switch {
	case f.switches():
		return left
	case f.list():
		return left + "=" + f.placeholder + ",..."
	}
	return left + "=" + f.placeholder
}

// table sets rows in two columns.
func table(rows [][2]string) string {
	left := 0
	for _, r := range rows {
		left = max(left, min(leftMost, utf8.RuneCountInString(r[0])))
	}
	var b strings.Builder
	for _, r := range rows {
		indent := 2 + left + 2
		fmt.Fprintf(&b, "  %-*s  %s\n", left, r[0], folded(r[1], indent))
	}
	return b.String()
}

// folded breaks a text at spaces; lines after the first are indented.
func folded(text string, indent int) string {
	var lines []string
	for paragraph := range strings.SplitSeq(text, "\n") {
		line := ""
		for word := range strings.FieldsSeq(paragraph) {
			if line != "" && utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) > width-indent {
				lines, line = append(lines, line), ""
			}
			line = strings.TrimPrefix(line+" "+word, " ")
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n"+strings.Repeat(" ", indent))
}
