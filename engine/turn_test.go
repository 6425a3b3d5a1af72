package engine

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"holdfast/engine/llm"
	"holdfast/store"
)

// gaps are the times between the requests a provider saw, rounded to 10 ms.
func gaps(rs []seen) []time.Duration {
	var ds []time.Duration
	for i := 1; i < len(rs); i++ {
		ds = append(ds, rs[i].at.Sub(rs[i-1].at).Round(10*time.Millisecond))
	}
	return ds
}

func equal[T comparable](t *testing.T, what string, got, want []T) {
	t.Helper()
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}

func s(n float64) time.Duration { return time.Duration(n * float64(time.Second)) }

// N5: never visible, the answer is posted normally; one row in the transcript.
func TestAnswerN5(t *testing.T) {
	inHouse(t, nil, func(h *house) {
		id := h.say("ann", "hello")
		done := h.settled(id, s(1))
		if done.Outcome != store.Answered || done.Text != "answer" || done.Attempts != 1 || done.Requests != 1 || done.Model != "fake/one" {
			t.Errorf("%+v", done)
		}
		equal(t, "transcript", h.transcript(), []string{"user message: hello", "bot answer: answer"})
	})
}

// P1: the row of the request exists before it is sent.
func TestRowBeforeRequestP1(t *testing.T) {
	inHouse(t, nil, func(h *house) {
		h.models.play("hang")
		id := h.say("ann", "hello")
		h.want(id, store.Running)
		as, err := h.store.Attempts(id)
		if err != nil || len(as) != 1 || as[0].Outcome != "" || as[0].Send != 1 {
			t.Errorf("attempts %+v, %v", as, err)
		}
		if h.engine.Draft(id) != "so far " {
			t.Errorf("draft %q", h.engine.Draft(id))
		}
	})
}

// T1: 503, 503, 200 are three requests with waits of at least 400 and 800 ms, and one answer. T7, T8.
func TestResendT1(t *testing.T) {
	inHouse(t, nil, func(h *house) {
		h.models.play("503", "503", "ok")
		id := h.say("ann", "hello")
		done := h.settled(id, s(5))
		rs := h.models.requests()
		equal(t, "gaps", gaps(rs), []time.Duration{s(.4), s(.8)})
		if rs[0].body != rs[1].body || rs[1].body != rs[2].body {
			t.Error("resent bodies differ (T8)")
		}
		if done.Attempts != 1 || done.Requests != 3 || done.Parks != 0 {
			t.Errorf("attempts %d requests %d parks %d", done.Attempts, done.Requests, done.Parks)
		}
		lines := h.log.with("llm transient failure — retrying")
		if len(lines) != 2 || !strings.Contains(lines[0], "attempt=1 max=2 status=503 wait_ms=400 wait_from=backoff rung=L1 provider=fake model=one turn="+id.String()) {
			t.Errorf("log %v", lines)
		}
	})
}

// P2, P5: the first failure with a short wait is waited in process, from the second on the turn parks: 2, 4, 8, 16, 32, 60, 60 s; this holds in every resumed run.
func TestParkDelaysP5(t *testing.T) {
	inHouse(t, func(p *Parts) { p.Retry.Resends = 0 }, func(h *house) {
		h.models.play("503")
		id := h.say("ann", "hello")
		h.want(id, store.Retrying)
		h.wait(s(1000))
		want := []time.Duration{s(2), s(2), s(2), s(4), s(2), s(8), s(2), s(16), s(2), s(32), s(2), s(60), s(2), s(60)}
		got := gaps(h.models.requests())
		equal(t, "gaps", got[:len(want)], want)
	})
}

// P3, P4, P6, P12: a stated wait of 45 s parks at the first failure, without an error in the log, and runs at its time.
func TestStatedWaitParksP3(t *testing.T) {
	inHouse(t, nil, func(h *house) {
		h.models.play("429/45s", "ok")
		begun := time.Now()
		id := h.say("ann", "hello")
		p := h.want(id, store.Parked)
		if got := p.Wait.RetryAt.Go().Sub(begun); got < s(45) || got > s(45.01) {
			t.Errorf("retry_at in %v", got)
		}
		if p.Parks != 1 || p.Wait.From != "retry-after" || p.Reason.Why != "failure" || p.Reason.Status != 429 || len(h.engine.sched.runs) != 0 {
			t.Errorf("%+v", p)
		}
		h.wait(s(44.9))
		if n := len(h.models.requests()); n != 1 {
			t.Fatalf("%d requests before its time", n)
		}
		h.settled(id, s(1))
		rs := h.models.requests()
		if len(rs) != 2 || rs[1].at.Sub(begun) < s(45) {
			t.Errorf("requests %v", gaps(rs))
		}
		if !strings.HasSuffix(rs[1].body, noteFailure+"\n") || strings.Contains(rs[0].body, "Holdfast") {
			t.Errorf("resumed run is not told why (P12): %q", rs[1].body)
		}
		if strings.Contains(h.log.String(), "ERROR") || len(h.log.with("turn parked")) != 1 || len(h.log.with("turn resumed")) != 1 {
			t.Errorf("log:\n%s", h.log)
		}
		equal(t, "transcript", h.transcript(), []string{"user message: hello", "bot answer: answer"})
	})
}

// P7: a crash after the park and a start before retry_at: it runs at retry_at; down past it: at once.
func TestCrashWhileParkedP7(t *testing.T) {
	for _, down := range []time.Duration{s(10), s(100)} {
		inHouse(t, nil, func(h *house) {
			h.models.play("429/45s", "ok")
			begun := time.Now()
			id := h.say("ann", "hello")
			h.want(id, store.Parked)
			h.wait(s(1))
			h.crash()
			h.wait(down)
			h.start()
			h.settled(id, s(60))
			rs := h.models.requests()
			want := max(s(45), down+s(1))
			if got := rs[1].at.Sub(begun).Round(100 * time.Millisecond); got != want || len(rs) != 2 {
				t.Errorf("down %v: ran after %v, want %v", down, got, want)
			}
			for _, line := range h.transcript() {
				if strings.Contains(line, "again") && !strings.Contains(line, "no need") {
					t.Errorf("text asks to send again: %s", line)
				}
			}
		})
	}
}

// P7: killed while a request streams: it runs again at start and is told that it was interrupted.
func TestCrashWhileStreamingP7(t *testing.T) {
	inHouse(t, nil, func(h *house) {
		h.models.play("hang", "ok")
		id := h.say("ann", "hello")
		h.want(id, store.Running)
		h.crash()
		h.start()
		h.settled(id, s(1))
		rs := h.models.requests()
		if len(rs) != 2 || !strings.HasSuffix(rs[1].body, noteRestart+"\n") {
			t.Errorf("%+v", rs)
		}
		as, _ := h.store.Attempts(id)
		if as[0].Outcome != "interrupted" || as[1].Outcome != "ok" {
			t.Errorf("%+v", as)
		}
	})
}

// P8: a lost timer is found by the sweep; many wake-ups make one run.
func TestLostTimerP8(t *testing.T) {
	inHouse(t, nil, func(h *house) {
		h.models.play("503", "503", "503", "503", "503", "503", "ok")
		id := h.say("ann", "hello")
		h.wait(s(5))
		h.want(id, store.Parked)
		h.engine.mu.Lock()
		h.engine.dropTimer(id)
		h.engine.mu.Unlock()
		h.settled(id, s(130))
		if n := len(h.models.requests()); n != 7 {
			t.Errorf("%d requests", n)
		}
	})
	inHouse(t, nil, func(h *house) {
		h.models.play("429/45s", "ok")
		id := h.say("ann", "hello")
		p := h.want(id, store.Parked)
		h.wait(s(45.01))
		for range 5 {
			h.engine.wake(id, p.Conversation, "timer", p.Wait.RetryAt, false)
			h.engine.sweep()
		}
		h.settled(id, s(1))
		if n := len(h.models.requests()); n != 2 {
			t.Errorf("%d requests, want 2", n)
		}
	})
}

// P9: past the horizon the rest of L4's waits is made once, then it ends with a text that replaces the notice.
func TestHorizonP9(t *testing.T) {
	inHouse(t, func(p *Parts) { p.Retry.Rearm, p.Retry.Owed, p.Retry.MaxRequests = nil, false, 0 }, func(h *house) {
		h.models.play("503")
		id := h.say("ann", "hello")
		done := h.settled(id, s(2000))
		if done.Outcome != store.Failed || !strings.Contains(done.Text, fmt.Sprintf("after %d attempts", done.Attempts)) {
			t.Errorf("%+v", done)
		}
		got := gaps(h.models.requests())
		equal(t, "last gaps", got[len(got)-2:], []time.Duration{s(4), s(8)})
		equal(t, "transcript", h.transcript(), []string{"user message: hello", "bot terminal: " + done.Text})
		n := len(h.models.requests())
		h.wait(s(4000))
		if len(h.models.requests()) != n {
			t.Error("went on after its end")
		}
	})
}

// P14: without parking the waits stay in process.
func TestParkOffP14(t *testing.T) {
	inHouse(t, func(p *Parts) { p.Retry.Park, p.Retry.Resends = false, 0 }, func(h *house) {
		h.models.play("429/45s", "503", "503", "ok")
		id := h.say("ann", "hello")
		h.want(id, store.Retrying)
		done := h.settled(id, s(200))
		if done.Outcome != store.Answered || done.Parks != 0 {
			t.Errorf("%+v", done)
		}
		equal(t, "gaps", gaps(h.models.requests()), []time.Duration{s(45), s(4), s(8)})
	})
}

// P16: the clock stepped forward: overdue runs within 5 s; stepped back: nothing early, nothing further ahead than its own wait.
func TestClockStepsP16(t *testing.T) {
	inHouse(t, nil, func(h *house) {
		h.models.play("429/45m", "ok")
		id := h.say("ann", "hello")
		h.want(id, store.Parked)
		h.wait(s(60))
		h.offset.Store(int64(time.Hour))
		h.settled(id, s(5))
		if n := len(h.models.requests()); n != 2 {
			t.Errorf("%d requests", n)
		}
	})
	inHouse(t, nil, func(h *house) {
		h.models.play("429/45s", "ok")
		id := h.say("ann", "hello")
		h.want(id, store.Parked)
		h.wait(s(30))
		h.offset.Store(-int64(time.Hour))
		h.wait(s(10))
		p := h.want(id, store.Parked)
		if ahead := p.Wait.RetryAt.Go().Sub(h.parts.Wall()); ahead > s(45) {
			t.Errorf("due %v ahead of its own wait of 45 s", ahead)
		}
		if n := len(h.models.requests()); n != 1 {
			t.Error("ran early by the wall clock")
		}
		h.settled(id, s(60))
		if n := len(h.models.requests()); n != 2 {
			t.Errorf("%d requests", n)
		}
	})
}

// P19: a message of the same person joins the waiting turn; another person's runs at once.
func TestMessagesWhileWaitingP19(t *testing.T) {
	inHouse(t, nil, func(h *house) {
		h.models.play("429/45s", "ok:both")
		older := h.say("ann", "first")
		h.want(older, store.Parked)
		newer := h.say("ann", "second")
		m := h.want(newer, store.Done)
		if m.Outcome != store.Merged || m.MergedInto != older {
			t.Errorf("%+v", m)
		}
		done := h.settled(older, s(60))
		if rs := h.models.requests(); len(rs) != 2 || !strings.Contains(rs[1].body, "first\n\nsecond") || done.Text != "both" {
			t.Errorf("%+v", rs)
		}
		equal(t, "transcript", h.transcript(), []string{"user message: first", "bot answer: both", "user message: second"})
	})
	inHouse(t, func(p *Parts) { p.Retry.Resends = 0 }, func(h *house) {
		h.models.play("503", "ok:for bob", "ok:for ann")
		ann := h.say("ann", "first")
		h.want(ann, store.Retrying)
		bob := h.say("bob", "mine")
		if got := h.settled(bob, s(1)); got.Text != "for bob" {
			t.Errorf("%+v", got)
		}
		h.want(ann, store.Retrying)
		h.settled(ann, s(3))
	})
}

// A message that joins during a resend's wait drops that resend: the next send answers both.
func TestMessageDuringResendP19(t *testing.T) {
	inHouse(t, nil, func(h *house) {
		h.models.play("503", "ok")
		id := h.say("ann", "first")
		h.want(id, store.Retrying)
		h.say("ann", "second")
		done := h.settled(id, s(1))
		if rs := h.models.requests(); len(rs) != 2 || !strings.Contains(rs[1].body, "second") {
			t.Errorf("%+v", rs)
		}
		if done.Attempts != 2 || done.Messages != 2 {
			t.Errorf("%+v", done)
		}
	})
}

// P20: a provider that never answers is a timeout, then the ladder.
func TestSilentProviderP20(t *testing.T) {
	inHouse(t, nil, func(h *house) {
		h.models.play("silent", "ok")
		id := h.say("ann", "hello")
		done := h.settled(id, s(320))
		as, _ := h.store.Attempts(id)
		if done.Outcome != store.Answered || as[0].Class != "timeout" || as[0].Rung != "L4" {
			t.Errorf("%+v", as)
		}
	})
}

// T3, T9: a broken stream and an error in the stream are not resent by L1; the shown text is replaced.
func TestBrokenStreamT3T9(t *testing.T) {
	for _, word := range []string{"cut", "error"} {
		inHouse(t, nil, func(h *house) {
			h.models.play(word, "ok")
			id := h.say("ann", "hello")
			h.want(id, store.Retrying)
			done := h.settled(id, s(3))
			equal(t, word, gaps(h.models.requests()), []time.Duration{s(2)})
			if done.Text != "answer" || done.Attempts != 2 {
				t.Errorf("%+v", done)
			}
		})
	}
}

// N4: the answer edits the notice in place; the transcript keeps one bot message with one id.
func TestNoticeBecomesAnswerN4(t *testing.T) {
	inHouse(t, nil, func(h *house) {
		h.models.play("429/45s", "429/2m", "ok")
		id := h.say("ann", "hello")
		h.want(id, store.Parked)
		lines := h.transcript()
		if len(lines) != 2 || !strings.HasPrefix(lines[1], "bot notice: Still on it: fake is busy; it goes on at 00:00:45") {
			t.Fatalf("%q", lines)
		}
		first, _ := h.store.Posts(id)
		h.wait(s(50))
		second, _ := h.store.Posts(id)
		h.settled(id, s(200))
		last, _ := h.store.Posts(id)
		if len(last) != 1 || first[0].ID != last[0].ID || second[0].ID != first[0].ID || second[0].Text == first[0].Text {
			t.Errorf("%+v\n%+v\n%+v", first, second, last)
		}
		equal(t, "transcript", h.transcript(), []string{"user message: hello", "bot answer: answer"})
		if len(h.log.with("notice posted")) != 1 || len(h.log.with("notice edited")) != 1 {
			t.Errorf("log:\n%s", h.log)
		}
	})
}

// Stop ends a running turn with its partial text, and a parked one; nothing is sent after. P10: a done turn is never parked.
func TestStop(t *testing.T) {
	inHouse(t, nil, func(h *house) {
		h.models.play("hang")
		id := h.say("ann", "hello")
		h.want(id, store.Running)
		if _, err := h.engine.Stop(t.Context(), Order{Turn: id}); err != nil {
			t.Fatal(err)
		}
		done := h.want(id, store.Done)
		as, _ := h.store.Attempts(id)
		if done.Outcome != store.Cancelled || done.Text != "so far " || as[0].Outcome != "cancelled" {
			t.Errorf("%+v %+v", done, as)
		}
		h.models.play("429/45s", "ok")
		id = h.say("ann", "more")
		h.want(id, store.Parked)
		if _, err := h.engine.Stop(t.Context(), Order{Turn: id}); err != nil {
			t.Fatal(err)
		}
		h.wait(s(100))
		if n := len(h.models.requests()); n != 2 {
			t.Errorf("%d requests", n)
		}
		if _, err := h.store.WaitTurn(store.Waiting{Turn: id, At: 1, State: store.Parked}); !errors.Is(err, store.ErrSettled) {
			t.Errorf("parked a done turn: %v (P10)", err)
		}
	})
}

// Try now: refused with the time inside a hold, runs at once otherwise.
func TestResume(t *testing.T) {
	inHouse(t, nil, func(h *house) {
		h.models.play("429/45s", "ok")
		id := h.say("ann", "hello")
		p := h.want(id, store.Parked)
		got, err := h.engine.Resume(t.Context(), Order{Turn: id})
		if !errors.Is(err, ErrHeld) || got.Wait.RetryAt != p.Wait.RetryAt {
			t.Errorf("%v %+v", err, got)
		}
	})
	inHouse(t, nil, func(h *house) {
		h.models.play("503", "503", "503", "503", "503", "503", "ok")
		id := h.say("ann", "hello")
		h.wait(s(5))
		h.want(id, store.Parked)
		if _, err := h.engine.Resume(t.Context(), Order{Turn: id}); err != nil {
			t.Fatal(err)
		}
		h.settled(id, s(.1))
	})
}

// S7: notices and errors never enter the model's history.
func TestHistoryS7(t *testing.T) {
	inHouse(t, func(p *Parts) { p.Retry.Rearm, p.Retry.Owed = nil, false }, func(h *house) {
		h.models.play("400", "429/45s", "ok:fine", "ok")
		h.settled(h.say("ann", "one"), s(1))
		h.settled(h.say("ann", "two"), s(60))
		h.settled(h.say("ann", "three"), s(1))
		rs := h.models.requests()
		want := "user: one\n\n[Holdfast: an answer to this failed: fake will not answer this.]\n\ntwo\nassistant: fine\nuser: three\n"
		if got := rs[len(rs)-1].body; got != want {
			t.Errorf("context %q, want %q", got, want)
		}
	})
}

// A panic in a turn ends that turn, not the daemon.
func TestPanicEndsTheTurn(t *testing.T) {
	inHouse(t, func(p *Parts) {
		var once bool
		p.Crash = func(point string) {
			if point == "begun" && !once {
				once = true
				panic("boom")
			}
		}
	}, func(h *house) {
		if got := h.settled(h.say("ann", "one"), s(1)); got.Outcome != store.Failed {
			t.Errorf("%+v", got)
		}
		if got := h.settled(h.say("ann", "two"), s(1)); got.Outcome != store.Answered {
			t.Errorf("%+v", got)
		}
	})
}

// One turn of a conversation at a time, in order; conversations side by side up to the provider's slots.
func TestOrder(t *testing.T) {
	inHouse(t, nil, func(h *house) {
		h.models.took = time.Second
		var all []store.ID
		for i := range 12 {
			all = append(all, h.sayIn(fmt.Sprint("room", i%6), "ann", fmt.Sprint(i)))
		}
		for _, id := range all {
			h.settled(id, s(10))
		}
		if h.models.most != 4 {
			t.Errorf("%d requests at once, want 4", h.models.most)
		}
		shape := h.engine.Shape()
		if shape.Turns[store.Done] != 12 || shape.Accepted != 12 || shape.Lost != 0 {
			t.Errorf("%+v", shape)
		}
	})
}

var _ = llm.Server

// P13: parking is no failure for anybody: no error in the log, and people see that it is worked on (P15).
func TestParkingIsNoFailureP13P15(t *testing.T) {
	inHouse(t, nil, func(h *house) {
		h.models.play("429/45s", "ok")
		id := h.say("ann", "hello")
		p := h.want(id, store.Parked)
		if log := h.log.String(); strings.Contains(log, "ERROR") || strings.Contains(log, "WARN") {
			t.Errorf("log:\n%s", log)
		}
		if p.Outcome != "" || p.Error != "" || p.Reason.Text == "" {
			t.Errorf("%+v", p)
		}
		c, err := h.store.Chat("room")
		if err != nil || c.State != store.Parked {
			t.Errorf("the chat shows %q, %v", c.State, err)
		}
	})
}

// P14: durable = false makes no parks, re-arms or owed turns; the row is still written first.
func TestDurableOffP14(t *testing.T) {
	inHouse(t, func(p *Parts) { p.Config.Durable, p.Retry.Resends = false, 0 }, func(h *house) {
		h.models.play("503")
		id := h.say("ann", "hello")
		h.want(id, store.Retrying)
		done := h.settled(id, s(30))
		equal(t, "gaps", gaps(h.models.requests()), []time.Duration{s(2), s(4), s(8)})
		if done.Outcome != store.Failed || done.Parks != 0 {
			t.Errorf("%+v", done)
		}
	})
}

// P17: a stated wait up to stated_wait_max is parked in full, over it the turn is owed.
func TestLongStatedWaitP17(t *testing.T) {
	for _, c := range []struct {
		stated string
		state  store.State
	}{{"24h", store.Parked}, {"24h1s", store.Owed}} {
		inHouse(t, func(p *Parts) { p.Retry.StaleAfter = 48 * time.Hour }, func(h *house) {
			h.models.play("429/"+c.stated, "ok")
			id := h.say("ann", "hello")
			h.want(id, c.state)
			h.wait(24*time.Hour - s(1))
			if n := len(h.models.requests()); n != 1 {
				t.Errorf("%s: %d requests inside the hold", c.stated, n)
			}
			h.wait(s(3))
			h.settled(id, 10*time.Minute)
		})
	}
}

// T2: our own deadline makes one request and ends the turn at once; T5: so does a wait longer than what remains.
func TestDeadlineT2T5(t *testing.T) {
	inHouse(t, func(p *Parts) { p.Config.TurnDeadline = s(10) }, func(h *house) {
		h.models.play("hang")
		done := h.settled(h.say("ann", "hello"), s(11))
		if done.Outcome != store.Failed || done.Requests != 1 || !strings.Contains(done.Text, "longer than a turn may") {
			t.Errorf("%+v", done)
		}
	})
	inHouse(t, func(p *Parts) { p.Config.TurnDeadline, p.Retry.ResendBase, p.Retry.ResendLongest = s(1), s(2), 0 }, func(h *house) {
		h.models.play("503")
		id := h.say("ann", "hello")
		p := h.want(id, store.Retrying)
		as, _ := h.store.Attempts(id)
		if len(as) != 1 || as[0].Rung != "L4" || p.Wait.MS != 2000 {
			t.Errorf("a resend that does not fit was not handed up at once: %+v", as)
		}
	})
}

// F5: a stated 0 or 1 ms cannot hammer.
func TestTinyStatedWaitsF5(t *testing.T) {
	resent := []time.Duration{s(.4), s(.8), s(2), s(.4), s(.8), s(4), s(.4), s(.8), s(8), s(.4), s(.8)}
	asked := []time.Duration{s(.4), s(.8), s(2), s(4), s(8)} // after a hold, however short, one request asks and is not resent
	for tiny, want := range map[string][]time.Duration{"429/0s": resent, "429/1ms": asked} {
		inHouse(t, func(p *Parts) { p.Retry.Park = false }, func(h *house) {
			h.models.play(tiny)
			h.say("ann", "hello")
			h.wait(s(30))
			equal(t, tiny, gaps(h.models.requests()), want)
		})
	}
}
