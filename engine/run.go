package engine

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	"holdfast/engine/ladder"
	"holdfast/engine/llm"
	"holdfast/store"
)

// place is where a run stands in the schedule.
type place int

const (
	fresh   place = iota
	ready         // in the queue
	running       // a goroutine drives it
	atSlot        // has its conversation, waits for a provider's slot
	waiting       // waits in process
)

// run is what memory holds of a turn from the moment it is ready until it is only a row again. An
// in-process wait keeps it, so that the same run goes on afterwards. The first block is guarded by
// Engine.mu, the second belongs to the goroutine that drives it, the third has its own lock.
type run struct {
	turn          store.ID
	conversation  store.ID
	place         place
	by            string     // what woke it
	due           store.Time // when it should have begun; 0 = at once
	force         bool       // Try now: passes a gate that is down
	again         bool       // was woken while it ran
	service       *service   // whose slot it has or waits for
	asked         bool       // its request asks at a gate after a closing
	gate, restsOn *gate      // that its request has passed; whose opening it waits for in process
	account       string     // the gate at which it waited for an account to be mended

	memory    ladder.Run
	claim     *claim        // with whose rows its own comes; nil = it reads its own, or has it
	row       *store.Turn   // its own, as it was written when it was admitted; nil = it is read
	unread    bool          // it went by that: what is not the turn's own may have changed since
	late      time.Duration // from when it was due until its goroutine ran
	begun     bool          // its start has been logged
	spent     time.Duration // running time of earlier goroutines, against turn_deadline: see spentNow
	driven    time.Time     // when the present goroutine began
	condenses store.ID      // the newest turn of a summary that the send asks for; 0 = it asks for the answer
	tools     *toolbox      // what its bot can do; nil = not gathered yet
	earlier   *lookedBack   // what was said in the thread and not to the bot; nil = not read yet
	waited    time.Duration // retry waits so far, for the fail-fast lane
	model     string        // PROVIDER/MODEL
	send      int           // the logical call under way
	resends   int           // L1 resends made in it
	prepared  *llm.Prepared // its bytes; nil = to be built
	messages  int           // messages they answer
	cutAt     time.Time     // when the request under way began, if that cut a stated wait short

	mu      sync.Mutex
	cancel  context.CancelCauseFunc // ends what its goroutine does; nil = none drives it
	text    strings.Builder         // of the answer, so far
	request int                     // number of the request under way; 0 = none
	sent    time.Time

	progress map[string]string // by the key of a call under way: what its tool says of it
	told     time.Time         // when pages were last told of that

	built   int                     // messages and changes of the question that the context was built from (see reword.go)
	latest  int                     // … that there were at its last change
	changes int                     // changes under way
	cut     context.CancelCauseFunc // ends the request under way; nil = none
}

// verdict says how a goroutine left its run.
type verdict struct {
	place   place      // fresh = the run is over
	until   store.Time // waiting: when it goes on
	service *service   // atSlot: whose slot it waits for
}

var over = verdict{}

// drive is the goroutine of a run: from a worker's claim to the next wait or the end.
func (e *Engine) drive(r *run) {
	r.driven = time.Now()
	if r.due != 0 && !r.begun {
		r.late = max(0, e.Wall().Sub(r.due.Go()))
	}
	if r.claim != nil { // waited for here, where a goroutine is small
		r.claim.begun.Done()
		<-r.claim.read
	}
	ctx, cancel := context.WithCancelCause(e.runCtx)
	r.stoppable(cancel)
	v := e.safely(ctx, r)
	r.spent, r.driven = r.spentNow(), time.Time{}
	r.stoppable(nil)
	cancel(nil)
	e.leave(r, v)
}

// safely drives it; a panic ends this turn and not the daemon.
func (e *Engine) safely(ctx context.Context, r *run) (v verdict) {
	defer func() {
		if p := recover(); p != nil {
			e.Log.Error("turn panicked", "turn", r.turn.String(), "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
			v = e.fail(context.WithoutCancel(ctx), r, "cannot answer this: something went wrong inside; it has been logged")
		}
	}()
	return e.work(ctx, r)
}

// leave puts a run where its goroutine left it and lets others on.
func (e *Engine) leave(r *run, v verdict) {
	e.mu.Lock()
	defer e.mu.Unlock()
	s := &e.sched
	s.working--
	r.place = v.place
	switch v.place {
	case atSlot:
		if v.service.take(r) { // one was given back meanwhile
			s.granted = append(s.granted, r)
		} else {
			v.service.queue = append(v.service.queue, r)
		}
	case waiting:
		e.exitLocked(r)
		e.freed(r.conversation, r.turn)
		e.holdAnyway(r.turn, r.conversation, v.until)
	default:
		e.exitLocked(r)
		e.freed(r.conversation, r.turn)
		delete(s.runs, r.turn)
	}
	if r.again && v.place != atSlot {
		r.again = false
		e.wakeLocked(r.turn, r.conversation, "operator", 0, r.force)
	}
	e.pump()
}

// work goes through the turn until it waits or is done.
func (e *Engine) work(ctx context.Context, r *run) verdict {
	t, err := e.row(r)
	if err != nil {
		return e.trouble(ctx, r, "read turn", err)
	}
	if v, ok := e.mayRun(r, t); !ok {
		return v
	}
	if v, ok := e.isCommand(ctx, r, t); ok {
		return v
	}
	bot := e.bot(t.Bot)
	if bot == nil {
		return e.waitForConfig(ctx, r, &t, fmt.Sprintf("the bot %s is not configured any more", t.Bot))
	}
	if v, ok := e.isOther(ctx, r, &t); ok {
		return v
	}
	if joined, err := e.joinOlder(r, &t); err != nil {
		return e.trouble(ctx, r, "join an older turn", err)
	} else if joined {
		return over
	}
	if !r.begun && (t.FirstFailed != 0 || t.Resumed != "" || t.State != store.Queued) {
		e.logResumed(r, t)
	}
	r.begun = true
	if t.FirstFailed == 0 && (t.Requests > 0 || t.Calls > 0) { // the last run may have been cut between a call and its result; in an episode all have one
		if v, goOn := e.answerCalls(ctx, r, &t, bot); !goOn {
			return v
		}
	}
	e.lookBack(ctx, r, &t)
	for {
		v, goOn := e.step(ctx, r, &t, bot)
		if !goOn {
			return v
		}
	}
}

// step makes one logical model call, or waits to make it; goOn says that there is more to do.
func (e *Engine) step(ctx context.Context, r *run, t *store.Turn, bot *Bot) (v verdict, goOn bool) {
	if e.Config.TurnDeadline <= r.spentNow() {
		return e.fail(ctx, r, "cannot answer this: it took longer than a turn may"), false
	}
	model, ok := e.choose(r, bot)
	if !ok {
		return e.waitForConfig(ctx, r, t, fmt.Sprintf("the bot %s has no model that is configured", bot.Name)), false
	}
	if e.atCeiling(t) {
		return e.stopAtCeiling(ctx, r, t, bot, model), false
	}
	provider, _ := splitModel(model)
	if why, err := e.overBudget(bot, provider); err != nil {
		return e.trouble(ctx, r, "read what is used up today", err), false
	} else if why != "" {
		return e.waitForDay(ctx, r, t, why), false
	}
	r.toolbox(ctx, e, t, bot) // may take a moment, so before a slot is taken
	g, v, ok := e.enter(ctx, r, t, model)
	if !ok {
		return v, v == elsewhere
	}
	if r.prepared == nil {
		if err := e.prepare(ctx, r, t, bot); err != nil {
			e.exit(r)
			return e.trouble(ctx, r, "build the request", err), false
		}
	}
	n, err := e.begin(r, t)
	switch {
	case errors.Is(err, store.ErrMoved): // a message has joined, or the row has moved otherwise: build the text anew
		e.exit(r)
		r.prepared, r.resends = nil, 0
		fresh, err := e.Store.Turn(r.turn)
		if err != nil {
			return e.trouble(ctx, r, "read turn", err), false
		}
		*t = fresh
		return over, true
	case errors.Is(err, errAllowance):
		e.exit(r)
		return e.waitForDay(ctx, r, t, e.allowance(provider)), false
	case errors.Is(err, store.ErrSettled):
		e.exit(r)
		return over, false
	case err != nil:
		e.exit(r)
		return e.trouble(ctx, r, "begin request", err), false
	}
	e.Crash("begun")
	reply, failure := e.request(ctx, r, g, t)
	e.Crash("replied")
	if failure != nil {
		return e.afterFailure(ctx, r, g, t, bot, n, failure)
	}
	return e.afterReply(ctx, r, g, t, bot, n, reply)
}

// enter asks for a slot of the provider and then the gate; without both the turn waits.
func (e *Engine) enter(ctx context.Context, r *run, t *store.Turn, model string) (*gate, verdict, bool) {
	e.mu.Lock()
	g, s := e.gateOf(model), e.serviceOf(model)
	if r.service != nil && r.service != s { // a slot of the model before a switch
		e.giveBack(r)
	}
	ep := episodeOf(*t)
	if p := e.pausedBy(t.Bot, model); p != nil {
		e.exitLocked(r)
		e.mu.Unlock()
		return p, e.waitAtGate(ctx, r, p, t), false
	}
	wasLetIn := g.letting[r.turn]
	if p := g.pass(r, ep, e.Wall()); p == atGate {
		e.giveBack(r)
		e.mu.Unlock()
		return g, e.waitAtGate(ctx, r, g, t), false
	}
	if !s.take(r) {
		g.inFlight--
		r.gate = nil
		if wasLetIn { // it stands in line, and its place at the gate is not another's
			g.letting[r.turn] = true
		}
		e.mu.Unlock()
		return g, verdict{place: atSlot, service: s}, false
	}
	r.force = false
	if r.model != model {
		r.model, r.prepared, r.resends = model, nil, 0
	}
	e.mu.Unlock()
	return g, over, true
}

// trouble is for what is nobody's fault but this machine's (the store cannot be read or written):
// nothing is lost, the run goes on in a moment.
func (e *Engine) trouble(ctx context.Context, r *run, what string, err error) verdict {
	if ctx.Err() != nil {
		return over
	}
	e.Log.Error(what, "turn", r.turn.String(), "err", err)
	e.storeTrouble(err)
	return verdict{place: waiting, until: e.now().Add(5 * time.Second)}
}
