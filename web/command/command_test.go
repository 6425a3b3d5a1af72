package command

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"time"
)

func TestParse(t *testing.T) {
	c, err := Parse([]byte(`{"id":"a-1","cmd":"message.send","target":null,"if_version":null,"args":{"text":" hi ","bot":"ada","chat":"c_1"}}`))
	if err != nil {
		t.Fatal(err)
	}
	if c.ID != "a-1" || c.Name != Send || c.Message != (Message{Bot: "ada", Chat: "c_1", Text: " hi "}) || c.IfVersion != 0 {
		t.Errorf("Parse = %+v", c)
	}
	c, err = Parse([]byte(`{"id":"a","cmd":"turn.cancel","args":{"waiting":true,"bot":"ada","model":"p/m/n","older_than":"1d2h","state":"parked","dry_run":true,"say":"sorry"}}`))
	if err != nil {
		t.Fatal(err)
	}
	want := Filter{Waiting: true, State: "parked", Bot: "ada", Model: "p/m/n", OlderThan: 26 * time.Hour, DryRun: true}
	if c.Filter == nil || *c.Filter != want || c.Say != "sorry" {
		t.Errorf("Parse = %+v, filter %+v, want %+v", c, c.Filter, want)
	}
	c, err = Parse([]byte(`{"id":"a","cmd":"turn.resume","target":"t1","if_version":7}`))
	if err != nil || c.Filter != nil || c.Target != "t1" || c.IfVersion != 7 {
		t.Errorf("Parse = %+v, %v", c, err)
	}
	if c, err = Parse([]byte(`{"id":"a","cmd":"message.edit","target":"t1","if_version":3,"args":{"text":" new "}}`)); err != nil || c.Text != " new " || c.IfVersion != 3 {
		t.Errorf("edit: %+v, %v", c, err)
	}
	if c, err = Parse([]byte(`{"id":"a","cmd":"chat.rename","target":"c","args":{"title":"  a\n b "}}`)); err != nil || c.Title != "a b" {
		t.Errorf("rename: %+v, %v", c, err)
	}
	for args, paused := range map[string]bool{``: true, `,"args":{}`: true, `,"args":{"paused":true}`: true, `,"args":{"paused":false}`: false} {
		if c, err = Parse([]byte(`{"id":"a","cmd":"schedule.pause","target":"daily"` + args + `}`)); err != nil || c.Target != "daily" || c.Paused != paused {
			t.Errorf("pause%s: %+v, %v", args, c, err)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	for _, c := range []struct{ name, body, code, says string }{
		{"empty", ``, "bad_command", "ends too early"},
		{"cut", `{"id":"a"`, "bad_command", "ends too early"},
		{"not an object", `[]`, "bad_command", "must be an object"},
		{"two values", `{"id":"a","cmd":"turn.stop","target":"t"} {}`, "bad_command", "something follows"},
		{"unknown field", `{"id":"a","cmd":"turn.stop","target":"t","nope":1}`, "bad_command", `unknown field "nope"`},
		{"wrong type", `{"id":7,"cmd":"turn.stop","target":"t"}`, "bad_command", `"id" has the wrong type (number)`},
		{"no id", `{"cmd":"turn.stop","target":"t"}`, "bad_command", `"id" must be`},
		{"long id", `{"id":"` + strings.Repeat("a", 65) + `","cmd":"turn.stop","target":"t"}`, "bad_command", `"id" must be`},
		{"id with a space", `{"id":"a b","cmd":"turn.stop","target":"t"}`, "bad_command", `"id" must be`},
		{"unknown command", `{"id":"a","cmd":"turn.explode"}`, "unknown_command", "message.send, turn.stop, turn.resume"},
		{"run without a target", `{"id":"a","cmd":"schedule.run"}`, "bad_command", `needs a "target"`},
		{"pause without a target", `{"id":"a","cmd":"schedule.pause"}`, "bad_command", `needs a "target": the name`},
		{"pause with another type", `{"id":"a","cmd":"schedule.pause","target":"t","args":{"paused":1}}`, "bad_command", `"paused" has the wrong type`},
		{"edit without a target", `{"id":"a","cmd":"message.edit","args":{"text":"x"}}`, "bad_command", `needs a "target": the turn`},
		{"edit without a text", `{"id":"a","cmd":"message.edit","target":"t"}`, "bad_command", `"text" is empty`},
		{"again without a target", `{"id":"a","cmd":"turn.regenerate"}`, "bad_command", `needs a "target"`},
		{"ack with arguments", `{"id":"a","cmd":"alert.ack","target":"a","args":{"x":1}}`, "bad_command", `unknown field "x"`},
		{"unknown argument", `{"id":"a","cmd":"message.send","args":{"text":"x","lane":"durable"}}`, "bad_command", `unknown field "lane"`},
		{"arguments of another command", `{"id":"a","cmd":"turn.stop","target":"t","args":{"waiting":true}}`, "bad_command", `unknown field "waiting"`},
		{"blank text", `{"id":"a","cmd":"message.send","args":{"text":" \n\t "}}`, "bad_command", `"text" is empty`},
		{"no text", `{"id":"a","cmd":"message.send"}`, "bad_command", `"text" is empty`},
		{"bad chat", `{"id":"a","cmd":"message.send","args":{"text":"x","chat":"a/b"}}`, "bad_command", `"chat" must be`},
		{"target of a message", `{"id":"a","cmd":"message.send","target":"c","args":{"text":"x"}}`, "bad_command", `has no "target"`},
		{"stop without a target", `{"id":"a","cmd":"turn.stop"}`, "bad_command", `needs a "target"`},
		{"resume of nothing", `{"id":"a","cmd":"turn.resume"}`, "bad_command", `needs a "target", or a filter`},
		{"only a dry run", `{"id":"a","cmd":"turn.cancel","args":{"dry_run":true}}`, "bad_command", `needs a "target", or a filter`},
		{"target and filter", `{"id":"a","cmd":"turn.cancel","target":"t","args":{"waiting":true}}`, "bad_command", "not both"},
		{"say on resume", `{"id":"a","cmd":"turn.resume","target":"t","args":{"say":"x"}}`, "bad_command", `"say" belongs`},
		{"bad age", `{"id":"a","cmd":"turn.cancel","args":{"older_than":"soon"}}`, "bad_command", `for example "90m"`},
		{"negative version", `{"id":"a","cmd":"turn.stop","target":"t","if_version":-1}`, "bad_command", `"if_version"`},
		{"fraction as version", `{"id":"a","cmd":"turn.stop","target":"t","if_version":1.5}`, "bad_command", `"if_version" has the wrong type`},
		{"title missing", `{"id":"a","cmd":"chat.rename","target":"c"}`, "bad_command", `"title"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := Parse([]byte(c.body))
			got, ok := errors.AsType[*Error](err)
			if !ok || got.Code != c.code || !strings.Contains(got.Message, c.says) {
				t.Errorf("Parse(%s) = %v, want %s with %q", c.body, err, c.code, c.says)
			}
			if ok && strings.Contains(got.Message, "Go ") {
				t.Errorf("%q speaks of Go", got.Message)
			}
		})
	}
}

func TestTextLimit(t *testing.T) {
	body := func(n int) []byte {
		return []byte(`{"id":"a","cmd":"message.send","args":{"text":"` + strings.Repeat("x", n) + `"}}`)
	}
	if _, err := Parse(body(MaxText)); err != nil {
		t.Errorf("a text of %d bytes is refused: %v", MaxText, err)
	}
	if _, err := Parse(body(MaxText + 1)); err == nil {
		t.Errorf("a text of %d bytes is taken", MaxText+1)
	}
}

// S1: two bodies are the same if they say the same.
func TestHashIsOverValuesS1(t *testing.T) {
	hash := func(body string) []byte {
		t.Helper()
		c, err := Parse([]byte(body))
		if err != nil {
			t.Fatal(err)
		}
		return c.Hash
	}
	base := hash(`{"id":"a","cmd":"message.send","args":{"text":"x","chat":"c"}}`)
	for _, same := range []string{
		`{"id":"b","cmd":"message.send","args":{"text":"x","chat":"c"}}`, // the id is not part of it
		`{ "cmd" : "message.send", "args":{"chat":"c","text":"\u0078"}, "id":"a", "target":"", "if_version":0 }`,
	} {
		if !bytes.Equal(hash(same), base) {
			t.Errorf("%s has another hash", same)
		}
	}
	for _, other := range []string{
		`{"id":"a","cmd":"message.send","args":{"text":"y","chat":"c"}}`,
		`{"id":"a","cmd":"message.send","args":{"text":"x","chat":"d"}}`,
		`{"id":"a","cmd":"message.send","args":{"text":"x"}}`,
	} {
		if bytes.Equal(hash(other), base) {
			t.Errorf("%s has the same hash", other)
		}
	}
	if bytes.Equal(hash(`{"id":"a","cmd":"turn.stop","target":"t"}`), hash(`{"id":"a","cmd":"turn.stop","target":"t","if_version":1}`)) {
		t.Error("if_version does not count")
	}
}

func TestAge(t *testing.T) {
	for in, want := range map[string]time.Duration{"90m": 90 * time.Minute, "1h30m": 90 * time.Minute, "2d": 48 * time.Hour, "1d12h": 36 * time.Hour, "500ms": 500 * time.Millisecond} {
		if got, err := Age(in); err != nil || got != want {
			t.Errorf("Age(%q) = %v, %v, want %v", in, got, err, want)
		}
	}
	for _, in := range []string{"", "0", "0s", "d", "-1h", "1d-1h", "-1d", "1.5d", "1h2d", "99999999d", "x", "1"} {
		if got, err := Age(in); err == nil {
			t.Errorf("Age(%q) = %v, want an error", in, got)
		}
	}
}

// What is taken keeps its limits; what is refused says so in words.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		`{"id":"a-1","cmd":"message.send","args":{"text":"hi","bot":"ada","chat":"c"}}`,
		`{"id":"a","cmd":"turn.cancel","args":{"waiting":true,"older_than":"1d","say":"x"}}`,
		`{"id":"a","cmd":"turn.stop","target":"t","if_version":3,"args":null}`,
		`{"id":"a","cmd":"chat.rename","target":"c","args":{"title":"t"}}`,
		`{"id":"a","cmd":"turn.stop","target":"t","target":"openai","args":{}}`,
		`{"id":"a","cmd":"turn.regenerate"}`, `{"id":"a","cmd":"message.edit","target":"t","args":{"text":"x"}}`, `{}`, `[`, `null`, "\xff",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		c, err := Parse(body)
		if err != nil {
			if wrong, ok := errors.AsType[*Error](err); !ok || wrong.Code == "" || wrong.Message == "" {
				t.Fatalf("refused with %#v", err)
			}
			return
		}
		if !ValidID(c.ID) || len(c.Hash) != 32 || len(c.Message.Text) > MaxText || c.IfVersion < 0 {
			t.Fatalf("taken: %+v", c)
		}
		if c.Name == Send && (strings.TrimSpace(c.Message.Text) == "" || c.Message.Chat != "" && !ValidID(c.Message.Chat)) {
			t.Fatalf("taken: %+v", c)
		}
		if again, err := Parse(body); err != nil || !bytes.Equal(again.Hash, c.Hash) {
			t.Fatalf("read twice: %v, %x and %x", err, again.Hash, c.Hash)
		}
	})
}
