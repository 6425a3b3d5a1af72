package web

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/http"
	"time"

	"holdfast/engine"
	"holdfast/store"
	"holdfast/web/command"
)

// visitorsCommand carries out the few that a visitor may give: say something to the public bot, in a
// chat of his own, and stop what he has asked.
func (s *Server) visitorsCommand(ctx context.Context, c command.Command, once *store.Command, who caller, address string) (done carried, err error) {
	switch c.Name {
	case command.Send:
		if err := s.store.Known(once); err != nil {
			return result(once, err)
		}
		return s.visitorSays(ctx, c, once, who, address)
	case command.Stop:
		return s.visitorStops(ctx, c, once, who)
	}
	return carried{}, notForVisitors()
}

// visitorSays makes a turn of a visitor's message, if the limits let him.
func (s *Server) visitorSays(ctx context.Context, c command.Command, once *store.Command, who caller, address string) (carried, error) {
	m, now := c.Message, time.Now()
	switch {
	case m.Bot != "" && m.Bot != s.config.Public:
		return carried{}, engine.ErrNoBot
	case len(m.Text) > visitorLongest:
		return carried{}, &problem{status: http.StatusRequestEntityTooLarge, code: "too_large", message: fmt.Sprintf("this message is too long; %d characters at most are taken here", visitorLongest)}
	}
	if m.Chat == "" {
		m.Chat = rand.Text()
	}
	if err := s.limits.load(s.store, now); err != nil {
		return carried{}, err
	}
	if until := s.limits.take(who.person, address, now); !until.IsZero() {
		return carried{}, s.overLimit(until, now)
	}
	got, err := s.engine.Receive(ctx, engine.Incoming{
		Bot: s.config.Public, Surface: surface, Channel: m.Chat, Title: title(m.Text), Key: "web:" + who.person + ":" + c.ID, Person: who.person, Name: who.name(),
		Text: m.Text, Lane: who.lane(), Own: true, Command: once,
	})
	done, err := result(once, err)
	if err != nil || done.Duplicate || got.Duplicate {
		s.limits.giveBack(who.person, address, now)
	}
	if errors.Is(err, store.ErrNotFound) || errors.Is(err, store.ErrOtherBot) {
		return carried{}, noChat()
	}
	if err != nil || done.Duplicate {
		return done, err
	}
	done.Turn, done.Chat, done.Seq, done.Duplicate = some(got.Turn.String()), &m.Chat, got.Seq, got.Duplicate
	return done, nil
}

// visitorStops ends a turn of his own; of others he is told nothing.
func (s *Server) visitorStops(ctx context.Context, c command.Command, once *store.Command, who caller) (carried, error) {
	done, err := s.act(ctx, c, once, func(ctx context.Context, o engine.Order) (store.Turn, error) {
		o.By = who.person
		t, err := s.engine.Stop(ctx, o)
		if errors.Is(err, engine.ErrNotYours) {
			return store.Turn{}, store.ErrNotFound
		}
		return t, err
	})
	if p, ok := errors.AsType[*problem](err); ok {
		p.turn = nil // what it says of its providers is not for visitors
	}
	return done, err
}

func noChat() *problem {
	return &problem{status: 404, code: "not_found", message: "there is no chat of that id"}
}
