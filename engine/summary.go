package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"holdfast/engine/llm"
	"holdfast/engine/tool"
	"holdfast/store"
)

// A conversation that has outgrown its bot's context is condensed by the model: a send of its own in
// front of the answer, waited for and tried again like any other, whose text is a line of the journal.
// From then on it stands in the place of what it condenses, until the rest has outgrown the context
// again; so a request begins as the one before it did. What was said stays in the store.

// summaryStep is the journal's line of it.
type summaryStep struct {
	UpTo   store.ID `json:"up_to"` // the newest turn that it stands for
	Text   string   `json:"text,omitzero"`
	Failed bool     `json:"failed,omitzero"` // the model would not: the older part is left out
}

// summaryOf is the newest summary of a history; zero if there is none.
func summaryOf(history []store.Exchange) (newest summaryStep) {
	for _, x := range history {
		for _, s := range x.Steps {
			var b summaryStep
			if s.Kind == "summary" && json.Unmarshal(s.Body, &b) == nil {
				newest = b
			}
		}
	}
	return newest
}

// after are the exchanges behind a turn.
func after(history []store.Exchange, turn store.ID) []store.Exchange {
	i := slices.IndexFunc(history, func(x store.Exchange) bool { return x.Turn > turn })
	if i < 0 {
		return nil
	}
	return history[i:]
}

// toCondense is the older part of a history that has outgrown the budget: all but what half of it
// holds. None in the fail-fast lane, where an answer has no time for it, nor twice in a turn, nor
// where the model has said that the context is too large; then the oldest is left out.
func toCondense(t store.Turn, history []store.Exchange, budget int) []store.Exchange {
	if t.Lane == failFast || episodeOf(t).Trimmed || len(history) == 0 {
		return nil
	}
	if last := history[len(history)-1]; slices.ContainsFunc(last.Steps, func(s store.Step) bool { return s.Kind == "summary" }) {
		return nil
	}
	known := summaryOf(history)
	rest := after(history, known.UpTo)
	if oldestWithin(rest, budget-len(known.Text)) == 0 && len(rest) < historyLimit {
		return nil
	}
	return rest[:oldestWithin(rest, budget/2)]
}

const condenseThis = `Condense the conversation below for the assistant who goes on with it and will not see it itself. Keep facts, names, numbers, decisions, wishes of the people, what was promised and what is open; leave out greetings and detours. Write in the language of the conversation, as plain notes, at most %d words. Write nothing else.`

// condense is the request for a summary of the older part, earlier summary included.
func condense(model string, known summaryStep, older []store.Exchange, budget int, params map[string]any) llm.Request {
	var b strings.Builder
	if known.Text != "" {
		fmt.Fprintf(&b, "What was condensed before:\n%s\n\n", known.Text)
	}
	for _, x := range older {
		var p prompted
		p.exchange(x)
		for _, m := range p.messages {
			said := m.Text
			for _, c := range m.Calls {
				said = strings.TrimSpace(fmt.Sprintf("%s\n[calls %s %s]", said, c.Name, c.Arguments))
			}
			fmt.Fprintf(&b, "%s: %s\n\n", m.Role, tool.Cut(said, 4000))
		}
	}
	text := b.String()
	if len(text) > budget {
		text = "[the beginning is left out]\n" + strings.ToValidUTF8(text[len(text)-budget:], "")
	}
	return llm.Request{Model: model, Params: params, Messages: []llm.Message{
		{Role: "system", Text: fmt.Sprintf(condenseThis, min(max(budget/60, 60), 600))}, {Role: "user", Text: text},
	}}
}

// afterSummary journals what the model has condensed, and goes on to the answer.
func (e *Engine) afterSummary(ctx context.Context, r *run, t *store.Turn, a reply, told store.Told) (verdict, bool) {
	told.Step = line("summary", e.now(), summaryStep{UpTo: r.condenses, Text: strings.TrimSpace(a.text), Failed: strings.TrimSpace(a.text) == ""})
	r.condenses = 0
	e.Log.Info("conversation condensed", "turn", t.ID.String(), "bytes", len(a.text))
	return e.journal(ctx, r, t, told)
}

// withoutSummary goes on without one where asking for it has failed in a way that would end the turn.
func (e *Engine) withoutSummary(ctx context.Context, r *run, t *store.Turn, j judged) (verdict, bool) {
	told := store.Told{Attempt: j.attempt, Gates: j.gates, Step: line("summary", e.now(), summaryStep{UpTo: r.condenses, Failed: true})}
	r.condenses = 0
	return e.write(ctx, r, t, told)
}
