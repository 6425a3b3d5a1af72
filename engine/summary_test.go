package engine

import (
	"strings"
	"testing"
	"time"

	"holdfast/engine/tool"
	"holdfast/store"
)

// small gives the bot a context of 1,000 bytes.
func small(p *Parts) { p.Bots[0].ContextTokens = 250; p.Bots[0].Instructions = "" }

// outgrow talks until the conversation is larger than the context.
func (h *house) outgrow() {
	h.t.Helper()
	for i := range 5 {
		h.settled(h.say("ann", strings.Repeat(string(rune('a'+i)), 180)), s(1))
	}
}

// A conversation that has outgrown its context is condensed once; from then on the note stands in its
// place, requests begin alike until the next time, and what was said stays in the store.
func TestConversationIsCondensed(t *testing.T) {
	inHouse(t, small, func(h *house) {
		h.outgrow()
		h.models.play("ok:ann spelled letters", "ok:yes")
		done := h.settled(h.say("ann", strings.Repeat("x", 100)), s(1))
		all := h.bodies()
		ask, answer := all[len(all)-2], all[len(all)-1]
		if !strings.HasPrefix(ask, "system: Condense the conversation") || !strings.Contains(ask, "aaa") || strings.Contains(ask, "eee") || strings.Contains(ask, "xxx") {
			t.Errorf("asked for %q", ask)
		}
		if !strings.HasPrefix(answer, "user: [Holdfast: what was said here before, condensed:]\nann spelled letters") || strings.Contains(answer, "aaa") || !strings.Contains(answer, "eee") {
			t.Errorf("answered from %q", answer)
		}
		if done.Text != "yes" || done.Requests != 2 || h.web.draft != "yes" {
			t.Errorf("%+v, shown %q", done, h.web.draft)
		}
		h.models.play("ok:more")
		h.settled(h.say("ann", "y"), s(1))
		h.settled(h.say("ann", "z"), s(1))
		all = h.bodies()
		for i := len(all) - 2; i < len(all); i++ {
			if !strings.HasPrefix(all[i], strings.TrimSuffix(all[i-1], "\n")) {
				t.Errorf("does not begin as the request before:\n%q\n%q", all[i-1], all[i])
			}
		}
		if said := strings.Join(h.transcript(), "\n"); !strings.Contains(said, "aaa") || strings.Contains(said, "spelled") {
			t.Errorf("the transcript: %s", said)
		}
		h.models.play("ok:both", "ok:again")
		h.settled(h.say("ann", strings.Repeat("w", 700)), s(1))
		if ask := h.bodies()[len(all)]; !strings.Contains(ask, "What was condensed before:\nann spelled letters") || strings.Contains(ask, "aaa") {
			t.Errorf("the second time: %q", ask)
		}
		h.settled(h.say("ann", "!new"), s(1))
		h.models.play("ok:fresh")
		h.settled(h.say("ann", "hello"), s(1))
		if all := h.bodies(); all[len(all)-1] != "user: hello\n" {
			t.Errorf("after !new: %q", all[len(all)-1])
		}
	})
}

// Condensing is waited for and tried again by the same ladder, over restarts; a crash behind it does not ask again.
func TestCondensingWaitsLikeAnySend(t *testing.T) {
	inHouse(t, func(p *Parts) { small(p); p.Retry.Resends = 0 }, func(h *house) {
		h.outgrow()
		h.models.play("503", "429/45m", "ok:notes", "429/45m", "ok:yes")
		id := h.say("ann", strings.Repeat("x", 100))
		h.wait(time.Minute)
		h.want(id, store.Parked)
		h.crash()
		h.start()
		h.wait(50 * time.Minute)
		h.want(id, store.Parked)
		h.crash()
		h.start()
		done := h.settled(id, time.Hour)
		asks := 0
		for _, b := range h.bodies() {
			if strings.HasPrefix(b, "system: Condense") {
				asks++
			}
		}
		if done.Text != "yes" || asks != 3 {
			t.Errorf("%q, asked %d times", done.Text, asks)
		}
	})
}

// A model that will not condense is no reason to fail: the oldest is left out. Nobody in the fail-fast lane waits for it.
func TestWithoutSummary(t *testing.T) {
	inHouse(t, small, func(h *house) {
		h.outgrow()
		h.models.play("400", "ok:yes", "ok:next")
		if done := h.settled(h.say("ann", strings.Repeat("x", 100)), s(1)); done.Text != "yes" || done.Outcome != store.Answered {
			t.Errorf("%+v", done)
		}
		all := h.bodies()
		if last := all[len(all)-1]; strings.Contains(last, "aaa") || !strings.Contains(last, "eee") || len(last) > 1100 {
			t.Errorf("%q", last)
		}
		if next := h.settled(h.say("ann", "y"), s(1)); next.Text != "next" {
			t.Errorf("asked again in the next turn: %+v", next)
		}
	})
}

// Long results of tools never outgrow the context: each is cut, and the oldest are left out in large steps.
func TestResultsAreLeftOut(t *testing.T) {
	var tools map[string]*fakeTool
	inHouse(t, func(p *Parts) { tools = withTools(p); p.Bots[0].ContextTokens = 5000 }, func(h *house) {
		for range 12 {
			tools["look"].plan = append(tools["look"].plan, tool.Result{Text: strings.Repeat("r", 4000)})
		}
		h.models.play("call:look", "call:look", "call:look", "call:look", "call:look", "call:look", "call:look", "call:look", "call:look", "call:look", "ok:done")
		if done := h.settled(h.say("ann", "read it all"), s(5)); done.Text != "done" {
			t.Errorf("%+v", done)
		}
		alike, all := 0, h.bodies()
		for i, b := range all {
			if len(b) > 21000 {
				t.Errorf("request %d has %d bytes", i, len(b))
			}
			if i > 0 && strings.HasPrefix(b, strings.TrimSuffix(all[i-1], "\n")) {
				alike++
			}
		}
		if alike < 7 {
			t.Errorf("only %d of %d requests begin as the one before", alike, len(all)-1)
		}
	})
}
