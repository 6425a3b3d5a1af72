package llm

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// wrappings are what routers and clients between us and a service make of its answer.
func wrappings() map[string]func(c corpusCase) corpusCase {
	quoted := func(s string) string {
		b, _ := json.Marshal(s) // a string always has JSON
		return string(b)
	}
	router := func(c corpusCase) string {
		return fmt.Sprintf(`{"error":{"message":"Provider returned error","code":%d,"metadata":{"raw":%s,"provider_name":"X"}},"user_id":"u"}`, c.Status, quoted(c.Body))
	}
	body := func(f func(c corpusCase) string) func(c corpusCase) corpusCase {
		return func(c corpusCase) corpusCase {
			c.Body = f(c)
			return c
		}
	}
	return map[string]func(c corpusCase) corpusCase{
		"by a router": body(router),
		"by a router in a 200": func(c corpusCase) corpusCase {
			c.Body, c.Status = router(c), 200
			return c
		},
		"by a router in a stream": func(c corpusCase) corpusCase {
			c.Stream = []string{": PROCESSING", "", "data: " + router(c), "", "data: [DONE]", ""}
			c.Where, c.Status, c.End = "stream", 200, "eof"
			return c
		},
		"behind words": body(func(c corpusCase) string {
			return fmt.Sprintf(`{"error":{"message":%s,"type":null,"code":"%d"}}`, quoted("APIError: OpenAIException - "+c.Body), c.Status)
		}),
		"as Python prints it": body(func(c corpusCase) string {
			return fmt.Sprintf(`{"detail":%s}`, quoted(fmt.Sprintf("Error code: %d - %s", c.Status, python(c.Body))))
		}),
		"as bytes": body(func(c corpusCase) string {
			return `{"error":{"message":` + quoted("VertexAIException - b'"+strings.NewReplacer(`\`, `\\`, "\n", `\n`).Replace(c.Body)+"'") + `}}`
		}),
		"in a list":   body(func(c corpusCase) string { return "[" + c.Body + "]" }),
		"in a string": body(func(c corpusCase) string { return `{"error":` + quoted(c.Body) + `}` }),
	}
}

// An error is read down to the innermost: whatever it is wrapped in, it stays what it is and states
// what it stated.
func TestClassifyWrapped(t *testing.T) {
	for _, c := range readCorpus(t) {
		if c.Where != "status" || c.Status < 400 || !strings.HasPrefix(c.Body, "{") || !json.Valid([]byte(c.Body)) {
			continue
		}
		if _, outside := c.Headers["x-amzn-errortype"]; outside {
			continue // what is wrong stands beside the body
		}
		for name, wrap := range wrappings() {
			t.Run(c.ID+" "+name, func(t *testing.T) {
				wrapped := wrap(c)
				wrapped.check(t, Classify(wrapped.answer()))
			})
		}
	}
}

// python is JSON as Python prints the same value.
func python(text string) string {
	var v any
	_ = json.Unmarshal([]byte(text), &v) // it is valid
	return pythonValue(v)
}

func pythonValue(v any) string {
	switch v := v.(type) {
	case nil:
		return "None"
	case bool:
		return map[bool]string{true: "True", false: "False"}[v]
	case string:
		quote := "'"
		if strings.Contains(v, "'") && !strings.Contains(v, `"`) {
			quote = `"`
		}
		return quote + strings.NewReplacer(`\`, `\\`, quote, `\`+quote, "\n", `\n`).Replace(v) + quote
	case []any:
		var all []string
		for _, e := range v {
			all = append(all, pythonValue(e))
		}
		return "[" + strings.Join(all, ", ") + "]"
	case map[string]any:
		var all []string
		for k, e := range v {
			all = append(all, pythonValue(k)+": "+pythonValue(e))
		}
		return "{" + strings.Join(all, ", ") + "}"
	}
	b, _ := json.Marshal(v) // a number
	return string(b)
}
