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

// An account that refuses at the end of a chain whose other models are only busy: the turn is owed with
// its alert at once, and goes on as soon as one of the others may be asked, not an hour later. A key that
// was refused is no fallback for those that come after (DESIGN.md §4, L3: usable).
func TestRefusedAccountBehindABusyModelF13(t *testing.T) {
	for _, word := range []string{"401", "402"} {
		inHouse(t, func(p *Parts) { p.Bots[0].Models = []string{"fake/one", "fake/two"} }, func(h *house) {
			h.models.playFor("one", "429/10m", "ok:one")
			h.models.playFor("two", word)
			first := h.say("ann", "hello")
			if p := h.want(first, store.Owed); p.Reason.Why != "account" {
				t.Errorf("%s: %+v", word, p)
			}
			equal(t, "alerts", h.openAlerts(), []string{"account"})
			second := h.sayIn("other", "bob", "hello")
			if p := h.want(second, store.Parked); p.Requests != 0 {
				t.Errorf("%s: the refused account was asked as a fallback: %+v", word, p)
			}
			h.wait(10*time.Minute - s(1))
			if n := len(h.models.requests()); n != 2 {
				t.Errorf("%s: %d requests inside the hold, want 2", word, n)
			}
			for _, id := range []store.ID{first, second} {
				if got := h.settled(id, s(2)); got.Text != "one" {
					t.Errorf("%s: %+v", word, got)
				}
			}
			if n := len(h.models.requests()); n != 4 {
				t.Errorf("%s: %d requests, want 4", word, n)
			}
		})
	}
}

// A rate limit without a stated wait has no fallback in a model whose key was refused: the first model is
// asked again (F2). When the hour of the account is over the fallback may be tried again.
func TestRefusedKeyIsNoFallbackF2(t *testing.T) {
	inHouse(t, func(p *Parts) { p.Bots[0].Models = []string{"fake/one", "fake/two"} }, func(h *house) {
		h.models.playFor("one", "429", "ok:one", "429", "429", "ok:again", "429", "ok:late")
		h.models.playFor("two", "401", "ok:mended")
		first := h.say("ann", "hello")
		if got := h.settled(first, 6*time.Minute); got.Text != "one" {
			t.Errorf("%+v", got)
		}
		if got := h.settled(h.say("ann", "again"), s(20)); got.Text != "again" {
			t.Errorf("%+v", got)
		}
		if n := len(h.models.requests()); n != 6 {
			t.Errorf("%d requests, want 6", n)
		}
		h.wait(time.Hour)
		if got := h.settled(h.say("ann", "later"), s(20)); got.Text != "mended" {
			t.Errorf("%+v", got)
		}
	})
}
