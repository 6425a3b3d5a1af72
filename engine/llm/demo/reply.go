package demo

import (
	"strconv"
	"strings"
	"time"
	"unicode"
)

// reply is what the demo says.
type reply struct {
	text string
	slow bool // numbers, at Config.Count
}

// answer finds something sensible to say without a model.
func answer(text string, now time.Time) reply {
	said := simple(text)
	switch n, counts := countTo(said); {
	case said == "":
		return reply{text: greeting}
	case counts:
		return reply{text: numbers(n), slow: true}
	case said == "markdown" || strings.HasPrefix(said, "show") && strings.Contains(said, "markdown"):
		return reply{text: markdown}
	case anyOf(said, "help", "what can you do", "what can i do", "commands", "what now"):
		return reply{text: help}
	case anyOf(said, "what time", "the time", "what is the date", "what day", "which day", "what date") || said == "time" || said == "date":
		return reply{text: "It is " + now.Format("15:04:05 on Monday, 2 January 2006") + "."}
	case anyOf(said, "who are you", "what are you", "are you a bot", "are you real", "what is this", "which model", "what model"):
		return reply{text: identity}
	case said == "ping":
		return reply{text: "pong"}
	case anyOf(said, "thank you", "thanks"):
		return reply{text: "You are welcome."}
	case isGreeting(said):
		return reply{text: greeting}
	}
	return reply{text: "You said: " + quote(text) + "\n\nI have no model behind me, so that is all I can make of it. Say `help` to see what I can do."}
}

const (
	identity = "I am the demo that comes with Holdfast: a small provider without a model, inside this program. Add a key or a local model to the configuration and a real one answers here."
	greeting = "Hello! " + identity + " Until then, say `help` to see what I can do."
)

const help = "Try one of these:\n\n" +
	"- `count to 20` counts slowly, so that you see the answer stream\n" +
	"- `markdown` shows headings, a list, a table and code\n" +
	"- `what time is it`\n\n" +
	"Or break me, and watch that your message is not lost:\n\n" +
	"- `!fail 503 3` the next 3 requests fail; add a question, as in `!fail 503 3 are you there?`, and it is answered after them\n" +
	"- `!fail 429 45s` I ask to be left alone for 45 seconds\n" +
	"- `!fail 503` I am down until you say `!heal`\n" +
	"- `!fail cut`, `!fail idle`, `!fail reset` the answer breaks off, falls silent, or never begins\n" +
	"- `!heal` makes me well again\n\n" +
	"While a message waits you can stop the daemon, even kill it, and start it again."

const markdown = "# A heading\n\n" +
	"Some text with **bold**, *italic*, `code` and a [link](https://example.com/).\n\n" +
	"## A list\n\n" +
	"1. first\n2. second\n   - inside the second\n3. third\n\n" +
	"- [x] done\n- [ ] to do\n\n" +
	"## A table\n\n" +
	"| failure | what happens |\n|---|---|\n| 429 | waits as long as asked |\n| 503 | waits 2, 4, 8 … seconds |\n| cut | asks again |\n\n" +
	"## Code\n\n" +
	"```go\nfunc main() {\n\tfmt.Println(\"never lost\")\n}\n```\n\n" +
	"> A quotation, to end with.\n"

// simple is a text in lower case, without punctuation and double spaces.
func simple(text string) string {
	text = strings.ReplaceAll(strings.ToLower(text), "what's", "what is")
	return strings.Join(strings.FieldsFunc(text, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r)
	}), " ")
}

func anyOf(said string, phrases ...string) bool {
	for _, p := range phrases {
		if strings.Contains(" "+said+" ", " "+p+" ") {
			return true
		}
	}
	return false
}

func isGreeting(said string) bool {
	word, _, _ := strings.Cut(said, " ")
	switch word {
	case "hi", "hello", "hey", "hallo", "moin", "servus":
		return len(said) < 30
	}
	return said == "good morning" || said == "good evening" || said == "good afternoon"
}

// countTo finds "count to N"; N is at most 200.
func countTo(said string) (n int, ok bool) {
	_, rest, ok := strings.Cut(" "+said, " count to ")
	if !ok {
		return 0, false
	}
	word, _, _ := strings.Cut(rest, " ")
	n, err := strconv.Atoi(word)
	return min(n, 200), err == nil && n > 0
}

func numbers(n int) string {
	var b strings.Builder
	for i := 1; i <= n; i++ {
		b.WriteString(strconv.Itoa(i))
		if i < n {
			b.WriteString(", ")
		}
	}
	return b.String() + "."
}

// quote is a text as a Markdown quotation if it has several lines.
func quote(text string) string {
	text = strings.TrimSpace(text)
	if !strings.Contains(text, "\n") {
		return "“" + text + "”"
	}
	return "\n\n> " + strings.ReplaceAll(text, "\n", "\n> ")
}
