package tool

import (
	"regexp"
	"strings"
)

// metaCharset finds what a page says of itself at its beginning.
var metaCharset = regexp.MustCompile(`(?i)<meta[^>]+charset\s*=\s*["']?\s*([a-z0-9_:.-]+)`)

// charsetOf is the charset that a page names in its first KB; "" if it names none.
func charsetOf(page []byte) string {
	if m := metaCharset.FindSubmatch(page[:min(len(page), 1024)]); m != nil {
		return string(m[1])
	}
	return ""
}

// western are the characters of windows-1252 from 0x80 to 0x9F, which pages mean by latin-1 as well
// (WHATWG Encoding Standard); \uFFFD stands where it has none.
var western = []rune("€\uFFFD‚ƒ„…†‡ˆ‰Š‹Œ\uFFFDŽ\uFFFD\uFFFD‘’“”•–—˜™š›œ\uFFFDžŸ")

// decoded is a page's text as UTF-8. Charsets other than UTF-8 and the western ones are rare by now:
// their characters become \uFFFD and their ASCII stays.
func decoded(page []byte, charset string) string {
	switch strings.ToLower(charset) {
	case "iso-8859-1", "latin1", "windows-1252", "cp1252", "iso-8859-15", "us-ascii", "ascii":
	default:
		return strings.TrimPrefix(strings.ToValidUTF8(string(page), "\uFFFD"), "\uFEFF")
	}
	var b strings.Builder
	b.Grow(len(page) + len(page)/8)
	for _, c := range page {
		switch {
		case c >= 0x80 && c <= 0x9F:
			b.WriteRune(western[c-0x80])
		case c == 0xA4 && strings.EqualFold(charset, "iso-8859-15"):
			b.WriteRune('€')
		default:
			b.WriteRune(rune(c))
		}
	}
	return b.String()
}
