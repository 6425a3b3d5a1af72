// Package door is what the surfaces of chat platforms do alike. A surface knows its platform: how to
// hear people, whom it serves, how to post. Its door knows the house: how what was heard becomes a
// turn or changes one, where the bot has been spoken to, and what the next process must know.
//
//	platform ◀─▶ client ◀─▶ surface ─▶ door ─▶ engine
//
// The files of a surface have the same names everywhere: config, in (what people say), press (buttons
// and commands), out (posts and signs) and, where the platform can be asked, catchup (what was said
// while no line stood) and thread (what was said there before). What only the wire knows is in the
// client, a package inside the surface's.
package door

import (
	"context"
	"encoding/json"
	"log/slog"
	"sync"

	"holdfast/engine"
	"holdfast/store"
)

// chatsKnown is how many conversations of the house are read at a start.
const chatsKnown = 5000

// Door is one surface's. Its methods may be called from any goroutine, those that reach the engine
// once Recall or Wait has returned.
type Door struct {
	platform string
	name     string // "PLATFORM/NAME"
	bot      string
	log      *slog.Logger
	engine   *engine.Engine // set by Recall
	opened   chan struct{}
	hands    sync.WaitGroup // see Aside

	mu    sync.Mutex
	talks map[place]bool // where the bot has been spoken to
}

// place is a conversation of the bot's at this surface.
type place struct{ channel, thread string }

// New makes the door of a bot on a platform ("slack"), where it is called name. It is closed.
func New(platform, name, bot string, log *slog.Logger) *Door {
	return &Door{
		platform: platform, name: platform + "/" + name, bot: bot, log: log, opened: make(chan struct{}), talks: map[place]bool{},
	}
}

// Name is the surface's address, "PLATFORM/NAME".
func (d *Door) Name() string { return d.name }

// Person is how somebody of the platform is called in the house.
func (d *Door) Person(id string) string { return d.platform + ":" + id }

// Recall joins the door to the engine and reads into memory what the last process has remembered;
// without that it stays as it is.
func (d *Door) Recall(e *engine.Engine, memory any) {
	d.engine = e
	text, err := e.Store.Meta("surface:" + d.name)
	if err == nil && text != "" {
		err = json.Unmarshal([]byte(text), memory)
	}
	if err != nil {
		d.log.Error("what the last process knew cannot be read", "surface", d.name, "err", err)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, c := range d.Chats(chatsKnown) {
		d.talks[place{c.Channel, c.Thread}] = true
	}
}

// Open lets posts through: what was to be recalled is known.
func (d *Door) Open() { close(d.opened) }

// Wait returns when the door is open.
func (d *Door) Wait(ctx context.Context) error {
	select {
	case <-d.opened:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Remember stores what the next process must know and reports whether that is done; if not, the log
// says why.
func (d *Door) Remember(memory any) bool {
	text, err := json.Marshal(memory)
	if err == nil {
		err = d.engine.Store.SetMeta("surface:"+d.name, string(text), nil)
	}
	if err != nil {
		d.log.Error("what the next process must know cannot be stored", "surface", d.name, "err", err)
	}
	return err == nil
}

// State tells people how the line stands: "connected" | "connecting" | "down", and why.
func (d *Door) State(state, why string) { d.engine.SurfaceState(d.name, state, why) }

// Chats are the bot's conversations at this surface, the latest first, among so many of the house.
func (d *Door) Chats(most int) (list []store.Chat) {
	all, err := d.engine.Store.Chats(0, most)
	if err != nil {
		d.log.Error("conversations cannot be read", "surface", d.name, "err", err)
	}
	for _, c := range all {
		if c.Surface == d.name && c.Bot == d.bot {
			list = append(list, c)
		}
	}
	return list
}

// Spoken tells whether the bot has been spoken to in a conversation.
func (d *Door) Spoken(channel, thread string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.talks[place{channel, thread}]
}
