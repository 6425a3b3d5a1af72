package slack

import (
	"context"
	"sync"
	"time"

	slackapi "github.com/slack-go/slack"

	"holdfast/engine"
	"holdfast/store"
)

const (
	workingText  = "is thinking…"
	refreshAfter = time.Minute      // Slack takes the sign away after two, and with the bot's next post
	deadAfter    = 10 * time.Minute // without a sign of life a turn is not shown as being worked on
	statusWithin = 10 * time.Second
)

// working is which turns show the sign. One goroutine sets and clears it, so that no late call can
// bring back what is over.
type working struct {
	mu   *sync.Mutex
	on   map[store.ID]sign
	over []sign // to be cleared
	poke chan struct{}
}

// sign is one conversation's.
type sign struct {
	to    engine.Place
	turn  store.ID
	alive time.Time
	shown time.Time // zero: not yet
}

func newWorking() working {
	return working{mu: &sync.Mutex{}, on: map[store.ID]sign{}, poke: make(chan struct{}, 1)}
}

// Working shows or hides the sign that a turn is being worked on.
func (s *Surface) Working(to engine.Place, turn store.ID, on bool) {
	if !on {
		s.working.quiet(turn, true)
		return
	}
	w := &s.working
	w.mu.Lock()
	defer w.mu.Unlock()
	x := w.on[turn]
	x.to, x.turn, x.alive = to, turn, time.Now()
	w.on[turn] = x
	w.nudge()
}

// Draft is a sign of life: Slack shows no text so far, since a message that streams cannot be edited
// afterwards.
func (s *Surface) Draft(_ engine.Place, turn store.ID, _ string) {
	w := &s.working
	w.mu.Lock()
	defer w.mu.Unlock()
	if x, ok := w.on[turn]; ok {
		x.alive = time.Now()
		w.on[turn] = x
	}
}

// quiet ends a turn's sign; clear says that Slack has not taken it away by itself.
func (w *working) quiet(turn store.ID, clear bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	x, ok := w.on[turn]
	delete(w.on, turn)
	if ok && clear && !x.shown.IsZero() {
		w.over = append(w.over, x)
		w.nudge()
	}
}

func (w *working) nudge() {
	select {
	case w.poke <- struct{}{}:
	default:
	}
}

// due takes out what must be set and what must be cleared now, and says when to look again.
func (w *working) due(now time.Time) (set, clear []sign, next time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	clear, w.over = w.over, nil
	next = now.Add(refreshAfter)
	busy := map[store.ID]bool{}
	for turn, x := range w.on {
		switch {
		case now.Sub(x.alive) >= deadAfter:
			delete(w.on, turn)
			clear = append(clear, x)
			continue
		case now.Sub(x.shown) >= refreshAfter:
			x.shown = now
			w.on[turn] = x
			set = append(set, x)
		}
		busy[x.to.Conversation] = true
		if at := x.shown.Add(refreshAfter); at.Before(next) {
			next = at
		}
	}
	kept := clear[:0]
	for _, x := range clear {
		if !busy[x.to.Conversation] {
			kept = append(kept, x)
		}
	}
	return set, kept, next
}

// keepWorking sets, refreshes and clears the signs.
func (s *Surface) keepWorking(ctx context.Context) {
	for {
		set, clear, next := s.working.due(time.Now())
		for _, x := range clear {
			s.status(ctx, x, "")
		}
		for _, x := range set {
			s.status(ctx, x, workingText)
		}
		timer := time.NewTimer(time.Until(next))
		select {
		case <-ctx.Done():
			timer.Stop()
			return
		case <-s.working.poke:
		case <-timer.C:
		}
		timer.Stop()
	}
}

func (s *Surface) status(ctx context.Context, x sign, text string) {
	ctx, cancel := context.WithTimeout(ctx, statusWithin)
	defer cancel()
	thread := x.to.Thread
	if thread == "" {
		thread = s.asked(x.to.Conversation, x.turn)
	}
	err := s.api.SetAssistantThreadsStatusContext(ctx, slackapi.AssistantThreadsSetStatusParameters{ChannelID: x.to.Channel, ThreadTS: thread, Status: text})
	if err != nil {
		s.Log.Debug("the working sign could not be set", "surface", s.Name(), "err", err)
	}
}
