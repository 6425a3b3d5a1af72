package gateway_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"holdfast/surfaces/discord/discordtest"
	"holdfast/surfaces/discord/gateway"
)

// phone is a client on a test server, in a bubble.
type phone struct {
	t      *testing.T
	server *discordtest.Server
	cfg    gateway.Config
	stop   context.CancelFunc
	ended  chan error

	mu     sync.Mutex
	heard  []string // "TYPE seq", or of messages "content"
	states []string
	saves  []gateway.Session
	fail   map[string]error // by content: handling fails once
	slow   atomic.Int64     // ns that every message takes
}

// onLine runs a test with a client that is up.
func onLine(t *testing.T, configure func(*phone), f func(p *phone)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(time.Until(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)))
		p := &phone{t: t, server: discordtest.New(), fail: map[string]error{}}
		p.cfg = gateway.Config{
			Token: "token", Intents: gateway.Guilds | gateway.GuildMessages | gateway.DirectMessages, Dial: p.server.Dial, Log: slog.New(slog.DiscardHandler),
			Locate: func(context.Context) (gateway.Place, error) {
				return gateway.Place{URL: "ws://gateway.test/gateway", Remaining: 10}, nil
			},
			Save: func(s gateway.Session) { p.mu.Lock(); p.saves = append(p.saves, s); p.mu.Unlock() },
			State: func(state, why string) {
				p.mu.Lock()
				p.states = append(p.states, strings.TrimSpace(state+" "+why))
				p.mu.Unlock()
			},
		}
		if configure != nil {
			configure(p)
		}
		p.start()
		f(p)
		p.hangUp()
		p.server.Close()
	})
}

func (p *phone) start() {
	ctx, cancel := context.WithCancel(p.t.Context())
	p.stop, p.ended = cancel, make(chan error, 1)
	c := gateway.New(p.cfg)
	go func() { p.ended <- c.Run(ctx, p.handle) }()
	p.wait(time.Second)
}

func (p *phone) hangUp() {
	p.stop()
	if err := <-p.ended; err != nil && !p.fatal(err) {
		p.t.Errorf("Run: %v", err)
	}
	p.ended <- nil
}

func (p *phone) fatal(err error) bool { _, ok := errors.AsType[*gateway.Fatal](err); return ok }

func (p *phone) wait(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

func (p *phone) handle(_ context.Context, e gateway.Event) error {
	var m struct{ Content string }
	_ = json.Unmarshal(e.Data, &m)
	time.Sleep(time.Duration(p.slow.Load()))
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := p.fail[m.Content]; err != nil && m.Content != "" {
		delete(p.fail, m.Content)
		return err
	}
	if m.Content == "" {
		m.Content = e.Type
	}
	p.heard = append(p.heard, m.Content)
	return nil
}

func (p *phone) say(text string) {
	p.server.Say(discordtest.DM, discordtest.Alice, text, "")
	synctest.Wait()
}

// want compares what was heard since the last call, events of servers aside.
func (p *phone) want(want ...string) {
	p.t.Helper()
	synctest.Wait()
	p.mu.Lock()
	defer p.mu.Unlock()
	got := slices.DeleteFunc(p.heard, func(s string) bool { return s == "GUILD_CREATE" })
	p.heard = nil
	if fmt.Sprint(got) != fmt.Sprint(want) {
		p.t.Errorf("heard %q, want %q; states %q", got, want, p.states)
	}
}

func (p *phone) state() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.states[len(p.states)-1]
}

func (p *phone) saved() gateway.Session {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.saves[len(p.saves)-1]
}

func TestIdentifyAndHear(t *testing.T) {
	onLine(t, nil, func(p *phone) {
		p.say("one")
		p.want("READY", "one")
		if p.state() != "connected" {
			t.Errorf("state %q", p.state())
		}
		if s := p.saved(); s.ID == "" || s.User != discordtest.Bot || s.App != discordtest.Bot || s.Of("token") != s || s.Of("other") != (gateway.Session{}) {
			t.Errorf("session %+v", s)
		}
	})
}

// A cut line resumes: nothing is missed, nothing comes twice, no new session begins.
func TestResumeAfterACut(t *testing.T) {
	for name, cut := range map[string]func(*discordtest.Server){
		"cut": (*discordtest.Server).Drop, "op 7": (*discordtest.Server).Reconnect, "closed": func(s *discordtest.Server) { s.CloseWith(4000) },
	} {
		t.Run(name, func(t *testing.T) {
			onLine(t, nil, func(p *phone) {
				p.say("one")
				cut(p.server)
				p.say("two")
				p.wait(3 * time.Second)
				p.say("three")
				p.want("READY", "one", "two", "RESUMED", "three")
				if l := p.server.Line(); l.Sessions != 1 || l.Resumed != 1 || l.Opened != 2 || p.state() != "connected" {
					t.Errorf("%+v, state %q", l, p.state())
				}
			})
		})
	}
}

// A shutdown closes with 4000, so that the next process resumes from what was stored.
func TestResumeInTheNextProcess(t *testing.T) {
	onLine(t, nil, func(p *phone) {
		p.say("one")
		p.hangUp()
		synctest.Wait()
		if l := p.server.Line(); l.Closed != 4000 {
			t.Errorf("closed with %d", l.Closed)
		}
		p.say("two")
		p.cfg.Session = p.saved()
		p.start()
		p.want("READY", "one", "two", "RESUMED")
		if l := p.server.Line(); l.Sessions != 1 {
			t.Errorf("%+v", l)
		}
	})
}

// After a kill the stored session is at most a minute old: what was handled since comes again, nothing is missing.
func TestKilledBetweenSaves(t *testing.T) {
	onLine(t, nil, func(p *phone) {
		first := p.saved()
		for i := range 20 {
			p.say(fmt.Sprint(i))
			p.wait(time.Second)
		}
		if n := len(p.saves); n > 2 {
			t.Errorf("stored %d times in 20 s", n)
		}
		p.hangUp()
		p.want(append([]string{"READY"}, strings.Fields("0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19")...)...)
		p.cfg.Session = first
		p.start()
		p.want(append(strings.Fields("0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19"), "RESUMED")...)
	})
}

// Handling that failed is no acknowledgement: the event comes again.
func TestFailedHandlingComesAgain(t *testing.T) {
	onLine(t, nil, func(p *phone) {
		p.fail["two"] = errors.New("the disk is full")
		p.say("one")
		p.say("two")
		p.say("three")
		p.wait(5 * time.Second)
		p.want("READY", "one", "two", "three", "RESUMED")
	})
}

func TestInvalidSessionIdentifiesAnew(t *testing.T) {
	onLine(t, nil, func(p *phone) {
		p.server.Invalidate()
		p.wait(11 * time.Second) // 1 to 5 s of silence, 5 s between two identifies
		p.say("one")
		p.want("READY", "READY", "one")
		if l := p.server.Line(); l.Sessions != 2 {
			t.Errorf("%+v", l)
		}
	})
}

// A session that the server forgot while nobody was there: resume is answered with op 9.
func TestForgottenSession(t *testing.T) {
	onLine(t, nil, func(p *phone) {
		p.server.Forget()
		p.server.Drop()
		p.wait(15 * time.Second)
		p.want("READY", "READY")
	})
}

// A zombie, open but dead, is found by the missing answer to a heartbeat and left with a code that keeps the session.
func TestZombie(t *testing.T) {
	onLine(t, nil, func(p *phone) {
		p.say("one")
		p.server.Freeze()
		p.say("two")
		p.wait(2*p.server.Heartbeat + 5*time.Second)
		p.want("READY", "one", "two", "RESUMED")
		if l := p.server.Line(); l.Sessions != 1 || l.Opened != 2 {
			t.Errorf("%+v", l)
		}
	})
}

// Heartbeats tell the last event handled, come once per interval and at once when asked for, and never flood.
func TestHeartbeats(t *testing.T) {
	onLine(t, nil, func(p *phone) {
		p.wait(5 * p.server.Heartbeat)
		if n := len(p.server.Line().Beats); n != 5 && n != 6 {
			t.Errorf("%d beats in five intervals", n)
		}
		p.say("one")
		p.slow.Store(int64(time.Hour))
		p.say("two") // received, not handled
		before := len(p.server.Line().Beats)
		for range 50 {
			p.server.Beat()
			p.wait(100 * time.Millisecond)
		}
		beats := p.server.Line().Beats
		if n := len(beats) - before; n < 4 || n > 7 {
			t.Errorf("%d beats for 50 requests in 5 s", n)
		}
		if last := beats[len(beats)-1]; last != 3 { // READY, GUILD_CREATE, one
			t.Errorf("the last beat tells %d", last)
		}
		p.slow.Store(0)
	})
}

// Closes that no new try mends end it, with a sentence that says where to click.
func TestFatalCloses(t *testing.T) {
	for code, says := range map[int]string{
		4004: "Reset Token", 4010: "servers", 4011: "servers", 4012: "update", 4013: "update", 4014: "Message Content Intent",
	} {
		onLine(t, nil, func(p *phone) {
			p.server.CloseWith(code)
			p.wait(time.Hour)
			err := <-p.ended
			f, ok := errors.AsType[*gateway.Fatal](err)
			if !ok || f.Code != code || !strings.Contains(f.Error(), says) || p.state() != "down "+f.Error() {
				t.Errorf("%d: %v, state %q", code, err, p.state())
			}
			if l := p.server.Line(); l.Opened != 1 {
				t.Errorf("%d: connected %d times", code, l.Opened)
			}
			p.ended <- nil
		})
	}
}

func TestRevokedTokenAtIdentify(t *testing.T) {
	onLine(t, func(p *phone) { p.server.Token = "another" }, func(p *phone) {
		if err := <-p.ended; !p.fatal(err) {
			t.Errorf("%v", err)
		}
		p.ended <- nil
	})
}

// 4007 and 4009 end the session, not the line.
func TestClosesThatEndTheSession(t *testing.T) {
	for _, code := range []int{4007, 4009} {
		onLine(t, nil, func(p *phone) {
			p.server.CloseWith(code)
			p.wait(10 * time.Second)
			p.want("READY", "READY")
		})
	}
}

// While nothing answers it tries for ever, ever more slowly, and tells people from the third failure on.
func TestBackoff(t *testing.T) {
	var tries atomic.Int64
	var down atomic.Bool
	down.Store(true)
	onLine(t, func(p *phone) {
		locate := p.cfg.Locate
		p.cfg.Locate = func(ctx context.Context) (gateway.Place, error) {
			if tries.Add(1); down.Load() {
				return gateway.Place{}, errors.New("no network")
			}
			return locate(ctx)
		}
	}, func(p *phone) {
		p.wait(9 * time.Second)
		if p.state() != "down no network" || tries.Load() < 3 {
			t.Errorf("state %q after %d tries", p.state(), tries.Load())
		}
		p.wait(time.Hour)
		if n := tries.Load(); n < 25 || n > 60 {
			t.Errorf("%d tries in an hour", n)
		}
		down.Store(false)
		p.wait(4 * time.Minute)
		if p.state() != "connected" {
			t.Errorf("state %q", p.state())
		}
	})
}

// With no session left for today it waits for the reset instead of burning the token.
func TestNoSessionsLeft(t *testing.T) {
	onLine(t, func(p *phone) {
		used := true
		p.cfg.Locate = func(context.Context) (gateway.Place, error) {
			if used {
				used = false
				return gateway.Place{URL: "ws://gateway.test/gateway", Remaining: 0, ResetAfter: time.Hour}, nil
			}
			return gateway.Place{URL: "ws://gateway.test/gateway", Remaining: 1000}, nil
		}
	}, func(p *phone) {
		p.wait(59 * time.Minute)
		if l := p.server.Line(); l.Opened != 0 || !strings.HasPrefix(p.state(), "down Discord lets no new session begin") {
			t.Errorf("%+v, state %q", l, p.state())
		}
		p.wait(2 * time.Minute)
		p.want("READY")
	})
}
