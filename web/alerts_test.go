package web

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"holdfast/engine"
	"holdfast/store"
)

func TestAlertAndProviderShapes(t *testing.T) {
	golden(t, "alert", showAlert(store.Alert{ID: 1, Kind: "outage", Subject: "a/b", Since: moment, Text: "x", Acked: moment}),
		`{"id":"`+store.ID(1).String()+`","kind":"outage","subject":"a/b","since":"2025-06-15T15:06:40.123Z","text":"x","acked":"2025-06-15T15:06:40.123Z","cleared":null}`)
	golden(t, "provider", showProvider(engine.ProviderShape{Provider: "a", Model: "b/c", Bots: []string{"ada"}, State: "held", Until: moment, Class: "rate_limit",
		CoolUntil: moment, CoolWhy: "rate_limit", Requests: 3, Failures: 1, Median: 200, LastError: "429", LastErrorAt: moment, LastOK: moment}),
		`{"id":"a/b/c","provider":"a","model":"b/c","bots":["ada"],"state":"held","until":"2025-06-15T15:06:40.123Z","cooldown_until":"2025-06-15T15:06:40.123Z",`+
			`"cooldown_reason":"rate_limit","paused":false,"no_key":false,"waiting":0,"people":0,"requests":3,"failures":1,"median_ms":200,"last_error":"429",`+
			`"last_error_at":"2025-06-15T15:06:40.123Z","last_ok":"2025-06-15T15:06:40.123Z"}`)
}

// Alerts: in the health snapshot, in a page's, as events when raised, seen and cleared; ack is a command.
func TestAlertsAreTold(t *testing.T) {
	g := newRig(t, nil)
	now := store.At(time.Now())
	a := store.Alert{Kind: "outage", Subject: "demo/echo", Since: now, Raised: now, Text: "it answers nobody"}
	g.house.shape = engine.Shape{Alerts: []store.Alert{a}, Providers: []engine.ProviderShape{{Provider: "demo", Model: "echo", State: "down"}}, Paused: []string{"demo"}}
	_, _, body := g.do(t, request{method: "GET", path: "/api/v1/state", token: testToken})
	var state struct {
		Alerts    []map[string]any
		Providers []map[string]any
		Paused    []string
	}
	if err := json.Unmarshal([]byte(body), &state); err != nil {
		t.Fatal(err)
	}
	if len(state.Alerts) != 1 || state.Alerts[0]["kind"] != "outage" || len(state.Providers) != 1 || state.Providers[0]["state"] != "down" || len(state.Paused) != 1 {
		t.Errorf("%s", body)
	}

	c := g.dial(t, "")
	c.hello("", 0, "")
	c.want("welcome")
	if s := c.want("snapshot"); len(s.Alerts) != 1 || len(s.Providers) != 1 {
		t.Errorf("%+v", s)
	}
	c.want("live")
	if opened, err := g.store.RaiseAlert(&a); err != nil || !opened {
		t.Fatal(opened, err)
	}
	if f := c.until("alert", has("kind", "outage")); f.D["cleared"] != nil || f.D["subject"] != "demo/echo" {
		t.Errorf("%v", f.D)
	}
	if status, got := g.command(t, `{"id":"k1","cmd":"alert.ack","target":"`+a.ID.String()+`"}`); status != 200 || !got.OK {
		t.Errorf("%d %+v", status, got)
	}
	c.until("alert", func(d map[string]any) bool { return d["acked"] != nil })
	if _, err := g.store.ClearAlert("outage", "demo/echo", now+5); err != nil {
		t.Fatal(err)
	}
	c.until("alert", func(d map[string]any) bool { return d["cleared"] != nil })
	for _, target := range []string{"nonsense", store.ID(77).String()} {
		if status, got := g.command(t, `{"id":"k`+target+`","cmd":"alert.ack","target":"`+target+`"}`); status != 404 {
			t.Errorf("%d %+v", status, got)
		}
	}

	if err := g.store.PutGate(store.Gate{Key: "demo||echo", Provider: "demo", Model: "echo", Version: 1}, now, nil); err != nil {
		t.Fatal(err)
	}
	if f := c.until("provider", has("id", "demo/echo")); f.D["state"] != "down" {
		t.Errorf("%v", f.D)
	}
}

// A tick brings the providers when they have changed, and only then.
func TestTickBringsProviders(t *testing.T) {
	g := newRig(t, nil)
	g.tick = 20 * time.Millisecond
	c := g.dial(t, "")
	c.hello("", 0, "")
	c.next("welcome", "snapshot")
	for c.want("tick").Providers == nil { // the first tells
	}
	if f := c.want("tick"); f.Providers != nil {
		t.Errorf("%+v", f)
	}
	g.house.mu.Lock()
	g.house.shape.Providers = []engine.ProviderShape{{Provider: "demo", Model: "echo", Requests: 1}}
	g.house.mu.Unlock()
	f := c.want("tick")
	for f.Providers == nil {
		f = c.want("tick")
	}
	if len(f.Providers) != 1 || f.Providers[0]["requests"] != 1.0 {
		t.Errorf("%+v", f)
	}
}

// Older messages come with their turns, so that what is said of them can be shown.
func TestMessagesBringTheirTurns(t *testing.T) {
	g := newRig(t, nil)
	id := g.say(t, "m1", "c1", "hello")
	if _, err := g.store.SettleTurn(store.Settled{Turn: id, At: store.At(time.Now()), Outcome: store.Answered, Text: "hi", Told: store.Told{Posts: []store.Post{{Kind: "answer", Text: "hi", State: "done"}}}}); err != nil {
		t.Fatal(err)
	}
	_, _, body := g.do(t, request{method: "GET", path: "/api/v1/chats/c1/messages", token: testToken})
	var page struct {
		Messages []map[string]any
		Turns    []map[string]any
	}
	if err := json.Unmarshal([]byte(body), &page); err != nil || len(page.Messages) != 2 || len(page.Turns) != 1 || page.Turns[0]["id"] != id.String() || page.Turns[0]["outcome"] != "answered" {
		t.Errorf("%v: %s", err, body)
	}
}

// turn.regenerate and message.edit make a turn that takes the place of the old one, once.
func TestAskAgain(t *testing.T) {
	g := newRig(t, nil)
	id := g.say(t, "m1", "c1", "hello")
	if status, a := g.command(t, `{"id":"r0","cmd":"turn.regenerate","target":"`+id.String()+`"}`); status != 409 || a.Error.Code != "busy" {
		t.Errorf("of an open turn: %d %+v", status, a)
	}
	if _, err := g.store.SettleTurn(store.Settled{Turn: id, At: store.At(time.Now()), Outcome: store.Answered, Text: "hi"}); err != nil {
		t.Fatal(err)
	}
	for i, body := range []string{
		`{"id":"r1","cmd":"turn.regenerate","target":"` + id.String() + `"}`, `{"id":"e1","cmd":"message.edit","target":"` + id.String() + `","args":{"text":"goodbye"}}`,
	} {
		status, a := g.command(t, body)
		if status != 200 || a.turn(t) == id || a.Chat == nil || *a.Chat != "c1" {
			t.Fatalf("%d %+v", status, a)
		}
		if _, again := g.command(t, body); !again.Duplicate || again.turn(t) != a.turn(t) {
			t.Errorf("sent twice: %+v", again)
		}
		_, _, text := g.do(t, request{method: "GET", path: "/api/v1/turns/" + a.turn(t).String(), token: testToken})
		if !strings.Contains(text, `"supersedes":"`+id.String()+`"`) {
			t.Errorf("%d: %s", i, text)
		}
		if _, err := g.store.SettleTurn(store.Settled{Turn: a.turn(t), At: store.At(time.Now()), Outcome: store.Answered, Text: "hi"}); err != nil {
			t.Fatal(err)
		}
	}
	if status, a := g.command(t, `{"id":"e2","cmd":"message.edit","target":"`+id.String()+`","if_version":1,"args":{"text":"x"}}`); status != 409 || a.Error.Code != "stale" {
		t.Errorf("%d %+v", status, a)
	}
}
