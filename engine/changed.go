package engine

import (
	"slices"

	"holdfast/store"
)

// takeChanges lets those go on, once after a start, whose wait the config of now no longer asks for: they
// wait at a closed gate of a model that their bot's chain does not have any more, at a refused account or
// for longer than stated_wait_fallback where another model of the chain is usable, or for the day to turn
// under an allowance that is not used up. They run as by a start, take the new chain, and wait anew if
// they must.
func (e *Engine) takeChanges() {
	e.mu.Lock()
	gates, bots := slices.Clone(e.gateList), make([]*Bot, 0, len(e.bots))
	for _, b := range e.bots {
		bots = append(bots, b)
	}
	e.mu.Unlock()
	for _, bot := range bots {
		for _, g := range gates {
			if account, ok := e.needless(bot, g); ok {
				e.letChanged(func(after store.ID) ([]store.Ready, error) {
					return e.Store.AtGateOf(bot.Name, g.row.Key, account, after, batch)
				})
			}
		}
		if e.hasAllowance(bot) {
			e.letChanged(func(after store.ID) ([]store.Ready, error) {
				return e.Store.ForDayOf(bot.Name, e.tomorrow(), after, batch)
			})
		}
	}
}

// needless reports whether a bot's turns need not wait at a gate; account: those that do for its account's
// sake need not, the others do.
func (e *Engine) needless(bot *Bot, g *gate) (account, ok bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if !g.ofModel() || g.rows == 0 || e.gateOf(g.model()) != g || !e.serves(bot.Name) { // what has another gate now is let in by its own
		return false, false
	}
	if !slices.Contains(bot.Models, g.model()) {
		return false, true
	}
	now := e.now()
	_, other := e.fallback(&run{}, bot, g.model())
	return g.end(now).Sub(now) <= e.Retry.StatedWaitFallback, other
}

// hasAllowance reports whether a bot could send today: no limit of a day keeps its next model back.
func (e *Engine) hasAllowance(bot *Bot) bool {
	model, ok := e.choose(&run{}, bot)
	if !ok {
		return false
	}
	provider, _ := splitModel(model)
	why, err := e.overBudget(bot, provider)
	return err == nil && why == ""
}

// letChanged makes all those ready that read pages through, in the order of their ids.
func (e *Engine) letChanged(read func(after store.ID) ([]store.Ready, error)) {
	for after := store.ID(0); ; {
		rows, err := read(after)
		if err != nil {
			e.Log.Error("read turns whose wait may be over", "err", err)
			return
		}
		e.mu.Lock()
		for _, row := range rows {
			after = row.Turn
			if !e.stopping && e.sched.runs[row.Turn] == nil {
				e.wakeLocked(row.Turn, row.Conversation, "start", 0, false)
			}
		}
		e.pump()
		e.mu.Unlock()
		if len(rows) < batch {
			return
		}
	}
}
