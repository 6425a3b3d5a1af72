package store

import (
	"errors"
	"fmt"
	"testing"
)

// TestMemories: what is remembered of a person is recalled for that person only, what is for everybody
// for all, and by the bot that was asked to.
func TestMemories(t *testing.T) {
	s := opened(t)
	keep := func(bot, person, text string) Memory {
		t.Helper()
		m := Memory{Bot: bot, Person: person, Text: text, At: t0}
		if err := s.Remember(&m, 3); err != nil {
			t.Fatal(err)
		}
		return m
	}
	tea := keep("bot", "ada", "Ada drinks green tea in the Café.")
	keep("bot", "bob", "Bob drinks coffee.")
	club := keep("bot", "", "The club meets on Tuesdays for tea and coffee.")
	keep("other", "ada", "Ada has told the other bot of tea.")
	if again := keep("bot", "ada", "Ada drinks green tea in the Café."); again.ID != tea.ID {
		t.Errorf("%+v", again)
	}
	recall := func(person, words string) (ids []ID) {
		t.Helper()
		list, err := s.Recall("bot", person, words, 10)
		if err != nil {
			t.Fatalf("%q: %v", words, err)
		}
		for _, m := range list {
			ids = append(ids, m.ID)
		}
		return ids
	}
	for _, c := range []struct {
		person, words string
		want          []ID
	}{
		{"ada", "tea", []ID{tea.ID, club.ID}},
		{"eve", "tea", []ID{club.ID}},
		{"ada", "CAFE", []ID{tea.ID}},
		{"ada", "drin", []ID{tea.ID}},
		{"ada", "meets? \"green\" OR NOT tues* ) AND {x} text:", []ID{club.ID, tea.ID}},
		{"ada", "coffee", []ID{club.ID}},
		{"ada", "nothing of this", nil},
		{"ada", "  -- ", []ID{club.ID, tea.ID}},
	} {
		if got := recall(c.person, c.words); fmt.Sprint(got) != fmt.Sprint(c.want) && c.words != "tea" || len(got) != len(c.want) {
			t.Errorf("%s, %q: %v, want %v", c.person, c.words, got, c.want)
		}
	}
	if found, err := s.Forget("bot", "bob", tea.ID, true, t0); err != nil || found {
		t.Error("forgotten by somebody else", err)
	}
	if found, err := s.Forget("bot", "ada", tea.ID, true, t0); err != nil || !found {
		t.Error(found, err)
	}
	if found, err := s.Forget("bot", "visitor", club.ID, false, t0); err != nil || found {
		t.Error("forgotten by a visitor", err)
	}
	if got := recall("ada", "green cafe"); len(got) != 0 {
		t.Errorf("%v", got)
	}
	for i := range 3 {
		keep("bot", "ada", fmt.Sprint("number ", i))
	}
	if err := s.Remember(&Memory{Bot: "bot", Person: "ada", Text: "number 3", At: t0}, 3); !errors.Is(err, ErrTooMany) {
		t.Error(err)
	}
	var texts []string
	for before := ID(0); ; {
		list, next, err := s.Memories(MemoryFilter{Bot: "bot", Before: before, Limit: 2})
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range list {
			texts = append(texts, m.Text)
		}
		if before = next; next == 0 {
			break
		}
	}
	if got := fmt.Sprint(texts); got != "[number 2 number 1 number 0 The club meets on Tuesdays for tea and coffee. Bob drinks coffee.]" {
		t.Errorf("%s", got)
	}
	for words, want := range map[string]int{"tues tea": 1, "drinks": 1, "drinks tea": 0, "?": 6, "other bot": 1} {
		if list, _, err := s.Memories(MemoryFilter{Words: words, Limit: 9}); err != nil || len(list) != want {
			t.Errorf("%q: %+v, %v", words, list, err)
		}
	}
	if list, _, err := s.Memories(MemoryFilter{Person: "bob", Limit: 9}); err != nil || len(list) != 1 {
		t.Errorf("%+v, %v", list, err)
	}
	if err := s.DeleteMemory(club.ID, t0, nil); err != nil {
		t.Error(err)
	}
	if err := s.DeleteMemory(club.ID, t0, nil); !errors.Is(err, ErrNotFound) {
		t.Error(err)
	}
	if err := s.writer.do(t0, func(f *fact) error {
		_, err := f.exec(`INSERT INTO memories_words (memories_words, rank) VALUES ('integrity-check', 1)`)
		return err
	}); err != nil {
		t.Error("the words are not those of the memories:", err)
	}
}

// TestSpeak: what one call says is said once, and stands in the conversation's history as the bot's.
func TestSpeak(t *testing.T) {
	s := opened(t)
	say := Speech{Key: "send:1", Bot: "bot", Surface: "slack/x", Channel: "C1", Person: "ada", Note: "[sent]", Text: "hello all", Posts: []Post{{Kind: "answer", Text: "hello all"}}}
	a, known, err := s.Speak(say, t0)
	if err != nil || known || a.State != Done || a.Outcome != Answered || a.Channel != "C1" {
		t.Fatalf("%+v, %v, %v", a, known, err)
	}
	b, known, err := s.Speak(say, t0+5)
	if err != nil || !known || b.ID != a.ID {
		t.Errorf("%+v, %v, %v", b, known, err)
	}
	if p, err := s.NextPost(a.Conversation, t0); err != nil || p.Turn != a.ID || p.Text != "hello all" || p.State != "pending" {
		t.Errorf("%+v, %v", p, err)
	}
	msgs, err := s.Messages(a.Conversation, 0, 10)
	if err != nil || len(msgs) != 1 || msgs[0].Role != "bot" || msgs[0].Text != "hello all" {
		t.Errorf("%+v, %v", msgs, err)
	}
	next := hello(t0, "C1", "bob", "k")
	next.Surface = "slack/x"
	c := admit(t, s, next)
	h, err := s.History(a.Conversation, c.Turn, 10)
	if err != nil || len(h) != 2 || h[0].Text != "hello all" || h[0].Events[0].Text != "[sent]" {
		t.Errorf("%+v, %v", h, err)
	}
}
