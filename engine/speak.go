package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"holdfast/engine/tool"
	"holdfast/store"
)

const (
	sendText = 16 << 10 // bytes of a message that a bot sends
	sendNote = "[Holdfast: nobody has asked here; you have said this by send_message from another conversation.]"
)

// sendMessage lets a bot say something where its config lets it. The message is a turn of that
// conversation, done and answered, and is written under the call's key: however often the call is made,
// it is said once, and that conversation's history knows of it.
func (e *Engine) sendMessage(_ context.Context, c tool.Call, to, text string) error {
	bot := e.bot(c.By.Bot)
	if bot == nil {
		return ErrNoBot
	}
	name, channel, ok := ParsePlace(to)
	switch {
	case !ok || !slices.Contains(bot.SendTo, to):
		return tool.Mistake(fmt.Sprintf("%q is no place that you may use; those are: %s", to, strings.Join(bot.SendTo, ", ")))
	case strings.TrimSpace(text) == "":
		return tool.Mistake("text is empty; write what is to be said")
	case len(text) > sendText:
		return tool.Mistake(fmt.Sprintf("text has %d bytes; at most %d can be sent at once", len(text), sendText))
	}
	surface := e.surfaces[name]
	if surface == nil {
		return tool.Mistake(to + " is not configured any more")
	}
	said := store.Speech{
		Key: "send:" + c.Key, Bot: bot.Name, Surface: name, Channel: channel, Person: c.By.Person, Note: sendNote, Text: text,
	}
	for i, part := range partsOf(surface, text) {
		said.Posts = append(said.Posts, store.Post{Part: i, Kind: "answer", Text: part, State: stateOf(surface)})
	}
	t, known, err := e.Store.Speak(said, e.now())
	if errors.Is(err, store.ErrOtherBot) {
		return tool.Mistake(to + " belongs to another bot")
	} else if err != nil || known {
		return err
	}
	e.mu.Lock()
	e.tally.move("", store.Done)
	e.tally.settled[store.Answered]++
	e.mu.Unlock()
	e.outbox.posted(said.Posts...)
	e.Log.Info("message sent", "turn", t.ID.String(), "surface", name, "from", c.By.Turn)
	return nil
}

// sendPlaces is where bots may send, if only one may.
func (e *Engine) sendPlaces() []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	var places []string
	for _, b := range e.bots {
		if len(b.SendTo) == 0 {
			continue
		}
		if places != nil {
			return nil
		}
		places = slices.Clone(b.SendTo)
	}
	return places
}
