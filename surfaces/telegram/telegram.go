package telegram

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"strings"
	"sync"
	"time"

	"holdfast/engine"
	"holdfast/store"
	"holdfast/surfaces/markup"
	"holdfast/surfaces/telegram/bot"
)

// Parts is what a surface is built from.
type Parts struct {
	Reply string                                                            // of its bot: "" | "mention" | "thread" | "always"; "" = thread
	Log   *slog.Logger                                                      //
	Dial  func(ctx context.Context, network, addr string) (net.Conn, error) // nil = the system's
}

// Surface is one bot on Telegram; it implements engine.Surface.
//
// Telegram keeps what has happened for 24 hours and hands it out until it is told the next offset. The
// offset moves only after the update is stored, so a kill or a full disk loses nothing, and every
// message is known by its id. On the way out Telegram has no such help: there is no key that makes a
// post unique and no way to look whether it is there. Post says what is done about it. Nor does it
// tell of deleted messages.
type Surface struct {
	Parts
	cfg    Config
	bot    *bot.Client
	typing *bot.Typing
	engine *engine.Engine
	begun  chan struct{} // closed when Run has begun: engine is set

	// of the goroutine that takes updates in
	me     bot.User
	start  time.Time       // of the process: what is older is caught up
	caught map[string]int  // messages of before the start, by chat
	talks  map[string]bool // chats and topics where the bot has been spoken to
	albums map[string]bool // of which a message has been taken in
	told   map[string]bool // strangers who have been refused; stored

	mu     sync.Mutex
	doubts map[store.ID]int // by post: tries whose outcome is unknown
}

// New makes it; nothing is sent yet.
func New(c Config, p Parts) *Surface {
	p.Reply = cmp.Or(p.Reply, "thread")
	client := bot.New(bot.Config{URL: c.APIURL, Token: c.Token, Dial: p.Dial})
	return &Surface{
		Parts: p, cfg: c, bot: client, typing: bot.NewTyping(client, p.Log), begun: make(chan struct{}),
		caught: map[string]int{}, talks: map[string]bool{}, albums: map[string]bool{}, told: map[string]bool{}, doubts: map[store.ID]int{},
	}
}

// Name is "telegram/NAME".
func (s *Surface) Name() string { return "telegram/" + s.cfg.Name }

// Traits: 4,096 characters of HTML, mentions; times are plain, Telegram has no token for them.
func (s *Surface) Traits() engine.Traits {
	return engine.Traits{Split: markup.Telegram, Mention: mention}
}

// person is how people of Telegram are called in the house.
func person(id int64) string { return "telegram:" + bot.ID(id) }

// mention is the short post that tells people of an answer that came by an edit.
func mention(persons []string) (text string) {
	for _, p := range persons {
		if id, ok := strings.CutPrefix(p, "telegram:"); ok {
			text += bot.Mention(id, "You") + ": "
		}
	}
	return text + "the answer is above."
}

// Check asks Telegram whether everything is as it must be, and returns what is not, with what to do
// and where; nil if all is well.
func (s *Surface) Check(ctx context.Context) []string { return s.bot.Check(ctx, s.cfg.AllowChats) }

// Run polls until ctx ends. It returns an error only for what no new try mends.
func (s *Surface) Run(ctx context.Context, e *engine.Engine) error {
	s.engine, s.start = e, time.Now()
	s.recall()
	close(s.begun)
	defer s.bot.Close()
	var parts sync.WaitGroup
	defer parts.Wait()
	ctx, end := context.WithCancel(ctx)
	defer end()
	parts.Go(func() { s.typing.Run(ctx) })
	offset := int64(0) // 0 = from what has not been confirmed yet
	for failures := 0; ctx.Err() == nil; {
		err := s.poll(ctx, &offset, failures == 0)
		if err == nil {
			failures = 0
			e.SurfaceState(s.Name(), "connected", "")
			continue
		} else if ctx.Err() != nil {
			return nil
		} else if bot.BadToken(err) {
			e.SurfaceState(s.Name(), "down", bot.NewToken)
			return fmt.Errorf("poll: %s", bot.NewToken)
		}
		failures++
		next := time.NewTimer(s.failed(err, failures))
		select {
		case <-ctx.Done():
		case <-next.C:
		}
		next.Stop()
	}
	return nil
}

// failed tells people how the line stands and returns how long to wait.
func (s *Surface) failed(err error, failures int) time.Duration {
	wait := min(time.Second<<min(failures-1, 6), time.Minute)
	if r := bot.Refusal(err); r != nil {
		wait = max(wait, r.RetryAfter)
	}
	switch conflict := bot.Conflict(err); {
	case conflict != "":
		s.engine.SurfaceState(s.Name(), "down", conflict)
		return max(wait, 15*time.Second)
	case failures >= 3:
		s.engine.SurfaceState(s.Name(), "down", err.Error())
	default:
		s.engine.SurfaceState(s.Name(), "connecting", "")
	}
	return wait
}

// poll asks once for what has happened and takes it in. The offset moves over what is stored.
func (s *Surface) poll(ctx context.Context, offset *int64, wait bool) (err error) {
	if s.me.ID == 0 {
		wait = false // to tell at once that the line is up
		if s.me, err = s.bot.Me(ctx); err != nil {
			return err
		}
		s.register(ctx)
	}
	list, err := s.bot.Updates(ctx, *offset, wait)
	for _, raw := range list {
		var u bot.Update
		if err := json.Unmarshal(raw, &u); err != nil {
			s.Log.Warn("an update that cannot be read", "surface", s.Name(), "err", err)
		} else if err := s.take(ctx, u); err != nil {
			return err
		}
		*offset = max(*offset, u.ID+1)
	}
	return err
}

// recall reads where the bot has been spoken to, and who has been refused.
func (s *Surface) recall() {
	chats, err := s.engine.Store.Chats(0, 1000)
	for _, c := range chats {
		s.talks[c.Channel+"/"+c.Thread] = s.talks[c.Channel+"/"+c.Thread] || c.Surface == s.Name()
	}
	text, metaErr := s.engine.Store.Meta("surface:" + s.Name())
	if metaErr == nil && text != "" {
		metaErr = json.Unmarshal([]byte(text), &s.told)
	}
	if err = errors.Join(err, metaErr); err != nil {
		s.Log.Warn("what was before is not fully known", "surface", s.Name(), "err", err)
	}
}
