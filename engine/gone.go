package engine

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"holdfast/engine/ladder"
	"holdfast/store"
)

// goneKey names the gate at which the turns of a bot wait while the config cannot serve it: there is no
// such bot, or none of its models has a provider. It opens when the config has them again (L7).
const goneKey = "gone|"

// lacks reports a gate that waits for the config to have a bot again, and which.
func (g *gate) lacks() (bot string, ok bool) { return strings.CutPrefix(g.row.Key, goneKey) }

// ofModel reports a gate that stands before a model.
func (g *gate) ofModel() bool { return g.row.Model != "" }

// serves reports whether the config has a bot, and a provider of one of its models. Engine.mu is held.
func (e *Engine) serves(bot string) bool {
	b := e.bots[bot]
	return b != nil && slices.ContainsFunc(b.Models, func(m string) bool { return e.serviceOf(m) != nil })
}

// goneGate is where the turns of a bot wait until the config can serve it. Engine.mu is held.
func (e *Engine) goneGate(bot string) *gate {
	if g := e.gates[goneKey+bot]; g != nil {
		return g
	}
	return e.addGate(store.Gate{Key: goneKey + bot})
}

// letInServed lets in who has waited for what the config has now. Engine.mu is held.
func (e *Engine) letInServed() {
	for _, g := range e.gateList {
		if bot, ok := g.lacks(); ok && e.serves(bot) {
			e.letInSoon(g, "start")
		}
	}
}

// waitForConfig keeps a turn whose bot or models the config does not have any more, and tells the
// operators; what says what is missing. Its episode stays as it is. Where nothing may be owed it ends.
func (e *Engine) waitForConfig(ctx context.Context, r *run, t *store.Turn, what string) verdict {
	if !e.Retry.Owed || !e.Config.Durable || t.Lane == failFast {
		return e.fail(ctx, r, "cannot answer this: "+what)
	}
	e.mu.Lock()
	key := e.goneGate(t.Bot).row.Key
	e.mu.Unlock()
	w := store.Waiting{
		Turn: t.ID, At: e.now(), State: store.Owed, Resumed: t.Resumed, FirstFailed: t.FirstFailed, RearmN: t.RearmN, RearmOf: t.RearmOf, Episode: t.Episode,
		Wait: store.Wait{Gate: key, From: "gate"}, Reason: store.Reason{Why: "account", Text: capital(what)},
	}
	post := e.notice(t, w, e.now(), 0)
	if post != nil {
		w.Posts = []store.Post{*post}
	}
	moved, err := e.storeWait(w)
	if err != nil {
		return e.unwritten(ctx, r, judged{decision: ladder.Decision{Wait: time.Minute}}, err)
	}
	e.follow(t, moved)
	e.logNotice(t, post, post != nil && post.ID != 0)
	e.Log.Info("turn owed", "turn", t.ID.String(), "why", w.Reason.Why)
	e.raise(alertAccount, t.Bot, e.now(), fmt.Sprintf("%s; its turns wait. Put it back into the config and start again, or cancel them. %s", w.Reason.Text, e.link("/operator")))
	e.asRow(t, 0)
	return over
}
