package markup

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/yuin/goldmark/ast"
	extast "github.com/yuin/goldmark/extension/ast"
)

// indentMost is how far lists go in: deeper ones stand as far.
const indentMost = 12

// blocks writes the children of a block, a paragraph apart.
func (w *writer) blocks(parent ast.Node) {
	for n := parent.FirstChild(); n != nil; n = n.NextSibling() {
		w.block(n)
		w.due = paragraph
	}
}

func (w *writer) block(n ast.Node) {
	switch n := n.(type) {
	case *ast.Heading:
		w.heading(n)
	case *ast.ThematicBreak:
		w.atom(w.d.rule, anywhere)
	case *ast.Blockquote:
		w.blockquote(n)
	case *ast.List:
		w.list(n)
	case *ast.FencedCodeBlock:
		w.fence(language(n.Language(w.source)), lines(n, w.source))
	case *ast.CodeBlock:
		w.fence("", lines(n, w.source))
	case *extast.Table:
		w.fence("", table(n, w.source))
	case *ast.Paragraph, *ast.TextBlock:
		w.inlines(n)
	default:
		w.blocks(n)
	}
}

// heading keeps what follows with it, if that can be.
func (w *writer) heading(n *ast.Heading) {
	if p := w.d.heading(n.Level); p == w.d.bold {
		w.span(p, &w.styled.bold, n)
	} else {
		w.open(p, false)
		w.inlines(n)
		w.shut()
	}
	w.glued = true
}

// blockquote: quotes in quotes are flattened, since no platform shows them.
func (w *writer) blockquote(n ast.Node) {
	if w.quoted {
		w.blocks(n)
		return
	}
	indent := w.indent
	w.indent = ""
	w.open(w.d.quote, false)
	w.quoted = true
	w.blocks(n)
	w.due, w.quoted = 0, false
	w.shut()
	w.indent = indent
}

// list writes the items with their numbers as they are meant, so that a code block in between does
// not make them begin anew.
func (w *writer) list(n *ast.List) {
	number, indent := n.Start, w.indent
	for item := n.FirstChild(); item != nil; item = item.NextSibling() {
		marker := w.d.bullet
		if n.IsOrdered() {
			marker = strconv.Itoa(number) + ". "
			number++
		}
		w.atom(marker, anywhere)
		if len(indent) < indentMost {
			w.indent = indent + strings.Repeat(" ", width(marker))
		}
		w.item(item, n.IsTight)
		w.indent, w.due = indent, line
		if !n.IsTight {
			w.due = paragraph
		}
	}
	w.due = 0
}

func (w *writer) item(item ast.Node, tight bool) {
	for b := item.FirstChild(); b != nil; b = b.NextSibling() {
		switch b.(type) {
		case *ast.Paragraph, *ast.TextBlock, *ast.List:
		default:
			w.due = max(w.due, line) // not on the marker's line
		}
		w.block(b)
		w.due = line
		if !tight {
			w.due = paragraph
		}
	}
}

// fence writes a code block. It stands outside a list's indent, which not every platform takes away.
func (w *writer) fence(language string, code []string) {
	for len(code) > 0 && strings.TrimSpace(code[0]) == "" {
		code = code[1:]
	}
	for len(code) > 0 && strings.TrimSpace(code[len(code)-1]) == "" {
		code = code[:len(code)-1]
	}
	if len(code) == 0 {
		return
	}
	indent, p := w.indent, w.d.fence(language)
	w.indent = ""
	switch {
	case w.quoted && !w.d.markdown: // Telegram has no code in quotes
		p = pair{}
	case w.quoted:
		p.open = strings.Replace(p.open, "\n", w.newline(), 1)
		p.end = strings.Replace(p.end, "\n", w.newline(), 1)
	}
	w.open(p, true)
	for i, l := range code {
		if i > 0 {
			w.gap(line, w.newline())
		}
		if w.d.markdown && strings.Contains(l, "```") {
			l = strings.ReplaceAll(l, "``", "`\u200b`")
		}
		w.code(l)
	}
	w.shut()
	w.indent = indent
}

// lines are a code block's lines, tabs as four spaces.
func lines(n ast.Node, source []byte) []string {
	text := strings.ReplaceAll(string(n.Lines().Value(source)), "\t", "    ")
	return strings.Split(strings.TrimSuffix(text, "\n"), "\n")
}

var goodLanguage = regexp.MustCompile(`^[A-Za-z0-9_+#.-]{1,40}$`)

// language is what a fence names, if it can be one.
func language(name []byte) string {
	if goodLanguage.Match(name) {
		return string(name)
	}
	return ""
}
