package engine

import (
	"context"

	"holdfast/engine/ladder"
	"holdfast/engine/llm"
	"holdfast/store"
)

// countRequest counts a failed request of the episode, with those before it that a restart has cut
// off: they were sent too. of is how many the turn has made in all.
func (ep *episode) countRequest(of int) {
	if ep.Requests == 0 {
		ep.Before = of - 1
	}
	ep.Requests = of - ep.Before
}

// atCeiling reports an episode that may make no further request although none of its failures was
// the last allowed one: requests were cut off by restarts.
func (e *Engine) atCeiling(t *store.Turn) bool {
	ep := episodeOf(*t)
	if ep.Requests == 0 || ep.Owes {
		return false
	}
	ep.countRequest(t.Requests)
	return ep.Last(e.Retry)
}

// stopAtCeiling does without a request what the ladder does after the last one that is allowed.
func (e *Engine) stopAtCeiling(ctx context.Context, r *run, t *store.Turn, bot *Bot, model string) verdict {
	f := &llm.Failure{Class: llm.Class(t.Reason.Class), Status: t.Reason.Status, Transient: true, Text: t.Reason.Text}
	ep := episodeOf(*t)
	r.model = model
	e.mu.Lock()
	s := e.situation(r, t, ep, bot, e.Wall())
	s.LastRequest, s.Remaining = true, e.Config.TurnDeadline-r.spent
	j := judged{failure: f, decision: ladder.Decide(asLadder(f), ep.Episode, r.memory, s, e.Retry), ep: ep, gateKey: e.gateOf(model).row.Key}
	e.mu.Unlock()
	j.ep.Episode = j.decision.Episode
	v, _ := e.carryOut(ctx, r, t, bot, j)
	return v
}
