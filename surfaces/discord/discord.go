package discord

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net"
	"strings"
	"sync"
	"sync/atomic"

	"holdfast/engine"
	"holdfast/store"
	"holdfast/surfaces/discord/gateway"
	"holdfast/surfaces/discord/rest"
	"holdfast/surfaces/markup"
)

// Parts is what a surface is built from.
type Parts struct {
	Reply string                                                            // of its bot: "" | "mention" | "thread" | "always"; the last two need the Message Content intent
	Log   *slog.Logger                                                      //
	Dial  func(ctx context.Context, network, addr string) (net.Conn, error) // nil = the system's
}

// Surface is one bot on Discord; it implements engine.Surface.
type Surface struct {
	Parts
	cfg    Config
	rest   *rest.Client
	typing *rest.Typing
	engine *engine.Engine
	begun  chan struct{}  // closed when Run has begun: engine is set and memory read
	hands  sync.WaitGroup // answers to interactions

	channels *rest.Channels
	blind    atomic.Bool // Discord shows what people write to each other only with an intent that the app does not have

	// of the goroutine that handles events
	memory memory
	talks  map[string]bool // channels where the bot has been spoken to

	mu sync.Mutex
	me string // the bot's own user id, "" until known; the handling goroutine alone writes it
}

// memory is what outlives the process.
type memory struct {
	Session gateway.Session `json:"session"`
	Seen    string          `json:"seen"` // the newest message looked at
	DMs     []string        `json:"dms"`  // channels of direct messages, the latest last: Discord has no list
}

// New makes it; nothing is sent yet.
func New(c Config, p Parts) *Surface {
	client := rest.New(rest.Config{URL: c.APIURL, Token: c.Token, Dial: p.Dial})
	return &Surface{
		Parts: p, cfg: c, rest: client, typing: rest.NewTyping(client, p.Log), begun: make(chan struct{}), channels: rest.NewChannels(client),
		talks: map[string]bool{},
	}
}

// Name is "discord/NAME".
func (s *Surface) Name() string { return "discord/" + s.cfg.Name }

// Traits: 2,000 characters, times that every reader sees in his own zone, mentions.
func (s *Surface) Traits() engine.Traits {
	return engine.Traits{Split: markup.Discord, Clock: clock, Mention: mention}
}

// clock is a moment as its readers see it.
func clock(t store.Time) string { return rest.Clock(t.Go()) }

// mention is the short post that tells people of an answer that came by an edit.
func mention(persons []string) (text string) {
	for _, p := range persons {
		if id, ok := strings.CutPrefix(p, "discord:"); ok {
			text += "<@" + id + "> "
		}
	}
	return text + "the answer is above."
}

// person is how people of Discord are called in the house.
func person(id string) string { return "discord:" + id }

// Run keeps the line until ctx ends. It returns an error only for what no new try mends.
func (s *Surface) Run(ctx context.Context, e *engine.Engine) error {
	s.engine = e
	s.recall()
	close(s.begun)
	defer s.rest.Close()
	defer s.hands.Wait()
	var parts sync.WaitGroup
	defer parts.Wait()
	typing, end := context.WithCancel(ctx)
	defer end()
	parts.Go(func() { s.typing.Run(typing) })
	return gateway.New(gateway.Config{
		Token: s.cfg.Token, Intents: s.intents(), Session: s.memory.Session, Locate: s.rest.Locate, Save: s.save,
		State: func(state, why string) { e.SurfaceState(s.Name(), state, why) }, Dial: s.Dial, Log: s.Log,
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

// recall reads what the last process knew.
func (s *Surface) recall() {
	text, err := s.engine.Store.Meta("surface:" + s.Name())
	if err == nil && text != "" {
		err = json.Unmarshal([]byte(text), &s.memory)
	}
	s.memory.Session = s.memory.Session.Of(s.cfg.Token)
	s.me = s.memory.Session.User
	chats, chatsErr := s.engine.Store.Chats(0, 1000)
	for _, c := range chats {
		s.talks[c.Channel] = s.talks[c.Channel] || c.Surface == s.Name()
	}
	if err = errors.Join(err, chatsErr); err != nil {
		s.Log.Warn("the last session is not fully known", "surface", s.Name(), "err", err)
	}
}

// save writes down how far the session is. A kill loses nothing: a resume from an older point only
// repeats, and every event is known by its id.
func (s *Surface) save(now gateway.Session) {
	s.memory.Session = now
	text, err := json.Marshal(s.memory)
	if err == nil {
		err = s.engine.Store.SetMeta("surface:"+s.Name(), string(text), nil)
	}
	if err != nil {
		s.Log.Warn("the session could not be stored", "surface", s.Name(), "err", err)
	}
}
