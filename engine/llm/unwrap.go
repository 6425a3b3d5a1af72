package llm

import (
	"bytes"
	"encoding/json"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
)

// maxDepth bounds how deep errors are unwrapped.
const maxDepth = 12

// unwrap reads a body down to its innermost error and reports whether it is an error of an API.
func (r *reading) unwrap(body []byte) bool {
	text := strings.TrimSpace(strings.ToValidUTF8(strings.TrimPrefix(string(body), "\ufeff"), ""))
	var v any
	switch {
	case text == "":
		return false
	case json.Unmarshal([]byte(text), &v) == nil:
		if inside := streamError(v); inside != nil && !isErrorValue(v) {
			v = inside // beside the answer's choices
			r.value(v, 0)
			return true
		}
		r.value(v, 0)
		return isErrorValue(v)
	case isPage(text):
		r.page(text)
		return false
	}
	if v, before, ok := findDump(text); ok {
		if before = strings.TrimSpace(before); before != "" && !strings.HasPrefix(before, "data:") && !strings.HasPrefix(before, "event:") {
			r.sentence(before)
		}
		r.value(v, 0)
		return isErrorValue(v)
	}
	r.sentence(text)
	return false
}

// isCut reports whether a body begins like JSON and is none: its end has not come.
func isCut(body []byte) bool {
	text := bytes.TrimSpace(bytes.TrimPrefix(body, []byte("\ufeff")))
	return len(text) > 0 && (text[0] == '{' || text[0] == '[') && !json.Valid(text)
}

// sentence is an error that is only words.
func (r *reading) sentence(text string) {
	r.layers = append(r.layers, layer{})
	r.say(len(r.layers)-1, text)
}

// say adds a text to layer at. A machine word in its place ("invalid_api_key") counts as one too.
func (r *reading) say(at int, text string) {
	l := &r.layers[at]
	l.texts = append(l.texts, text)
	r.said = append(r.said, text)
	if len(text) <= 80 && strings.Contains(text, "_") && !strings.ContainsAny(text, " \t\n/:") {
		l.names = append(l.names, fold(text))
	}
}

// value reads any JSON value that may be or hold an error.
func (r *reading) value(v any, depth int) {
	if depth > maxDepth || len(r.layers) > 200 {
		return
	}
	switch v := v.(type) {
	case map[string]any:
		r.object(v, depth)
	case []any:
		for _, e := range v {
			r.value(e, depth+1)
		}
	case string:
		r.words(v, depth)
	}
}

// words is a text that may hold a dump of another error: what stands before the dump is this
// layer's, the dump is a layer of its own.
func (r *reading) words(text string, depth int) {
	text = strings.TrimSpace(text)
	if text == "" {
		return
	}
	if v, before, ok := findDump(text); ok && depth < maxDepth && isErrorValue(v) {
		if strings.TrimSpace(before) != "" {
			r.sentence(before)
		}
		r.value(v, depth+1)
		return
	}
	if isPage(text) {
		r.page(text)
		return
	}
	r.sentence(text)
}

// object reads one object: its own words make a layer, objects inside it are read after it and so
// count as further in. Details of a Google error belong to the error itself.
func (r *reading) object(m map[string]any, depth int) {
	at := len(r.layers)
	r.layers = append(r.layers, layer{})
	var inner []any
	var headers []field
	for _, key := range slices.Sorted(maps.Keys(m)) {
		v, name := m[key], hyphenated(key)
		switch {
		case isHeaderHint(name):
			headers = append(headers, field{name, v})
		case isBodyHint(name):
			r.fields = append(r.fields, field{name, v})
		default:
			if deeper := r.member(at, strings.ReplaceAll(name, "-", ""), v, m); deeper != nil {
				inner = append(inner, deeper)
			}
		}
	}
	if len(headers) > 0 {
		r.headers = append(r.headers, headers)
	}
	for _, v := range inner {
		r.value(v, depth+1)
	}
}

// member reads one member of an object into layer at; what it returns is read as a layer further in.
func (r *reading) member(at int, name string, v any, of map[string]any) any {
	l := &r.layers[at]
	switch name {
	case "choices", "candidates", "content", "input", "ctx", "output", "messages", "prompt", "failedgeneration", "url", "loc",
		"flaggedinput", "previouserrors", "usage", "param", "model", "id", "requestid", "userid", "stack",
		"traceback", "headersraw":
		return nil // not about the error, or the user's own words
	case "code", "type", "status", "reason", "errorcode", "errortype", "kind", "statuscode", "rawstatuscode", "httpcode",
		"httpstatus", "errcode", "slug", "blockreason":
		return l.word(name, v, of)
	case "message", "msg", "errormessage", "errmsg", "statusmsg", "title", "description", "errordescription", "faultstring":
		return r.saying(at, v)
	case "displaymessage", "usermessage", "hint", "remedyhint", "suggestion":
		if s, ok := v.(string); ok {
			r.said = append(r.said, s) // advice: it may state a wait, and names no reason
		}
		return nil
	case "quotaid", "quotametric", "quotalimit", "quotaunit", "limitname":
		if s, ok := v.(string); ok {
			l.windows = append(l.windows, s)
		}
		return nil
	case "quotavalue", "quotalimitvalue":
		if v == "0" || v == float64(0) {
			l.texts = append(l.texts, "limit: 0")
		}
		return nil
	case "nctx", "maxcontextlength", "contextlength", "maxtokens":
		if n, ok := v.(float64); ok && n >= 1 && n < 1e12 {
			l.limit = int64(n)
		}
		return nil
	case "details", "violations", "errors":
		if list, ok := v.([]any); ok && isGoogle(list) {
			r.google(at, list)
			return nil
		}
	}
	switch v := v.(type) {
	case map[string]any, []any:
		return v
	case string:
		switch name {
		case "error", "errors", "detail", "details", "raw", "cause", "body", "data", "response", "innererror",
			"reasons", "errormsg", "fault", "exception":
			return v
		}
	}
	return nil
}

// word takes a machine word or a numeric code.
func (l *layer) word(name string, v any, of map[string]any) any {
	switch v := v.(type) {
	case float64:
		l.number(v, of)
	case string:
		s := strings.TrimSpace(v)
		if n, err := strconv.Atoi(s); err == nil {
			l.number(float64(n), of)
			return nil
		}
		if strings.Contains(s, " ") {
			l.texts = append(l.texts, s)
			return nil
		}
		if n := fold(s); n != "" && len(n) <= 80 {
			l.names = append(l.names, n)
		}
	case map[string]any:
		return v
	}
	return nil
}

// number takes a numeric code: an HTTP status, a status of gRPC, or a number of the service's own.
func (l *layer) number(v float64, of map[string]any) {
	n := int(v)
	switch {
	case v != math.Trunc(v) || v < 1 || v > 1e6:
	case n >= 400 && n < 600:
		l.status = n
	case n <= 16:
		if _, ok := of["details"]; ok {
			l.names = append(l.names, grpcName(n))
		}
	case n >= 1000:
		l.names = append(l.names, strconv.Itoa(n))
	}
}

// saying takes words for people, or what is wrapped in their place.
func (r *reading) saying(at int, v any) any {
	s, ok := v.(string)
	if !ok {
		return v
	}
	if inner, before, ok := findDump(s); ok && isErrorValue(inner) {
		if strings.TrimSpace(before) != "" {
			r.layers[at].texts = append(r.layers[at].texts, before)
			r.said = append(r.said, before)
		}
		return inner
	}
	r.say(at, s)
	return nil
}

// isGoogle reports whether a list holds details as google.rpc has them, or parts of such.
func isGoogle(list []any) bool {
	for _, e := range list {
		m, ok := e.(map[string]any)
		if !ok {
			return false
		}
		for _, key := range []string{"@type", "quotaMetric", "quotaId", "subject", "reason"} {
			if _, ok := m[key]; ok {
				return true
			}
		}
	}
	return false
}

// google reads details into the layer of their error.
func (r *reading) google(at int, list []any) {
	for _, e := range list {
		m, ok := e.(map[string]any)
		if !ok {
			continue
		}
		flat := map[string]any{}
		maps.Copy(flat, m)
		if meta, ok := m["metadata"].(map[string]any); ok {
			maps.Copy(flat, meta)
		}
		delete(flat, "@type")
		delete(flat, "type")
		for _, key := range slices.Sorted(maps.Keys(flat)) {
			name := hyphenated(key)
			if isBodyHint(name) {
				r.fields = append(r.fields, field{name, flat[key]})
				continue
			}
			if name != "status" && name != "code" && name != "metadata" {
				r.member(at, strings.ReplaceAll(name, "-", ""), flat[key], flat)
			}
		}
	}
}
