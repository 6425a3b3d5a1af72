package web

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"holdfast/engine"
	"holdfast/store"
)

// planned puts a schedule of the config and one of a bot into the store and returns the bot's.
func (g *rig) planned(t *testing.T) store.Schedule {
	t.Helper()
	now := store.At(time.Now())
	daily := store.Schedule{
		Name: "daily", Source: "config", Bot: "ada", Cron: "0 9 * * *", Timezone: "Europe/Berlin", Prompt: "What is open?", Target: "slack:x/C1", Surface: "slack/x", Channel: "C1",
		Person: "schedule:daily", Missed: "once", Next: moment, Planned: now,
	}
	if err := g.store.PutSchedule(&daily, now); err != nil {
		t.Fatal(err)
	}
	own := store.Schedule{Source: "bot", Bot: "ada", Timezone: "UTC", Prompt: "look", Surface: "web", Channel: "c1", Person: "owner", Missed: "once", Next: moment + 1, Planned: now, MadeBy: "k"}
	if err := g.store.SetSchedule(&own, 20, now); err != nil {
		t.Fatal(err)
	}
	return own
}

func (g *rig) get(t *testing.T, path string) string {
	t.Helper()
	status, _, body := g.do(t, request{method: "GET", path: path, token: testToken})
	if status != 200 {
		t.Fatalf("%s: %d %s", path, status, body)
	}
	return strings.TrimSpace(body)
}

// Schedules are read as a whole, followed over the socket, run now once per command, paused and deleted.
func TestSchedules(t *testing.T) {
	g := newRig(t, nil)
	own := g.planned(t)
	ownJSON := fmt.Sprintf(`{"name":%q,"bot":"ada","cron":null,"timezone":"UTC","prompt":"look","to":"web:c1","source":"bot","next":"2025-06-15T15:06:40.124Z","last":null,"last_turn":null,"paused":false,"missed":"once"}`, own.Name)
	want := `{"schedules":[` + ownJSON + `,` +
		`{"name":"daily","bot":"ada","cron":"0 9 * * *","timezone":"Europe/Berlin","prompt":"What is open?","to":"slack:x/C1","source":"config","next":"2025-06-15T15:06:40.123Z","last":null,"last_turn":null,"paused":false,"missed":"once"}]}`
	if got := g.get(t, "/api/v1/schedules"); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	page := g.dial(t, "")
	page.hello("", 0, "")
	if f := page.want("welcome"); fmt.Sprint(f.Page["has"]) != "[schedules memory usage]" {
		t.Errorf("%+v", f.Page)
	}
	if f := page.want("snapshot"); len(f.Schedules) != 2 || f.Schedules[1]["name"] != "daily" {
		t.Errorf("%+v", f.Schedules)
	}
	page.want("live")

	run := `{"id":"r1","cmd":"schedule.run","target":"daily"}`
	status, first := g.command(t, run)
	again, second := g.command(t, run)
	if status != 200 || again != 200 || first.turn(t) != second.turn(t) || first.Duplicate || !second.Duplicate {
		t.Errorf("%d %+v, %d %+v", status, first, again, second)
	}
	page.until("schedule", func(d map[string]any) bool { return d["name"] == "daily" && d["last_turn"] == first.turn(t).String() })
	if status, _ := g.command(t, `{"id":"p1","cmd":"schedule.pause","target":"daily"}`); status != 200 {
		t.Error(status)
	}
	if f := page.until("schedule", has("name", "daily")); f.D["paused"] != true || f.D["next"] != nil {
		t.Errorf("%+v", f.D)
	}
	if status, _ := g.command(t, `{"id":"p2","cmd":"schedule.pause","target":"daily","args":{"paused":false}}`); status != 200 {
		t.Error(status)
	}
	if f := page.until("schedule", has("name", "daily")); f.D["paused"] != false || f.D["next"] != "2025-06-15T15:06:40.123Z" {
		t.Errorf("%+v", f.D)
	}
	if status, a := g.command(t, `{"id":"d1","cmd":"schedule.delete","target":"daily"}`); status != 409 || a.Error.Code != "in_config" {
		t.Errorf("%d %+v", status, a)
	}
	if status, _ := g.command(t, `{"id":"d2","cmd":"schedule.delete","target":"`+own.Name+`"}`); status != 200 {
		t.Error(status)
	}
	if f := page.until("removed", has("kind", "schedule")); f.D["id"] != own.Name {
		t.Errorf("%+v", f.D)
	}
	for _, cmd := range []string{"schedule.run", "schedule.pause", "schedule.delete", "memory.delete"} {
		if status, a := g.command(t, `{"id":"n-`+strings.ReplaceAll(cmd, ".", "-")+`","cmd":"`+cmd+`","target":"none"}`); status != 404 || a.Error.Message == "" {
			t.Errorf("%s: %d %+v", cmd, status, a)
		}
	}
}

func TestUpcomingSchedule(t *testing.T) {
	g := newRig(t, nil)
	g.house.shape.Upcoming = []engine.Upcoming{{Kind: "schedule", Name: "daily", At: moment}}
	if got := g.get(t, "/api/v1/state"); !strings.Contains(got, `"upcoming":[{"kind":"schedule","turn":null,"name":"daily","at":"2025-06-15T15:06:40.123Z","count":null,"of":null}]`) {
		t.Errorf("%s", got)
	}
}

// What bots remember is paged, and deleted by command; visitors see none of it.
func TestMemory(t *testing.T) {
	g := newRig(t, func(c *Config) { c.Public = "ada" })
	var kept []store.Memory
	for i, person := range []string{"owner", "", "owner"} {
		m := store.Memory{Bot: "ada", Person: person, Text: fmt.Sprint("fact ", i), At: moment, Conversation: 7}
		if err := g.store.Remember(&m, 9); err != nil {
			t.Fatal(err)
		}
		kept = append(kept, m)
	}
	first := g.get(t, "/api/v1/memory?limit=2")
	want := fmt.Sprintf(`{"memories":[{"id":%q,"bot":"ada","person":"owner","text":"fact 2","at":"2025-06-15T15:06:40.123Z","conversation":%q},`+
		`{"id":%q,"bot":"ada","person":null,"text":"fact 1","at":"2025-06-15T15:06:40.123Z","conversation":%q}],"next":%q}`,
		kept[2].ID, store.ID(7), kept[1].ID, store.ID(7), kept[1].ID)
	if first != want {
		t.Errorf("got  %s\nwant %s", first, want)
	}
	if got := g.get(t, "/api/v1/memory?bot=ada&before="+kept[1].ID.String()); !strings.Contains(got, "fact 0") || !strings.Contains(got, `"next":null`) {
		t.Errorf("%s", got)
	}
	if got := g.get(t, "/api/v1/memory?bot=bob"); got != `{"memories":[],"next":null}` {
		t.Errorf("%s", got)
	}
	if got := g.get(t, "/api/v1/memory?bot=&person=owner&q=FACT+0"); !strings.Contains(got, "fact 0") || strings.Contains(got, "fact 2") {
		t.Errorf("%s", got)
	}
	for range 2 {
		if status, _ := g.command(t, `{"id":"f1","cmd":"memory.delete","target":"`+kept[0].ID.String()+`"}`); status != 200 {
			t.Error(status)
		}
	}
	if got := g.get(t, "/api/v1/memory"); strings.Contains(got, "fact 0") {
		t.Errorf("%s", got)
	}
	for _, query := range []string{"limit=0", "limit=x", "before=x"} {
		if status, _, _ := g.do(t, request{method: "GET", path: "/api/v1/memory?" + query, token: testToken}); status != 400 {
			t.Errorf("%s: %d", query, status)
		}
	}
	visitor := g.come(t)
	for _, path := range []string{"/api/v1/memory", "/api/v1/schedules"} {
		if status, _, body := g.do(t, request{method: "GET", path: path, cookie: visitor}); status == 200 {
			t.Errorf("%s: %s", path, body)
		}
	}
	if status, _ := g.visitorSends(t, visitor, `{"id":"f2","cmd":"memory.delete","target":"`+kept[1].ID.String()+`"}`); status == 200 {
		t.Error("a visitor deletes a memory")
	}
}
