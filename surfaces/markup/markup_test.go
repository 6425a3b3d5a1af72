package markup

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// show prints parts so that a failure can be read.
func show(parts []string) string {
	var b strings.Builder
	for i, p := range parts {
		fmt.Fprintf(&b, "--- part %d, %d units\n%s\n", i+1, width(p), p)
	}
	return b.String()
}

func TestMarkup(t *testing.T) {
	for _, c := range []struct{ name, md, slack, discord, telegram string }{
		{"plain", "Hello, world.", "", "", ""},
		{"styles", "**bold** and *thin* and ~~gone~~ and `code`", "", "", "<b>bold</b> and <i>thin</i> and <s>gone</s> and <code>code</code>"},
		{"underscores", "__bold__ and _thin_, but snake_case_name", "**bold** and *thin*, but snake_case_name", "**bold** and *thin*, but snake_case_name", "<b>bold</b> and <i>thin</i>, but snake_case_name"},
		{"nested bold once", "**a __b__ c**", "**a b c**", "**a b c**", "<b>a b c</b>"},
		{"signs", "1 < 2 && 3 > 2", "1 &lt; 2 &amp;&amp; 3 &gt; 2", "1 < 2 && 3 > 2", "1 &lt; 2 &amp;&amp; 3 &gt; 2"},
		{"entities", "&lt;b&gt; &amp;amp; &copy;", "&lt;b&gt; &amp;amp; ©", `\<b\> \&amp; ©`, "&lt;b&gt; &amp;amp; ©"},
		{"escapes", `\*not thin\* C:\dir`, `\*not thin\* C:\dir`, `\*not thin\* C:\\dir`, `*not thin* C:\dir`},
		{"lone marks", "2 ** 3 and a ` b || c || d", "2 ** 3 and a ` b || c || d", "2 \\*\\* 3 and a \\` b \\|\\| c \\|\\| d", "2 ** 3 and a ` b || c || d"},
		{"html is text", "<b>x</b>", "&lt;b&gt;x&lt;/b&gt;", "<b>x</b>", "&lt;b&gt;x&lt;/b&gt;"},
		{"headings", "# One\n\ntext\n\n#### Four **x**", "# One\n\ntext\n\n#### Four **x**", "# One\n\ntext\n\n**Four x**", "<b>One</b>\n\ntext\n\n<b>Four x</b>"},
		{"soft break", "one\ntwo", "", "", ""},
		{"list", "- a\n- b\n  - c\n- [x] d\n- [ ] e", "- a\n- b\n  - c\n- ☑ d\n- ☐ e", "- a\n- b\n  - c\n- ☑ d\n- ☐ e", "• a\n• b\n  • c\n• ☑ d\n• ☐ e"},
		{"numbers", "3. a\n4. b\n\n   more", "3. a\n\n4. b\n\n   more", "3. a\n\n4. b\n\n   more", "3. a\n\n4. b\n\n   more"},
		{"code in a list", "1. a\n   ```go\n   x := 1\n   ```\n2. b", "1. a\n```go\nx := 1\n```\n2. b", "1. a\n```go\nx := 1\n```\n2. b", "1. a\n<pre><code class=\"language-go\">x := 1</code></pre>\n2. b"},
		{"quote", "> a\n> b\n>\n> > c\n\nd", "> a\n> b\n>\n> c\n\nd", "> a\n> b\n>\n> c\n\nd", "<blockquote>a\nb\n\nc</blockquote>\n\nd"},
		{"fence", "```go\nif a < b && c {\n\n\tx()\n}\n```", "```go\nif a < b && c {\n\n    x()\n}\n```", "```go\nif a < b && c {\n\n    x()\n}\n```", "<pre><code class=\"language-go\">if a &lt; b &amp;&amp; c {\n\n    x()\n}</code></pre>"},
		{"bad language", "```a\"b onclick\nx\n```", "```\nx\n```", "```\nx\n```", "<pre>x</pre>"},
		{"backticks in code", "`` a`b ``", "``a`b``", "``a`b``", "<code>a`b</code>"},
		{"link", "[the *docs*](https://example.org/a_(b)?x=1&y=2)", "[the *docs*](https://example.org/a_%28b%29?x=1&amp;y=2)", "[the *docs*](https://example.org/a_%28b%29?x=1&y=2)", `<a href="https://example.org/a_%28b%29?x=1&amp;y=2">the <i>docs</i></a>`},
		{"address", "see https://example.org/x_y_z.", "see https://example.org/x_y_z.", "see https://example.org/x_y_z.", "see https://example.org/x_y_z."},
		{"bad link", "[x](javascript:alert) [y](tg://user?id=1)", "x y", "x y", "x y"},
		{"image is a link", "![a cat](https://example.org/cat.png)", "[a cat](https://example.org/cat.png)", "[a cat](https://example.org/cat.png)", `<a href="https://example.org/cat.png">a cat</a>`},
		{"rule", "a\n\n---\n\nb", "a\n\n---\n\nb", "a\n\n———\n\nb", "a\n\n———\n\nb"},
		{"table", "|name|n|\n|:--|--:|\n|ü `x`|1|\n|日本<br>b|20|", "```\nname   |  n\n-------|---\nü x    |  1\n日本 b | 20\n```", "```\nname   |  n\n-------|---\nü x    |  1\n日本 b | 20\n```", "<pre>name   |  n\n-------|---\nü x    |  1\n日本 b | 20</pre>"},
		{"definition only", "[a]: https://example.org", `\[a\]: https://example.org`, `\[a\]: https://example.org`, ""},
		{"nothing", " \n\t", "…", "…", "…"},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, p := range []struct {
				name string
				got  []string
				want string
			}{{"slack", Slack(c.md), c.slack}, {"discord", Discord(c.md), c.discord}, {"telegram", Telegram(c.md), c.telegram}} {
				if p.want == "" {
					p.want = c.md
				}
				if len(p.got) != 1 || p.got[0] != p.want {
					t.Errorf("%s: %q, want %q", p.name, p.got, p.want)
				}
			}
		})
	}
}

var (
	slackPing    = regexp.MustCompile(`(?i)<!(channel|here|everyone|group|subteam)|<@|@(everyone|here|channel)`)
	discordPing  = regexp.MustCompile(`(?i)<@|@(everyone|here)`)
	tag          = regexp.MustCompile(`<(/?)(b|i|s|a|code|pre|blockquote)((?: href| class)="[^"<>]*")?>`)
	telegramCode = regexp.MustCompile(`(?s)<pre>.*?</pre>|<code.*?</code>|https?://[^\s<]*`)
	telegramLink = regexp.MustCompile(`<a href="[^"]*">`)
	telegramPing = regexp.MustCompile(`(?i)@(everyone|here)|(^|[^\w\pL\pN])@[\w\pL\pN]`)
)

// pings are ways to say them (S4).
var pings = []string{
	"<!channel> <!here|x> <!everyone> <@U0123> <!subteam^S1> @everyone @here <@&123> <@!5> @channel",
	"`<!channel> @everyone` and\n```\n<!here> <@U0123> @everyone\n```",
	`\<!channel> <\!channel> \@everyone <\@U1> @every\one`,
	"&lt;!channel&gt; &#64;everyone @&#101;veryone &#x3c;@U1&#x3e; &#60;&#33;here>",
	"@[everyone](javascript:x) <[!channel>](javascript:x) @**![](javascript:x)**everyone **@**everyone @`everyone`",
	"[x](https://example.org/@everyone) [x](<https://example.org/<@U1>>) https://example.org/<!channel> <https://example.org/@here>",
	"|a|\n|-|\n|<!channel> @everyone <@U1>|",
	"# <!here>\n> @everyone\n\n- <@U1>\n\n[@bob](https://example.org) @bob x@bob.org **@**bob [@ ](javascript:x)bob",
	"@EveryOne @HERE <!CHANNEL>",
	"[a]: <!channel>",
	"<https:example.org/@bob> <mailto:x@y.org/@bob>",
}

// Model output can ping nobody (S4).
func TestPingsDisarmedS4(t *testing.T) {
	for _, md := range pings {
		noPing(t, md)
	}
	if got := Slack("`<!DOCTYPE html>` <!-- x -->"); got[0] != "`<!DOCTYPE html>` &lt;!-- x --&gt;" {
		t.Errorf("code that is no ping is changed: %q", got)
	}
}

func noPing(t *testing.T, md string) {
	t.Helper()
	if s := strings.Join(Slack(md), "\n"); slackPing.MatchString(s) {
		t.Errorf("slack: %q survives in %q, of %q", slackPing.FindString(s), s, md)
	}
	if s := strings.Join(Discord(md), "\n"); discordPing.MatchString(s) {
		t.Errorf("discord: %q survives in %q, of %q", discordPing.FindString(s), s, md)
	}
	for _, p := range Telegram(md) {
		s := telegramLink.ReplaceAllString(p, "") // like other tags it leaves no trace in the text
		s = tag.ReplaceAllString(telegramCode.ReplaceAllString(s, "."), "")
		if telegramPing.MatchString(s) {
			t.Errorf("telegram: %q survives in %q, of %q", telegramPing.FindString(s), s, md)
		}
	}
}

// long is an answer with everything in it.
func long(n int) string {
	var b strings.Builder
	for i := 0; b.Len() < n; i++ {
		fmt.Fprintf(&b, "## Part %d\n\nSome **bold words that go on for quite a while, so that a cut can come in the middle of them** and then\n", i)
		b.WriteString(strings.Repeat("prose that fills a paragraph ", 20) + "\n\n```python\n")
		for j := range 25 {
			fmt.Fprintf(&b, "    print(%d, %d)  # a < b\n", i, j)
		}
		b.WriteString("```\n\n> a quote\n\n")
	}
	return b.String()
}

func TestLongAnswerKeepsFences(t *testing.T) {
	for _, n := range []int{9000, 30000} {
		for name, f := range map[string]func(string) []string{"slack": Slack, "discord": Discord, "telegram": Telegram} {
			limit := map[string]int{"slack": SlackLimit, "discord": DiscordLimit, "telegram": TelegramLimit}[name]
			parts := f(long(n))
			if least := n / limit; len(parts) < least || len(parts) > 2*least+2 {
				t.Errorf("%s: %d parts for %d characters", name, len(parts), n)
			}
			var seen []string
			for i, p := range parts {
				whole(t, name, p, limit)
				if i < len(parts)-1 && width(p) < limit/3 {
					t.Errorf("%s: part %d is small: %d", name, i, width(p))
				}
				seen = append(seen, regexp.MustCompile(`print\(\d+, \d+\)`).FindAllString(p, -1)...)
			}
			want := regexp.MustCompile(`print\(\d+, \d+\)`).FindAllString(long(n), -1)
			if !slices.Equal(seen, want) {
				t.Errorf("%s: %d code lines of %d, or in another order", name, len(seen), len(want))
			}
		}
	}
}

// whole checks what holds for every part.
func whole(t *testing.T, name, p string, limit int) {
	t.Helper()
	if width(p) > limit {
		t.Errorf("%s: %d units over the limit in %q", name, width(p)-limit, p)
	}
	if strings.TrimSpace(p) == "" {
		t.Errorf("%s: blank part", name)
	}
	if name != "telegram" {
		if strings.Count(p, "```")%2 != 0 {
			t.Errorf("%s: a fence is left open in %q", name, p)
		}
		return
	}
	var open []string
	for _, m := range tag.FindAllStringSubmatch(p, -1) {
		switch {
		case m[1] == "":
			open = append(open, m[2])
		case len(open) == 0 || open[len(open)-1] != m[2]:
			t.Errorf("telegram: </%s> ends nothing in %q", m[2], p)
			return
		default:
			open = open[:len(open)-1]
		}
	}
	if rest := tag.ReplaceAllString(p, ""); len(open) != 0 || strings.ContainsAny(rest, "<>") {
		t.Errorf("telegram: tags %v are open, or stray signs in %q", open, p)
	}
}

func TestSplitPrefersParagraphLineWord(t *testing.T) {
	para := strings.TrimSpace(strings.Repeat("word ", 240)) // 1,199
	for _, c := range []struct {
		name, md, first, second string
	}{
		{"paragraph", para + "\n\n" + para, para, para},
		{"line", para + "\n" + para, para, para},
		{"word", strings.Repeat("w ", 1500), strings.TrimSpace(strings.Repeat("w ", 1000)), strings.TrimSpace(strings.Repeat("w ", 500))},
		{"bold goes on", "**" + strings.TrimSpace(strings.Repeat("w ", 1500)) + "**", "**" + strings.TrimSpace(strings.Repeat("w ", 998)) + "**", "**" + strings.TrimSpace(strings.Repeat("w ", 502)) + "**"},
		{"heading stays with its text", strings.Repeat("a", 1500) + "\n\n# Head\n\n" + strings.Repeat("b", 900), strings.Repeat("a", 1500), "# Head\n\n" + strings.Repeat("b", 900)},
		{"no sign begins a list", strings.Repeat("a", 1995) + " 1234567. x - y", strings.Repeat("a", 1995), "1234567. x - y"},
		{"fence", "```go\n" + strings.Repeat("0123456\n", 300) + "```", "```go\n" + strings.TrimSpace(strings.Repeat("0123456\n", 248)) + "\n```", "```go\n" + strings.TrimSpace(strings.Repeat("0123456\n", 52)) + "\n```"},
	} {
		parts := Discord(c.md)
		if len(parts) != 2 || strings.TrimSpace(parts[0]) != strings.TrimSpace(c.first) || strings.TrimLeft(parts[1], "\u200b") != c.second {
			t.Errorf("%s: %s", c.name, show(parts))
		}
	}
}

// A family of seven code points is one character, as is a letter with its accents.
func TestNeverInsideACharacter(t *testing.T) {
	family := "👩‍👩‍👧‍👦"
	for _, p := range Discord(strings.Repeat(family, 500)) {
		if strings.Trim(strings.ReplaceAll(p, family, ""), "\u200b") != "" {
			t.Errorf("a character was cut in %q", p)
		}
	}
	for _, p := range Telegram(strings.Repeat("<", 5000)) {
		if strings.ReplaceAll(p, "&lt;", "") != "" {
			t.Errorf("an entity was cut in %q", p)
		}
	}
}

func FuzzMarkup(f *testing.F) {
	for _, p := range pings {
		f.Add(p, 3)
	}
	f.Add(long(3000), 2)
	f.Add("> 1. a\n>    ```x\n>    ````\n> * **b _c `d` e_**\n", 200)
	f.Add("|a|b|\n|-|-|\n|**x**|[y](https://z.org)|\n", 40)
	f.Add("a\u0301\u0302👩‍👩‍👧‍👦\xff\x00&#0;&#xfffff;", 300)
	f.Fuzz(func(t *testing.T, md string, times int) {
		if times < 0 || times > 400 || len(md)*times > 5000 {
			return
		}
		md = strings.Repeat(md, max(times, 1))
		noPing(t, md)
		for name, parts := range map[string][]string{"slack": Slack(md), "discord": Discord(md), "telegram": Telegram(md)} {
			if len(parts) == 0 {
				t.Errorf("%s: no part", name)
			}
			for _, p := range parts {
				whole(t, name, p, map[string]int{"slack": SlackLimit, "discord": DiscordLimit, "telegram": TelegramLimit}[name])
			}
		}
	})
}

func BenchmarkDiscord(b *testing.B) {
	md := long(9000)
	for b.Loop() {
		Discord(md)
	}
}

func BenchmarkTelegram(b *testing.B) {
	md := long(9000)
	for b.Loop() {
		Telegram(md)
	}
}
