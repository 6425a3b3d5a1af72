package engine

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"holdfast/engine/tool"
	"holdfast/store"
)

// use calls a built-in tool as a turn would; every call has a key of its own unless one is given.
func (h *house) use(by tool.Caller, key, name, args string) tool.Result {
	h.t.Helper()
	if by.Bot == "" {
		by.Bot = "bot"
	}
	if key == "" {
		h.said++
		key = fmt.Sprint("call", h.said)
	}
	for _, set := range h.engine.builtins() {
		tools, err := set.Tools(h.t.Context())
		if err != nil {
			h.t.Fatal(err)
		}
		for _, x := range tools {
			if x.Spec().Name != name {
				continue
			}
			r, err := x.Call(h.t.Context(), tool.Call{Key: key, Arguments: []byte(args), By: by})
			if err != nil {
				h.t.Fatal(err)
			}
			synctest.Wait()
			return r
		}
	}
	h.t.Fatalf("no tool %s", name)
	return tool.Result{}
}

// caller is who a tool is called for in a turn.
func (h *house) caller(turn store.ID) tool.Caller {
	t := h.turn(turn)
	return tool.Caller{Bot: t.Bot, Person: t.Person, Surface: t.Surface, Channel: t.Channel, Thread: t.Thread, Conversation: t.Conversation.String(), Turn: t.ID.String()}
}

// Every built-in has a schema that is an object's, and says what a repeat of it does.
func TestBuiltinSpecs(t *testing.T) {
	inHouse(t, func(p *Parts) { p.Bots[0].SendTo = []string{"web:hall"} }, func(h *house) {
		want := map[string]string{
			"schedule_set": "w i", "schedule_list": "r", "schedule_cancel": "w i d", "memory_remember": "w i", "memory_recall": "r", "memory_forget": "w i d", "send_message": "w i",
		}
		for _, set := range h.engine.builtins() {
			tools, err := set.Tools(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			for _, x := range tools {
				s := x.Spec()
				got := "w"
				if s.ReadOnly {
					got = "r"
				}
				if s.Idempotent {
					got += " i"
				}
				if s.Destructive {
					got += " d"
				}
				var schema struct {
					Type       string
					Properties map[string]any
				}
				if err := json.Unmarshal(s.Schema, &schema); err != nil || schema.Type != "object" || schema.Properties == nil || s.Description == "" || got != want[s.Name] {
					t.Errorf("%s: %s, %v, %s", s.Name, got, err, s.Schema)
				}
				delete(want, s.Name)
				if s.Name == "send_message" && !strings.Contains(string(s.Schema), `"web:hall"`) {
					t.Errorf("%s", s.Schema)
				}
			}
		}
		if len(want) > 0 {
			t.Errorf("missing: %v", want)
		}
	})
}

// A bot wakes itself: once, at its time, in the conversation, for who asked; also over a restart; and
// a call that is made twice, even after the wake, sets one.
func TestOwnWake(t *testing.T) {
	inHouse(t, nil, func(h *house) {
		ann := h.say("ann", "remind me")
		h.settled(ann, s(1))
		by := h.caller(ann)
		if r := h.use(by, "k1", "schedule_set", `{"text":"water the plants","in":"20m"}`); r.Failed || !strings.Contains(r.Text, "at Sat 2000-01-01 00:20:0") {
			t.Errorf("%+v", r)
		}
		first := h.use(by, "", "schedule_list", `{}`).Text
		if again := h.use(by, "k1", "schedule_set", `{"text":"water the plants","in":"20m"}`); again.Failed || h.use(by, "", "schedule_list", `{}`).Text != first {
			t.Errorf("%+v", again)
		}
		h.crash()
		h.wait(10 * time.Minute)
		h.start()
		h.models.play("ok:water them!")
		h.wait(10*time.Minute + s(1))
		rs := h.models.requests()
		if last := rs[len(rs)-1]; len(rs) != 2 || !strings.Contains(last.body, "water the plants\n\n[Holdfast: you have set this for yourself") {
			t.Errorf("%d: %s", len(rs), last.body)
		}
		turns, _, err := h.store.Turns(store.Filter{})
		if err != nil || turns[0].Person != "ann" || turns[0].Channel != "room" || turns[0].Text != "water them!" {
			t.Errorf("%+v, %v", turns[0], err)
		}
		h.use(by, "k1", "schedule_set", `{"text":"water the plants","in":"20m"}`)
		h.wait(time.Hour)
		if n := len(h.models.requests()); n != 2 {
			t.Errorf("asked %d times", n)
		}
		if got := h.transcript(); len(got) != 3 || got[2] != "bot answer: water them!" {
			t.Errorf("%q", got)
		}
	})
}

// A repeating wake comes again and again until it is cancelled, which only its conversation can do.
func TestRepeatingWake(t *testing.T) {
	inHouse(t, nil, func(h *house) {
		ann, bob := h.say("ann", "hello"), h.sayIn("elsewhere", "bob", "hello")
		h.use(h.caller(ann), "", "schedule_set", `{"text":"look","cron":"30 * * * *","timezone":"Asia/Kolkata"}`)
		h.wait(2*time.Hour + s(1)) // 05:30 there is 00:00 here
		if n := len(h.models.requests()); n != 4 {
			t.Errorf("asked %d times", n)
		}
		list := h.use(h.caller(ann), "", "schedule_list", `{}`).Text
		id, _, ok := strings.Cut(strings.TrimPrefix(list, "- "), ",")
		if !ok || !strings.Contains(list, "next at Sat 2000-01-01 08:30:00 IST, repeats (30 * * * *): look") {
			t.Fatalf("%q", list)
		}
		cancel := fmt.Sprintf(`{"id":%q}`, id)
		if r := h.use(h.caller(bob), "", "schedule_cancel", cancel); !strings.Contains(r.Text, "nothing of the id") {
			t.Errorf("%+v", r)
		}
		if r := h.use(h.caller(ann), "", "schedule_cancel", cancel); r.Text != "cancelled" {
			t.Errorf("%+v", r)
		}
		if r := h.use(h.caller(ann), "", "schedule_cancel", cancel); !strings.Contains(r.Text, "cancelled already") {
			t.Errorf("%+v", r)
		}
		h.wait(2 * time.Hour)
		if n := len(h.models.requests()); n != 4 {
			t.Errorf("asked %d times after the cancel", n)
		}
	})
}

// R5: an own wake runs what is re-arming with the full ladder, and the count goes on.
func TestOwnWakeDoesNotStartTheCountR5(t *testing.T) {
	inHouse(t, shortLadder, func(h *house) {
		h.settled(h.say("ann", "hello"), s(1))
		h.models.play("503")
		id := h.say("ann", "do it")
		h.use(h.caller(id), "", "schedule_set", `{"text":"look again","in":"5m"}`)
		h.wait(2*time.Minute + s(2))
		if p := h.want(id, store.Rearming); p.RearmN != 2 {
			t.Errorf("%+v", p)
		}
		before := len(h.models.requests())
		h.wait(3 * time.Minute)
		if p := h.want(id, store.Rearming); p.RearmN != 3 || p.Messages != 2 || len(h.models.requests())-before != 2 {
			t.Errorf("%d requests, %+v", len(h.models.requests())-before, p)
		}
	})
}

// A bot that has them in its list is offered them, and their results reach the model.
func TestBuiltinsAreOffered(t *testing.T) {
	inHouse(t, func(p *Parts) { p.Bots[0].Tools = []string{"schedule", "memory"} }, func(h *house) {
		h.models.play("call:schedule_list+memory_recall+send_message", "ok:done")
		h.settled(h.say("ann", "what do you know?"), s(1))
		rs := h.models.requests()
		for _, want := range []string{"tool: nothing is set in this conversation", "tool: nothing is remembered of that", "tool: " + noSuchTool} {
			if !strings.Contains(rs[len(rs)-1].body, want) {
				t.Errorf("%q is not in %s", want, rs[len(rs)-1].body)
			}
		}
	})
}

// What a model gets wrong it is told in words that help, and nothing is set.
func TestWakeMistakes(t *testing.T) {
	inHouse(t, nil, func(h *house) {
		ann := h.say("ann", "hello")
		by := h.caller(ann)
		for args, want := range map[string]string{
			`{"text":"x"}`:                                           "exactly one of",
			`{"text":"x","in":"5m","at":"09:00"}`:                    "exactly one of",
			`{"text":" ","in":"5m"}`:                                 "text is empty",
			`{"text":"x","in":"soon"}`:                               "write a length of time",
			`{"text":"x","in":"-5m"}`:                                "write a length of time",
			`{"text":"x","in":"20000d"}`:                             "write a length of time",
			`{"text":"x","at":"1999-12-31 09:00"}`:                   "must lie ahead",
			`{"text":"x","at":"tomorrow"}`:                           "write for example",
			`{"text":"x","cron":"*/4 * * * *"}`:                      "more often than every 5 minutes",
			`{"text":"x","cron":"@every 10s"}`:                       "more often than every 5 minutes",
			`{"text":"x","cron":"0 0 31 2 *"}`:                       "never comes",
			`{"text":"x","at":"09:00","timezone":"Mars"}`:            "no time zone",
			`{"text":["x"],"in":"5m"}`:                               "not understood",
			`{"text":"` + strings.Repeat("x", 4001) + `","in":"5m"}`: "at most 4000",
		} {
			if r := h.use(by, "", "schedule_set", args); !r.Failed || !strings.Contains(r.Text, want) {
				t.Errorf("%s: %+v", args, r)
			}
		}
		visitor := by
		visitor.Visitor = true
		if r := h.use(visitor, "", "schedule_set", `{"text":"x","in":"5m"}`); !r.Failed {
			t.Errorf("%+v", r)
		}
		for i := range wakesOfOne {
			if r := h.use(by, "", "schedule_set", fmt.Sprintf(`{"text":"x","in":"%dh"}`, i+1)); r.Failed {
				t.Fatalf("%+v", r)
			}
		}
		if r := h.use(by, "", "schedule_set", `{"text":"x","in":"1h"}`); !r.Failed || !strings.Contains(r.Text, "20 are set") {
			t.Errorf("%+v", r)
		}
		h.wait(time.Hour + s(1)) // one has come: there is room, but a wake does not set another within minutes
		turns, _, err := h.store.Turns(store.Filter{Limit: 1})
		if err != nil {
			t.Fatal(err)
		}
		woken := h.caller(turns[0].ID)
		if r := h.use(woken, "", "schedule_set", `{"text":"x","in":"4m"}`); !r.Failed || !strings.Contains(r.Text, "woken by yourself") {
			t.Errorf("%+v", r)
		}
		if r := h.use(woken, "", "schedule_set", `{"text":"x","in":"5m"}`); r.Failed {
			t.Errorf("%+v", r)
		}
	})
}

func TestMoments(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	now := time.Date(2026, 3, 28, 20, 0, 0, 0, berlin)
	for text, want := range map[string]string{
		"2026-05-01 09:00": "2026-05-01T09:00:00+02:00", "2026-05-01T09:00": "2026-05-01T09:00:00+02:00", "2026-05-01T09:00:00Z": "2026-05-01T11:00:00+02:00",
		"21:30": "2026-03-28T21:30:00+01:00", "19:00": "2026-03-29T19:00:00+02:00", "2026-03-29 02:30": "2026-03-29T03:00:00+02:00", " 2026-04-01 ": "2026-04-01T00:00:00+02:00",
	} {
		if at, ok := momentFrom(text, berlin, now); !ok || at.In(berlin).Format(time.RFC3339) != want {
			t.Errorf("%s: %v, %v", text, at.In(berlin), ok)
		}
	}
	for text, want := range map[string]time.Duration{"90s": 90 * time.Second, "1d": 24 * time.Hour, "1d 12h": 36 * time.Hour, "1h30m": 90 * time.Minute} {
		if got, ok := spanOf(text); !ok || got != want {
			t.Errorf("%s: %v, %v", text, got, ok)
		}
	}
	for _, text := range []string{"", "d", "5", "-1h", "-1d", "1h1d", "99999d", "x"} {
		if got, ok := spanOf(text); ok {
			t.Errorf("%q: %v", text, got)
		}
	}
}

func TestMemoryTools(t *testing.T) {
	inHouse(t, nil, func(h *house) {
		ann, bob := h.caller(h.say("ann", "hello")), h.caller(h.say("bob", "hello"))
		r := h.use(ann, "", "memory_remember", `{"text":" Ann is allergic to nuts. "}`)
		id := strings.TrimPrefix(r.Text, "remembered as ")
		if r.Failed || len(id) != 13 || h.use(ann, "", "memory_remember", `{"text":"Ann is allergic to nuts.","about":"me"}`).Text != r.Text {
			t.Errorf("%+v", r)
		}
		h.use(bob, "", "memory_remember", `{"text":"The shop has no nuts on Mondays.","about":"everyone"}`)
		if got := h.use(ann, "", "memory_recall", `{"words":"nuts"}`).Text; strings.Count(got, "\n") != 1 || !strings.Contains(got, "- "+id+", about who speaks, since 2000-01-01: Ann is allergic to nuts.") {
			t.Errorf("%q", got)
		}
		if got := h.use(bob, "", "memory_recall", `{"words":"nuts"}`).Text; strings.Contains(got, "allergic") || !strings.Contains(got, "for everyone") {
			t.Errorf("%q", got)
		}
		forget := fmt.Sprintf(`{"id":%q}`, id)
		if got := h.use(bob, "", "memory_forget", forget).Text; !strings.Contains(got, "nothing is remembered") {
			t.Errorf("%q", got)
		}
		if got := h.use(ann, "", "memory_forget", forget).Text; got != "forgotten" {
			t.Errorf("%q", got)
		}
		if got := h.use(ann, "", "memory_recall", `{"words":"allergic"}`).Text; got != "nothing is remembered of that" {
			t.Errorf("%q", got)
		}
		visitor := ann
		visitor.Visitor = true
		for by, args := range map[tool.Caller]string{
			ann: `{"text":""}`, bob: `{"text":"` + strings.Repeat("é", 1001) + `"}`, visitor: `{"text":"x","about":"everyone"}`,
		} {
			if r := h.use(by, "", "memory_remember", args); !r.Failed {
				t.Errorf("%+v", r)
			}
		}
		if r := h.use(ann, "", "memory_remember", `{"text":"x","about":"bob"}`); !r.Failed {
			t.Errorf("%+v", r)
		}
	})
}

// A message to another conversation is posted there once, however often its call is made, survives a
// kill before it is delivered, and is known to that conversation's history as the bot's.
func TestSendMessage(t *testing.T) {
	chat := &fakeSurface{name: "slack/x"}
	inHouse(t, func(p *Parts) {
		p.Surfaces = append(p.Surfaces, chat)
		p.Bots[0].SendTo = []string{"slack:x/C1", "slack:gone/C1"}
	}, func(h *house) {
		ann := h.caller(h.say("ann", "tell them"))
		chat.mu.Lock()
		chat.fail = []error{fmt.Errorf("down")}
		chat.mu.Unlock()
		if r := h.use(ann, "k1", "send_message", `{"to":"slack:x/C1","text":"lunch is ready"}`); r.Failed || r.Text != "sent to slack:x/C1" {
			t.Errorf("%+v", r)
		}
		h.crash()
		h.start()
		if r := h.use(ann, "k1", "send_message", `{"to":"slack:x/C1","text":"lunch is ready"}`); r.Failed {
			t.Errorf("%+v", r)
		}
		h.wait(time.Minute)
		equal(t, "shown", chat.shown(), []string{"lunch is ready"})
		a, err := h.engine.Receive(t.Context(), Incoming{Bot: "bot", Surface: "slack/x", Channel: "C1", Key: "e1", Person: "bob", Text: "what?"})
		if err != nil {
			t.Fatal(err)
		}
		h.settled(a.Turn, s(1))
		rs := h.models.requests()
		if got, want := rs[len(rs)-1].body, "user: "+sendNote+"\nassistant: lunch is ready\nuser: what?\n"; got != want {
			t.Errorf("%q", got)
		}
		if shape := h.engine.Shape(); shape.Accepted != 3 || shape.Turns[store.Done] != 3 || shape.Lost != 0 {
			t.Errorf("%+v", shape)
		}
		for args, want := range map[string]string{
			`{"to":"slack:x/C2","text":"x"}`:                                     "those are: slack:x/C1, slack:gone/C1",
			`{"to":"slack:gone/C1","text":"x"}`:                                  "not configured",
			`{"to":"slack:x/C1","text":" "}`:                                     "text is empty",
			`{"to":"slack:x/C1","text":"` + strings.Repeat("x", 16<<10+1) + `"}`: "can be sent at once",
		} {
			if r := h.use(ann, "", "send_message", args); !r.Failed || !strings.Contains(r.Text, want) {
				t.Errorf("%.40s: %+v", args, r)
			}
		}
	})
}
