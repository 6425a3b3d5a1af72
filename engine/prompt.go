package engine

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"holdfast/engine/llm"
	"holdfast/engine/tool"
	"holdfast/store"
)

const (
	historyLimit  = 200 // exchanges read at most
	bytesPerToken = 4   // a rough measure that is stable from call to call
	// bytesPerTokenAtMost is the careful measure against a model's own limit: dense text has few bytes a token.
	bytesPerTokenAtMost = 3
)

// The line that tells a model why its turn runs again (P12).
const (
	noteFailure = "[Holdfast: this is a further try after a temporary failure of the model provider. Do not mention it unless asked.]"
	noteSummary = "[Holdfast: what was said here before, condensed:]\n"
	noteRestart = "[Holdfast: this is a further try after the daemon was restarted in the middle of the answer. Do not mention it unless asked.]"
)

// prompted is a context and what it was built from.
type prompted struct {
	messages []llm.Message
	open     []string // ids of calls that have no result yet
	budget   int      // bytes, beyond which the oldest results of tools are left out; 0 = any
	size     int      // bytes so far
	said     int      // messages of people that the turn answered when it was built
}

// prompt lays the context out: instructions, the summary of what is left out if there is one, older
// exchanges as far as the budget (in bytes) reaches, what is asked now, and last the line that says why
// a resumed turn runs again. Failures and notices are never in it (S7). What was said in its thread and
// not to the bot stands in between, by its time (see earlier.go). The parts before the end are the same
// from call to call.
func prompt(bot *Bot, t store.Turn, history []store.Exchange, said []Said, budget int) prompted {
	p := prompted{budget: budget}
	if bot.Instructions != "" {
		p.messages = append(p.messages, llm.Message{Role: "system", Text: bot.Instructions})
	}
	if known := summaryOf(history); known.UpTo != 0 {
		history = after(history, known.UpTo)
		if known.Text != "" {
			p.say("user", noteSummary+tool.Cut(known.Text, max(budget/4, 1000)))
		}
	}
	for _, x := range history[oldestWithin(history, budget):] {
		said = p.overheard(said, x, x.Turn == t.ID)
		p.exchange(x)
		if x.Turn == t.ID {
			p.said = x.Messages
		}
	}
	note := map[string]string{"failure": noteFailure, "restart": noteRestart}[t.Resumed]
	if note != "" {
		p.say("user", note)
	}
	return p
}

// sinceFreshStart leaves commands out, and all that was said before the last "!new".
func sinceFreshStart(history []store.Exchange) []store.Exchange {
	var kept []store.Exchange
	for _, x := range history {
		switch {
		case len(x.Events) == 0 || x.Events[0].Kind != kindCommand:
			kept = append(kept, x)
		case asCommand(x.Events[0].Text) == "!new":
			kept = nil
		}
	}
	return kept
}

// oldestWithin is the first exchange that fits; the newest always does.
func oldestWithin(history []store.Exchange, budget int) int {
	for i := len(history) - 1; i >= 0; i-- {
		budget -= exchangeSize(history[i])
		if budget < 0 && i < len(history)-1 {
			return i + 1
		}
	}
	return 0
}

// exchangeSize is how many bytes an exchange takes.
func exchangeSize(x store.Exchange) int {
	size := len(x.Text)
	for _, ev := range x.Events {
		size += len(ev.Text)
	}
	for _, s := range x.Steps {
		size += len(s.Body)
	}
	return size
}

// exchange adds what people said and what was answered. What was said while the turn was under way
// stands where its model saw it first, but never between calls and their results.
func (p *prompted) exchange(x store.Exchange) {
	said := slices.Clone(x.Events)
	slices.SortStableFunc(said, func(a, b store.Event) int { return cmp.Compare(a.Behind, b.Behind) })
	said = p.heard(said, 0)
	for _, s := range x.Steps {
		p.step(s)
		if len(p.open) == 0 {
			said = p.heard(said, s.N)
		}
	}
	missing := "[Holdfast: the turn was ended before this call had a result.]"
	if x.Outcome == "" { // an older turn, which waits
		missing = "[Holdfast: this call waits for a person's approval; it is not made yet.]"
	}
	for len(p.open) > 0 {
		p.result(p.open[0], missing)
	}
	p.heard(said, math.MaxInt)
	switch {
	case x.Outcome == store.Answered && x.Text != "":
		p.say("assistant", x.Text)
	case x.Outcome == store.Answered && clocked(x.Events):
		p.say("assistant", silence)
	}
}

// heard adds what was said up to a line of the journal and returns the rest.
func (p *prompted) heard(said []store.Event, line int) []store.Event {
	for len(said) > 0 && said[0].Behind <= line {
		if said[0].Text != "" { // else it was taken back
			p.say("user", said[0].Text)
		}
		said = said[1:]
	}
	return said
}

// result adds a tool's.
func (p *prompted) result(call, text string) {
	if p.budget > 0 {
		text = tool.Cut(text, max(p.budget/4, 2000))
	}
	p.messages = append(p.messages, llm.Message{Role: "tool", Text: text, CallID: call})
	p.leaveOut(len(text))
	if i := slices.Index(p.open, call); i >= 0 {
		p.open = slices.Delete(p.open, i, i+1)
	}
}

// leftOut stands in the place of a result that is left out.
const leftOut = "[Holdfast: this result is left out here to save space; call the tool again if it is needed.]"

// leaveOut counts so many bytes more. Once all is over the budget the oldest results are left out until
// half of it is free: in few large steps, each the same whenever the context is built again, so that
// most requests begin as the one before them.
func (p *prompted) leaveOut(more int) {
	if p.size += more; p.budget == 0 || p.size <= p.budget {
		return
	}
	for i := range p.messages[:len(p.messages)-1] {
		m := &p.messages[i]
		if m.Role != "tool" || len(m.Text) <= len(leftOut) {
			continue
		}
		p.size -= len(m.Text) - len(leftOut)
		m.Text = leftOut
		if p.size <= p.budget/2 {
			return
		}
	}
}

// say adds a message, or goes on with the last one if the same side speaks on: several services
// insist that the two sides alternate.
func (p *prompted) say(role, text string) {
	p.size += len(text)
	if n := len(p.messages); n > 0 && p.messages[n-1].Role == role && len(p.messages[n-1].Calls) == 0 {
		p.messages[n-1].Text = strings.Join([]string{p.messages[n-1].Text, text}, "\n\n")
		return
	}
	p.messages = append(p.messages, llm.Message{Role: role, Text: text})
}

// promptBudget is how many bytes of context may be sent: what the bot allows, what fits into the
// window that it is loaded with (tokens, 0 = not known) and under the limit that the model has once stated, and after a request that was too large for a limit not stated, half of it (F14).
func (e *Engine) promptBudget(r *run, t *store.Turn, bot *Bot, history []store.Exchange, window int64) int {
	budget := bot.ContextTokens * bytesPerToken
	if window > 0 { // a quarter of it is for the answer
		budget = min(budget, int(window)*bytesPerTokenAtMost*3/4)
	}
	e.mu.Lock()
	limit := int(e.gateOf(r.model).rec.Limit)
	e.mu.Unlock()
	switch {
	case limit > 0:
		budget = min(budget, limit*bytesPerTokenAtMost)
	case episodeOf(*t).Trimmed:
		size := len(bot.Instructions)
		for _, x := range history {
			size += exchangeSize(x)
		}
		budget = min(budget, size) / 2
	}
	return budget
}

// toolsSize is how many bytes the description of tools takes in a request.
func toolsSize(tools []llm.Tool) (n int) {
	for _, t := range tools {
		n += len(t.Name) + len(t.Description) + len(t.Schema)
	}
	return n
}

// leastRoom is the part of a budget that a conversation has, whatever instructions and tools take: one
// in so many.
const leastRoom = 4

// roomFor is what is left of a budget for the conversation, in bytes. Where instructions and tools take
// nearly all of it, or more, the conversation has a part of it all the same, and the log says so once.
func (e *Engine) roomFor(bot *Bot, budget, taken int) int {
	if least := max(budget/leastRoom, 1); budget-taken < least {
		e.mu.Lock()
		told := e.cramped[bot.Name]
		much := taken > bot.ContextTokens*bytesPerToken/2 // and not only for now, as where a model has said that it was too much
		e.cramped[bot.Name] = told || much
		e.mu.Unlock()
		if much && !told {
			e.Log.Warn("instructions and tools leave little room for the conversation; raise context_tokens, or give the bot fewer tools", "bot", bot.Name, "bytes", taken, "budget", budget)
		}
		return least
	}
	return budget - taken
}
