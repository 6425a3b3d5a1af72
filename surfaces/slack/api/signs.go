package api

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/slack-go/slack"
)

const (
	workingText  = "is thinking…"
	refreshAfter = time.Minute      // Slack takes the sign away after two, and with the bot's next post
	deadAfter    = 10 * time.Minute // without a sign of life nothing is shown as being worked on
	statusWithin = 10 * time.Second
)

// Sign is where somebody is shown to be at work.
type Sign struct {
	Channel string
	Thread  string        // its root; "" in a direct message:
	Asked   func() string // then the message that is answered

	alive time.Time
	shown time.Time // zero: not yet
}

// Signs are the working signs of a bot, by what is worked on. One goroutine, that of Run, sets and
// clears them, so that no late call can bring back what is over.
type Signs struct {
	client *Client
	log    *slog.Logger
	poke   chan struct{}

	mu   sync.Mutex
	on   map[string]*Sign
	over []*Sign // to be cleared
}

// NewSigns makes them; nothing is shown yet.
func NewSigns(c *Client, log *slog.Logger) *Signs {
	return &Signs{client: c, log: log, poke: make(chan struct{}, 1), on: map[string]*Sign{}}
}

// Show sets a sign, or keeps it alive.
func (w *Signs) Show(key string, x Sign) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.on[key] == nil {
		w.on[key] = &x
		w.nudge()
	}
	w.on[key].alive = time.Now()
}

// Alive is a sign of life.
func (w *Signs) Alive(key string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if x := w.on[key]; x != nil {
		x.alive = time.Now()
	}
}

// Hide ends a sign; clear says that Slack has not taken it away by itself.
func (w *Signs) Hide(key string, clear bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	x := w.on[key]
	delete(w.on, key)
	if x != nil && clear && !x.shown.IsZero() {
		w.over = append(w.over, x)
		w.nudge()
	}
}

func (w *Signs) nudge() {
	select {
	case w.poke <- struct{}{}:
	default:
	}
}

// Run sets, refreshes and clears the signs until ctx ends.
func (w *Signs) Run(ctx context.Context) {
	for {
		set, clear, next := w.due(time.Now())
		for _, x := range clear {
			w.status(ctx, x, "")
		}
		for _, x := range set {
			w.status(ctx, x, workingText)
		}
		timer := time.NewTimer(time.Until(next))
		select {
		case <-ctx.Done():
			timer.Stop()
			return
		case <-w.poke:
		case <-timer.C:
		}
		timer.Stop()
	}
}

// due takes out what must be set and what must be cleared now, and says when to look again. A place
// where others are at work keeps its sign.
func (w *Signs) due(now time.Time) (set, clear []*Sign, next time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	over := w.over
	w.over, next = nil, now.Add(refreshAfter)
	busy := map[string]bool{}
	for key, x := range w.on {
		if now.Sub(x.alive) >= deadAfter {
			delete(w.on, key)
			over = append(over, x)
			continue
		}
		if now.Sub(x.shown) >= refreshAfter {
			x.shown = now
			set = append(set, x)
		}
		busy[x.Channel+"/"+x.Thread] = true
		if at := x.shown.Add(refreshAfter); at.Before(next) {
			next = at
		}
	}
	for _, x := range over {
		if !busy[x.Channel+"/"+x.Thread] {
			clear = append(clear, x)
		}
	}
	return set, clear, next
}

func (w *Signs) status(ctx context.Context, x *Sign, text string) {
	ctx, cancel := context.WithTimeout(ctx, statusWithin)
	defer cancel()
	thread := x.Thread
	if thread == "" {
		thread = x.Asked()
	}
	err := w.client.slack.SetAssistantThreadsStatusContext(ctx, slack.AssistantThreadsSetStatusParameters{ChannelID: x.Channel, ThreadTS: thread, Status: text})
	if err != nil {
		w.log.Debug("the working sign could not be set", "channel", x.Channel, "err", err)
	}
}
