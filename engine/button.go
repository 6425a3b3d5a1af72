package engine

import (
	"context"
	"errors"
	"slices"
	"strings"

	"holdfast/store"
)

// Kinds of posts. All but an answer, a terminal text and a mention are notices: they say what a turn
// waits for, stand in its part 0 and become its answer.
const (
	postNotice = "notice" // waits for a moment, or for a provider
	postStale  = "stale"  // can be answered now, but is so old that it asks whether it is still wanted (R13)
)

// IsNotice tells whether a post of a kind says what its turn waits for: a plain sentence in the
// surface's own words, not an answer's Markdown, and edited into the answer later.
func IsNotice(kind string) bool { return kind != "answer" && kind != "terminal" && kind != "mention" }

// Button is one below a post, as every surface can show it.
type Button struct {
	Do      string // what pressing it does, see Pressed
	Label   string
	Primary bool // the one that most people want
	Danger  bool // it refuses or ends something
}

// deed is what a button does: do carries it out, said is what the person is told then.
type deed struct {
	Button
	do   func(*Engine, context.Context, Order) (store.Turn, error)
	said string
}

// deeds are what can be done about a post of a kind, in the order in which the buttons stand. A kind
// with buttons of its own is one more case here.
func deeds(kind string) []deed {
	switch kind {
	case postNotice:
		return []deed{
			{Button{Do: "resume", Label: "Try now"}, (*Engine).Resume, "Trying again now."},
			{Button{Do: "stop", Label: "Stop"}, (*Engine).Stop, "Stopped."},
		}
	case postStale:
		return []deed{
			{Button{Do: "yes", Label: "Yes", Primary: true}, (*Engine).Resume, "It is answered now."},
			{Button{Do: "no", Label: "No"}, (*Engine).Stop, "Dropped."},
		}
	}
	return nil
}

// deedOf is what a button does, of whichever kind of post it is.
func deedOf(do string) (deed, bool) {
	for _, kind := range []string{postNotice, postStale} {
		all := deeds(kind)
		if i := slices.IndexFunc(all, func(d deed) bool { return d.Do == do }); i >= 0 {
			return all[i], true
		}
	}
	return deed{}, false
}

// Buttons are those below a post, in order; nil = none. A surface shows each by its label and hands
// what was pressed to Press.
func Buttons(p store.Post) (list []Button) {
	for _, d := range deeds(p.Kind) {
		list = append(list, d.Button)
	}
	return list
}

// Pressed is a button that somebody has pressed. It names its turn, so that one of an old turn never
// acts on a newer one (R16).
type Pressed struct {
	Turn store.ID
	Do   string // of its Button
	By   string // the person, as the surface names people; never ""
}

// Key is what a surface lets a button of a turn's post carry, at most 40 characters of ASCII.
func (b Button) Key(turn store.ID) string { return b.Do + ":" + turn.String() }

// PressedKey reads what a button has carried; what this house has not written does nothing.
func PressedKey(key, by string) Pressed {
	do, id, _ := strings.Cut(key, ":")
	turn, err := store.ParseID(id)
	if err != nil {
		return Pressed{By: by}
	}
	return Pressed{Turn: turn, Do: do, By: by}
}

// Press carries a button out, for who asked and operators only (R16), and returns what there is to say
// to the person, whatever came of it. The error is for the log: it was not carried out for a reason of ours.
func (e *Engine) Press(ctx context.Context, p Pressed) (said string, err error) {
	d, known := deedOf(p.Do)
	if !known || p.By == "" {
		return "I do not know this any more.", nil
	}
	t, err := d.do(e, ctx, Order{Turn: p.Turn, By: p.By})
	surface, _ := e.place(&t)
	until := clockOf(surface, e.Location)
	switch {
	case errors.Is(err, ErrHeld):
		return "The provider takes nothing until " + until(t.RetryAt) + "; it goes on by itself then.", nil
	case errors.Is(err, ErrNotYours):
		return "Only the person who asked, or an operator of this bot, may do that.", nil
	case errors.Is(err, store.ErrNotFound):
		return "This is so long ago that it is not kept any more.", nil
	case err != nil:
		return "That did not work; press it again in a moment.", err
	case t.State == store.Done && (t.Outcome != store.Cancelled || !ends(p.Do)):
		return "This is done already.", nil
	case p.Do == "yes" && e.heldUntil(&t) != 0:
		return "It is kept: the provider takes nothing until " + until(e.heldUntil(&t)) + "; it is answered then.", nil
	}
	return d.said, nil
}

// ends tells whether a button ends its turn.
func ends(do string) bool { return do == "stop" || do == "no" }
