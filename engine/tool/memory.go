package tool

import (
	"context"
	"fmt"
	"strings"
)

// Remembered is something that a bot has been asked to remember.
type Remembered struct {
	ID       string
	Text     string
	Since    string // a day
	Everyone bool   // it is for everybody, not only for who asks
}

// Memory is the built-in set "memory". What is remembered of a person is recalled for that person
// alone; a bot may also remember things for everybody. Its functions return a Mistake for what the model
// has done wrong. Nothing of it is put into a context by itself: that would change with every new memory,
// and a provider's cache with it.
type Memory struct {
	Remember func(ctx context.Context, c Call, text string, everyone bool) (id string, err error)
	Recall   func(ctx context.Context, by Caller, words string) ([]Remembered, error)
	Forget   func(ctx context.Context, by Caller, id string) (found bool, err error)
}

// Tools are memory_remember, memory_recall and memory_forget.
func (m Memory) Tools(context.Context) ([]Tool, error) {
	return []Tool{
		act{Spec{
			Name: "memory_remember", Title: "Remember", Idempotent: true, // a text is kept once
			Description: "Remember a fact for later conversations: one short sentence that can be understood alone. Do not keep passwords or keys.",
			Schema: []byte(`{"type":"object","properties":{"text":{"type":"string"},` +
				`"about":{"type":"string","enum":["me","everyone"],"description":"me (if left out): it is about who speaks, and only they are reminded of it; everyone: about nobody in particular, and everybody is"}},` +
				`"required":["text"]}`),
		}, doing(m.remember)},
		act{Spec{
			Name: "memory_recall", Title: "Recall", ReadOnly: true,
			Description: "Search what you have been asked to remember, about who speaks and for everyone. Look here before you ask for something that you may have been told, " +
				"and whenever somebody refers to an earlier conversation: nothing of it is shown to you otherwise.",
			Schema: []byte(`{"type":"object","properties":{"words":{"type":"string","description":"words to look for, any of them; left out: the newest"}}}`),
		}, doing(m.recall)},
		act{Spec{
			Name: "memory_forget", Title: "Forget", Idempotent: true, Destructive: true,
			Description: "Forget one of those that memory_recall shows.",
			Schema:      []byte(`{"type":"object","properties":{"id":{"type":"string"}},"required":["id"]}`),
		}, doing(m.forget)},
	}, nil
}

func (m Memory) remember(ctx context.Context, c Call, a struct{ Text, About string }) (string, error) {
	if a.About != "" && a.About != "me" && a.About != "everyone" {
		return "", Mistake(`about must be "me" or "everyone"`)
	}
	id, err := m.Remember(ctx, c, a.Text, a.About == "everyone")
	if err != nil {
		return "", err
	}
	return "remembered as " + id, nil
}

func (m Memory) recall(ctx context.Context, c Call, a struct{ Words string }) (string, error) {
	found, err := m.Recall(ctx, c.By, a.Words)
	if err != nil {
		return "", err
	}
	if len(found) == 0 {
		return "nothing is remembered of that", nil
	}
	var lines []string
	for _, r := range found {
		whom := "about who speaks"
		if r.Everyone {
			whom = "for everyone"
		}
		lines = append(lines, fmt.Sprintf("- %s, %s, since %s: %s", r.ID, whom, r.Since, r.Text))
	}
	return strings.Join(lines, "\n"), nil
}

func (m Memory) forget(ctx context.Context, c Call, a struct{ ID string }) (string, error) {
	switch found, err := m.Forget(ctx, c.By, a.ID); {
	case err != nil:
		return "", err
	case !found:
		return fmt.Sprintf("nothing is remembered under the id %q; maybe it is forgotten already", a.ID), nil
	}
	return "forgotten", nil
}
