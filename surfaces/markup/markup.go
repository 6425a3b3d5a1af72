// Package markup turns an answer's Markdown into the messages of a chat platform.
//
//	Markdown ──goldmark──▶ tree ──writer──▶ tokens ──pack──▶ parts
//
// There is one parse and one walk; what differs between the platforms stands in their dialects. A
// token is a piece that must stay whole, a place where the text may be cut, or the begin or end of a
// span (bold, a code fence, a quote). Where a part ends, its open spans are closed, and the next part
// opens them again. Lengths are counted in UTF-16 units, which no platform counts more strictly.
//
// A model must never be able to ping anybody: whatever would notify on a platform is broken up by a
// zero-width space or escaped, in code and in links as well.
package markup

import "strings"

// Limits of one message, for an edit as for a post.
const (
	SlackLimit    = 12000 // markdown_text of chat.postMessage and chat.update
	DiscordLimit  = 2000  // content
	TelegramLimit = 4096  // text; counted here with its tags, which Telegram does not
)

// Slack gives the parts for markdown_text: Markdown with &, < and > as entities outside code.
func Slack(md string) []string { return render(md, slack()) }

// Discord gives the parts for a message's content.
func Discord(md string) []string { return render(md, discord()) }

// Telegram gives the parts for parse_mode HTML; each is well-formed by itself.
func Telegram(md string) []string { return render(md, telegram()) }

// render gives at least one part, none of them blank.
func render(md string, d dialect) []string {
	source := clean(md)
	w := writer{d: d, source: []byte(source)}
	w.blocks(parse(w.source))
	parts := pack(w.out, d)
	if len(parts) == 0 { // only what shows nothing, like a link's definition: as it was written
		w = writer{d: d, source: []byte(source)}
		w.plain(strings.TrimSpace(source))
		parts = pack(w.out, d)
	}
	if len(parts) == 0 {
		return []string{"…"}
	}
	return parts
}

// clean makes valid UTF-8 without control characters, with plain line ends.
func clean(md string) string {
	md = strings.NewReplacer("\r\n", "\n", "\r", "\n", "\u2028", "\n", "\u2029", "\n").Replace(strings.ToValidUTF8(md, "\uFFFD"))
	return strings.Map(func(r rune) rune {
		if r < ' ' && r != '\n' && r != '\t' || r == 0x7f {
			return -1
		}
		return r
	}, md)
}
