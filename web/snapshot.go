package web

import (
	"errors"
	"fmt"
	"slices"

	"holdfast/store"
)

// snapshotFrame is all that a page shows, as of a change or later.
type snapshotFrame struct {
	T         string         `json:"t"`
	Seq       int64          `json:"seq"`
	Chats     []chatJSON     `json:"chats"`
	Chat      string         `json:"chat"`
	Messages  []messageJSON  `json:"messages"`
	Turns     []turnJSON     `json:"turns"`
	Gates     []gateJSON     `json:"gates"`
	Alerts    []alertJSON    `json:"alerts"`
	Providers []providerJSON `json:"providers"`
	Schedules []scheduleJSON `json:"schedules"`
}

// snapshot reads one for a page that looks at a chat, which need not exist yet. A visitor's has
// nothing but his chats and what is in them.
func (r *reader) snapshot(seq int64, chat string, who caller) (f snapshotFrame, err error) {
	f = snapshotFrame{T: "snapshot", Seq: seq, Chat: chat, Messages: []messageJSON{}, Gates: []gateJSON{}, Alerts: []alertJSON{}, Providers: []providerJSON{}, Schedules: []scheduleJSON{}}
	chats, err := r.chats(who, 0, chatsShown)
	if err != nil {
		return f, fmt.Errorf("read chats: %w", err)
	}
	f.Chats = show(chats, showChat)
	open := []store.State{store.Queued, store.Running, store.Retrying, store.Parked, store.Rearming, store.Owed}
	turns, _, err := r.store.Turns(store.Filter{States: open, Limit: turnsShown})
	if err != nil {
		return f, fmt.Errorf("read open turns: %w", err)
	}
	if who.visits() {
		turns = slices.DeleteFunc(turns, func(t store.Turn) bool {
			return !slices.ContainsFunc(chats, func(c store.Chat) bool { return c.ID == t.Conversation })
		})
	}
	if chat != "" {
		if turns, err = r.transcript(&f, turns, who); err != nil {
			return f, fmt.Errorf("read chat %s: %w", chat, err)
		}
	}
	if f.Turns, err = r.showTurns(who, turns); err != nil {
		return f, fmt.Errorf("read tool calls: %w", err)
	}
	if who.visits() {
		return f, nil
	}
	schedules, err := r.engine.Schedules()
	if err != nil {
		return f, fmt.Errorf("read schedules: %w", err)
	}
	f.Schedules = show(schedules, showSchedule)
	shape := r.engine.Shape()
	f.Gates, f.Alerts, f.Providers = show(shape.Gates, showGate), show(shape.Alerts, showAlert), show(shape.Providers, showProvider)
	return f, nil
}

// transcript adds the newest messages of the snapshot's chat, the chat itself if it is not among the
// latest, and the turns of the messages to those given.
func (r *reader) transcript(f *snapshotFrame, turns []store.Turn, who caller) ([]store.Turn, error) {
	c, err := r.store.Chat(f.Chat)
	if errors.Is(err, store.ErrNotFound) || err == nil && !who.owns(c) {
		return turns, nil
	}
	if err != nil {
		return nil, err
	}
	if !slices.ContainsFunc(f.Chats, func(have chatJSON) bool { return have.ID == c.Key }) {
		f.Chats = append(f.Chats, showChat(c))
	}
	messages, err := r.store.Messages(c.ID, 0, messagesShown)
	if err != nil {
		return nil, err
	}
	f.Messages = show(messages, func(m store.Message) messageJSON { return showMessage(m, f.Chat, r.live.md) })
	theirs, err := r.turnsOf(messages, turns)
	return append(turns, theirs...), err
}
