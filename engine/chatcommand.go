package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"holdfast/store"
)

// kindCommand is the kind of an event that is an order to the house and not a question to a model.
const kindCommand = "command"

// asCommand is the command that a text is, "" if it is a message. Slashes are taken too, where the
// platform lets them through.
func asCommand(text string) string {
	word := strings.ToLower(strings.TrimSpace(text))
	if rest, ok := strings.CutPrefix(word, "/"); ok {
		word = "!" + rest
	}
	switch word {
	case "!stop", "!new", "!retry", "!status", "!help", "!approve", "!deny":
		return word
	}
	return ""
}

// obey carries a command out and settles its turn with what there is to say. It needs no model and
// waits for nobody: a command goes past the turns of its conversation.
func (e *Engine) obey(ctx context.Context, t store.Turn, word string) {
	text, err := e.answerTo(ctx, t, word)
	if err != nil && !errors.Is(err, ErrNotYours) && !errors.Is(err, ErrHeld) && !errors.Is(err, ErrAsks) {
		e.Log.Error("carry out a command", "turn", t.ID.String(), "command", word, "err", err)
	}
	if err != nil {
		text = "That did not work: " + plainError(err)
	}
	e.settle(ctx, &run{turn: t.ID}, &t, store.Settled{Outcome: store.Answered, Text: text})
}

// answerTo does what a command says and returns what there is to say.
func (e *Engine) answerTo(ctx context.Context, t store.Turn, word string) (string, error) {
	switch word {
	case "!stop":
		return e.sayStop(ctx, t)
	case "!new": // nothing to do: the context begins after this turn (see prompt)
		return "A fresh start: from here on I do not look at what was said before.", nil
	case "!retry":
		return e.sayRetry(ctx, t)
	case "!status":
		return e.sayStatus(t)
	case "!approve", "!deny":
		return e.sayDecide(ctx, t, word == "!approve")
	}
	return "- `!stop` ends what I am working on\n- `!retry` tries the last failed or waiting question again\n" +
		"- `!new` starts afresh, without what was said before\n- `!approve` and `!deny` decide what I have asked to do\n- `!status` tells what waits and for what\n- `!help` is this list", nil
}

// plainError is an error in words for people.
func plainError(err error) string {
	switch {
	case errors.Is(err, ErrNotYours):
		return "only the person who asked, or an operator of this bot, may do that."
	case errors.Is(err, ErrHeld):
		return "the provider takes nothing at the moment."
	case errors.Is(err, ErrAsks):
		return "this waits for your word on what I have asked to do: `!approve` or `!deny`."
	}
	return "something went wrong inside; it has been logged."
}

// sayStop ends the newest turn of the conversation that the person may end.
func (e *Engine) sayStop(ctx context.Context, by store.Turn) (string, error) {
	open, err := e.Store.OpenTurns(by.Conversation)
	if err != nil {
		return "", err
	}
	foreign := false
	for _, t := range slices.Backward(open) {
		if t.ID == by.ID {
			continue
		}
		_, err := e.Stop(ctx, Order{Turn: t.ID, By: by.Person})
		if err == nil {
			return "Stopped.", nil
		} else if !errors.Is(err, ErrNotYours) {
			return "", err
		}
		foreign = true
	}
	if foreign {
		return "", ErrNotYours
	}
	return "There is nothing to stop.", nil
}

// sayRetry runs the newest waiting turn now, or asks the last failed one again.
func (e *Engine) sayRetry(ctx context.Context, by store.Turn) (string, error) {
	open, err := e.Store.OpenTurns(by.Conversation)
	if err != nil {
		return "", err
	}
	for _, t := range slices.Backward(open) {
		if !Waits(t.State) {
			continue
		}
		switch now, err := e.Resume(ctx, Order{Turn: t.ID, By: by.Person}); {
		case err == nil:
			return "Trying again now.", nil
		case errors.Is(err, ErrHeld):
			return fmt.Sprintf("The provider takes nothing until %s; it goes on by itself then.", e.plainClock(e.surfaces[by.Surface])(now.RetryAt)), nil
		case errors.Is(err, ErrAsks):
			return "This waits for your word on what I have asked to do: `!approve` or `!deny`.", nil
		case !errors.Is(err, ErrNotYours):
			return "", err
		}
	}
	last, err := e.Store.LastFailed(by.Conversation)
	if errors.Is(err, store.ErrNotFound) {
		return "There is nothing to try again.", nil
	} else if err != nil {
		return "", err
	}
	return "Asking again.", e.askAgain(ctx, by, last)
}

// askAgain makes a turn that asks what a failed one had asked. Its key makes it one, however often
// the command is carried out.
func (e *Engine) askAgain(ctx context.Context, by, last store.Turn) error {
	history, err := e.Store.History(last.Conversation, last.ID, 1)
	if err != nil {
		return err
	}
	var said []string
	for _, x := range history {
		for _, ev := range x.Events {
			said = append(said, ev.Text)
		}
	}
	_, err = e.Receive(ctx, Incoming{
		Bot: by.Bot, Surface: by.Surface, Channel: by.Channel, Thread: by.Thread, Key: "retry:" + by.ID.String(), Person: by.Person,
		Text: strings.Join(said, "\n\n"), Lane: by.Lane, Kind: kindButton,
	})
	return err
}

// sayStatus tells what of this conversation waits, and for what.
func (e *Engine) sayStatus(by store.Turn) (string, error) {
	open, err := e.Store.OpenTurns(by.Conversation)
	if err != nil {
		return "", err
	}
	var lines []string
	for _, t := range open {
		switch {
		case t.ID == by.ID:
		case Waits(t.State) && t.RetryAt != 0:
			lines = append(lines, fmt.Sprintf("- waits until %s: %s", e.plainClock(e.surfaces[by.Surface])(t.RetryAt), t.Reason.Text))
		case Waits(t.State):
			lines = append(lines, "- waits: "+t.Reason.Text)
		default:
			lines = append(lines, "- is being worked on")
		}
	}
	if len(lines) == 0 {
		return "Nothing waits here; I am ready.", nil
	}
	return "In this conversation:\n" + strings.Join(lines, "\n"), nil
}

// commandOf finds the command that a queued turn of an earlier process is; "" for a message.
func (e *Engine) commandOf(t store.Turn) (string, error) {
	asked, err := e.Store.Asked(t.ID)
	if err != nil || len(asked) == 0 || asked[0].Kind != kindCommand {
		return "", err
	}
	return asCommand(asked[0].Text), nil
}
