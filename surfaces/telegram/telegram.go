package telegram

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"time"

	"holdfast/engine"
	"holdfast/store"
	"holdfast/surfaces/door"
	"holdfast/surfaces/markup"
	"holdfast/surfaces/telegram/bot"
)

// Surface is one bot on Telegram; it implements engine.Surface.
//
// Telegram keeps what has happened for 24 hours and hands it out until it is told the next offset. The
// offset moves only after the update is stored, so a kill or a full disk loses nothing, and every
// message is known by its id. On the way out Telegram has no such help: there is no key that makes a
// post unique and no way to look whether it is there. Post says what is done about it. Nor does it
// tell of deleted messages.
type Surface struct {
	door.Parts
	cfg    Config
	door   *door.Door
	bot    *bot.Client
	typing *bot.Typing

	// of the goroutine that takes updates in
	me     bot.User
	start  time.Time       // of the process: what is older is caught up
	caught map[string]int  // messages of before the start, by chat
	albums map[string]bool // of which a message has been taken in
	told   map[string]bool // strangers who have been refused; stored

	mu     sync.Mutex
	doubts map[store.ID]int // by post: tries whose outcome is unknown
}

// New makes it; nothing is sent yet. Without a Reply it is "thread".
func New(c Config, p door.Parts) *Surface {
	p.Reply = cmp.Or(p.Reply, "thread")
	client := bot.New(bot.Config{URL: c.APIURL, Token: c.Token, Dial: p.Dial})
	return &Surface{
		Parts: p, cfg: c, door: door.New("telegram", c.Name, c.Bot, p.Log), bot: client, typing: bot.NewTyping(client, p.Log),
		caught: map[string]int{}, albums: map[string]bool{}, told: map[string]bool{}, doubts: map[store.ID]int{},
	}
}

// Name is "telegram/NAME".
func (s *Surface) Name() string { return s.door.Name() }

// Traits: 4,096 characters of HTML, mentions; times are plain, Telegram has no token for them.
func (s *Surface) Traits() engine.Traits {
	call := func(id string) string { return bot.Mention(id, "You") + ": " }
	return engine.Traits{Split: markup.Telegram, Mention: s.door.Mention(call, "the answer is above.")}
}

// Check asks Telegram whether everything is as it must be, and returns what is not, with what to do
// and where; nil if all is well.
func (s *Surface) Check(ctx context.Context) []string { return s.bot.Check(ctx, s.cfg.AllowChats) }

// Run polls until ctx ends. It returns an error only for what no new try mends.
func (s *Surface) Run(ctx context.Context, e *engine.Engine) error {
	s.start = time.Now()
	s.door.Recall(e, &s.told)
	s.door.Open()
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
			s.door.State("connected", "")
			continue
		} else if ctx.Err() != nil {
			return nil
		} else if bot.BadToken(err) {
			s.door.State("down", bot.NewToken)
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
		s.door.State("down", conflict)
		return max(wait, 15*time.Second)
	case failures >= 3:
		s.door.State("down", err.Error())
	default:
		s.door.State("connecting", "")
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
