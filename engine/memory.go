package engine

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"holdfast/engine/tool"
	"holdfast/store"
)

// Limits of what bots remember. It is kept until somebody has it forgotten.
const (
	memoriesOfOne = 500  // of a bot about one person, and as many for everybody
	memoryText    = 1000 // characters
	recalled      = 20   // at a time
)

// remember keeps a text for who asks, or for everybody. A text is kept once.
func (e *Engine) remember(_ context.Context, c tool.Call, text string, everyone bool) (string, error) {
	text = strings.TrimSpace(text)
	switch n := utf8.RuneCountInString(text); {
	case n == 0:
		return "", tool.Mistake("text is empty; write what is to be remembered")
	case n > memoryText:
		return "", tool.Mistake(fmt.Sprintf("text has %d characters; at most %d are kept, so say it shorter or in parts", n, memoryText))
	case everyone && c.By.Visitor:
		return "", tool.Mistake("what a visitor of the page says is not remembered for everyone; leave about out")
	}
	conversation, err := store.ParseID(c.By.Conversation)
	if err != nil {
		return "", err
	}
	m := store.Memory{Bot: c.By.Bot, Person: c.By.Person, Text: text, At: e.now(), Conversation: conversation}
	if everyone {
		m.Person = ""
	}
	err = e.Store.Remember(&m, memoriesOfOne)
	if errors.Is(err, store.ErrTooMany) {
		return "", tool.Mistake(fmt.Sprintf("%d are remembered, and there may be no more; forget one first", memoriesOfOne))
	}
	return m.ID.String(), err
}

// recall searches what is remembered about who asks and for everybody.
func (e *Engine) recall(_ context.Context, by tool.Caller, words string) ([]tool.Remembered, error) {
	list, err := e.Store.Recall(by.Bot, by.Person, words, recalled)
	if err != nil {
		return nil, err
	}
	var found []tool.Remembered
	for _, m := range list {
		found = append(found, tool.Remembered{ID: m.ID.String(), Text: m.Text, Since: m.At.Go().In(e.Location).Format(time.DateOnly), Everyone: m.Person == ""})
	}
	return found, nil
}

// forgetMemory deletes one of them; a visitor only what is about him.
func (e *Engine) forgetMemory(_ context.Context, by tool.Caller, text string) (bool, error) {
	id, err := store.ParseID(strings.TrimSpace(text))
	if err != nil {
		return false, nil
	}
	return e.Store.Forget(by.Bot, by.Person, id, !by.Visitor, e.now())
}
