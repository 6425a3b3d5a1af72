package engine

import (
	"strings"

	"holdfast/store"
)

// silence is the answer that says nothing; nothing is posted then.
const silence = "[silent]"

// isSilent reports an answer that says nothing, however a model has dressed it up.
func isSilent(text string) bool {
	return strings.EqualFold(strings.Trim(strings.TrimSpace(text), "`*\"."), silence)
}

// byClock reports a kind of event that nobody has made at its moment.
func byClock(kind string) bool { return kind == kindTick || kind == kindWake }

// answerOf is what an answer says: nothing, if that is what it says and only the clock has asked.
func (e *Engine) answerOf(t *store.Turn, text string) string {
	if !isSilent(text) {
		return text
	}
	only, err := e.onlyClock(t)
	if err != nil {
		e.Log.Error("read what has asked", "turn", t.ID.String(), "err", err)
	}
	if !only {
		return text
	}
	e.Log.Info("nothing to say", "turn", t.ID.String())
	return ""
}

// onlyClock reports a turn that answers nothing but the clock.
func (e *Engine) onlyClock(t *store.Turn) (bool, error) {
	asked, err := e.Store.Asked(t.ID)
	return clocked(asked), err
}

func clocked(events []store.Event) bool {
	for _, ev := range events {
		if !byClock(ev.Kind) {
			return false
		}
	}
	return len(events) > 0
}
