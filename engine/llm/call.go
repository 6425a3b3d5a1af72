package llm

import (
	"encoding/json"
	"strings"
)

// Arguments makes what a model wrote as a call's arguments valid JSON, as Call has it. Nothing, which
// some models write as null, is an object without members.
func Arguments(text string) json.RawMessage {
	if plain := strings.TrimSpace(text); plain == "" || plain == "null" {
		return json.RawMessage("{}")
	}
	if json.Valid([]byte(text)) {
		return json.RawMessage(text)
	}
	b, _ := json.Marshal(text) // a string always marshals
	return b
}
