package engine

import (
	"strings"
	"testing"
	"time"

	"holdfast/store"
)

// A turn whose bot, or whose models, the config has no more is owed and not lost: it is told so, an
// alert is raised, and a start with a config that has them again answers it (L7).
func TestBotOrModelGoneIsOwedUntilItIsBack(t *testing.T) {
	for name, take := range map[string]func(p *Parts){
		"bot":      func(p *Parts) { p.Bots = nil },
		"provider": func(p *Parts) { p.Providers = nil },
	} {
		t.Run(name, func(t *testing.T) {
			inHouse(t, nil, func(h *house) {
				whole := h.parts
				h.models.play("429/20s", "ok:here")
				id := h.say("ann", "hello")
				h.want(id, store.Parked)
				h.shutdown()
				take(&h.parts)
				h.start()
				h.wait(30 * time.Second)
				owed := h.want(id, store.Owed)
				if owed.Reason.Why != "account" || !strings.Contains(owed.Reason.Text, "bot") || owed.Gate != goneKey+"bot" {
					t.Errorf("%+v", owed)
				}
				if open := h.engine.Shape().Alerts; len(open) != 1 || open[0].Kind != alertAccount || open[0].Subject != "bot" {
					t.Errorf("alerts %+v", open)
				}
				posts, err := h.store.Posts(id)
				if err != nil || len(posts) != 1 || !strings.Contains(posts[0].Text, "configuration") {
					t.Errorf("told %+v, %v", posts, err)
				}
				h.wait(2 * time.Hour)
				h.want(id, store.Owed)
				if err := h.engine.Ready(); err != nil {
					t.Error(err)
				}
				h.shutdown()
				h.parts.Bots, h.parts.Providers = whole.Bots, whole.Providers
				h.start()
				if got := h.settled(id, s(5)); got.Text != "here" || got.Requests != 2 {
					t.Errorf("%+v", got)
				}
				if open := h.engine.Shape().Alerts; len(open) != 0 {
					t.Errorf("alerts %+v", open)
				}
			})
		})
	}
}

// A model that is found while the daemon runs lets in who has waited for one.
func TestModelFoundLetsOwedTurnsIn(t *testing.T) {
	inHouse(t, func(p *Parts) { p.Providers = nil }, func(h *house) {
		id := h.say("ann", "hello")
		h.want(id, store.Owed)
		h.engine.SetProvider("fake", Provider{Provider: h.models, KeyID: "k"})
		h.settled(id, s(1))
	})
}

// Where nothing may be owed it ends with an honest text.
func TestBotGoneEndsWhereNothingIsOwed(t *testing.T) {
	inHouse(t, func(p *Parts) { p.Retry.Owed, p.Providers = false, nil }, func(h *house) {
		got := h.settled(h.say("ann", "hello"), s(1))
		if got.Outcome != store.Failed || got.Text != "Cannot answer this: the bot bot has no model that is configured." {
			t.Errorf("%+v", got)
		}
	})
}
