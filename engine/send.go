package engine

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"holdfast/engine/llm"
	"holdfast/store"
)

// reply is a complete answer of the model.
type reply struct {
	text   string
	calls  []llm.Call
	finish llm.Finish
	head   llm.Head
}

// choose takes the model of the next send: the run's own until it leaves it, else the first of the
// bot's chain that this run has not left and that is not cooling; if all are cooling the first that
// was not left. A key that was refused is tried by the first of the chain alone. False if the config has
// none of them.
func (e *Engine) choose(r *run, bot *Bot) (string, bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if r.model != "" && !r.memory.Tried[r.model] && slices.Contains(bot.Models, r.model) {
		return r.model, true
	}
	first := ""
	for _, m := range bot.Models {
		if e.serviceOf(m) == nil || r.memory.Tried[m] {
			continue
		}
		if first == "" {
			first = m
		}
		if e.askable(m) && !e.gateOf(m).cooling(e.Wall()) && (m == bot.Models[0] || e.usable(m)) {
			return m, true
		}
	}
	return first, first != ""
}

// cooling reports whether L3 has left it lately.
func (g *gate) cooling(now time.Time) bool { return now.Before(g.rec.CoolUntil) }

// askable reports whether a model could be sent to now: key present, gate open. Engine.mu is held.
func (e *Engine) askable(model string) bool {
	s := e.serviceOf(model)
	if s == nil || s.NoKey {
		return false
	}
	_, why := e.gateOf(model).rec.Gate.Closed(e.Wall())
	return why == ""
}

// usable is askable with a key that is not known to be refused. Engine.mu is held.
func (e *Engine) usable(model string) bool {
	return e.askable(model) && !e.gateOf(model).refusing(e.Wall())
}

// fallback reports whether L3 has somewhere to go from a model. Engine.mu is held.
func (e *Engine) fallback(r *run, bot *Bot, from string) (string, bool) {
	for _, m := range bot.Models {
		if m != from && !r.memory.Tried[m] && e.usable(m) && !e.gateOf(m).cooling(e.Wall()) {
			return m, true
		}
	}
	return "", false
}

// prepare builds the context and fixes the bytes of the send.
func (e *Engine) prepare(ctx context.Context, r *run, t *store.Turn, bot *Bot) error {
	history, err := e.Store.History(t.Conversation, t.ID, historyLimit)
	if err != nil {
		return err
	}
	offered := r.tools.offered()
	budget := e.roomFor(bot, e.promptBudget(r, t, bot, history, e.window(ctx, r.model, bot)), len(bot.Instructions)+toolsSize(offered))
	said := unheard(r.earlier.said, history, budget/earlierShare)
	budget -= sizeOf(said)
	history = sinceFreshStart(withoutSuperseded(history))
	p := prompt(bot, *t, history, said, budget)
	_, model, _ := strings.Cut(r.model, "/")
	request := llm.Request{Model: model, Messages: p.messages, Tools: offered, Params: bot.Params}
	r.condenses = 0
	if older := toCondense(*t, history, budget); len(older) > 0 {
		r.condenses = older[len(older)-1].Turn
		request = condense(model, summaryOf(history), older, budget, bot.Params)
	}
	e.mu.Lock()
	s := e.serviceOf(r.model)
	e.mu.Unlock()
	prepared, err := s.Prepare(request)
	if err != nil {
		return err
	}
	r.prepared = &prepared
	r.builtFrom(p.said)
	return nil
}

// begin writes the request's row: the run's durable fact before anything is sent (P1).
func (e *Engine) begin(r *run, t *store.Turn) (int, error) {
	newSend := r.resends == 0
	if ep := episodeOf(*t); ep.Waits.N > 0 && e.Wall().Before(ep.Waits.End) {
		r.cutAt = e.Wall()
	}
	send := t.Attempts
	if newSend {
		send++
	}
	used, err := e.takeRequest(r.model)
	if err != nil {
		return 0, err
	}
	was := t.State
	n, err := e.Store.BeginRequest(store.Begin{Turn: r.turn, Version: t.Version, Was: &was, At: e.now(), Send: send, NewSend: newSend, Model: r.model, Messages: r.messages, Usage: used, Step: r.earlier.step})
	if err != nil {
		e.untake(used)
		return 0, err
	}
	r.earlier.step = nil
	e.mu.Lock()
	e.tally.move(was, store.Running)
	if account := accountGate(t); account != "" {
		r.account = account
	}
	e.leaveGate(t)
	e.mu.Unlock()
	t.State, t.Wait, t.Model, t.Requests, t.Version = store.Running, store.Wait{}, r.model, t.Requests+1, t.Version+1
	if newSend {
		t.Attempts++
	}
	r.send = send
	r.mu.Lock()
	r.request, r.sent = n, time.Now()
	r.text.Reset()
	r.mu.Unlock()
	return n, nil
}

// request sends it once and gathers the answer; text is shown as it comes.
func (e *Engine) request(ctx context.Context, r *run, g *gate, t *store.Turn) (reply, *llm.Failure) {
	ctx, cut := context.WithCancelCause(ctx)
	defer cut(nil)
	ctx, cancel := context.WithTimeout(ctx, e.Config.TurnDeadline-r.spentNow())
	defer cancel()
	r.cuttable(cut)
	defer r.cuttable(nil)
	surface, to := e.place(t)
	if surface != nil {
		surface.Working(to, t.ID, true)
	}
	e.mu.Lock()
	s := e.serviceOf(r.model)
	e.mu.Unlock()
	var a reply
	var said strings.Builder
	opened := false
	for ev, err := range s.Stream(ctx, *r.prepared) {
		if err != nil {
			return a, asFailure(err)
		}
		if !opened && ev.Head == nil {
			opened = true
			e.mu.Lock()
			e.content(g, s.slots)
			e.alsoOpens(r)
			e.mu.Unlock()
		}
		switch {
		case ev.Head != nil:
			a.head = *ev.Head
		case ev.Call != nil:
			a.calls = append(a.calls, *ev.Call)
		case ev.Finish != nil:
			a.finish = *ev.Finish
		case ev.Text != "":
			said.WriteString(ev.Text)
			if r.condenses != 0 { // nothing that people should see
				continue
			}
			r.mu.Lock()
			r.text.WriteString(ev.Text)
			text := r.text.String()
			r.mu.Unlock()
			if surface != nil && !strings.HasPrefix(silence, text) { // which would be nothing to show
				surface.Draft(to, t.ID, text)
			}
		}
	}
	a.text = said.String()
	if strings.TrimSpace(a.text) == "" && len(a.calls) == 0 {
		return a, &llm.Failure{Class: llm.Server, Transient: true, Status: a.head.Status, Begun: true, RequestID: a.head.RequestID, Text: "the answer was empty"}
	}
	return a, nil
}

// asFailure takes the classified failure out of an error; a provider that breaks its contract is unclassified.
func asFailure(err error) *llm.Failure {
	if f, ok := errors.AsType[*llm.Failure](err); ok {
		return f
	}
	return &llm.Failure{Class: llm.Unclassified, Text: err.Error()}
}

// place finds the surface of a turn and its address there; nil if the config has it no more.
func (e *Engine) place(t *store.Turn) (Surface, Place) {
	return e.surfaces[t.Surface], Place{Conversation: t.Conversation, Bot: t.Bot, Channel: t.Channel, Thread: t.Thread}
}
