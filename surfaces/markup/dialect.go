package markup

import (
	"html"
	"net/url"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/yuin/goldmark/util"
)

// pair opens and closes a span.
type pair struct{ open, end string }

// dialect is what a platform understands.
type dialect struct {
	limit                int
	markdown             bool // spans are marks in the text and not tags
	bold, italic, strike pair
	quote                pair
	quoteLine            string // begins each further line of a quote
	bullet, rule         string
	heading              func(level int) pair
	link                 func(address string) pair
	fence                func(language string) pair
	code                 func(code string) pair // a span of it within a line
	text                 func(c string, escaped bool, before, after string) string
	inCode               func(c string) string
	inAddress            func(c string) string // of a link that stands for itself
	pings                []string              // what notifies somebody, in lower case
	names                bool                  // @name outside code notifies as well
}

func slack() dialect {
	d := markdown()
	d.limit, d.rule = SlackLimit, "---"
	d.heading = func(level int) pair { return pair{strings.Repeat("#", level) + " ", ""} }
	d.link = func(address string) pair { return pair{"[", "](" + entities(address) + ")"} }
	d.text = func(c string, escaped bool, before, _ string) string {
		if e := entities(c); e != c {
			return e
		}
		if c == "`" && strings.HasSuffix(before, c) { // no fence
			return "\u200b" + c
		}
		if escaped {
			return `\` + c
		}
		return c
	}
	d.inAddress = entities
	d.pings = append(d.pings, "<!channel", "<!here", "<!everyone", "<!group", "<!subteam", "@channel")
	return d
}

func discord() dialect {
	d := markdown()
	d.limit, d.rule = DiscordLimit, "———"
	d.heading = func(level int) pair {
		if level > 3 {
			return d.bold
		}
		return pair{strings.Repeat("#", level) + " ", ""}
	}
	d.link = func(address string) pair { return pair{"[", "](" + address + ")"} }
	d.text = discordText
	d.inAddress = d.inCode
	return d
}

// discordText escapes what Discord would read as a mark: its marks, unlike Markdown's, reach across lines.
func discordText(c string, escaped bool, before, after string) string {
	mark := false
	switch c {
	case "*", "`", `\`:
		mark = true
	case "~", "|":
		mark = strings.HasSuffix(before, c) || after == c
	case "_":
		last, _ := utf8.DecodeLastRuneInString(before)
		mark = !(wordy(string(last)) && wordy(after))
	}
	if mark || escaped {
		return `\` + c
	}
	return c
}

func wordy(c string) bool {
	for _, r := range c {
		return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r)
	}
	return false
}

// markdown is what Slack's and Discord's dialects have in common.
func markdown() dialect {
	return dialect{
		markdown: true,
		bold:     pair{"**", "**"}, italic: pair{"*", "*"}, strike: pair{"~~", "~~"},
		quote: pair{"> ", ""}, quoteLine: "> ", bullet: "- ",
		fence:  func(language string) pair { return pair{"```" + language + "\n", "\n```"} },
		code:   codeSpan,
		inCode: func(c string) string { return c },
		pings:  []string{"@everyone", "@here", "<@"},
	}
}

// codeSpan is marked so that the marks in it, which stand alone, do not end it. A long one may be cut beside
// one of them, which makes no fence with those at a part's edge.
func codeSpan(code string) pair {
	switch {
	case strings.HasPrefix(code, "`") || strings.HasSuffix(code, "`") || len(code) > clusterMost && strings.Contains(code, "`"):
		return pair{"`` ", " ``"}
	case strings.Contains(code, "`"):
		return pair{"``", "``"}
	}
	return pair{"`", "`"}
}

func telegram() dialect {
	return dialect{
		limit: TelegramLimit,
		bold:  pair{"<b>", "</b>"}, italic: pair{"<i>", "</i>"}, strike: pair{"<s>", "</s>"},
		quote: pair{"<blockquote>", "</blockquote>"}, bullet: "• ", rule: "———",
		heading: func(int) pair { return pair{"<b>", "</b>"} },
		link:    func(address string) pair { return pair{`<a href="` + html.EscapeString(address) + `">`, "</a>"} },
		fence: func(language string) pair {
			if language == "" {
				return pair{"<pre>", "</pre>"}
			}
			return pair{`<pre><code class="language-` + language + `">`, "</code></pre>"}
		},
		code:   func(string) pair { return pair{"<code>", "</code>"} },
		text:   func(c string, _ bool, _, _ string) string { return entities(c) },
		inCode: entities, inAddress: entities,
		pings: []string{"@everyone", "@here"},
		names: true,
	}
}

var asEntities = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")

// entities writes the three signs that both Slack and HTML read as more than text.
func entities(s string) string { return asEntities.Replace(s) }

// noMarks writes the signs of an address that could end its mark as an address may carry them.
var noMarks = strings.NewReplacer("(", "%28", ")", "%29", "<", "%3C", ">", "%3E", `"`, "%22", "`", "%60", "*", "%2A", "|", "%7C", `\`, "%5C")

// address gives a link's destination as it may stand in a message; false if it leads nowhere that a
// chat may lead to.
func (d dialect) address(destination string) (string, bool) {
	s := string(util.URLEscape([]byte(destination), true))
	s = noMarks.Replace(s)
	for _, p := range d.pings {
		if strings.Contains(strings.ToLower(s), p) {
			s = strings.ReplaceAll(s, "@", "%40")
		}
	}
	u, err := url.Parse(s)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" && u.Scheme != "mailto" {
		return "", false
	}
	return s, true
}

// disarm breaks up the ping that c would complete after what stands before it.
func (d dialect) disarm(before, c string) string {
	if !strings.ContainsAny(before, "@<") && !strings.ContainsAny(c, "@<") { // with which all of them begin
		return c
	}
	before = strings.ToLower(before)
	now := before + strings.ToLower(c)
	for _, p := range d.pings {
		if at := strings.LastIndex(now, p); at >= 0 && at+len(p) > len(before) {
			return "\u200b" + c
		}
	}
	return c
}
