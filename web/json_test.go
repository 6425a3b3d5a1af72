package web

import (
	"encoding/json"
	"net/url"
	"strings"
	"testing"
	"time"

	"holdfast/engine"
	"holdfast/store"
)

const moment = store.Time(1_750_000_000_123) // 2025-06-15T15:06:40.123Z

func golden(t *testing.T, what string, v any, want string) {
	t.Helper()
	b, err := encode(v)
	if err != nil {
		t.Fatal(err)
	}
	if got := string(b); got != want {
		t.Errorf("%s\n got %s\nwant %s", what, got, want)
	}
}

// The shapes of CONTRACT.md §3, to the letter.
func TestShapes(t *testing.T) {
	full := store.Turn{
		ID: 1, Conversation: 2, Bot: "ada", Surface: "web", Channel: "c1", Person: "owner", Lane: "durable", State: store.Rearming,
		Version: 7, Created: moment, Wait: store.Wait{RetryAt: moment + 2000, From: "rearm", MS: 120000},
		Reason:      store.Reason{Why: "failure", Class: "overloaded", Status: 529, Provider: "anthropic", Model: "claude-x", Text: "anthropic is overloaded"},
		FirstFailed: moment + 1, Attempts: 3, Requests: 9, Parks: 2, RearmN: 1, RearmOf: 3, Model: "anthropic/claude-x",
	}
	golden(t, "waiting turn", showTurn(full),
		`{"id":"`+store.ID(1).String()+`","bot":"ada","chat":"c1","surface":"web","state":"rearming","outcome":null,"lane":"durable","version":7,`+
			`"created":"2025-06-15T15:06:40.123Z","first_failed_at":"2025-06-15T15:06:40.124Z","retry_at":"2025-06-15T15:06:42.123Z","wait_from":"rearm","wait_ms":120000,`+
			`"reason":{"why":"failure","class":"overloaded","status":529,"provider":"anthropic","model":"claude-x","text":"anthropic is overloaded"},`+
			`"attempts_n":3,"requests_n":9,"parks_n":2,"rearm":{"n":1,"of":3},"merged_into":null,"supersedes":null,"model":"anthropic/claude-x","text":null,"error":null}`)
	golden(t, "fresh turn of another surface", showTurn(store.Turn{ID: 1, Conversation: 2, Bot: "ada", Surface: "slack/ada", Channel: "C0", Lane: "durable", State: store.Queued, Version: 1, Created: moment}),
		`{"id":"`+store.ID(1).String()+`","bot":"ada","chat":"`+store.ID(2).String()+`","surface":"slack/ada","state":"queued","outcome":null,"lane":"durable","version":1,`+
			`"created":"2025-06-15T15:06:40.123Z","first_failed_at":null,"retry_at":null,"wait_from":null,"wait_ms":null,"reason":null,`+
			`"attempts_n":0,"requests_n":0,"parks_n":0,"rearm":null,"merged_into":null,"supersedes":null,"model":null,"text":null,"error":null}`)

	golden(t, "failed request", showAttempt(store.Attempt{Turn: 1, N: 2, Send: 1, At: moment, Model: "p/m", Status: 429, Class: "rate_limit", StatedMS: 0, WaitMS: 800,
		WaitFrom: "retry-after", Rung: "L1", Outcome: "retry", RequestID: "req_1", MS: 12, Error: "429 slow down"}),
		`{"n":2,"send":1,"at":"2025-06-15T15:06:40.123Z","model":"p/m","status":429,"class":"rate_limit","stated_wait_ms":0,"wait_ms":800,"wait_from":"retry-after",`+
			`"rung":"L1","outcome":"retry","request_id":"req_1","ms":12,"error":"429 slow down"}`)
	golden(t, "request under way", showAttempt(store.Attempt{Turn: 1, N: 1, Send: 1, At: moment, Model: "p/m", StatedMS: -1}),
		`{"n":1,"send":1,"at":"2025-06-15T15:06:40.123Z","model":"p/m","status":0,"class":"","stated_wait_ms":null,"wait_ms":null,"wait_from":null,`+
			`"rung":"","outcome":null,"request_id":null,"ms":null,"error":null}`)

	golden(t, "step", showStep(store.Step{N: 1, Kind: "reply", At: moment, Body: []byte(`{"text":"x"}`)}), `{"n":1,"kind":"reply","at":"2025-06-15T15:06:40.123Z","body":{"text":"x"}}`)
	golden(t, "step without a body", showStep(store.Step{N: 1, Kind: "note", At: moment}), `{"n":1,"kind":"note","at":"2025-06-15T15:06:40.123Z","body":null}`)
	golden(t, "post", showPost(store.Post{ID: 3, Kind: "notice", Text: "still on it", State: "pending", NextTry: moment, Created: moment, Edited: moment}),
		`{"id":"`+store.ID(3).String()+`","part":0,"kind":"notice","state":"pending","text":"still on it","handle":null,"next_try_at":"2025-06-15T15:06:40.123Z",`+
			`"tries":0,"created":"2025-06-15T15:06:40.123Z","edited":"2025-06-15T15:06:40.123Z","error":null}`)
	golden(t, "chat", showChat(store.Chat{ID: 2, Key: "c1", Bot: "ada", Surface: "web", Title: "Plans", Created: moment, Active: moment, State: store.Parked, Person: "schedule:daily"}),
		`{"id":"c1","bot":"ada","surface":"web","source":"schedule","title":"Plans","created":"2025-06-15T15:06:40.123Z","active":"2025-06-15T15:06:40.123Z","state":"parked"}`)

	md := NewLive().md
	golden(t, "what a person says", showMessage(store.Message{ID: 4, Turn: 1, Role: "user", Kind: "message", Text: "**a** <b>", At: moment}, "c1", md),
		`{"id":"`+store.ID(4).String()+`","chat":"c1","turn":"`+store.ID(1).String()+`","role":"user","kind":"message","name":null,"text":"**a** <b>",`+
			`"html":"<p>**a** &lt;b&gt;</p>","at":"2025-06-15T15:06:40.123Z","edited":null}`)
	golden(t, "what the bot says", showMessage(store.Message{ID: 4, Turn: 1, Role: "bot", Kind: "answer", Name: "ada", Text: "**a**", At: moment, Edited: moment}, "c1", md),
		`{"id":"`+store.ID(4).String()+`","chat":"c1","turn":"`+store.ID(1).String()+`","role":"bot","kind":"answer","name":"ada","text":"**a**",`+
			`"html":"<p><strong>a</strong></p>","at":"2025-06-15T15:06:40.123Z","edited":"2025-06-15T15:06:40.123Z"}`)

	golden(t, "gate", showGate(engine.GateShape{Provider: "openai", Model: "a/b", Why: "hold", Class: "rate_limit", Until: moment, Since: moment, Error: "429", Held: 2, People: 1}),
		`{"id":"openai/a/b","provider":"openai","model":"a/b","why":"hold","until":"2025-06-15T15:06:40.123Z","since":"2025-06-15T15:06:40.123Z","class":"rate_limit","error":"429","waiting":2,"people":1}`)
}

func TestState(t *testing.T) {
	g := newRig(t, nil)
	g.house.shape = engine.Shape{
		Turns: map[store.State]int64{store.Done: 5, store.Parked: 1}, Accepted: 6,
		Gates:    []engine.GateShape{{Provider: "openai", Model: "m", Why: "hold", Class: "rate_limit", Until: moment, Held: 2, People: 1}, {Provider: "x", Model: "y", Why: "down", Class: "server", Until: moment}},
		Upcoming: []engine.Upcoming{{Kind: "gate", At: moment, Count: 2}, {Kind: "rearm", Turn: 1, At: moment, Count: 1, Of: 3}},
		Surfaces: []engine.SurfaceShape{{Name: "web", State: "connected", Since: moment}},
	}
	status, h, body := g.do(t, request{method: "GET", path: "/api/v1/state", token: testToken})
	if status != 200 || h.Get("Content-Type") != "application/json; charset=utf-8" || h.Get("Cache-Control") != "no-store" {
		t.Fatalf("%d %v", status, h)
	}
	for _, want := range []string{
		`"version":"1.2.3","uptime_s":0,"turns":{"accepted":6,"done":5,"queued":0,"running":0,"retrying":0,"parked":1,"rearming":0,"owed":0,"lost":0}`,
		`"provider_admission":[{"provider":"openai","model":"m","cooldown_until":"2025-06-15T15:06:40.123Z","cooldown_reason":"rate_limit","held_requests":2,"people":1},` +
			`{"provider":"x","model":"y","cooldown_until":"2025-06-15T15:06:40.123Z","cooldown_reason":"down","held_requests":0,"people":0}]`,
		`"upcoming":[{"kind":"gate","turn":null,"at":"2025-06-15T15:06:40.123Z","count":2,"of":null},` +
			`{"kind":"rearm","turn":"` + store.ID(1).String() + `","at":"2025-06-15T15:06:40.123Z","count":1,"of":3}]`,
		`"alerts":[],"surfaces":[{"name":"web","state":"connected","since":"`,
	} {
		if !strings.Contains(body, want) {
			t.Errorf("state %s\nlacks %s", body, want)
		}
	}
}

func TestTurnsAndChatsOverHTTP(t *testing.T) {
	g := newRig(t, nil)
	a, b := g.say(t, "m1", "c1", "first"), g.say(t, "m2", "c2", "second")
	g.house.wait(t, a, time.Now().Add(time.Hour))
	get := func(path string) string {
		t.Helper()
		status, _, body := g.do(t, request{method: "GET", path: path, token: testToken})
		if status != 200 {
			t.Fatalf("%s: %d %s", path, status, body)
		}
		return body
	}
	ids := func(path string) string {
		t.Helper()
		var list struct {
			Turns []struct{ ID string }
			Next  *string
		}
		if err := json.Unmarshal([]byte(get(path)), &list); err != nil {
			t.Fatal(err)
		}
		var ids []string
		for _, turn := range list.Turns {
			ids = append(ids, turn.ID)
		}
		if list.Next != nil {
			ids = append(ids, "next", *list.Next)
		}
		return strings.Join(ids, " ")
	}
	both := b.String() + " " + a.String()
	for path, want := range map[string]string{
		"/api/v1/turns":                              both,
		"/api/v1/turns?waiting=true":                 a.String(),
		"/api/v1/turns?waiting=1&state=parked":       a.String(),
		"/api/v1/turns?state=queued":                 b.String(),
		"/api/v1/turns?state=queued,parked":          both,
		"/api/v1/turns?bot=bob":                      "",
		"/api/v1/turns?older_than=1h":                "",
		"/api/v1/turns?limit=1":                      b.String() + " next " + b.String(),
		"/api/v1/turns?limit=1&before=" + b.String(): a.String(),
	} {
		if got := ids(path); got != want {
			t.Errorf("%s: %q, want %q", path, got, want)
		}
	}
	for _, bad := range []string{"state=asleep", "limit=0", "limit=x", "older_than=soon", "before=x", "waiting=maybe", "colour=red", "waiting=1&state=done"} {
		if status, _, body := g.do(t, request{method: "GET", path: "/api/v1/turns?" + bad, token: testToken}); status != 400 {
			t.Errorf("%s: %d %s", bad, status, body)
		}
	}

	one := get("/api/v1/turns/" + a.String())
	for _, want := range []string{`"id":"` + a.String() + `"`, `"state":"parked"`, `"attempts":[]`, `"steps":[]`, `"posts":[]`, `"wait_ms":2000`, `"parks_n":1`} {
		if !strings.Contains(one, want) {
			t.Errorf("turn %s lacks %s", one, want)
		}
	}
	if status, _, _ := g.do(t, request{method: "GET", path: "/api/v1/turns/nope", token: testToken}); status != 404 {
		t.Errorf("no such turn: %d", status)
	}
	chats := get("/api/v1/chats")
	if !strings.Contains(chats, `"id":"c2"`) || strings.Index(chats, `"c2"`) > strings.Index(chats, `"c1"`) || !strings.Contains(chats, `"next":null`) {
		t.Errorf("chats %s", chats)
	}
	if older := get("/api/v1/chats?before=" + url.QueryEscape("2020-01-01T00:00:00.000Z")); older != `{"chats":[],"next":null}`+"\n" {
		t.Errorf("older chats %s", older)
	}
	messages := get("/api/v1/chats/c1/messages")
	if !strings.Contains(messages, `"text":"first"`) || strings.Contains(messages, "second") || !strings.Contains(messages, `"turn":"`+a.String()+`"`) {
		t.Errorf("messages %s", messages)
	}
	if status, _, _ := g.do(t, request{method: "GET", path: "/api/v1/chats/c9/messages", token: testToken}); status != 404 {
		t.Errorf("no such chat: %d", status)
	}
}
