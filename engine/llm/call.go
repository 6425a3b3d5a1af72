package llm

import "encoding/json"

// Arguments makes what a model wrote as a call's arguments valid JSON, as Call has it.
func Arguments(text string) json.RawMessage {
	if text == "" {
		return json.RawMessage("{}")
	}
	if json.Valid([]byte(text)) {
		return json.RawMessage(text)
	}
	b, _ := json.Marshal(text) // a string always marshals
	return b
}
