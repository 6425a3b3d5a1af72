package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"holdfast/store"
)

// Order is what an operator or the asker wants done to one turn.
type Order struct {
	Turn      store.ID
	By        string // the person, as the surface names people; "" = an operator at the page or the command line
	IfVersion int64  // 0 = any; ErrVersion otherwise, with the turn as it is
	Say       string // cancel: what the person is told
	Command   *store.Command
}

// Stop ends a turn for the person who asked: outcome cancelled, the partial text stays. It is one
// durable fact, whatever the turn does at the moment; the run, if there is one, is only cut.
func (e *Engine) Stop(ctx context.Context, o Order) (store.Turn, error) {
	t, err := e.ordered(ctx, o)
	if err != nil {
		return t, err
	}
	s := store.Settled{Turn: t.ID, At: e.now(), Outcome: store.Cancelled, Text: o.Say, Command: o.Command}
	e.mu.Lock()
	r := e.sched.runs[t.ID]
	e.mu.Unlock()
	if r != nil {
		r.mu.Lock()
		if partial := r.text.String(); partial != "" && o.Say == "" {
			s.Text = partial
		}
		if r.request > 0 && t.State == store.Running {
			s.Attempt = &store.AttemptEnd{N: r.request, StatedMS: -1, Outcome: "cancelled", MS: time.Since(r.sent).Milliseconds()}
		}
		r.mu.Unlock()
	}
	told := t
	if o.By == t.Person { // who ends it himself has no need to be told of it late (N10)
		told.Spoken = s.At
	}
	if err := e.answerPosts(&told, &s); err != nil {
		return t, err
	}
	if err := e.tellCutOff(&t, &s); err != nil {
		return t, err
	}
	done, err := e.Store.SettleTurn(s)
	if errors.Is(err, store.ErrSettled) {
		return e.Store.Turn(t.ID)
	} else if err != nil {
		return t, err
	}
	e.settled(&t, done, s.Posts)
	e.mu.Lock()
	defer e.mu.Unlock()
	if r := e.sched.runs[t.ID]; r != nil {
		r.stop(errStop)
	}
	e.forget(t.ID)
	e.pump()
	return done, nil
}

// Cancel ends it for the operator, likewise.
func (e *Engine) Cancel(ctx context.Context, o Order) (store.Turn, error) { return e.Stop(ctx, o) }

// ordered reads the turn an order is about and checks its version.
func (e *Engine) ordered(ctx context.Context, o Order) (store.Turn, error) {
	if err := ctx.Err(); err != nil {
		return store.Turn{}, err
	}
	t, err := e.Store.Turn(o.Turn)
	if err != nil {
		return t, err
	}
	if bot := e.bot(t.Bot); o.By != "" && o.By != t.Person && (bot == nil || !slices.Contains(bot.Operators, o.By)) {
		return t, ErrNotYours
	}
	if o.IfVersion != 0 && o.IfVersion != t.Version {
		return t, ErrVersion
	}
	return t, nil
}

// Resume runs a waiting turn now (Try now). Inside a hold it returns ErrHeld with the turn, whose
// RetryAt says until when; at a gate that is down it becomes the next to ask, at once. One that waits
// for a person's word on its calls needs that, and not a try: ErrAsks. One that is
// queued, runs or is done is returned as it is. One that asks whether it is still wanted is wanted
// thereby: inside a hold it waits there like any other, and is not asked about again.
func (e *Engine) Resume(ctx context.Context, o Order) (store.Turn, error) {
	t, err := e.ordered(ctx, o)
	if err != nil || !Waits(t.State) {
		return t, err
	}
	if t.Reason.Why == "approval" {
		return t, ErrAsks
	}
	if until := e.heldUntil(&t); until != 0 && !asksWhetherWanted(&t) {
		t.Wait.RetryAt = until
		return t, ErrHeld
	}
	return e.start(t.ID, "operator", true, o.Command)
}

// Waits reports whether a state is one of waiting: retrying, parked, rearming, owed.
func Waits(s store.State) bool {
	return s == store.Retrying || s == store.Parked || s == store.Rearming || s == store.Owed
}

// heldUntil is until when every model of the turn's bot is held; 0 if one is not.
func (e *Engine) heldUntil(t *store.Turn) store.Time {
	e.mu.Lock()
	defer e.mu.Unlock()
	bot := e.bots[t.Bot]
	if bot == nil {
		return 0
	}
	first := store.Time(0)
	for _, m := range bot.Models {
		if s := e.serviceOf(m); s == nil || s.NoKey {
			continue
		}
		until, why := e.gateOf(m).rec.Gate.Closed(e.Wall())
		if why != "hold" {
			return 0
		}
		if at := store.At(until); first == 0 || at < first {
			first = at
		}
	}
	return first
}

// Release ends the closing of PROVIDER/MODEL: the turns that wait for it run, paced (F11).
// store.ErrNotFound if it is not closed.
func (e *Engine) Release(ctx context.Context, model string, c *store.Command) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	e.mu.Lock()
	var g *gate
	for _, x := range e.gateList {
		if _, why := x.rec.Gate.Closed(e.Wall()); why != "" && x.model() == model {
			g = x
		}
	}
	if g == nil {
		e.mu.Unlock()
		return fmt.Errorf("%w: no closed gate of %s", store.ErrNotFound, model)
	}
	e.moved(g, g.rec.Gate.Released(e.Wall()), "", "")
	g.closed, g.rec.Opened = false, e.Wall() // whoever rests on it may ask, also if owed
	row := g.snapshot()[0]
	for _, r := range e.sched.runs { // they meet the gate, which takes one at a time
		if r.place == waiting && r.restsOn == g {
			e.wakeLocked(r.turn, r.conversation, "operator", 0, false)
		}
	}
	e.pump()
	e.mu.Unlock()
	if err := e.Store.PutGate(row, e.now(), c); err != nil {
		return err
	}
	e.Log.Info("gate opened", "by", "operator", "model", model)
	e.letIn(g, "operator")
	return nil
}

// Draft is the text so far of a turn that streams now; "" if it does not.
func (e *Engine) Draft(turn store.ID) string {
	e.mu.Lock()
	r := e.sched.runs[turn]
	e.mu.Unlock()
	if r == nil {
		return ""
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.text.String()
}
