package llm

import (
	"encoding/json"
	"strconv"
	"strings"
)

// stream classifies a 200 whose stream went wrong. An error object decides, wherever it stands; then
// a refusal as the reason of the end; then how the stream stopped.
func (r *reading) stream(a Answer) *Failure {
	s := scanStream(a.Stream)
	switch {
	case s.failed:
		r.value(s.err, 0)
		if len(r.layers) == 0 {
			r.sentence(s.words)
		}
		if r.status() == 499 {
			return &Failure{Class: Canceled}
		}
		return &Failure{Class: r.class()}
	case s.reason != "":
		r.layers = []layer{{texts: []string{s.text()}}}
		return &Failure{Class: finishClass(s.reason)}
	case s.terminal && s.data:
		return &Failure{Class: Unclassified}
	case a.End == "idle":
		return &Failure{Class: Timeout}
	}
	return &Failure{Class: Network}
}

// scan is what a stream's lines come to.
type scan struct {
	failed   bool   // an error object, or an error in words
	err      any    // the error object
	words    string // … in words
	reason   string // a bad reason of the end
	refusal  string // what the model said for it
	terminal bool   // the terminal event has come
	data     bool   // something of an answer has come
}

func (s *scan) text() string {
	if s.refusal != "" {
		return s.refusal
	}
	return "the answer ended with the reason " + s.reason
}

// scanStream reads raw lines; what is neither a field nor a comment may be a bare error, on one
// line or several.
func scanStream(lines []string) *scan {
	s := &scan{}
	var events sseAssembler
	var bare []string
	for _, line := range lines {
		kind, _, value := cutField(strings.TrimPrefix(line, "\ufeff"))
		switch kind {
		case sseError:
			s.found(value)
		case sseBare:
			bare = append(bare, value)
		}
		if e, whole := events.take(line); whole {
			s.event(e)
		}
	}
	if e, whole := events.flush(); whole {
		s.event(e)
	}
	if len(bare) > 0 && !s.failed {
		if v, ok := parse(strings.Join(bare, "\n")); ok && streamError(v) != nil {
			s.failed, s.err = true, v
		} else {
			for _, b := range bare {
				if v, ok := parse(b); ok && streamError(v) != nil && !s.failed {
					s.failed, s.err = true, v
				}
			}
		}
	}
	return s
}

// badFinish reads an answer in one piece that ends for a bad reason.
func (r *reading) badFinish(body []byte) bool {
	v, _ := parse(string(body))
	m, ok := v.(map[string]any)
	if !ok {
		return false
	}
	s := &scan{}
	s.ending("", m)
	if s.reason == "" {
		return false
	}
	r.layers = []layer{{names: []string{s.reason}, texts: []string{s.text()}}}
	return true
}

// found is an error on a line of its own.
func (s *scan) found(value string) {
	if s.failed {
		return
	}
	s.failed, s.words = true, value
	s.err, _ = parse(value)
}

// event reads one event in the words of any wire.
func (s *scan) event(e sseEvent) {
	if all := e.parts(); all != nil {
		for _, part := range all {
			s.event(part)
		}
		return
	}
	data := strings.TrimSpace(e.data)
	if data == "[DONE]" {
		s.terminal = true
		return
	}
	v, ok := parse(data)
	if e.name == "error" {
		s.found(data)
		return
	}
	if !ok {
		return
	}
	if found := streamError(v); found != nil {
		if !s.failed {
			s.failed, s.err = true, found
		}
		return
	}
	s.data = true
	if m, ok := v.(map[string]any); ok {
		s.ending(e.name, m)
	}
}

// ending looks for the terminal event and its reason.
func (s *scan) ending(name string, m map[string]any) {
	kind, _ := m["type"].(string)
	if kind == "" {
		kind = name
	}
	switch kind {
	case "response.completed", "message_stop":
		s.terminal = true
	case "response.failed":
		s.terminal, s.reason = true, "error"
	case "response.incomplete":
		s.terminal = true
		response, _ := m["response"].(map[string]any)
		details, _ := response["incomplete_details"].(map[string]any)
		s.reasoned(details["reason"])
	case "message_delta":
		delta, _ := m["delta"].(map[string]any)
		s.reasoned(delta["stop_reason"])
	}
	s.reasoned(m["stop_reason"])
	if feedback, ok := m["promptFeedback"].(map[string]any); ok && feedback["blockReason"] != nil {
		s.terminal = true
		s.reason = "safety"
	}
	for _, list := range []string{"choices", "candidates"} {
		choices, _ := m[list].([]any)
		for _, c := range choices {
			if c, ok := c.(map[string]any); ok {
				s.choice(c)
			}
		}
	}
}

func (s *scan) choice(c map[string]any) {
	for _, key := range []string{"delta", "message"} {
		if said, ok := c[key].(map[string]any); ok {
			if refusal, _ := said["refusal"].(string); refusal != "" {
				s.refusal += refusal
			}
		}
	}
	for _, key := range []string{"finish_reason", "finishReason"} {
		if reason, _ := c[key].(string); reason != "" {
			s.terminal = true
			s.reasoned(reason)
			if s.refusal != "" && s.reason == "" {
				s.reason = "refusal"
			}
		}
	}
}

// reasoned keeps a reason that is a failure.
func (s *scan) reasoned(v any) {
	if reason, _ := v.(string); BadFinish(reason) {
		s.reason = reason
	}
}

// BadFinish reports whether the reason of an answer's end is a failure: the answer was filtered or
// broken off inside.
func BadFinish(reason string) bool { return finishClass(reason) != "" }

// finishClass is the class of such a reason; "" = an ordinary end.
func finishClass(reason string) Class {
	switch fold(reason) {
	case "contentfilter", "contentfiltered", "refusal", "safety", "prohibitedcontent", "blocklist", "recitation", "spii", "sensitive", "imagesafety",
		"toxic", "errortoxic", "moderation", "guardrailintervened", "contentmoderation", "blocked", "language", "policyviolation", "modelarmor":
		return Refused
	case "insufficientsystemresource":
		return Overloaded
	case "timeout":
		return Timeout
	case "abort", "aborted", "cancelled", "malformedfunctioncall", "malformedresponse", "unexpectedtoolcall", "network", "finishreasonunspecified", "":
		if reason == "" || fold(reason) == "finishreasonunspecified" {
			return ""
		}
		return Server
	}
	if lowerASCII(reason) == "error" || lowerASCII(reason) == "unknown" {
		return Server
	}
	return ""
}

// streamError is the error in a piece of a stream, nil if there is none.
func streamError(v any) any {
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			if found := streamError(e); found != nil {
				return found
			}
		}
	case map[string]any:
		if isErrorMap(v) {
			return errorOf(v)
		}
		choices, _ := v["choices"].([]any)
		for _, c := range choices {
			if c, ok := c.(map[string]any); ok && c["error"] != nil && !isEmpty(c["error"]) {
				return c["error"]
			}
		}
	}
	return nil
}

// errorOf is the part of an event that is the error: beside it stand ids and words of the event.
func errorOf(m map[string]any) any {
	if response, ok := m["response"].(map[string]any); ok && m["error"] == nil {
		return errorOf(response)
	}
	if e, ok := m["error"].(map[string]any); ok && len(e) > 0 {
		return map[string]any{"error": e, "code": numeric(m["code"]), "status_code": numeric(m["status_code"]),
			"status": numeric(m["status"]), "headers": m["headers"], "detail": m["detail"]}
	}
	return m
}

// numeric keeps a code only if it is a number.
func numeric(v any) any {
	switch v := v.(type) {
	case float64:
		return v
	case string:
		if _, err := strconv.Atoi(v); err == nil {
			return v
		}
	}
	return nil
}

func parse(text string) (any, bool) {
	var v any
	return v, json.Unmarshal([]byte(text), &v) == nil
}
