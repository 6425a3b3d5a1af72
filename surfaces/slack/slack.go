package slack

import (
	"cmp"
	"context"
	"sync"

	"holdfast/engine"
	"holdfast/store"
	"holdfast/surfaces/door"
	"holdfast/surfaces/markup"
	"holdfast/surfaces/slack/api"
	"holdfast/surfaces/slack/socket"
)

// Surface is one bot in one Slack workspace; it implements engine.Surface.
type Surface struct {
	door.Parts
	cfg   Config
	door  *door.Door
	api   *api.Client
	names *api.Names
	signs *api.Signs

	taking sync.Mutex // one event at a time; guards the rest of this block
	me     api.Self
	memory memory
	sent   api.Sent
	opened string // the newest message that was known when a new line was asked for

	stands chan struct{} // a line stands anew
	mu     sync.Mutex
	broken bool // a post has met what somebody must mend
	over   bool // the line has ended for good
}

// New makes it; nothing is sent yet. Without a Reply it is "thread".
func New(c Config, p door.Parts) *Surface {
	p.Reply = cmp.Or(p.Reply, "thread")
	client := api.New(api.Config{URL: c.APIURL, AppToken: c.AppToken, BotToken: c.BotToken, Dial: p.Dial})
	return &Surface{
		Parts: p, cfg: c, door: door.New("slack", c.Name, c.Bot, p.Log),
		api: client, names: api.NewNames(client, p.Log), signs: api.NewSigns(client, p.Log), stands: make(chan struct{}, 1),
	}
}

// Name is "slack/NAME".
func (s *Surface) Name() string { return s.door.Name() }

// Check finds what is missing; see api.Client.Check.
func (s *Surface) Check(ctx context.Context) []string { return s.api.Check(ctx, s.cfg.AllowChannels) }

// Manifest is the app as Slack can be told it; see api.Manifest.
func Manifest(name string) string { return api.Manifest(name) }

// Traits: messages of 12,000 characters, times that every reader sees in his own zone, mentions.
func (s *Surface) Traits() engine.Traits {
	call := func(id string) string { return "<@" + id + "> " }
	return engine.Traits{
		Split: markup.Slack, Mention: s.door.Mention(call, "The answer is above."),
		Clock: func(t store.Time) string { return api.Clock(t.Go()) },
	}
}

// Run keeps the line until ctx ends. It returns an error only for what no new try mends.
func (s *Surface) Run(ctx context.Context, e *engine.Engine) error {
	s.door.Recall(e, &s.memory)
	s.door.Open()
	defer s.api.Close()
	defer s.door.Finish()
	ctx, cancel := context.WithCancel(ctx)
	var parts sync.WaitGroup
	parts.Go(func() { s.signs.Run(ctx) })
	parts.Go(func() { s.keepMemory(ctx) })
	parts.Go(func() { s.keepUp(ctx) })
	err := socket.Run(ctx, socket.Config{
		Open: s.open, Up: s.up, State: s.door.State, Dial: s.Dial, Log: s.Log,
	}, s.envelope)
	s.mu.Lock()
	s.over = true
	s.mu.Unlock()
	cancel()
	parts.Wait()
	return err
}

// open asks who the bot is, once, and where the next socket opens.
func (s *Surface) open(ctx context.Context) (string, error) {
	s.taking.Lock()
	known := s.me.User != ""
	s.opened = s.memory.Seen
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
