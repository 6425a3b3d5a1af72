package engine

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"holdfast/store"
)

const (
	callsShown  = 1200 // characters of all arguments in one message to people
	callsAtMost = 12   // calls that are written out in it
)

// inWords is a list of calls as people read them in a message: each on a line of its own, nothing that does
// harm, nobody pinged. What does not fit is counted, and stands whole on the page of the turn.
func (e *Engine) inWords(turn store.ID, calls []askedCall) string {
	var lines []string
	hidden := 0
	each := callsShown / max(min(len(calls), callsAtMost), 1)
	for i, c := range calls {
		if i == callsAtMost {
			hidden += len(calls) - i
			lines = append(lines, fmt.Sprintf("• and %s", count(len(calls)-i, "call")))
			break
		}
		words, more := harmless(argumentsInWords(c.Arguments), each)
		if hidden += more; more > 0 {
			words += fmt.Sprintf(" … (%s not shown here)", count(more, "character"))
		}
		title, _ := harmless(titleOf(c.Title, c.Name), 80)
		lines = append(lines, strings.TrimRight("• "+title+": "+words, ": "))
	}
	if link := e.link("/turns/" + turn.String()); hidden > 0 && link != "" {
		lines = append(lines, "All of it: "+link)
	}
	return strings.Join(lines, "\n")
}

func titleOf(title, name string) string {
	if title != "" {
		return title
	}
	return name
}

// argumentsInWords writes an object's fields as people do; what stands inside them stays JSON.
func argumentsInWords(raw json.RawMessage) string {
	var fields map[string]json.RawMessage
	if json.Unmarshal(raw, &fields) != nil {
		return string(raw)
	}
	var words []string
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		value := string(fields[name])
		var text string
		if json.Unmarshal(fields[name], &text) == nil {
			value = "“" + text + "”"
		} else if plain := unescaped(fields[name]); plain != "" {
			value = plain
		}
		words = append(words, name+" "+value)
	}
	return strings.Join(words, ", ")
}

// unescaped is JSON with < and > as they are, for people; "" if it is none.
func unescaped(raw json.RawMessage) string {
	var v any
	if json.Unmarshal(raw, &v) != nil {
		return ""
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if enc.Encode(v) != nil {
		return ""
	}
	return strings.TrimSpace(b.String())
}

// harmless makes a text that a model has written fit to stand in a message of ours: one line, nobody
// is pinged, nothing of it is taken for markup. more is how many characters were cut off.
func harmless(text string, most int) (shown string, more int) {
	text = strings.Join(strings.Fields(strings.ToValidUTF8(text, "�")), " ")
	text = strings.NewReplacer("<", "‹", ">", "›", "@", "@\u200b", "`", "′", "*", "∗", "[", "［", "]", "］", "~", "∼", "|", "｜", "\u202e", "", "\u202d", "").Replace(text)
	if runes := []rune(text); len(runes) > most {
		return string(runes[:most]), len(runes) - most
	}
	return text, 0
}
