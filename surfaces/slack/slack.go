package slack

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"holdfast/engine"
	"holdfast/store"
	"holdfast/surfaces/markup"
	"holdfast/surfaces/slack/api"
	"holdfast/surfaces/slack/socket"
)

// Parts is what a surface is built from.
type Parts struct {
	Reply string                                                            // of its bot: "" | "mention" | "thread" | "always"; "" = thread
	Log   *slog.Logger                                                      //
	Dial  func(ctx context.Context, network, addr string) (net.Conn, error) // nil = the system's
}

// Surface is one bot in one Slack workspace; it implements engine.Surface.
type Surface struct {
	Parts
	cfg    Config
	api    *api.Client
	names  *api.Names
	signs  *api.Signs
	hands  sync.WaitGroup                // what Run must wait for
	engine atomic.Pointer[engine.Engine] // nil until Run

	taking sync.Mutex // one event at a time; guards the rest of this block
	me     api.Self
	memory memory
	sent   recent          // client_msg_ids
	talks  map[string]bool // threads where the bot has been spoken to

	mu     sync.Mutex
	broken bool              // a post has met what somebody must mend
	over   bool              // the line has ended for good
	unsent map[store.ID]bool // posts of which every try so far was surely refused
}

// New makes it; nothing is sent yet.
func New(c Config, p Parts) *Surface {
	p.Reply = cmp.Or(p.Reply, "thread")
	client := api.New(api.Config{URL: c.APIURL, AppToken: c.AppToken, BotToken: c.BotToken, Dial: p.Dial})
	return &Surface{
		Parts: p, cfg: c, api: client, names: api.NewNames(client, p.Log), signs: api.NewSigns(client, p.Log),
		talks: map[string]bool{}, unsent: map[store.ID]bool{},
	}
}

// Name is "slack/NAME".
func (s *Surface) Name() string { return "slack/" + s.cfg.Name }

// Check finds what is missing; see api.Client.Check.
func (s *Surface) Check(ctx context.Context) []string { return s.api.Check(ctx, s.cfg.AllowChannels) }

// Manifest is the app as Slack can be told it; see api.Manifest.
func Manifest(name string) string { return api.Manifest(name) }

// person is how people of Slack are called in the house.
func person(id string) string { return "slack:" + id }

// Traits: messages of 12,000 characters, times that every reader sees in his own zone, mentions.
func (s *Surface) Traits() engine.Traits {
	return engine.Traits{Split: markup.Slack, Clock: clock, Mention: mention}
}

// clock is a token that Slack shows as local time, with the date if it is not soon.
func clock(t store.Time) string {
	at := t.Go()
	if !at.Equal(at.Truncate(time.Second)) {
		at = at.Add(time.Second) // never earlier than it is
	}
	if time.Until(at) > 20*time.Hour {
		return fmt.Sprintf("<!date^%d^{date_short_pretty} {time}|%s>", at.Unix(), at.UTC().Format("2 Jan 15:04 UTC"))
	}
	return fmt.Sprintf("<!date^%d^{time}|%s>", at.Unix(), at.UTC().Format("15:04 UTC"))
}

// mention is the short post that tells people of an answer that came by an edit.
func mention(persons []string) string {
	var who []string
	for _, p := range persons {
		if id, ok := strings.CutPrefix(p, "slack:"); ok {
			who = append(who, "<@"+id+">")
		}
	}
	return strings.TrimSpace(strings.Join(who, " ") + " The answer is above.")
}

// Run keeps the line until ctx ends. It returns an error only for what no new try mends.
func (s *Surface) Run(ctx context.Context, e *engine.Engine) error {
	s.engine.Store(e)
	s.recall(e.Store)
	defer s.api.Close()
	ctx, cancel := context.WithCancel(ctx)
	var parts sync.WaitGroup
	parts.Go(func() { s.signs.Run(ctx) })
	parts.Go(func() { s.keepMemory(ctx) })
	err := socket.Run(ctx, socket.Config{
		Open: s.open, Up: s.catchUp, Dial: s.Dial, Log: s.Log,
		State: func(state, why string) { e.SurfaceState(s.Name(), state, why) },
	}, s.envelope)
	s.mu.Lock()
	s.over = true
	s.mu.Unlock()
	cancel()
	parts.Wait()
	s.hands.Wait()
	return err
}

// open asks who the bot is, once, and where the next socket opens.
func (s *Surface) open(ctx context.Context) (string, error) {
	s.taking.Lock()
	known := s.me.User != ""
	s.taking.Unlock()
	if !known {
		me, err := s.api.Self(ctx)
		if err != nil {
			return "", lasting("bot_token", err)
		}
		s.taking.Lock()
		s.me = me
		s.taking.Unlock()
	}
	url, err := s.api.Socket(ctx)
	return url, lasting("app_token", err)
}

// lasting makes an error that no new try mends a socket.Fatal.
func lasting(token string, err error) error {
	if advice := api.Lasting(token, err); advice != nil {
		return &socket.Fatal{Err: advice}
	}
	return err
}

// Working shows or hides the sign that a turn is being worked on.
func (s *Surface) Working(to engine.Place, turn store.ID, on bool) {
	if on {
		s.signs.Show(turn.String(), api.Sign{Channel: to.Channel, Thread: to.Thread, Asked: func() string { return s.asked(to, turn) }})
	} else {
		s.signs.Hide(turn.String(), true)
	}
}

// Draft is a sign of life: Slack shows no text so far, since a message that streams cannot be edited
// afterwards.
func (s *Surface) Draft(_ engine.Place, turn store.ID, _ string) { s.signs.Alive(turn.String()) }

// asked is the ts of the message that a turn answers; "" if it was none of Slack's.
func (s *Surface) asked(to engine.Place, turn store.ID) string {
	e := s.engine.Load()
	if e == nil {
		return ""
	}
	h, err := e.Store.History(to.Conversation, turn, 1)
	if err != nil || len(h) == 0 || h[0].Turn != turn || len(h[0].Events) == 0 {
		return ""
	}
	parts := strings.Split(h[0].Events[0].Key, ":")
	return parts[len(parts)-1]
}
