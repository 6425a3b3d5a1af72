package engine

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"holdfast/store"
)

// noticeStep is by how much the named time must change before a visible notice is edited (N3).
const noticeStep = 10 * time.Second

// notice is the one message per turn that says what is waited for: nil while the wait is short
// enough to stay silent (N2) or when what stands there is still right, else the post to be made or
// edited in the transaction of the wait. start is where the silent window begins, until the moment to name (0 = unknown).
func (e *Engine) notice(t *store.Turn, w store.Waiting, start, until store.Time) *store.Post {
	if t.Lane == failFast {
		return nil
	}
	old, err := e.noticeOf(t)
	if err != nil {
		e.Log.Error("read the notice", "turn", t.ID.String(), "err", err)
		return nil
	}
	silent := max(until, w.At).Sub(start) <= e.Retry.NoticeAfter
	if until == 0 { // who knows how long: until the silent window is over
		silent = w.At.Sub(start) < e.Retry.NoticeAfter
	}
	if old == nil && silent && w.State != store.Owed {
		return nil
	}
	if old != nil && old.Kind == postNotice && old.Until.Sub(until).Abs() < noticeStep && (old.Until == 0) == (until == 0) && w.State != store.Owed {
		return nil
	}
	surface, _ := e.place(t)
	post := e.noticeAs(t, old, e.noticeText(t, w, until, surface), until)
	if old != nil && old.Text == post.Text {
		return nil
	}
	return &post
}

// noticeAs is the post that makes the notice, or gives it a new text.
func (e *Engine) noticeAs(t *store.Turn, old *store.Post, text string, until store.Time) store.Post {
	post := e.postOf(t, 0, postNotice, text, old)
	post.Until = until
	return post
}

// noticeOf is a turn's post 0, nil if it has none. Whatever posts about a turn changes its row as well: one
// that only its requests have changed is not looked up.
func (e *Engine) noticeOf(t *store.Turn) (*store.Post, error) {
	if t.Version == 1+int64(t.Requests) {
		return nil, nil
	}
	return e.noticePost(t.ID)
}

// noticePost is the turn's post 0, nil if it has none.
func (e *Engine) noticePost(turn store.ID) (*store.Post, error) {
	posts, err := e.Store.Posts(turn)
	if err != nil || len(posts) == 0 || posts[0].Part != 0 {
		return nil, err
	}
	return &posts[0], nil
}

// logNotice tells of a notice that was stored with its wait.
func (e *Engine) logNotice(t *store.Turn, p *store.Post, edited bool) {
	if p != nil {
		if surface, to := e.place(t); surface != nil { // from here on the notice says it
			surface.Working(to, t.ID, false)
		}
	}
	switch {
	case p == nil:
	case edited:
		e.Log.Info("notice edited", "turn", t.ID.String())
	default:
		e.Log.Info("notice posted", "turn", t.ID.String())
	}
}

// clockOf is how a surface writes a moment: by a token that every reader sees in his own time zone,
// or as plain local time, with the day if it is another one.
func (e *Engine) clockOf(s Surface) func(store.Time) string {
	if s != nil && s.Traits().Clock != nil {
		return s.Traits().Clock
	}
	return e.plainClock(s)
}

// plainClock is how a surface writes a moment without a token, which only a notice may have: whoever reads
// it elsewhere than on this house's page may be in another zone, so it is named.
func (e *Engine) plainClock(s Surface) func(store.Time) string {
	if s == nil || s.Traits().Local {
		return e.clock
	}
	return func(t store.Time) string { return e.clock(t) + t.Go().In(e.Location).Format(" MST") }
}

// timeOfDay is clockOf for a moment whose day is said beside it.
func (e *Engine) timeOfDay(s Surface, t store.Time) string {
	if s != nil && s.Traits().Clock != nil {
		return s.Traits().Clock(t)
	}
	return t.Go().In(e.Location).Format("15:04:05")
}

// noticeText is one sentence that stands alone in a push notification, with a time and not an
// interval, and says that nothing must be done.
func (e *Engine) noticeText(t *store.Turn, w store.Waiting, until store.Time, on Surface) string {
	who, held, clock := e.service(w.Reason.Provider), store.Time(0), e.clockOf(on)
	if w.State == store.Owed {
		held = e.heldUntil(t)
	}
	longWait := until != 0 && until.Sub(w.At) > e.Retry.StatedWaitFallback
	switch {
	case strings.HasPrefix(w.Wait.Gate, pauseKey):
		return "Still on it: this is paused by its operator at the moment; the answer will come here, no need to send it again."
	case strings.HasPrefix(w.Wait.Gate, goneKey):
		return "The bot needs its configuration looked after by its owner, who has been told; your message is kept and will be answered then. “!stop” drops it."
	case w.Reason.Why == "budget":
		return fmt.Sprintf("The allowance for today is used up; your message is kept and goes on tomorrow at %s, no need to send it again.", e.timeOfDay(on, until))
	case w.State == store.Owed && w.Reason.Why == "account":
		return fmt.Sprintf("%s needs its account looked after by its owner, who has been told; your message is kept and will be answered then. “!stop” drops it.", who)
	case held != 0: // longer than a turn may wait for by itself
		return fmt.Sprintf("%s takes nothing until %s; your message is kept and will be answered then. “!stop” drops it.", who, clock(held))
	case w.State == store.Owed:
		return fmt.Sprintf("%s has not answered since %s; your message is kept and will be answered when it does. “!stop” drops it.", who, clock(cmp.Or(w.FirstFailed, w.At)))
	case longWait && w.Wait.From != "rearm":
		return fmt.Sprintf("%s takes nothing until %s; your message is kept and will be answered then.", who, clock(until))
	case until == 0:
		return fmt.Sprintf("Still on it: %s does not answer at the moment; the answer will come here, no need to send it again.", who)
	case w.Reason.Class == "overloaded" && strings.Contains(strings.ToLower(w.Reason.Text), "loading"):
		return fmt.Sprintf("Still on it: the model is loading, which can take a few minutes; it goes on at %s, no need to send it again.", clock(until))
	}
	return fmt.Sprintf("Still on it: %s is busy; it goes on at %s, no need to send it again.", who, clock(until))
}

// gateWords says in the reason of a waiting turn what stands before its model.
func gateWords(why string) string {
	switch why {
	case "hold":
		return "takes nothing until its time is over"
	case "paused":
		return "is paused by an operator"
	case "down":
		return "does not answer; one turn asks for all"
	}
	return "is back and takes one turn after the other"
}

// service is what people call a provider.
func (e *Engine) service(provider string) string {
	e.mu.Lock()
	defer e.mu.Unlock()
	if s := e.services[provider]; s != nil {
		return s.label()
	}
	return provider
}

// terminalText is what people see when a turn ends without an answer: plain reason, the true count,
// and the stated wait in whole seconds where there is one (F3).
func terminalText(service, plain, why string, attempts int, stated time.Duration) string {
	var b strings.Builder
	switch why {
	case "deadline":
		b.WriteString("Cannot answer this: it took longer than a turn may")
	default:
		fmt.Fprintf(&b, "Cannot answer this: %s %s", service, plain)
	}
	if attempts == 1 {
		b.WriteString(", after 1 attempt")
	} else {
		fmt.Fprintf(&b, ", after %d attempts", attempts)
	}
	if stated > 0 {
		fmt.Fprintf(&b, "; it asks to wait %ds", int64((stated+time.Second-1)/time.Second))
	}
	return b.String() + "."
}
