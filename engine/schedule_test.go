package engine

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"holdfast/store"
)

// scheduled is a house with schedules, whose zone is UTC; a bubble begins at midnight, 1 January 2000.
func scheduled(t *testing.T, f func(*house), list ...Schedule) {
	t.Helper()
	inHouse(t, func(p *Parts) {
		for _, s := range list {
			s.Bot = "bot"
			if s.Missed == "" {
				s.Missed = "once"
			}
			p.Schedules = append(p.Schedules, s)
		}
	}, f)
}

// asked is when the models were asked, as time of day, by the wall clock.
func (h *house) asked() (list []string) {
	for _, r := range h.models.requests() {
		list = append(list, r.at.UTC().Format("15:04:05"))
	}
	return list
}

// schedule reads one.
func (h *house) schedule(name string) store.Schedule {
	h.t.Helper()
	s, err := h.store.Schedule(name)
	if err != nil {
		h.t.Fatal(err)
	}
	return s
}

// A tick is a turn like any other: in a chat of its own, by the model's context a prompt that says who sends it.
func TestTick(t *testing.T) {
	scheduled(t, func(h *house) {
		h.models.play("ok:three things")
		h.wait(10*time.Minute + s(1))
		equal(t, "asked", h.asked(), []string{"00:10:00"})
		body := h.models.requests()[0].body
		if want := `user: What is open?

[Holdfast: the schedule "standup" sends this by itself; it is Sat 2000-01-01 00:10 UTC. If there is nothing to say, answer with [silent] and nothing else: then nothing is posted.]`; strings.TrimSpace(body) != want {
			t.Errorf("%s", body)
		}
		now := h.schedule("standup")
		turn := h.want(now.LastTurn, store.Done)
		if turn.Outcome != store.Answered || turn.Text != "three things" || turn.Person != "schedule:standup" || turn.Channel != chatOf(h.parts.Schedules[0]) {
			t.Errorf("%+v", turn)
		}
		if ten := time.Date(2000, 1, 1, 0, 10, 0, 0, time.UTC); now.Last.Go() != ten || now.Next.Go() != ten.Add(time.Hour) {
			t.Errorf("%+v", now)
		}
		if up := h.engine.Shape().Upcoming; len(up) != 1 || up[0].Kind != "schedule" || up[0].Name != "standup" || up[0].At != now.Next {
			t.Errorf("%+v", up)
		}
	}, Schedule{Name: "standup", Cron: "10 * * * *", Prompt: "What is open?"})
}

// An answer that is only the token is settled and not posted; with a notice shown that one says so.
// Whoever is asked by a person posts it as it is.
func TestSilentTick(t *testing.T) {
	scheduled(t, func(h *house) {
		h.models.play("ok: `[Silent]`\n")
		h.wait(10*time.Minute + s(1))
		turn := h.want(h.schedule("watch").LastTurn, store.Done)
		if posts, err := h.store.Posts(turn.ID); err != nil || len(posts) > 0 || turn.Outcome != store.Answered || turn.Text != "" {
			t.Errorf("%+v, %+v, %v", turn, posts, err)
		}
		h.models.play("429/2m", "ok:[silent]")
		h.wait(time.Hour)
		turn = h.want(h.schedule("watch").LastTurn, store.Parked)
		h.wait(2 * time.Minute)
		turn = h.want(turn.ID, store.Done)
		if posts, err := h.store.Posts(turn.ID); err != nil || len(posts) != 1 || posts[0].Text != "Nothing to say." || turn.Text != "" {
			t.Errorf("%+v, %+v, %v", turn, posts, err)
		}
		h.models.play("ok:[silent]")
		if done := h.settled(h.say("ann", "hello"), s(1)); done.Text != "[silent]" {
			t.Errorf("%+v", done)
		}
	}, Schedule{Name: "watch", Cron: "10 * * * *", Prompt: "Look."})
}

// A daemon that is down over three ticks makes them up by one run, or by none, also if it was down for
// seconds only; then it goes on as planned.
func TestMissedTicks(t *testing.T) {
	for missed, want := range map[string][]string{
		"once": {"01:00:00", "04:30:00", "05:00:00"},
		"skip": {"01:00:00", "05:00:00"},
	} {
		scheduled(t, func(h *house) {
			h.wait(90 * time.Minute)
			h.crash()
			h.wait(3 * time.Hour)
			h.start()
			h.wait(time.Hour)
			equal(t, missed, h.asked(), want)
		}, Schedule{Name: "hourly", Cron: "0 * * * *", Prompt: "?", Missed: missed})
		scheduled(t, func(h *house) { // a restart across a tick, however short
			h.wait(59*time.Minute + 58*time.Second)
			h.crash()
			h.wait(s(4))
			h.start()
			h.wait(time.Hour)
			if again := []string{"01:00:02", "02:00:00"}; missed == "once" {
				equal(t, "once, a restart", h.asked(), again)
			} else {
				equal(t, "skip, a restart", h.asked(), again[1:])
			}
		}, Schedule{Name: "hourly", Cron: "0 * * * *", Prompt: "?", Missed: missed})
		scheduled(t, func(h *house) { // the machine sleeps for seconds, which is no time away
			h.wait(59*time.Minute + 30*time.Second)
			h.offset.Add(int64(s(90)))
			h.wait(s(5))
			if n := len(h.models.requests()); n != 1 {
				t.Errorf("%s: asked %d times after a nap", missed, n)
			}
		}, Schedule{Name: "hourly", Cron: "0 * * * *", Prompt: "?", Missed: missed})
		scheduled(t, func(h *house) { // the clock is set back behind the start: nothing due from here on is missed
			h.crash()
			h.wait(5 * time.Hour)
			h.start()
			h.wait(s(10))
			h.offset.Add(-int64(4 * time.Hour))
			h.wait(11 * time.Minute)
			asked := h.asked()
			equal(t, missed+", set back", asked[len(asked)-1:], []string{"05:10:00"}) // 01:10:00 by the clock that was set
		}, Schedule{Name: "tenth", Cron: "10 * * * *", Prompt: "?", Missed: missed})
	}
}

// P16: a laptop asleep over three ticks makes them up by one run within 5 s; a clock that is set back
// an hour makes no run twice, and one that goes by lengths of time never waits longer than its own.
func TestTicksOverClockStepsP16(t *testing.T) {
	scheduled(t, func(h *house) {
		h.wait(70 * time.Minute) // 01:10
		h.offset.Add(int64(3 * time.Hour))
		h.wait(s(5))
		if n := len(h.models.requests()); n != 2 {
			t.Errorf("asked %d times after a sleep over three ticks", n)
		}
		h.wait(50 * time.Minute) // 05:00:05 by the wall
		if n := len(h.models.requests()); n != 3 {
			t.Errorf("asked %d times, the sleep and an hour later", n)
		}
	}, Schedule{Name: "hourly", Cron: "0 * * * *", Prompt: "?"})
	scheduled(t, func(h *house) {
		h.wait(90 * time.Minute) // 01:30
		h.offset.Add(-int64(time.Hour))
		h.wait(89 * time.Minute) // 01:59 again
		equal(t, "set back", h.asked(), []string{"01:00:00"})
		h.wait(2 * time.Minute)
		if n := len(h.models.requests()); n != 2 {
			t.Errorf("asked %d times", n)
		}
		h.offset.Add(-int64(24 * time.Hour)) // it had been wrong: from here on it counts as it is now
		h.wait(59 * time.Minute)
		if n := len(h.models.requests()); n != 3 {
			t.Errorf("asked %d times after the clock was a day wrong", n)
		}
	}, Schedule{Name: "hourly", Cron: "0 * * * *", Prompt: "?"})
	scheduled(t, func(h *house) {
		h.wait(25 * time.Minute)
		h.offset.Add(-int64(time.Hour))
		h.wait(s(5))
		if left := h.schedule("often").Next.Sub(h.engine.now()); left > 10*time.Minute || left < 9*time.Minute {
			t.Errorf("the next is %v away", left)
		}
	}, Schedule{Name: "often", Cron: "@every 10m", Prompt: "?"})
}

// P8: a tick that the wheel has lost is found by the sweep.
func TestLostTickIsFoundBySweepP8(t *testing.T) {
	scheduled(t, func(h *house) {
		h.engine.mu.Lock()
		if !h.engine.wheel.Cancel(h.engine.ticks.timer) {
			t.Error("nothing in the wheel")
		}
		h.engine.mu.Unlock()
		h.wait(11 * time.Minute)
		if n := len(h.models.requests()); n != 1 {
			t.Errorf("asked %d times", n)
		}
	}, Schedule{Name: "one", Cron: "10 * * * *", Prompt: "?"})
}

// A kill between the tick's turn and its answer: the same turn is answered, the tick is not sent again.
func TestTickSurvivesKill(t *testing.T) {
	scheduled(t, func(h *house) {
		h.models.play("hang", "ok")
		h.wait(10*time.Minute + s(1))
		h.crash()
		h.start()
		h.wait(s(5))
		turns, _, err := h.store.Turns(store.Filter{})
		if err != nil || len(turns) != 1 || turns[0].Outcome != store.Answered || turns[0].Requests != 2 {
			t.Errorf("%+v, %v", turns, err)
		}
	}, Schedule{Name: "one", Cron: "10 * * * *", Prompt: "?"})
}

// Ticks that overlap are one: while the last one's turn is under way the next is dropped and told of.
func TestOverlappingTicks(t *testing.T) {
	scheduled(t, func(h *house) {
		h.models.play("429/25m", "ok:at last")
		h.wait(32 * time.Minute)
		if n := len(h.log.with("tick dropped")); n != 2 {
			t.Errorf("%d dropped\n%s", n, h.log)
		}
		h.wait(4 * time.Minute)
		equal(t, "asked", h.asked(), []string{"00:10:00", "00:35:00"})
		h.wait(5 * time.Minute)
		equal(t, "and then", h.asked(), []string{"00:10:00", "00:35:00", "00:40:00"})
	}, Schedule{Name: "often", Cron: "*/10 * * * *", Prompt: "?"})
}

// R2, R5: a tick during the wait for a re-arm is merged into that turn, which runs at once with the
// full ladder; and it does not start the count again, nor is the prompt said twice.
func TestTickWakesRearmR2R5(t *testing.T) {
	inHouse(t, func(p *Parts) {
		shortLadder(p)
		p.Schedules = []Schedule{{Name: "often", Bot: "bot", Cron: "*/5 * * * *", Prompt: "Look.", Missed: "once"}}
	}, func(h *house) {
		h.models.play("503")
		h.wait(5*time.Minute + s(1))
		id := h.schedule("often").LastTurn
		if p := h.want(id, store.Rearming); p.RearmN != 1 || p.Rearms != 1 {
			t.Errorf("%+v", p)
		}
		h.wait(2 * time.Minute) // its own re-arm, at 00:07:00.5, one request
		if p := h.want(id, store.Rearming); p.RearmN != 2 {
			t.Errorf("%+v", p)
		}
		before := len(h.models.requests())
		h.wait(3 * time.Minute) // the tick at 00:10: the full ladder, two requests
		p := h.want(id, store.Rearming)
		if n := len(h.models.requests()) - before; n != 2 || p.RearmN != 3 || p.Messages != 2 {
			t.Errorf("%d requests, %+v", n, p)
		}
		if lines := h.log.with("turn resumed"); len(lines) == 0 || !strings.Contains(lines[len(lines)-2], "by=schedule") && !strings.Contains(lines[len(lines)-1], "by=schedule") {
			t.Errorf("%v", lines)
		}
		merged := h.turn(h.schedule("often").LastTurn)
		if merged.Outcome != store.Merged || merged.MergedInto != id {
			t.Errorf("%+v", merged)
		}
		h.wait(5 * time.Minute) // 00:15: all three are spent, also for the tick
		if p := h.want(id, store.Owed); p.Messages != 3 {
			t.Errorf("%+v", p)
		}
		h.models.play("ok:all well")
		h.wait(5 * time.Minute) // 00:20: the tick runs what is owed
		if done := h.want(id, store.Done); done.Outcome != store.Answered {
			t.Errorf("%+v", done)
		}
		rs := h.models.requests()
		if n := strings.Count(rs[len(rs)-1].body, "Look."); n != 1 {
			t.Errorf("the prompt is said %d times: %s", n, rs[len(rs)-1].body)
		}
		h.models.play("503")
		h.wait(5 * time.Minute) // 00:25: a completed turn has started the count again
		if p := h.want(h.schedule("often").LastTurn, store.Rearming); p.RearmN != 1 {
			t.Errorf("%+v", p)
		}
	})
}

// R5: the count belongs to the conversation. A message of anybody there starts it again; a tick does not.
func TestRearmsAreCountedPerConversationR5(t *testing.T) {
	inHouse(t, func(p *Parts) {
		shortLadder(p)
		p.Schedules = []Schedule{{Name: "news", Bot: "bot", Cron: "5 * * * *", Prompt: "News?", To: "web:room", Missed: "once"}}
	}, func(h *house) {
		h.models.play("503")
		ann := h.say("ann", "hello")
		h.wait(s(1))
		if p := h.want(ann, store.Rearming); p.RearmN != 1 {
			t.Errorf("%+v", p)
		}
		h.wait(2*time.Minute + s(1))
		if p := h.want(ann, store.Rearming); p.RearmN != 2 {
			t.Errorf("%+v", p)
		}
		before := len(h.models.requests())
		h.wait(3 * time.Minute) // the tick at 00:05 goes into ann's re-arming turn, and goes on counting
		p := h.want(ann, store.Rearming)
		if n := len(h.models.requests()) - before; n != 2 || p.RearmN != 3 || p.Messages != 2 {
			t.Errorf("%d requests, %+v", n, p)
		}
		rs := h.models.requests()
		if last := rs[len(rs)-1].body; !strings.Contains(last, "user: hello\n") || strings.Index(last, "\nNews?\n") < strings.Index(last, "user: hello") {
			t.Errorf("%s", last)
		}
		bob := h.say("bob", "and me")
		h.wait(s(1))
		if p := h.want(bob, store.Rearming); p.RearmN != 1 {
			t.Errorf("%+v", p)
		}
		h.want(ann, store.Rearming)
		h.models.play("ok")
		h.settled(ann, time.Hour)
		h.settled(bob, time.Hour)
		if x := h.turn(bob); x.Rearms != 0 {
			t.Errorf("%+v", x)
		}
	})
}

// No stampede: a hundred schedules overdue at a start are a hundred ordinary turns, and no more requests
// at once than the provider takes.
func TestOverdueTicksArePaced(t *testing.T) {
	var list []Schedule
	for i := range 100 {
		list = append(list, Schedule{Name: fmt.Sprint("s", i), Cron: "0 3 * * *", Prompt: "?"})
	}
	scheduled(t, func(h *house) {
		h.crash()
		h.wait(4 * time.Hour)
		h.models.took = s(2)
		h.start()
		h.wait(s(51))
		if n := len(h.models.requests()); n != 100 || h.models.most > 4 {
			t.Errorf("%d requests, %d at once", n, h.models.most)
		}
	}, list...)
}

func TestRunAndPauseSchedule(t *testing.T) {
	scheduled(t, func(h *house) {
		c := &store.Command{ID: "c1", Hash: []byte("h"), At: h.engine.now()}
		turn, err := h.engine.RunSchedule(t.Context(), "daily", c)
		if err != nil {
			t.Fatal(err)
		}
		h.settled(turn.ID, s(1))
		if _, err := h.engine.RunSchedule(t.Context(), "daily", &store.Command{ID: "c1", Hash: []byte("h")}); err == nil {
			t.Error("the same command ran twice")
		}
		next := time.Date(2000, 1, 1, 9, 0, 0, 0, time.UTC)
		if now := h.schedule("daily"); now.LastTurn != turn.ID || now.Next.Go() != next {
			t.Errorf("%+v", now)
		}
		if err := h.engine.PauseSchedule(t.Context(), "daily", true, nil); err != nil {
			t.Fatal(err)
		}
		h.crash()
		h.start() // it outlives the process
		h.wait(10 * time.Hour)
		if n := len(h.models.requests()); n != 1 {
			t.Errorf("asked %d times while paused", n)
		}
		if err := h.engine.PauseSchedule(t.Context(), "daily", false, nil); err != nil {
			t.Fatal(err)
		}
		h.wait(s(1))
		if now := h.schedule("daily"); len(h.models.requests()) != 1 || now.Next.Go() != next.AddDate(0, 0, 1) {
			t.Errorf("what was due while it was paused is made up for: %+v", now)
		}
		for _, err := range []error{
			h.engine.PauseSchedule(t.Context(), "none", true, nil), h.engine.DeleteSchedule(t.Context(), "daily", nil),
		} {
			if err == nil {
				t.Error("no error")
			}
		}
	}, Schedule{Name: "daily", Cron: "0 9 * * *", Prompt: "?"})
}

// What the config no longer has is taken out; what it says in other words begins anew; the rest stays.
func TestSchedulesFollowTheConfig(t *testing.T) {
	scheduled(t, func(h *house) {
		a := h.schedule("a")
		h.crash()
		h.parts.Schedules = []Schedule{{Name: "a", Bot: "bot", Cron: "0 9 * * *", Prompt: "other words", Missed: "once"}, {Name: "b", Bot: "bot", Cron: "30 * * * *", Prompt: "?", Missed: "once"}}
		h.wait(10 * time.Minute)
		h.start()
		if now := h.schedule("a"); now.ID != a.ID || now.Next != a.Next || now.Prompt != "other words" {
			t.Errorf("%+v", now)
		}
		if now := h.schedule("b"); now.Next.Go() != time.Date(2000, 1, 1, 0, 30, 0, 0, time.UTC) {
			t.Errorf("%+v", now)
		}
		if _, err := h.store.Schedule("c"); err == nil {
			t.Error("c is still there")
		}
	}, Schedule{Name: "a", Cron: "0 9 * * *", Prompt: "?"}, Schedule{Name: "b", Cron: "0 10 * * *", Prompt: "?"}, Schedule{Name: "c", Cron: "0 11 * * *", Prompt: "?"})
}
