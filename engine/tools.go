package engine

import (
	"context"
	"strings"

	"holdfast/engine/llm"
	"holdfast/engine/tool"
	"holdfast/store"
)

// toolbox is what a turn's bot can do, in the order in which its model is told: always the same, so
// that a request begins as the one before it.
type toolbox struct {
	order []string
	tools map[string]tool.Tool
}

// toolsFor gathers the tools of a turn's bot. A server that cannot be reached is left out: the turn
// goes on without it, and the log says so. It may take as long as tool.Set says, and is asked for
// before the turn has a provider's slot.
func (e *Engine) toolsFor(ctx context.Context, t *store.Turn, bot *Bot) toolbox {
	box := toolbox{tools: map[string]tool.Tool{}}
	for _, name := range e.toolNames(t, bot) {
		set := e.Tools[name]
		if set == nil {
			continue // refused by the check of the config
		}
		tools, err := set.Tools(ctx)
		if err != nil && ctx.Err() == nil {
			e.Log.Warn("tools are missing", "bot", bot.Name, "tools", name, "err", err, "turn", t.ID.String())
		}
		for _, one := range tools {
			called := one.Spec().Name
			if box.tools[called] != nil {
				e.Log.Warn("two tools have one name; the second is left out", "bot", bot.Name, "tool", called, "tools", name)
				continue
			}
			box.order = append(box.order, called)
			box.tools[called] = one
		}
	}
	return box
}

// toolNames are the names of a turn's sets: its bot's, or for a visitor those that the page's section names.
func (e *Engine) toolNames(t *store.Turn, bot *Bot) []string {
	if IsVisitor(t.Person) {
		return e.PublicTools
	}
	return bot.Tools
}

// How the persons are named who talk to a bot without a login: a visitor, and one with a code of his own.
const (
	VisitorPerson = "visitor:"
	CodePerson    = "code:"
)

// IsVisitor reports a person without a login.
func IsVisitor(person string) bool {
	return strings.HasPrefix(person, VisitorPerson) || strings.HasPrefix(person, CodePerson)
}

// offered is how the model is told.
func (b toolbox) offered() (list []llm.Tool) {
	for _, name := range b.order {
		s := b.tools[name].Spec()
		list = append(list, llm.Tool{Name: s.Name, Description: s.Description, Schema: s.Schema})
	}
	return list
}

// spec is a tool's; false if the bot does not have it.
func (b toolbox) spec(name string) (tool.Spec, bool) {
	t := b.tools[name]
	if t == nil {
		return tool.Spec{}, false
	}
	return t.Spec(), true
}
