package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"holdfast/engine/llm"
	"holdfast/store"
)

// afterReply settles the turn with a final answer, or journals a reply that calls tools and goes on.
func (e *Engine) afterReply(ctx context.Context, r *run, g *gate, t *store.Turn, bot *Bot, n int, a reply) (verdict, bool) {
	e.countRequest(r.model, e.since(r).Milliseconds(), "", "")
	end := &store.AttemptEnd{
		N: n, Status: a.head.Status, StatedMS: -1, Outcome: "ok", RequestID: a.head.RequestID, MS: e.since(r).Milliseconds(),
		TokensIn: a.finish.TokensIn, TokensOut: a.finish.TokensOut,
	}
	e.mu.Lock()
	told := store.Told{Attempt: end, Gates: g.snapshot()}
	e.mu.Unlock()
	told.Tokens = &store.Tokens{Day: e.today(), Bot: bot.Name, Model: r.model, Requests: 1, In: a.finish.TokensIn, Out: a.finish.TokensOut}
	if bot.DailyTokens > 0 {
		used, _, err := e.take(tokensOf(bot.Name), a.finish.TokensIn+a.finish.TokensOut, 0)
		if err != nil {
			e.Log.Error("read what is used up today", "turn", r.turn.String(), "err", err)
		}
		told.Usage = []store.Usage{used}
	}
	e.endWaits(r, t)
	e.answered(bot.Name, r.model)
	r.prepared, r.resends = nil, 0
	r.ended()
	if r.isStale() { // what it says answers the old words
		return e.journal(ctx, r, t, told)
	}
	if r.condenses != 0 {
		return e.afterSummary(ctx, r, t, a, told)
	}
	if len(a.calls) > 0 {
		return e.afterCalls(ctx, r, t, bot, a, told)
	}
	v, goOn := e.settle(ctx, r, t, store.Settled{Outcome: store.Answered, Text: e.answerOf(t, a.text), Messages: r.messages, Told: told})
	if goOn { // a message has joined: what was said so far is a step, and the model goes on
		if !r.isStale() {
			told.Step = line("reply", e.now(), replyStep{Text: a.text})
		}
		return e.journal(ctx, r, t, told)
	}
	return v, false
}

// ownIDs gives every call of a reply an id of its own: some services repeat them, or give none.
func ownIDs(calls []llm.Call) []llm.Call {
	seen := map[string]bool{}
	for i := range calls {
		if id := calls[i].ID; id == "" || seen[id] {
			calls[i].ID = fmt.Sprintf("call_%d_%s", i, id)
		}
		seen[calls[i].ID] = true
	}
	return calls
}

// afterCalls journals a reply with tool calls, and makes them.
func (e *Engine) afterCalls(ctx context.Context, r *run, t *store.Turn, bot *Bot, a reply, told store.Told) (verdict, bool) {
	steps, err := e.Store.Steps(t.ID)
	if err != nil {
		return e.trouble(ctx, r, "read the journal", err), false
	}
	calls := 1
	for _, s := range steps {
		if s.Kind == "reply" {
			calls++
		}
	}
	if calls > bot.MaxSteps {
		text := fmt.Sprintf("Cannot answer this: the model called tools %d times without coming to an answer.", calls)
		v, _ := e.settle(ctx, r, t, store.Settled{Outcome: store.Failed, Text: text, Error: text, Told: told})
		return v, false
	}
	told.Step = line("reply", e.now(), replyStep{Text: a.text, Calls: ownIDs(a.calls)})
	if v, goOn := e.journal(ctx, r, t, told); !goOn {
		return v, false
	}
	if v, goOn := e.answerCalls(ctx, r, t, bot); !goOn {
		return v, false
	}
	return e.steer(ctx, r, t)
}

// journal stores a completed step and gives the slot back.
func (e *Engine) journal(ctx context.Context, r *run, t *store.Turn, told store.Told) (verdict, bool) {
	v, goOn := e.write(ctx, r, t, told)
	e.exit(r)
	return v, goOn
}

// write stores one step of the turn.
func (e *Engine) write(ctx context.Context, r *run, t *store.Turn, told store.Told) (verdict, bool) {
	moved, err := e.Store.StepTurn(store.Stepped{Turn: t.ID, At: e.now(), Told: told})
	if errors.Is(err, store.ErrSettled) {
		return over, false
	} else if err != nil {
		return e.trouble(ctx, r, "journal a step", err), false
	}
	e.Crash("stepped")
	e.follow(t, moved)
	return over, true
}

// settle ends the turn and tells people, in one transaction. A store that cannot be written now
// (a full disk) is tried again until it can: the answer is not lost while the process lives, and after
// that the turn runs again. goOn says that a message has joined meanwhile.
func (e *Engine) settle(ctx context.Context, r *run, t *store.Turn, s store.Settled) (v verdict, goOn bool) {
	s.Turn = t.ID
	if err := e.answerPosts(t, &s); err != nil {
		return e.trouble(ctx, r, "read the notice", err), false
	}
	for {
		s.At = e.now()
		e.Crash("settles")
		done, err := e.Store.SettleTurn(s)
		switch {
		case err == nil:
			e.Crash("settled")
			e.settled(t, done, s.Posts)
			return over, false
		case errors.Is(err, store.ErrMoved):
			return over, true
		case errors.Is(err, store.ErrSettled):
			return over, false
		}
		e.Log.Error("the answer could not be stored; trying again", "turn", t.ID.String(), "err", err)
		e.storeTrouble(err)
		select {
		case <-ctx.Done():
			return over, false
		case <-e.runCtx.Done(): // the process ends; the next start finds the turn open
			return over, false
		case <-time.After(time.Second):
		}
	}
}

// answerPosts adds the posts that tell of the end: the answer edits the notice in place, or is posted
// normally where none is visible (N4, N5).
func (e *Engine) answerPosts(t *store.Turn, s *store.Settled) error {
	old, err := e.noticeOf(t)
	if err != nil {
		return err
	}
	text := s.Text
	if text == "" && old != nil {
		text = "Stopped."
		if s.Outcome == store.Answered {
			text = "Nothing to say."
		}
	}
	if text == "" {
		return nil
	}
	kind := "answer"
	if s.Outcome != store.Answered {
		kind = "terminal"
	}
	surface, _ := e.place(t)
	parts := partsOf(surface, text)
	notice := old
	for i, part := range parts { // the first takes the notice's place
		s.Posts = append(s.Posts, e.postOf(t, i, kind, part, notice))
		notice = nil
	}
	if late := e.lateMention(t, surface, old, len(parts)); late != nil {
		s.Posts = append(s.Posts, *late)
	}
	return nil
}

// lateMention is the short post that tells a person of an answer which came by an edit, and long
// after the question: an edit notifies nobody (N10). Nil where it is not needed.
func (e *Engine) lateMention(t *store.Turn, surface Surface, old *store.Post, part int) *store.Post {
	if surface == nil || surface.Traits().Mention == nil || old == nil || e.now().Sub(t.Spoken) < e.Retry.MentionAfter || IsSchedule(t.Person) {
		return nil
	}
	return &store.Post{
		Turn: t.ID, Conversation: t.Conversation, Part: part, Kind: "mention", State: "pending", Text: surface.Traits().Mention([]string{t.Person}),
	}
}

// settled follows a turn that has ended with these posts: counters, log, working sign, outbox.
func (e *Engine) settled(t *store.Turn, done store.Turn, posts []store.Post) {
	waited := int64(0)
	if t.FirstFailed != 0 {
		waited = max(0, int64(e.now()-t.FirstFailed))
	}
	e.mu.Lock()
	e.tally.move(done.Was, store.Done)
	e.tally.settled[done.Outcome]++
	e.storeWorks()
	e.leaveGate(t)
	e.mu.Unlock()
	*t = done
	if surface, to := e.place(t); surface != nil {
		surface.Working(to, t.ID, false)
	}
	e.outbox.posted(posts...)
	e.Log.Info("turn settled", "turn", t.ID.String(), "outcome", string(done.Outcome), "requests", done.Requests, "parks", done.Parks, "waited_ms", waited)
}

// leaveGate uncounts a turn that waited at a gate as a row. Engine.mu is held.
func (e *Engine) leaveGate(t *store.Turn) {
	if g := e.gates[t.Wait.Gate]; t.Wait.Gate != "" && g != nil {
		g.rows = max(0, g.rows-1)
		g.recount = true
		g.known = slices.DeleteFunc(g.known, func(id store.ID) bool { return id == t.ID })
		if g.letting[t.ID] { // it was let in and goes without having asked: the next one may
			delete(g.letting, t.ID)
			e.letInSoon(g, "gate")
		}
	}
	t.Wait.Gate = ""
}

// settleFailed ends a turn as the ladder has decided, with an honest text and true counts.
func (e *Engine) settleFailed(ctx context.Context, r *run, t *store.Turn, j judged) verdict {
	f := j.failure
	provider, model := splitModel(r.model)
	stated := time.Duration(0)
	if f.HasStated {
		stated = f.Stated
	}
	text := terminalText(e.service(provider), f.Plain(), j.decision.Why, t.Attempts, stated)
	if j.decision.Why == "busy" {
		text = e.busyText(t, e.heldUntil(t))
	}
	outcome := store.Failed
	if f.Class == llm.Refused {
		outcome = store.Refused
	}
	v, _ := e.settle(ctx, r, t, store.Settled{
		Outcome: outcome, Text: text, Error: text,
		Reason: store.Reason{Why: "failure", Class: string(f.Class), Status: f.Status, Provider: provider, Model: model, Text: e.service(provider) + " " + f.Plain()},
		Told:   store.Told{Attempt: j.attempt, Gates: j.gates, Step: e.failureNote(t, string(f.Class), e.service(provider)+" "+f.Plain())},
	})
	return v
}

// fail ends a turn for a reason of ours.
func (e *Engine) fail(ctx context.Context, r *run, text string) verdict {
	t, err := e.Store.Turn(r.turn)
	if err != nil {
		return e.trouble(ctx, r, "read turn", err)
	}
	s := store.Settled{Outcome: store.Failed, Text: capital(text) + ".", Error: capital(text) + "."}
	r.mu.Lock()
	if r.request > 0 && t.State == store.Running {
		s.Attempt = &store.AttemptEnd{N: r.request, StatedMS: -1, Outcome: "failed"}
	}
	r.mu.Unlock()
	v, _ := e.settle(ctx, r, &t, s)
	return v
}
