package llm

import (
	"bytes"
	"encoding/json"
	"strings"
)

// isErrorValue reports whether a JSON value is an error of an API and not an answer.
func isErrorValue(v any) bool {
	switch v := v.(type) {
	case []any:
		return len(v) > 0 && isErrorValue(v[0])
	case map[string]any:
		return isErrorMap(v)
	}
	return false
}

func isErrorMap(m map[string]any) bool {
	for _, key := range []string{"error", "errors", "Error", "fault", "detail", "error_code", "errorCode", "__type",
		"error_message"} {
		if v, ok := m[key]; ok && v != nil && v != false && v != "" && v != 0.0 && !isEmpty(v) {
			return true
		}
	}
	if m["type"] == "error" || m["object"] == "error" || m["success"] == false {
		return true
	}
	for _, key := range []string{"response", "Response"} {
		if response, ok := m[key].(map[string]any); ok && isErrorMap(response) {
			return true
		}
	}
	if base, ok := m["base_resp"].(map[string]any); ok { // beside empty choices
		if code, _ := base["status_code"].(float64); code != 0 {
			return true
		}
	}
	for _, key := range []string{"choices", "candidates", "content", "output", "delta", "usage"} {
		if _, ok := m[key]; ok {
			return false
		}
	}
	for _, key := range []string{"message", "msg", "Message"} {
		if s, ok := m[key].(string); ok && s != "" {
			return true
		}
	}
	return false
}

// isHollow reports whether a body has the form of an answer of the API and nothing in it.
func isHollow(body []byte) bool {
	var m map[string]any
	if json.Unmarshal(body, &m) != nil {
		return false
	}
	for _, key := range []string{"choices", "candidates", "content", "output"} {
		if list, ok := m[key].([]any); ok && len(list) == 0 {
			return true
		}
	}
	return false
}

func isEmpty(v any) bool {
	switch v := v.(type) {
	case map[string]any:
		return len(v) == 0
	case []any:
		return len(v) == 0
	}
	return false
}

// errorObject reports whether a piece of a stream is or holds an error object.
func errorObject(data string) bool {
	if !strings.HasPrefix(strings.TrimSpace(data), "{") && !strings.HasPrefix(strings.TrimSpace(data), "[{") {
		return false
	}
	if !strings.Contains(data, "rror") && !strings.Contains(data, "ault") && !strings.Contains(data, "essage") &&
		!strings.Contains(data, "msg") && !strings.Contains(data, "detail") && !strings.Contains(data, "success") && !strings.Contains(data, "__type") {
		return false
	}
	var v any
	if json.NewDecoder(bytes.NewReader([]byte(data))).Decode(&v) != nil {
		return false
	}
	return streamError(v) != nil
}
