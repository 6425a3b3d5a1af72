package engine

import (
	"cmp"
	"context"
	"errors"
	"strings"
	"time"

	"holdfast/engine/ladder"
	"holdfast/store"
)

// waitFor sends the turn to wait as the ladder has decided, with its notice, in one transaction.
func (e *Engine) waitFor(ctx context.Context, r *run, t *store.Turn, j judged, state store.State) verdict {
	w := e.waitingRow(r, t, j, state)
	var said *store.Post
	if said = e.notice(t, w, e.waitStart(t, j.ep), w.Wait.RetryAt); said != nil {
		w.Posts = []store.Post{*said}
	}
	edits := said != nil && said.ID != 0
	e.Crash("waits")
	moved, err := e.storeWait(w)
	if err != nil {
		return e.unwritten(ctx, r, j, err)
	}
	e.Crash("waited")
	e.follow(t, moved)
	e.logNotice(t, said, edits)
	r.waited += j.decision.Wait
	if state == store.Retrying {
		if j.rests() {
			e.mu.Lock()
			r.restsOn = e.gates[j.gateKey]
			e.mu.Unlock()
		}
		return verdict{place: waiting, until: w.Wait.RetryAt}
	}
	e.logWait(t, w)
	e.asRow(t, w.Wait.RetryAt)
	return over
}

// storeWait stores a wait with what it tells people, which then goes out.
func (e *Engine) storeWait(w store.Waiting) (store.Turn, error) {
	moved, err := e.Store.WaitTurn(w)
	if err == nil {
		e.outbox.posted(w.Posts...)
	}
	return moved, err
}

// waitStart is where a notice's clock begins: the first failure, or the start of the wait at a gate.
func (e *Engine) waitStart(t *store.Turn, ep episode) store.Time {
	now := e.now()
	switch {
	case t.FirstFailed != 0:
		return e.notAhead(t.FirstFailed, now)
	case !ep.GateSince.IsZero():
		return e.notAhead(store.At(ep.GateSince), now)
	}
	return now
}

// notAhead is a start, or one whose silent window is over if the clock has gone back behind it: how long
// ago it was is not known any more, and people are told too early rather than too late.
func (e *Engine) notAhead(start, now store.Time) store.Time {
	if start > now {
		return now.Add(-e.Retry.NoticeAfter)
	}
	return start
}

// waitsAtGate notes in an episode since when its turn waits without a failure of its own.
func (e *Engine) waitsAtGate(ep *episode, now store.Time) {
	if ep.GateSince.IsZero() {
		ep.GateSince = now.Go()
	}
	ep.GateSince = e.notAhead(store.At(ep.GateSince), now).Go()
}

// waitingRow is the turn's row as it will wait.
func (e *Engine) waitingRow(r *run, t *store.Turn, j judged, state store.State) store.Waiting {
	now, d := e.now(), j.decision
	provider, model := splitModel(r.model)
	if state != store.Retrying { // a run of the episode ends
		j.ep.Resumed = true
	}
	if state == store.Rearming || state == store.Owed {
		j.ep.OneShot, j.ep.Owes = true, state == store.Owed
	}
	w := store.Waiting{
		Turn: t.ID, At: now, State: state, Resumed: t.Resumed, FirstFailed: min(t.FirstFailed, now), RearmN: t.RearmN, RearmOf: t.RearmOf, Episode: j.ep.bytes(),
		Wait:   store.Wait{RetryAt: now.Add(d.Wait), From: d.From, MS: ceilMS(d.Wait)},
		Reason: store.Reason{Why: "failure", Class: string(j.failure.Class), Status: j.failure.Status, Provider: provider, Model: model, Text: e.service(provider) + " " + j.failure.Plain()},
		Told:   store.Told{Attempt: j.attempt, Gates: j.gates},
	}
	if w.FirstFailed == 0 {
		w.FirstFailed = now
	}
	switch state {
	case store.Parked:
		w.Park, w.Resumed = true, "failure"
		if j.rests() { // wait there, one asks for all
			w.Wait.Gate = j.gateKey
		}
	case store.Rearming:
		w.Step = e.failureNote(t, w.Reason.Class, w.Reason.Text)
		w.Resumed, w.RearmN, w.RearmOf = "failure", d.N, d.Max
	case store.Owed:
		w.Step = e.failureNote(t, w.Reason.Class, w.Reason.Text)
		w.Resumed = "failure"
		w.Wait.Gate, w.Wait.From = j.gateKey, "gate"
		w.Wait.RetryAt = now.Add(e.owedPause(d))
		if d.Why == "account" {
			w.Reason.Why = "account"
			w.Wait.RetryAt = sooner(w.Wait.RetryAt, j.other)
		}
		w.Wait.MS = int64(w.Wait.RetryAt - now)
	}
	return w
}

// rests reports a wait that lasts until the gate's closing is over, and no longer.
func (j judged) rests() bool {
	d := j.decision
	return d.From != "backoff" && !d.Episode.Early && j.gateEnd >= j.at.Add(d.Wait)-1
}

// waitsForItself reports a wait in process that its own time ends and no gate: nobody else would keep its
// turn back after a start. One that rests on a gate's closing meets it there.
func waitsForItself(from string, record []byte) bool {
	return from == "backoff" || episodeOf(store.Turn{Episode: record}).Early
}

// owedPause is when an owed turn asks again at the earliest.
func (e *Engine) owedPause(d ladder.Decision) time.Duration {
	return max(d.Wait, e.Retry.GateCap)
}

// ceilMS is a duration in whole milliseconds, never shorter.
func ceilMS(d time.Duration) int64 { return int64((d + time.Millisecond - 1) / time.Millisecond) }

// unwritten is a wait whose row did not land (P10): a turn that is done stays done; for any other
// the wait is made in process and nothing is lost.
func (e *Engine) unwritten(ctx context.Context, r *run, j judged, err error) verdict {
	if errors.Is(err, store.ErrSettled) || ctx.Err() != nil {
		return over
	}
	e.mu.Lock()
	for _, row := range j.gates { // it stands in no row yet, and goes with the next fact
		e.gates[row.Key].dirty = true
	}
	e.mu.Unlock()
	e.Log.Error("a wait could not be stored; waiting in process", "turn", r.turn.String(), "err", err)
	e.storeTrouble(err)
	return verdict{place: waiting, until: e.now().Add(max(j.decision.Wait, time.Second))}
}

// knownShown is how many of the turns at a gate are known by name in memory.
const knownShown = 20

// asRow leaves a waiting turn to the store, the wheel and its gate. due is its own time, not the
// gate's that a read of its row would show.
func (e *Engine) asRow(t *store.Turn, due store.Time) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if t.Wait.Gate != "" {
		g := e.gates[t.Wait.Gate]
		g.rows++
		g.came++
		g.recount = true
		if len(g.known) < knownShown {
			g.known = append(g.known, t.ID)
		}
		delete(g.letting, t.ID)
		if g.end(e.now()) == 0 && t.State == store.Parked && e.room(g, e.now()) > 0 { // it has opened meanwhile
			e.setGateTimer(g, e.now())
		}
	}
	if t.Wait.Gate == "" || t.State == store.Owed || t.Wait.From == "gate" {
		e.hold(t.ID, t.Conversation, due)
	}
}

func (e *Engine) logWait(t *store.Turn, w store.Waiting) {
	switch t.State {
	case store.Parked:
		e.Log.Info("turn parked", "turn", t.ID.String(), "retry_at", t.Wait.RetryAt.Go(), "parks", t.Parks)
	case store.Rearming:
		e.Log.Info("turn re-armed", "turn", t.ID.String(), "n", t.RearmN, "of", t.RearmOf, "at", t.Wait.RetryAt.Go())
	case store.Owed:
		e.Log.Info("turn owed", "turn", t.ID.String(), "why", w.Reason.Why)
	}
}

// halfOpenLook is when a turn looks again by itself at a gate that lets one through at a time; the
// gate wakes it sooner.
const halfOpenLook = 30 * time.Second

// waitAtGate lets a turn wait at a closed gate: as a row, or in process where parking is off. It
// uses up no attempt, no park, no re-arm and nothing of the horizon.
func (e *Engine) waitAtGate(ctx context.Context, r *run, g *gate, t *store.Turn) verdict {
	if t.Lane == failFast {
		return e.turnAway(ctx, r, g, t)
	}
	now := e.now()
	e.mu.Lock()
	until, row := g.end(now), g.row
	if _, paused := g.pauses(); until == 0 && !paused { // its closing is over
		row.Why = ""
	}
	e.mu.Unlock()
	ep := episodeOf(*t)
	e.waitsAtGate(&ep, now)
	provider, model := splitModel(g.model())
	w := store.Waiting{
		Turn: t.ID, At: now, State: store.Parked, Resumed: t.Resumed, FirstFailed: min(t.FirstFailed, now), RearmN: t.RearmN, RearmOf: t.RearmOf,
		Wait:   store.Wait{Gate: row.Key, From: "gate", MS: int64(max(0, until-now))},
		Reason: store.Reason{Why: "gate", Class: row.Class, Provider: provider, Model: model, Text: capital(strings.TrimSpace(e.service(provider) + " " + gateWords(row.Why)))},
	}
	inProcess := !e.Retry.Park || !e.Config.Durable
	switch {
	case inProcess:
		w.State, w.Wait.Gate, w.Wait.RetryAt = store.Retrying, "", until
	case ep.Owes:
		w.State = store.Owed
	}
	post := e.notice(t, w, e.waitStart(t, ep), until)
	if post != nil && (post.ID == 0 || row.Why != "") { // at a gate that opens a notice stays as it is: no other time is known, and the answer comes soon
		w.Posts = []store.Post{*post}
	} else if look := e.waitStart(t, ep).Add(e.Retry.NoticeAfter); look > now && !inProcess {
		w.Wait.RetryAt = look // look again when the silent window is over (N2)
		if until == 0 {
			w.Wait.MS = int64(look - now)
		}
	}
	w.Episode = ep.bytes()
	edits := len(w.Posts) > 0 && w.Posts[0].ID != 0
	moved, err := e.storeWait(w)
	if err != nil {
		return e.unwritten(ctx, r, judged{decision: ladder.Decision{Wait: until.Sub(now)}}, err)
	}
	e.follow(t, moved)
	if len(w.Posts) > 0 {
		e.logNotice(t, &w.Posts[0], edits)
	}
	if inProcess {
		e.mu.Lock()
		g.inMemory = append(g.inMemory, r)
		g.came++
		e.mu.Unlock()
		return verdict{place: waiting, until: cmp.Or(until, now.Add(halfOpenLook))}
	}
	t.Wait.RetryAt = until // as a read of its row shows it
	e.logWait(t, w)
	e.asRow(t, w.Wait.RetryAt)
	return over
}
