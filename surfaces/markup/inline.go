package markup

import (
	"strings"

	"github.com/yuin/goldmark/ast"
	extast "github.com/yuin/goldmark/extension/ast"
)

// addressMost is how long a link's address may be to stand in a mark, which every part of its text
// repeats; a longer one is written out.
const addressMost = 400

func (w *writer) inlines(parent ast.Node) {
	for n := parent.FirstChild(); n != nil; n = n.NextSibling() {
		w.inline(n)
	}
}

func (w *writer) inline(n ast.Node) {
	switch n := n.(type) {
	case *ast.Text:
		w.resolved(n.Segment.Start, n.Segment.Stop)
		if n.SoftLineBreak() || n.HardLineBreak() {
			w.gap(line, w.newline())
		}
	case *ast.CodeSpan:
		w.codeSpan(n)
	case *ast.Emphasis:
		if n.Level >= 2 {
			w.span(w.d.bold, &w.styled.bold, n)
		} else {
			w.span(w.d.italic, &w.styled.italic, n)
		}
	case *extast.Strikethrough:
		w.span(w.d.strike, &w.styled.struck, n)
	case *ast.Link:
		w.link(n, string(n.Destination))
	case *ast.Image:
		w.link(n, string(n.Destination))
	case *ast.AutoLink:
		w.bare(string(n.Label(w.source)))
	case *extast.TaskCheckBox:
		if n.IsChecked {
			w.atom("☑ ", anywhere)
		} else {
			w.atom("☐ ", anywhere)
		}
	default:
		w.inlines(n)
	}
}

// span writes the children in a style, if they do not stand in it already.
func (w *writer) span(p pair, on *bool, n ast.Node) {
	if *on {
		w.inlines(n)
		return
	}
	*on = true
	w.open(p, false)
	w.inlines(n)
	w.shut()
	*on = false
}

func (w *writer) codeSpan(n ast.Node) {
	code := strings.ReplaceAll(strings.ReplaceAll(spanText(n, w.source), "\n", " "), "\t", " ")
	if strings.TrimSpace(code) == "" {
		return
	}
	if w.d.markdown { // never more than two marks: three are a fence
		code = strings.ReplaceAll(code, "``", "`\u200b`")
	}
	p := w.d.code(code)
	if w.d.markdown && strings.HasSuffix(w.before, "`") {
		p.open = "\u200b" + p.open
	}
	w.open(p, true)
	if w.d.markdown && strings.Contains(code, "`") && len(code) <= clusterMost {
		w.uncut(code)
	} else {
		w.code(code)
	}
	w.shut()
}

// link writes a link or, as one, an image: loading it would tell a stranger's server of the reader.
// What leads nowhere that a chat may lead to is only text.
func (w *writer) link(n ast.Node, destination string) {
	address, ok := w.d.address(destination)
	label := strings.TrimSpace(plainText(n, w.source))
	switch {
	case !ok || w.styled.linked:
		w.inlines(n)
	case label == "" || label == destination || label == address:
		w.bare(address)
	case len(address) > addressMost:
		w.inlines(n)
		w.gap(word, " ")
		w.bare(address)
	default:
		w.span(w.d.link(address), &w.styled.linked, n)
	}
}

// bare writes an address that stands for itself. Its scheme is in lower case, as every platform knows it.
func (w *writer) bare(address string) {
	scheme, rest, ok := strings.Cut(address, "://")
	if scheme = strings.ToLower(scheme); ok {
		address = scheme + "://" + rest
	}
	known := ok && (scheme == "http" || scheme == "https")
	for c := range clusters(address) {
		s := w.d.inAddress(c)
		if !known { // of mail, or none that a platform would know for one
			s = w.unnamed(s)
		}
		w.atom(s, anywhere)
	}
}

// spanText is what stands in a code span.
func spanText(n ast.Node, source []byte) string {
	var b strings.Builder
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		if t, ok := c.(*ast.Text); ok {
			b.Write(t.Segment.Value(source))
		}
	}
	return b.String()
}

// plainText is a node's text without any marks.
func plainText(n ast.Node, source []byte) string {
	var b strings.Builder
	_ = ast.Walk(n, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.CodeSpan:
			b.WriteString(spanText(n, source))
			return ast.WalkSkipChildren, nil
		case *ast.AutoLink:
			b.Write(n.Label(source))
		case *ast.Text:
			for s, _ := range meant(string(n.Segment.Value(source))) {
				b.WriteString(s)
			}
			if n.SoftLineBreak() || n.HardLineBreak() {
				b.WriteByte(' ')
			}
		}
		return ast.WalkContinue, nil
	})
	return b.String()
}
