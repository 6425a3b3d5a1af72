package engine

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"holdfast/engine/llm"
	"holdfast/store"
)

// Turns that fall due at one moment are claimed together, and one read of the store brings the rows of
// all; each makes one request (P8), none early.
func TestRowsOfOneMomentAreReadTogetherP8(t *testing.T) {
	const turns = 50
	inHouse(t, func(p *Parts) {
		p.Config.Workers, p.Retry.Resends, p.Retry.ParkFrom, p.Retry.GateAfter = turns, 0, 0, 0
		p.Providers["fake"] = Provider{Provider: p.Providers["fake"].Provider, Config: llm.Config{Concurrency: turns}, KeyID: "k"}
	}, func(h *house) {
		h.models.play("503")
		var ids []store.ID
		for i := range turns { // the bubble's clock stands still: all have the same due time
			ids = append(ids, h.sayIn(fmt.Sprint("room", i), fmt.Sprint("person", i), "hello"))
		}
		due := h.want(ids[0], store.Parked).RetryAt
		h.models.play("ok")
		h.wait(due.Sub(h.engine.now()) - time.Millisecond)
		if n := len(h.models.requests()); n != turns {
			t.Fatalf("%d requests before anything was due", n)
		}
		got := h.worked(func() { h.wait(time.Millisecond) })
		if n := len(h.models.requests()); n != 2*turns {
			t.Errorf("%d requests", n)
		}
		for _, id := range ids {
			h.want(id, store.Done)
		}
		if want := int64(1 + turns*2); got.Read != want { // each reads its history and its notice
			t.Errorf("%d reads, want %d", got.Read, want)
		}
	})
}

// looking is a surface that does something while a run looks back: between the read of its row and its
// first request.
type looking struct {
	*fakeSurface
	then func()
}

func (l *looking) Earlier(context.Context, Place, string, store.Time) ([]Said, error) {
	if then := l.then; then != nil {
		l.then = nil
		then()
	}
	return nil, nil
}

// A row that moves between its read and the first request is read anew: an operator's try begins a new
// episode, and the run that was under way already goes by that and not by the old one.
func TestRowThatMovesUnderARunIsReadAnew(t *testing.T) {
	var web *looking
	inHouse(t, func(p *Parts) {
		p.Retry.Resends, p.Retry.ParkFrom = 0, 0
		web = &looking{fakeSurface: p.Surfaces[0].(*fakeSurface)}
		p.Surfaces[0] = web
	}, func(h *house) {
		h.models.play("503", "503", "ok")
		id := h.say("ann", "hello")
		h.wait(s(2.1))
		old := h.want(id, store.Parked)
		if old.Parks != 2 || old.FirstFailed == 0 {
			t.Fatalf("%+v", old)
		}
		h.engine.earlier.mu.Lock()
		clear(h.engine.earlier.known) // else nothing is asked of the surface
		h.engine.earlier.mu.Unlock()
		web.then = func() {
			if _, err := h.engine.Resume(t.Context(), Order{Turn: id}); err != nil {
				t.Error(err)
			}
		}
		done := h.settled(id, s(5))
		if web.then != nil || done.Requests != 3 || done.FirstFailed != 0 {
			t.Errorf("%+v", done)
		}
		if lines := h.log.with("turn settled"); len(lines) != 1 || !strings.Contains(lines[0], "waited_ms=0") {
			t.Errorf("it went by the episode that was over: %v", lines)
		}
	})
}
