package web

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"holdfast/engine"
	"holdfast/store"
)

// S1: a command id sent twice makes one turn; the second answer is the first one's, marked.
func TestCommandTwiceMakesOneTurnS1(t *testing.T) {
	g := newRig(t, nil)
	body := `{"id":"m1","cmd":"message.send","args":{"chat":"c1","text":"hello"}}`
	status, first := g.command(t, body)
	if status != 200 || !first.OK || first.Duplicate || first.ID != "m1" || first.Chat == nil || *first.Chat != "c1" || first.Seq < 1 {
		t.Fatalf("first: %d %+v", status, first)
	}
	status, second := g.command(t, ` { "cmd":"message.send","id":"m1", "args":{"text":"hello","chat":"c1"}}`)
	if status != 200 || !second.Duplicate || second.turn(t) != first.turn(t) || *second.Chat != "c1" || second.Seq != first.Seq {
		t.Errorf("second: %d %+v, want the first with duplicate", status, second)
	}
	status, other := g.command(t, `{"id":"m1","cmd":"message.send","args":{"chat":"c1","text":"something else"}}`)
	if status != 422 || other.Error.Code != "id_reused" {
		t.Errorf("same id, other body: %d %+v", status, other.Error)
	}
	turns, _, err := g.store.Turns(allTurns)
	if err != nil || len(turns) != 1 {
		t.Errorf("%d turns, %v, want 1", len(turns), err)
	}
	if events := turns[0]; events.Person != owner || events.Surface != "web" || events.Channel != "c1" || events.Lane != "durable" {
		t.Errorf("turn %+v", events)
	}
}

// S1, when both arrive at the same moment.
func TestConcurrentDoublePostS1(t *testing.T) {
	g := newRig(t, nil)
	var wg sync.WaitGroup
	answers := make([]answer, 8)
	for i := range answers {
		wg.Go(func() {
			_, answers[i] = g.command(t, `{"id":"m1","cmd":"message.send","args":{"chat":"c1","text":"hello"}}`)
		})
	}
	wg.Wait()
	fresh := 0
	for _, a := range answers {
		if a.turn(t) != answers[0].turn(t) {
			t.Errorf("turn %s and %s", a.Turn, answers[0].Turn)
		}
		if !a.Duplicate {
			fresh++
		}
	}
	if turns, _, _ := g.store.Turns(allTurns); len(turns) != 1 || fresh != 1 {
		t.Errorf("%d turns, %d answers not marked as duplicate; want 1 and 1", len(turns), fresh)
	}
}

func TestMessageSend(t *testing.T) {
	g := newRig(t, nil)
	status, a := g.command(t, `{"id":"m1","cmd":"message.send","args":{"text":"  What is\n up?"}}`)
	if status != 200 || a.Chat == nil || len(*a.Chat) < 20 {
		t.Fatalf("without a chat: %d %+v", status, a)
	}
	chat, err := g.store.Chat(*a.Chat)
	if err != nil || chat.Title != "What is" || chat.Bot != "ada" {
		t.Errorf("chat %+v, %v", chat, err)
	}
	for _, c := range []struct {
		name, body string
		status     int
		code       string
	}{
		{"another bot's chat", `{"id":"m2","cmd":"message.send","args":{"bot":"bob","chat":"` + *a.Chat + `","text":"x"}}`, 409, "other_bot"},
		{"no such bot", `{"id":"m3","cmd":"message.send","args":{"bot":"eve","text":"x"}}`, 404, "no_such_bot"},
		{"blank", `{"id":"m4","cmd":"message.send","args":{"text":" "}}`, 400, "bad_command"},
		{"no id", `{"cmd":"message.send","args":{"text":"x"}}`, 400, "bad_command"},
		{"unknown", `{"id":"m5","cmd":"message.shout"}`, 400, "unknown_command"},
		{"no such schedule", `{"id":"m6","cmd":"schedule.run","target":"a"}`, 404, "not_found"},
		{"a version where there is none", `{"id":"m7","cmd":"message.send","if_version":3,"args":{"text":"x"}}`, 400, "bad_request"},
		{"not JSON", `hello`, 400, "bad_command"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if status, a := g.command(t, c.body); status != c.status || a.Error.Code != c.code || a.Error.Message == "" {
				t.Errorf("%d %+v, want %d %s", status, a.Error, c.status, c.code)
			}
		})
	}
	status, _, body := g.do(t, request{method: "POST", path: "/api/v1/commands", token: testToken,
		body: `{"id":"m8","cmd":"message.send","args":{"text":"` + strings.Repeat("x", 3<<19) + `"}}`})
	if status != 413 || !strings.Contains(body, `"too_large"`) {
		t.Errorf("2 MB: %d %s", status, body)
	}
}

func TestSeveralBotsMustBeNamed(t *testing.T) {
	g := newRig(t, nil)
	g.bots = []Bot{{Name: "ada"}, {Name: "bob"}}
	if status, a := g.command(t, `{"id":"m1","cmd":"message.send","args":{"text":"x"}}`); status != 400 || !strings.Contains(a.Error.Message, "ada, bob") {
		t.Errorf("%d %+v", status, a.Error)
	}
	if status, _ := g.command(t, `{"id":"m1","cmd":"message.send","args":{"text":"x","bot":"bob"}}`); status != 200 {
		t.Errorf("named: %d", status)
	}
}

func TestNothingStoredIs503(t *testing.T) {
	g := newRig(t, nil)
	for err, code := range map[error]string{errBroken: "not_stored", engine.ErrStopped: "stopping", store.ErrFull: "not_stored"} {
		g.house.fail = fmt.Errorf("admit: %w", err)
		status, a := g.command(t, `{"id":"m1","cmd":"message.send","args":{"text":"x"}}`)
		if status != 503 || a.Error.Code != code || strings.Contains(a.Error.Message, "broken") {
			t.Errorf("%v: %d %+v", err, status, a.Error)
		}
	}
	if !strings.Contains(g.log.String(), "err=\"admit: broken\"") {
		t.Errorf("the cause is not logged: %s", g.log)
	}
}

func TestStopOneTurn(t *testing.T) {
	g := newRig(t, nil)
	id := g.say(t, "m1", "c1", "hello")
	target := `"target":"` + id.String() + `"`

	status, a := g.command(t, `{"id":"s1","cmd":"turn.stop",`+target+`,"if_version":99}`)
	var turn struct{ ID, State string }
	if err := json.Unmarshal(a.Turn, &turn); status != 409 || a.Error.Code != "stale" || err != nil || turn.ID != id.String() || turn.State != "queued" {
		t.Errorf("stale: %d %+v %s", status, a.Error, a.Turn)
	}
	status, a = g.command(t, `{"id":"s1","cmd":"turn.stop",`+target+`,"if_version":1}`)
	if status != 200 || a.turn(t) != id || *a.Chat != "c1" || a.Seq < 1 {
		t.Errorf("stop: %d %+v", status, a)
	}
	got, _ := g.store.Turn(id)
	if got.State != store.Done || got.Outcome != store.Cancelled {
		t.Errorf("turn is %s %s", got.State, got.Outcome)
	}
	status, a = g.command(t, `{"id":"s2","cmd":"turn.stop",`+target+`}`)
	if status != 409 || a.Error.Code != "settled" || !strings.Contains(string(a.Turn), `"cancelled"`) {
		t.Errorf("stop of a done turn: %d %+v %s", status, a.Error, a.Turn)
	}
	for _, nobody := range []string{"nope", "0000000000000"} {
		if status, a := g.command(t, `{"id":"s3","cmd":"turn.stop","target":"`+nobody+`"}`); status != 404 || !strings.Contains(a.Error.Message, "turn") {
			t.Errorf("turn %q: %d %+v", nobody, status, a.Error)
		}
	}
}

// F11: "Try now" inside a hold is refused with the time.
func TestResumeInsideAHoldF11(t *testing.T) {
	g := newRig(t, nil)
	id := g.say(t, "m1", "c1", "hello")
	until := time.Now().Add(time.Hour)
	g.house.wait(t, id, until)
	g.house.held[id] = store.At(until)
	status, a := g.command(t, `{"id":"r1","cmd":"turn.resume","target":"`+id.String()+`"}`)
	var turn struct{ ID, State string }
	if json.Unmarshal(a.Turn, &turn); status != 409 || a.Error.Code != "held" || turn.State != "parked" {
		t.Fatalf("%d %+v %s", status, a.Error, a.Turn)
	}
	want, _ := store.At(until).MarshalJSON()
	if !strings.Contains(string(a.Turn), `"retry_at":`+string(want)) || !strings.Contains(a.Error.Message, until.UTC().Format("15:04:05")) {
		t.Errorf("%s %s: must say until %s", a.Error.Message, a.Turn, want)
	}
	delete(g.house.held, id)
	if status, a := g.command(t, `{"id":"r2","cmd":"turn.resume","target":"`+id.String()+`"}`); status != 200 || a.turn(t) != id {
		t.Errorf("outside the hold: %d %+v", status, a)
	}
	if got, _ := g.store.Turn(id); got.State != store.Queued {
		t.Errorf("turn is %s", got.State)
	}
}

func TestCommandsOnMany(t *testing.T) {
	g := newRig(t, nil)
	var ids []store.ID
	for i := range 4 {
		ids = append(ids, g.say(t, fmt.Sprint("m", i), fmt.Sprint("c", i), "hello"))
	}
	later := time.Now().Add(time.Hour)
	for _, id := range ids[:3] {
		g.house.wait(t, id, later)
	}
	g.house.held[ids[1]] = store.At(later)

	names := func(ids ...store.ID) string { return strings.Join(texts(ids), " ") }
	dry := `{"id":"b0","cmd":"turn.resume","args":{"waiting":true,"dry_run":true}}`
	if status, a := g.command(t, dry); status != 200 || a.Count == nil || *a.Count != 3 || strings.Join(a.Turns, " ") != names(ids[:3]...) {
		t.Errorf("dry run: %d %+v", status, a)
	}
	resume := `{"id":"b1","cmd":"turn.resume","args":{"waiting":true}}`
	if status, a := g.command(t, resume); status != 200 || *a.Count != 2 || strings.Join(a.Turns, " ") != names(ids[0], ids[2]) {
		t.Errorf("resume: %d %+v, want all but the held one", status, a)
	}
	// Sent again it is about the same turns: one that has come to wait since is not touched.
	g.house.wait(t, ids[3], later)
	if status, a := g.command(t, resume); status != 200 || !a.Duplicate {
		t.Errorf("again: %d %+v", status, a)
	}
	if got, _ := g.store.Turn(ids[3]); got.State != store.Parked {
		t.Errorf("a later turn was resumed: %s", got.State)
	}
	if status, a := g.command(t, `{"id":"b1","cmd":"turn.resume","args":{"state":"parked"}}`); status != 422 {
		t.Errorf("same id, other filter: %d %+v", status, a.Error)
	}
	cancel := `{"id":"b2","cmd":"turn.cancel","args":{"state":"parked","bot":"ada","say":"sorry"}}`
	if status, a := g.command(t, cancel); status != 200 || strings.Join(a.Turns, " ") != names(ids[1], ids[3]) {
		t.Errorf("cancel: %d %+v", status, a)
	}
	if status, a := g.command(t, cancel); status != 200 || !a.Duplicate || *a.Count != 2 {
		t.Errorf("cancel again: %d %+v", status, a)
	}
	if got, _ := g.store.Turn(ids[1]); got.Outcome != store.Cancelled || got.Text != "sorry" {
		t.Errorf("turn %s %q", got.Outcome, got.Text)
	}
	if status, a := g.command(t, `{"id":"b3","cmd":"turn.cancel","args":{"bot":"nobody"}}`); status != 200 || *a.Count != 0 {
		t.Errorf("none: %d %+v", status, a)
	}
	if status, a := g.command(t, `{"id":"b4","cmd":"turn.cancel","args":{"state":"sleeping"}}`); status != 400 || !strings.Contains(a.Error.Message, "parked") {
		t.Errorf("no such state: %d %+v", status, a.Error)
	}
}

func TestChatsAndHolds(t *testing.T) {
	g := newRig(t, nil)
	id := g.say(t, "m1", "c1", "hello")
	for _, c := range []struct {
		body   string
		status int
		code   string
	}{
		{`{"id":"a1","cmd":"chat.rename","target":"c1","args":{"title":"Plans"}}`, 200, ""},
		{`{"id":"a2","cmd":"chat.rename","target":"c9","args":{"title":"Plans"}}`, 404, "not_found"},
		{`{"id":"a3","cmd":"chat.delete","target":"c1"}`, 409, "busy"},
		{`{"id":"a4","cmd":"turn.stop","target":"` + id.String() + `"}`, 200, ""},
		{`{"id":"a5","cmd":"chat.delete","target":"c1"}`, 200, ""},
		{`{"id":"a5","cmd":"chat.delete","target":"c1"}`, 200, "duplicate"},
		{`{"id":"a6","cmd":"hold.release","target":"demo/echo"}`, 200, ""},
		{`{"id":"a7","cmd":"hold.release","target":"demo/other"}`, 404, "not_found"},
	} {
		status, a := g.command(t, c.body)
		if code := a.Error.Code; status != c.status || c.code != "duplicate" && code != c.code || a.Duplicate != (c.code == "duplicate") {
			t.Errorf("%s: %d %+v, want %d %s", c.body, status, a, c.status, c.code)
		}
		if strings.Contains(c.body, "chat.") && status == 200 && (a.Chat == nil || *a.Chat != "c1") {
			t.Errorf("%s: chat %v", c.body, a.Chat)
		}
	}
}
