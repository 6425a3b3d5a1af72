package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"holdfast/store"
)

// A bot that is called into a thread must know what it is about. Messages that are not addressed to it
// are never stored (S9), so they are read from the platform when a context is built, and are in the
// memory of this process alone. What was read is fixed all the same, so that every request of a turn
// says the same: it ends before the turn's own message, and the line "context" of the journal, written
// with the first request, says where it begins, or that the platform did not answer. A resume reads
// just that again.

const (
	// EarlierMost is how many messages of a thread are read at most.
	EarlierMost = 50

	earlierWithin  = 3 * time.Second // a platform that takes longer is not waited for
	earlierBytes   = 16 << 10        // of all of them
	earlierEach    = 2 << 10         // of one
	earlierShare   = 4               // one part in so many of a context's budget at most
	earlierInReach = 200             // turns whose messages are kept in memory
)

// Historian is a Surface that can look up what was said in a thread.
type Historian interface {
	// Earlier reads what people and other bots have said in a thread before the message of that
	// Incoming.Key, or, if that is no message of the platform's, before a moment: oldest first, at most
	// EarlierMost, of a longer thread its root and the newest. It makes one request or a few, and
	// repeats none. Nil where nothing can have been said: in direct messages, or by a message that
	// begins its thread.
	Earlier(ctx context.Context, to Place, key string, before store.Time) ([]Said, error)
}

// Said is a message of a thread.
type Said struct {
	Key  string // as Incoming.Key would have it
	Name string // who, as people read it
	Text string
	At   store.Time // by the platform's clock
}

// contextStep is the journal's line of what was read of a thread.
type contextStep struct {
	From string `json:"from,omitzero"` // the key of the oldest message besides the root; "" = it could not be read
	N    int    `json:"n"`             // how many there were
}

// lookedBack is what was read for a turn.
type lookedBack struct {
	said []Said
	step *store.Step // the line that says so, to be journaled with the next request; nil = it is, or there is nothing to say
}

// earlier is what has been read, by turn, so that a turn that parks again and again is read for once.
type earlier struct {
	mu    sync.Mutex
	known map[store.ID]*lookedBack
	turns []store.ID // in the order in which they were read
}

func (k *earlier) get(turn store.ID) *lookedBack {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.known[turn]
}

func (k *earlier) keep(turn store.ID, b *lookedBack) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if len(k.turns) >= earlierInReach {
		delete(k.known, k.turns[0])
		k.turns = k.turns[1:]
	}
	k.known[turn], k.turns = b, append(k.turns, turn)
}

// lookBack reads, once in a run, what was said in the turn's thread before it. It never fails a turn,
// and holds it up for some seconds at the most.
func (e *Engine) lookBack(ctx context.Context, r *run, t *store.Turn) {
	surface, to := e.place(t)
	historian, ok := surface.(Historian)
	if r.earlier != nil {
		return
	}
	r.earlier = &lookedBack{}
	if !ok {
		return
	}
	if known := e.earlier.get(t.ID); known != nil {
		r.earlier = known
		return
	}
	var steps []store.Step
	asked, err := e.Store.Asked(t.ID)
	if err == nil && t.Requests > 0 { // before the first nothing is journaled of it
		steps, err = e.Store.Steps(t.ID)
	}
	if err != nil || len(asked) == 0 {
		return // the next read of the store tells what is wrong with it
	}
	was := journaledContext(steps)
	if was != nil && was.From == "" {
		return
	}
	within, cancel := context.WithTimeout(ctx, earlierWithin)
	defer cancel()
	said, err := historian.Earlier(within, to, asked[0].Key, t.Created)
	switch {
	case ctx.Err() != nil:
		return
	case err != nil:
		e.Log.Info("what was said in a thread could not be read; the turn goes on without", "turn", t.ID.String(), "err", err)
		said = nil
	case was != nil:
		said = from(said, was.From)
	default:
		said = bounded(said)
	}
	r.earlier.said = said
	if was == nil && (err != nil || len(said) > 0) {
		r.earlier.step = line("context", e.now(), contextStep{From: fromOf(said), N: len(said)})
	}
	e.earlier.keep(t.ID, r.earlier)
}

// journaledContext is the line of a journal that says what was read; nil if there is none.
func journaledContext(steps []store.Step) *contextStep {
	i := slices.IndexFunc(steps, func(s store.Step) bool { return s.Kind == "context" })
	var c contextStep
	if i < 0 || json.Unmarshal(steps[i].Body, &c) != nil {
		return nil
	}
	return &c
}

// fromOf names the message from which on a thread was read, its root aside.
func fromOf(said []Said) string {
	if len(said) == 0 {
		return ""
	}
	return said[min(1, len(said)-1)].Key
}

// from is the root and the messages from one on, each cut as before.
func from(said []Said, key string) []Said {
	i := slices.IndexFunc(said, func(m Said) bool { return m.Key == key })
	if i > 1 {
		said = slices.Delete(said, 1, i)
	}
	return shortened(said)
}

// bounded cuts messages that are long, and leaves out the oldest behind the root, so that all fit.
func bounded(said []Said) []Said {
	said = shortened(said[:min(len(said), EarlierMost)])
	for len(said) > 1 && sizeOf(said) > earlierBytes {
		said = slices.Delete(said, 1, 2)
	}
	return said
}

func shortened(said []Said) []Said {
	for i, m := range said {
		if n := min(len(m.Text), earlierEach); n < len(m.Text) {
			for !utf8.RuneStart(m.Text[n]) {
				n--
			}
			said[i].Text = m.Text[:n] + " […]"
		}
	}
	return said
}

// sizeOf is how many bytes they take in a context.
func sizeOf(said []Said) (n int) {
	for _, m := range said {
		n += len(m.Name) + len(m.Text) + len(": \n")
	}
	return n
}

// unheard leaves out what stands in the history anyway and what was said before the last "!new", and
// of the rest the oldest, the root at last, until it fits.
func unheard(said []Said, history []store.Exchange, budget int) []Said {
	stored := map[string]bool{}
	fresh := store.Time(0)
	for _, x := range history {
		for _, ev := range x.Events {
			stored[ev.Key] = true
			if ev.Kind == kindCommand && asCommand(ev.Text) == "!new" {
				fresh = ev.At
			}
		}
	}
	said = slices.DeleteFunc(slices.Clone(said), func(m Said) bool { return stored[m.Key] || fresh != 0 && m.At <= fresh })
	for len(said) > 0 && sizeOf(said) > budget {
		said = slices.Delete(said, min(1, len(said)-1), min(2, len(said)))
	}
	return said
}

// overheard adds what was said in the thread before an exchange, all of it before the one under way,
// and returns the rest. It says who speaks, and that it was not said to the bot.
func (p *prompted) overheard(said []Said, x store.Exchange, last bool) []Said {
	n := len(said)
	if !last {
		n = slices.IndexFunc(said, func(m Said) bool { return len(x.Events) > 0 && m.At >= x.Events[0].At })
		if n < 0 {
			n = len(said)
		}
	}
	if n == 0 {
		return said
	}
	var b strings.Builder
	b.WriteString("[Holdfast: said in this thread by others, not to you:]\n")
	for _, m := range said[:n] {
		fmt.Fprintf(&b, "%s: %s\n", m.Name, m.Text)
	}
	b.WriteString("[Holdfast: the end of that.]")
	p.say("user", b.String())
	return said[n:]
}
