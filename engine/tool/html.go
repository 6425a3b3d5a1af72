package tool

import (
	"net/url"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

const (
	longestText = 4 << 20 // bytes; addresses of links can make more of a page than it was
	longestLink = 500     // bytes of an address; a longer one is left out
)

// htmlText is a page as a person would read it aloud: its title, its text in lines, headings and list
// points marked as in Markdown, links as [text](address). What a browser does not show is left out. It
// reads tokens and no tree, so that no nesting is too deep for it.
func htmlText(page string, base *url.URL) (text, title string) {
	w := &writer{base: base}
	z := html.NewTokenizer(strings.NewReader(page))
	for w.out.Len() < longestText {
		switch z.Next() {
		case html.ErrorToken: // the end, or a token longer than fits: what has been read stands
			w.endLink()
			return w.text(), strings.Join(strings.Fields(w.title.String()), " ")
		case html.TextToken:
			w.say(string(z.Text()))
		case html.StartTagToken:
			w.open(z.Token(), false)
		case html.SelfClosingTagToken:
			w.open(z.Token(), true)
		case html.EndTagToken:
			w.close(z.Token().DataAtom)
		}
	}
	return w.text(), strings.Join(strings.Fields(w.title.String()), " ")
}

// writer makes lines of what it is told.
type writer struct {
	base  *url.URL
	out   strings.Builder
	title strings.Builder

	inTitle bool
	pre     int       // depth of elements whose spaces count
	hidden  atom.Atom // the element that is left out, 0 = none
	depth   int       // how often it stands inside itself
	breaks  int       // line ends that are due before the next word
	space   bool      // so is a space

	link   string          // where the open link leads; "" = none is open
	mark   strings.Builder // its text
	before bool            // a space is due before it
}

// say takes text that stands between tags.
func (w *writer) say(text string) {
	switch {
	case w.hidden != 0:
	case w.inTitle:
		w.title.WriteString(text)
	case w.pre > 0 && w.link == "":
		for i, line := range strings.Split(text, "\n") {
			if i > 0 {
				w.breaks = max(w.breaks, 1)
				if strings.TrimSpace(line) == "" {
					continue
				}
			}
			w.put(line, false)
		}
	default:
		if text == "" {
			return
		}
		words := strings.Fields(text)
		if len(words) == 0 || blank(text[0]) {
			w.space = true
		}
		if len(words) > 0 {
			w.put(strings.Join(words, " "), true)
			w.space = blank(text[len(text)-1])
		}
	}
}

func blank(c byte) bool { return c == ' ' || c == '\n' || c == '\t' || c == '\r' || c == '\f' }

// put writes words after what is due before them; inside a link they go to its text.
func (w *writer) put(text string, flowing bool) {
	if text == "" {
		return
	}
	if w.link != "" {
		if w.mark.Len() > 0 && (w.space || w.breaks > 0) {
			w.mark.WriteByte(' ')
		}
		w.mark.WriteString(strings.Join(strings.Fields(text), " "))
		if w.mark.Len() > 0 {
			w.space = false
		}
		return
	}
	switch {
	case w.out.Len() == 0:
	case w.breaks > 0:
		w.out.WriteString(strings.Repeat("\n", min(w.breaks, 2)))
	case w.space && flowing:
		w.out.WriteByte(' ')
	}
	w.breaks, w.space = 0, false
	w.out.WriteString(text)
}

// open takes a start tag. That an element closes itself counts only where HTML lets it: elsewhere
// browsers read on as if it did not.
func (w *writer) open(t html.Token, selfClosing bool) {
	if w.hidden != 0 && t.DataAtom == w.hidden {
		if !endsItself(w.hidden) {
			w.depth++
			return
		}
		w.hidden = 0
	}
	if w.hidden != 0 {
		return
	}
	if unseen(t) && !void(t.DataAtom) && !(selfClosing && foreign(t.DataAtom)) && t.DataAtom != 0 {
		w.hidden, w.depth = t.DataAtom, 1
		w.edge(t.DataAtom)
		return
	}
	switch t.DataAtom {
	case atom.Title:
		w.inTitle = w.title.Len() == 0
	case atom.Br:
		w.breaks++
	case atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6:
		w.block()
		if w.link == "" {
			w.put(strings.Repeat("#", int(t.Data[1]-'0')), false)
			w.space = true
		}
	case atom.Li:
		w.line()
		w.put("-", false)
		w.space = true
	case atom.Td, atom.Th:
		if w.breaks == 0 {
			w.put(" |", false)
			w.space = true
		}
	case atom.Pre:
		w.block()
		w.pre++
	case atom.A:
		w.endLink()
		if w.link = w.absolute(attribute(t, "href")); w.link != "" {
			w.before, w.space = w.space, false
		}
	case atom.Img:
		if alt := strings.TrimSpace(attribute(t, "alt")); alt != "" {
			w.put("[image: "+strings.Join(strings.Fields(alt), " ")+"]", true)
		}
	default:
		w.edge(t.DataAtom)
	}
}

// close takes an end tag.
func (w *writer) close(a atom.Atom) {
	if w.hidden != 0 {
		if a == w.hidden {
			if w.depth--; w.depth == 0 {
				w.hidden = 0
				w.edge(a)
			}
		}
		return
	}
	switch a {
	case atom.Title:
		w.inTitle = false
	case atom.A:
		w.endLink()
	case atom.Pre:
		w.pre = max(0, w.pre-1)
		w.block()
	case atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6:
		w.block()
	default:
		w.edge(a)
	}
}

// edge is the beginning or end of an element that stands in lines of its own.
func (w *writer) edge(a atom.Atom) {
	switch a {
	case atom.P, atom.Table, atom.Ul, atom.Ol, atom.Dl, atom.Blockquote, atom.Article, atom.Section, atom.Header, atom.Footer, atom.Main, atom.Nav,
		atom.Aside, atom.Figure, atom.Form, atom.Hr, atom.Body:
		w.block()
	case atom.Div, atom.Tr, atom.Dt, atom.Dd, atom.Li, atom.Caption, atom.Figcaption, atom.Option, atom.Address, atom.Fieldset, atom.Summary, atom.Details:
		w.line()
	}
}

func (w *writer) line()  { w.breaks = max(w.breaks, 1) }
func (w *writer) block() { w.breaks = max(w.breaks, 2) }

// endLink writes the link that is open.
func (w *writer) endLink() {
	to, text, after := w.link, w.mark.String(), w.space
	if to == "" {
		return
	}
	w.link = ""
	w.mark.Reset()
	if text == "" {
		w.space = w.before || after
		return
	}
	w.space = w.before
	w.put("["+text+"]("+to+")", true)
	w.space = after
}

// absolute is a link's address; "" for one that leads to no page.
func (w *writer) absolute(href string) string {
	to, err := w.base.Parse(strings.TrimSpace(href))
	if err != nil || href == "" || strings.HasPrefix(strings.TrimSpace(href), "#") || fetchable(to) != nil {
		return ""
	}
	if text := to.String(); len(text) <= longestLink {
		return text
	}
	return ""
}

// text is what has been written, without spaces at the ends of lines.
func (w *writer) text() string { return strings.TrimSpace(w.out.String()) }

// unseen reports whether a browser would not show an element.
func unseen(t html.Token) bool {
	switch t.DataAtom {
	case atom.Script, atom.Style, atom.Template, atom.Noscript, atom.Svg, atom.Iframe, atom.Object, atom.Canvas, atom.Math:
		return true
	}
	if t.DataAtom == atom.Html || t.DataAtom == atom.Body { // hidden until a script shows them
		return false
	}
	for _, a := range t.Attr {
		style := strings.ReplaceAll(a.Val, " ", "")
		if a.Key == "hidden" || a.Key == "aria-hidden" && a.Val == "true" ||
			a.Key == "style" && (strings.Contains(style, "display:none") || strings.Contains(style, "visibility:hidden")) {
			return true
		}
	}
	return false
}

// void reports whether an element never has an end tag.
func void(a atom.Atom) bool {
	switch a {
	case atom.Area, atom.Base, atom.Br, atom.Col, atom.Embed, atom.Hr, atom.Img, atom.Input, atom.Link, atom.Meta, atom.Source, atom.Track, atom.Wbr:
		return true
	}
	return false
}

// foreign reports whether an element is of another language, in which a tag can close itself.
func foreign(a atom.Atom) bool { return a == atom.Svg || a == atom.Math }

// endsItself reports whether an element needs no end tag before the next of its kind.
func endsItself(a atom.Atom) bool {
	switch a {
	case atom.P, atom.Li, atom.Dt, atom.Dd, atom.Tr, atom.Td, atom.Th, atom.Option:
		return true
	}
	return false
}

func attribute(t html.Token, key string) string {
	for _, a := range t.Attr {
		if a.Key == key {
			return a.Val
		}
	}
	return ""
}
