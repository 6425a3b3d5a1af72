package engine

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"

	"holdfast/store"
)

// Kinds of posts that are not an answer, a terminal text or a mention. The first three say what a turn
// waits for, stand in its part 0 and become its answer.
const (
	postNotice   = "notice"   // waits for a moment, or for a provider
	postStale    = "stale"    // could be answered, but is so old that it asks whether it is still wanted (R13)
	postApproval = "approval" // asks whether tools may be called
	postUnknown  = "unknown"  // tells of calls of which it is not known whether they have happened; beside the others
)

// postTold is what a decided question about calls that were cut off becomes: it has no buttons.
const postTold = "told"

// IsNotice tells whether a post of a kind is a plain sentence of the house, in which a moment stands as
// the surface writes it, and not Markdown. Only these have buttons.
func IsNotice(kind string) bool {
	return kind == postNotice || kind == postStale || kind == postApproval || kind == postUnknown || kind == postTold
}

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
	sure bool // only below the text that stands there now
}

// deeds are what can be done about a post of a kind, in the order in which the buttons stand. A kind
// with buttons of its own is one more case here.
func deeds(kind string) []deed {
	switch kind {
	case postNotice:
		return []deed{
			{Button{Do: "resume", Label: "Try now"}, (*Engine).Resume, "Trying again now.", false},
			{Button{Do: "stop", Label: "Stop"}, (*Engine).Stop, "Stopped.", false},
		}
	case postStale:
		return []deed{
			{Button{Do: "yes", Label: "Yes", Primary: true}, (*Engine).Resume, "It is answered now.", false},
			{Button{Do: "no", Label: "No"}, (*Engine).Stop, "Dropped.", false},
		}
	case postApproval:
		return []deed{
			{Button{Do: "approve", Label: "Approve", Primary: true}, decides(postApproval, true), "Approved.", true},
			{Button{Do: "deny", Label: "Deny", Danger: true}, decides(postApproval, false), "Not approved.", true},
		}
	case postUnknown:
		return []deed{
			{Button{Do: "again", Label: "Do it"}, decides(postUnknown, true), "It is done now.", true},
			{Button{Do: "leave", Label: "Leave it"}, decides(postUnknown, false), "It is left.", true},
		}
	}
	return nil
}

// decides says a person's word on calls: that a turn waits to make, or that were cut off.
func decides(kind string, allow bool) func(*Engine, context.Context, Order) (store.Turn, error) {
	return func(e *Engine, ctx context.Context, o Order) (store.Turn, error) {
		return e.decideOn(ctx, o.Turn, kind, o.By, allow)
	}
}

// deedOf is what a button does, of whichever kind of post it is.
func deedOf(do string) (deed, bool) {
	for _, kind := range []string{postNotice, postStale, postApproval, postUnknown} {
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
	Turn  store.ID
	Do    string     // of its Button
	By    string     // the person, as the surface names people; never ""
	Below store.Time // Post.Edited of the text that it stood below: what is approved is what was read
}

// Key is what a surface lets a button of a post carry, at most 48 characters of ASCII.
func (b Button) Key(p store.Post) string {
	return b.Do + ":" + p.Turn.String() + ":" + strconv.FormatInt(int64(p.Edited), 36)
}

// PressedKey reads what a button has carried; what this house has not written does nothing.
func PressedKey(key, by string) Pressed {
	parts := strings.Split(key, ":")
	if len(parts) != 3 {
		return Pressed{By: by}
	}
	turn, err := store.ParseID(parts[1])
	below, belowErr := strconv.ParseInt(parts[2], 36, 64)
	if err != nil || belowErr != nil {
		return Pressed{By: by}
	}
	return Pressed{Turn: turn, Do: parts[0], By: by, Below: store.Time(below)}
}

// Press carries a button out, for who asked and operators only (R16), and returns what there is to say
// to the person, whatever came of it. The error is for the log: it was not carried out for a reason of ours.
func (e *Engine) Press(ctx context.Context, p Pressed) (said string, err error) {
	d, known := deedOf(p.Do)
	if !known || p.By == "" {
		return "I do not know this any more.", nil
	}
	if d.sure {
		post, err := e.noticePost(p.Turn)
		if ends := p.Do == "again" || p.Do == "leave"; ends {
			post, err = e.unknownPost(p.Turn)
		}
		if err == nil && (post == nil || post.Edited != p.Below) {
			return "This is decided already.", nil
		}
	}
	t, err := d.do(e, ctx, Order{Turn: p.Turn, By: p.By})
	surface, _ := e.place(&t)
	until := e.clockOf(surface)
	switch {
	case errors.Is(err, ErrHeld):
		return "The provider takes nothing until " + until(t.RetryAt) + "; it goes on by itself then.", nil
	case errors.Is(err, ErrAsks):
		return "This waits for your word on what I have asked to do: “!approve” or “!deny”.", nil
	case errors.Is(err, ErrNotYours):
		return "Only the person who asked, or an operator of this bot, may do that.", nil
	case d.sure && (errors.Is(err, store.ErrNotFound) || errors.Is(err, store.ErrSettled)):
		return "This is decided already.", nil
	case errors.Is(err, store.ErrNotFound):
		return "This is so long ago that it is not kept any more.", nil
	case err != nil:
		return "That did not work; press it again in a moment.", err
	case t.State == store.Done && !d.sure && (t.Outcome != store.Cancelled || !ends(p.Do)):
		return "This is done already.", nil
	case p.Do == "yes" && e.heldUntil(&t) != 0:
		return "It is kept: the provider takes nothing until " + until(e.heldUntil(&t)) + "; it is answered then.", nil
	}
	return d.said, nil
}

// ends tells whether a button ends its turn.
func ends(do string) bool { return do == "stop" || do == "no" }
