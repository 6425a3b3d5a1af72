package slack

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	slackapi "github.com/slack-go/slack"

	"holdfast/engine"
	"holdfast/store"
	"holdfast/surfaces/markup"
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
	cfg     Config
	api     *slackapi.Client // makes each request once
	client  *http.Client
	hands   sync.WaitGroup // what Run must wait for
	working working
	pace    pace

	engine atomic.Pointer[engine.Engine] // nil until Run

	taking sync.Mutex // one event at a time; guards the rest of this block
	me     self
	memory memory
	sent   recent            // client_msg_ids
	talks  map[string]bool   // threads where the bot has been spoken to
	names  map[string]string // of people and channels, as far as known

	mu     sync.Mutex
	unsent map[store.ID]bool // posts of which every try so far was surely refused
}

// self is who the bot is, as auth.test says.
type self struct{ user, bot, team string }

// New makes it; nothing is sent yet.
func New(c Config, p Parts) *Surface {
	p.Reply = cmp.Or(p.Reply, "thread")
	transport := http.DefaultTransport.(*http.Transport).Clone()
	if p.Dial != nil {
		transport.DialContext = p.Dial
	}
	client := &http.Client{
		Transport: transport, Timeout: 30 * time.Second,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	api := slackapi.New(c.BotToken, slackapi.OptionAppLevelToken(c.AppToken), slackapi.OptionHTTPClient(client), slackapi.OptionAPIURL(strings.TrimSuffix(c.APIURL, "/")+"/"))
	return &Surface{
		Parts: p, cfg: c, api: api, client: client, working: newWorking(), pace: newPace(),
		talks: map[string]bool{}, names: map[string]string{}, unsent: map[store.ID]bool{},
	}
}

// Name is "slack/NAME".
func (s *Surface) Name() string { return "slack/" + s.cfg.Name }

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
	defer s.client.CloseIdleConnections()
	ctx, cancel := context.WithCancel(ctx)
	var parts sync.WaitGroup
	parts.Go(func() { s.keepWorking(ctx) })
	parts.Go(func() { s.keepMemory(ctx) })
	err := socket.Run(ctx, socket.Config{
		Open: s.open, Up: s.catchUp, Dial: s.Dial, Log: s.Log,
		State: func(state, why string) { e.SurfaceState(s.Name(), state, why) },
	}, s.envelope)
	cancel()
	parts.Wait()
	s.hands.Wait()
	return err
}

// open asks who the bot is, once, and where the next socket opens.
func (s *Surface) open(ctx context.Context) (string, error) {
	if s.self() == (self{}) {
		r, err := s.api.AuthTestContext(ctx)
		if err != nil {
			return "", lasting("bot_token", err)
		}
		s.taking.Lock()
		s.me = self{r.UserID, r.BotID, r.TeamID}
		s.taking.Unlock()
	}
	_, url, err := s.api.StartSocketModeContext(ctx)
	return url, lasting("app_token", err)
}

func (s *Surface) self() self {
	s.taking.Lock()
	defer s.taking.Unlock()
	return s.me
}

// lasting makes an error that no new try mends a socket.Fatal with what to do.
func lasting(token string, err error) error {
	if advice := advice(token, reason(err)); advice != "" {
		return &socket.Fatal{Err: errors.New(advice)}
	}
	return err
}

// reason is Slack's own word for an error; "" if it is none of Slack's.
func reason(err error) string {
	if r, ok := errors.AsType[slackapi.SlackErrorResponse](err); ok {
		return r.Err
	}
	return ""
}

// tsOf is a moment as Slack's message ids have it; ids of equal length sort by time.
func tsOf(t time.Time) string { return fmt.Sprintf("%d.%06d", t.Unix(), t.Nanosecond()/1000) }

// timeOf is when a message was sent; 0 if that is no id.
func timeOf(ts string) store.Time {
	f, err := strconv.ParseFloat(ts, 64)
	if err != nil {
		return 0
	}
	return store.Time(f * 1000)
}
