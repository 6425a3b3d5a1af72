package discord

import (
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"holdfast/engine"
	"holdfast/surfaces/discord/discordtest"
	"holdfast/surfaces/door"
	"holdfast/surfaces/surfacetest"
)

var _ engine.Surface = (*Surface)(nil)

// fake is Discord as the suite of all surfaces needs it; its threads are channels here.
type fake struct {
	*discordtest.Server
	cfg     Config
	reply   string
	surface *Surface
	last    string // message
	names   []string
}

// newFake is called in the bubble, whose clock begins long before Discord's does.
func newFake() *fake {
	time.Sleep(time.Until(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)))
	f := &fake{Server: discordtest.New(), cfg: Default()}
	f.cfg.Bot, f.cfg.Name, f.cfg.Token, f.cfg.APIURL = "bot", "ada", "token", discordtest.URL
	return f
}

func (f *fake) Surface() engine.Surface {
	f.surface = New(f.cfg, door.Parts{Reply: f.reply, Log: slog.New(slog.DiscardHandler), Dial: f.Dial})
	return f.surface
}

// channel is the one that stands for a thread of the suite.
func (f *fake) channel(thread string) string {
	i := slices.Index(f.names, thread)
	if i < 0 {
		i = len(f.names)
		f.names = append(f.names, thread)
		f.Put(fmt.Sprint(5000+i), func(*discordtest.Channel) {})
	}
	return fmt.Sprint(5000 + i)
}

func persons() map[string]string {
	return map[string]string{"alice": discordtest.Alice, "bob": discordtest.Bob}
}

func (f *fake) Say(thread, person, text string) {
	f.last = f.Server.Say(f.channel(thread), persons()[person], "<@"+discordtest.Bot+"> "+text, "")
}

func (f *fake) SayFile(thread, person, name string) {
	f.last = f.Server.Say(f.channel(thread), persons()[person], "<@"+discordtest.Bot+">", "", name)
}

func (f *fake) Reword(text string) { f.Server.Change(f.last, "<@"+discordtest.Bot+"> "+text) }

func (f *fake) Unsay() bool {
	f.Server.Remove(f.last)
	return true
}

func (f *fake) Again() { f.Server.Again(f.last) }

func (f *fake) Shown(thread string) (list []surfacetest.Message) {
	for _, m := range f.Bots(f.channel(thread)) {
		shown := surfacetest.Message{Text: m.Content, Edits: len(m.Edits)}
		for _, id := range m.Pings {
			for name, of := range persons() {
				if id == of {
					id = name
				}
			}
			shown.Pings = append(shown.Pings, id)
		}
		list = append(list, shown)
	}
	return list
}

func (f *fake) Delete(thread string, i int) { f.Remove(f.Bots(f.channel(thread))[i].ID) }

func (f *fake) Press(thread string, i int, person, label string) {
	m := f.Bots(f.channel(thread))[i]
	f.Server.Press(m.Channel, persons()[person], m.Buttons[slices.Index(m.Labels, label)])
}

func (f *fake) Told() []string { return f.Answers() }

func op(name string) string {
	return map[string]string{"post": "create"}[name] + map[string]string{"edit": "edit"}[name]
}

func (f *fake) Fault(x surfacetest.Fault) {
	g := discordtest.Fault{Op: op(x.Op), Skip: x.Skip, Times: x.Times}
	switch x.Kind {
	case "limited":
		g.Status, g.RetryAfter = 429, x.After.Seconds()
	case "down":
		g.Status = 503
	case "lost":
		g.Lost = true
	}
	f.Server.Fault(g)
}

func (f *fake) Calls(name string) int { return len(f.Server.Calls(op(name))) }

// Working: shown for 10 s, unless a message of the bot ends it.
func (f *fake) Working(thread string) bool {
	on := time.Time{}
	for _, c := range f.Server.Calls("typing") {
		if c.Channel == f.channel(thread) {
			on = c.At
		}
	}
	for _, m := range f.Bots(f.channel(thread)) {
		if !m.Made.Before(on) {
			return false
		}
	}
	return time.Since(on) < 10*time.Second
}

func (f *fake) Limit() int { return 2000 }
func (f *fake) Close()     { _ = f.Server.Close() }

func TestSuite(t *testing.T) {
	surfacetest.Run(t, func(*testing.T) surfacetest.Fake { return newFake() })
}

// house is the suite's, with what Discord's own tests need.
type house struct {
	*surfacetest.House
	*discordtest.Server
	fake *fake
}

// inHouse runs a test in a bubble; configure may be nil.
func inHouse(t *testing.T, configure func(*fake), test func(h *house)) {
	t.Helper()
	surfacetest.In(t, func(*testing.T) *fake {
		f := newFake()
		if configure != nil {
			configure(f)
		}
		return f
	}, func(h *surfacetest.House, f *fake) { test(&house{h, f.Server, f}) })
}

// ask is a mention in the general channel.
func (h *house) ask(user, text string) string {
	return h.Server.Say(discordtest.General, user, "<@"+discordtest.Bot+"> "+text, "")
}

// want compares the bot's messages in a channel.
func (h *house) want(channel string, want ...string) []discordtest.Message {
	h.T.Helper()
	synctest.Wait()
	list := h.Bots(channel)
	var got []string
	for _, m := range list {
		got = append(got, m.Content)
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		h.T.Fatalf("the bot says %q, want %q", got, want)
	}
	return list
}

// line is how the engine says that the surface stands.
func (h *house) line() string {
	for _, l := range h.Engine.Shape().Surfaces {
		if l.Name == "discord/ada" {
			return strings.TrimSpace(l.State + " " + l.Why)
		}
	}
	return ""
}
