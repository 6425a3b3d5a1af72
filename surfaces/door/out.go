package door

import (
	"strings"
	"time"

	"holdfast/store"
)

// Mendable is between two tries of a post at what somebody must mend.
const Mendable = 5 * time.Minute

// Asked is the key of the message that a turn answers, without the "PLATFORM:" before it; "" if the
// turn began otherwise, or if that cannot be told.
func (d *Door) Asked(conversation, turn store.ID) string {
	h, err := d.engine.Store.History(conversation, turn, 1)
	if err != nil {
		d.log.Warn("the message to answer could not be read", "surface", d.name, "turn", turn.String(), "err", err)
	}
	if len(h) != 1 || h[0].Turn != turn || len(h[0].Events) == 0 {
		return ""
	}
	own, ok := strings.CutPrefix(h[0].Events[0].Key, d.platform+":")
	if !ok {
		return ""
	}
	return own
}

// Handles are those of the messages that a turn has by now.
func (d *Door) Handles(turn store.ID) (list []string, err error) {
	posts, err := d.engine.Store.Posts(turn)
	for _, p := range posts {
		list = append(list, p.Handle)
	}
	return list, err
}

// Mention makes the short post that tells people of an answer that came by an edit (Traits.Mention):
// before each of the platform's people stands what calls him, then what there is to say.
func (d *Door) Mention(call func(id string) string, say string) func(persons []string) string {
	return func(persons []string) (text string) {
		for _, p := range persons {
			if id, ok := strings.CutPrefix(p, d.platform+":"); ok {
				text += call(id)
			}
		}
		return text + say
	}
}
