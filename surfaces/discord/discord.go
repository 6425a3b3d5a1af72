package discord

import (
	"context"
	"sync"
	"sync/atomic"

	"holdfast/engine"
	"holdfast/store"
	"holdfast/surfaces/discord/gateway"
	"holdfast/surfaces/discord/rest"
	"holdfast/surfaces/door"
	"holdfast/surfaces/markup"
)

// Surface is one bot on Discord; it implements engine.Surface.
type Surface struct {
	door.Parts
	cfg      Config
	door     *door.Door
	rest     *rest.Client
	typing   *rest.Typing
	channels *rest.Channels
	blind    atomic.Bool // Discord shows what people write to each other only with an intent that the app does not have
	memory   memory      // of the goroutine that handles events

	mu sync.Mutex
	me string // the bot's own user id, "" until known; the handling goroutine alone writes it
}

// memory is what outlives the process.
type memory struct {
	Session gateway.Session `json:"session"`
	Seen    string          `json:"seen"` // the newest message looked at
	DMs     []string        `json:"dms"`  // channels of direct messages, the latest last: Discord has no list
}

// New makes it; nothing is sent yet. Without a Reply it is "mention"; "thread" and "always" need the
// Message Content intent.
func New(c Config, p door.Parts) *Surface {
	client := rest.New(rest.Config{URL: c.APIURL, Token: c.Token, Dial: p.Dial})
	return &Surface{
		Parts: p, cfg: c, door: door.New("discord", c.Name, c.Bot, p.Log),
		rest: client, typing: rest.NewTyping(client, p.Log), channels: rest.NewChannels(client),
	}
}

// Name is "discord/NAME".
func (s *Surface) Name() string { return s.door.Name() }

// Traits: 2,000 characters, times that every reader sees in his own zone, mentions.
func (s *Surface) Traits() engine.Traits {
	call := func(id string) string { return "<@" + id + "> " }
	return engine.Traits{
		Split: markup.Discord, Mention: s.door.Mention(call, "the answer is above."),
		Clock: func(t store.Time) string { return rest.Clock(t.Go()) },
	}
}

// Run keeps the line until ctx ends. It returns an error only for what no new try mends.
func (s *Surface) Run(ctx context.Context, e *engine.Engine) error {
	s.door.Recall(e, &s.memory)
	s.memory.Session = s.memory.Session.Of(s.cfg.Token)
	s.me = s.memory.Session.User
	s.door.Open()
	defer s.rest.Close()
	defer s.door.Finish()
	var parts sync.WaitGroup
	defer parts.Wait()
	typing, end := context.WithCancel(ctx)
	defer end()
	parts.Go(func() { s.typing.Run(typing) })
	return gateway.New(gateway.Config{
		Token: s.cfg.Token, Intents: s.intents(), Session: s.memory.Session, Locate: s.rest.Locate, Save: s.save,
		State: s.door.State, Dial: s.Dial, Log: s.Log,
	}).Run(ctx, s.handle)
}

// intents are what the bot must be told: no privileged one unless it answers without a mention.
func (s *Surface) intents() int {
	i := gateway.Guilds | gateway.GuildMessages | gateway.DirectMessages
	if s.Reply == "thread" || s.Reply == "always" {
		i |= gateway.MessageContent
	}
	return i
}

// Check asks Discord whether everything is as it must be, and returns what is not, with what to do
// and where to click; nil if all is well.
func (s *Surface) Check(ctx context.Context) []string {
	return s.rest.Check(ctx, s.intents(), s.cfg.AllowChannels)
}

// save writes down how far the session is. A kill loses nothing: a resume from an older point only
// repeats, and every event is known by its id.
func (s *Surface) save(now gateway.Session) {
	s.memory.Session = now
	s.door.Remember(s.memory)
}
