package llm

import (
	"html"
	"strings"
)

// isPage reports whether a text is HTML or XML.
func isPage(text string) bool {
	if !strings.HasPrefix(text, "<") {
		return false
	}
	start := lowerASCII(text[:min(len(text), 2000)])
	return has(start, "<html", "<!doctype", "<head", "<title", "<body", "<center", "<?xml", "<error", "<h1")
}

// page reads a page of a proxy or an XML error: its title or message is the layer's text; the whole
// of it may state a wait, or say of a 403 that it is about the place, but is too long to look for
// other words in.
func (r *reading) page(text string) {
	l := layer{}
	for _, name := range []string{"title", "h1", "message"} {
		if s := element(text, name); s != "" {
			l.texts = append(l.texts, s)
		}
	}
	if code := element(text, "code"); code != "" && !strings.Contains(code, " ") {
		l.names = append(l.names, fold(code))
	}
	all := visible(text)
	if r.http == 403 && placeText(words([]string{all})) {
		l.texts = append(l.texts, "not available in your country or region")
	}
	r.layers = append(r.layers, l)
	r.said = append(r.said, all)
}

// element is the text of the first element of that name.
func element(text, name string) string {
	low := lowerASCII(text)
	i := strings.Index(low, "<"+name)
	if i < 0 {
		return ""
	}
	open := strings.IndexByte(low[i:], '>')
	if open < 0 {
		return ""
	}
	start := i + open + 1
	end := strings.Index(low[start:], "</"+name)
	if end < 0 {
		return ""
	}
	return strings.TrimSpace(visible(text[start : start+end]))
}

// visible is a page without its tags.
func visible(text string) string {
	var b strings.Builder
	for {
		i := strings.IndexByte(text, '<')
		if i < 0 {
			b.WriteString(text)
			break
		}
		b.WriteString(text[:i])
		b.WriteByte(' ')
		end := strings.IndexByte(text[i:], '>')
		if end < 0 {
			break
		}
		text = text[i+end+1:]
	}
	return html.UnescapeString(b.String())
}
