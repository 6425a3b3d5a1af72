package engine

import (
	"context"
	"fmt"
	"strings"

	"holdfast/engine/llm"
	"holdfast/store"
)

// Receive makes a turn of an event; it returns after the commit, so that whoever acknowledges the
// event to its platform afterwards can never lose it (P1). A known event changes nothing (S1). A
// message of somebody whose turn waits in this conversation joins that turn (P19); one that is
// re-arming or owed is thereby started.
func (e *Engine) Receive(ctx context.Context, in Incoming) (store.Admitted, error) {
	if in.Kind == "" {
		in.Kind = "message"
	}
	if in.Lane == "" {
		in.Lane = "durable"
	}
	bot := e.bot(in.Bot)
	if bot == nil {
		return store.Admitted{}, fmt.Errorf("%w: %q", ErrNoBot, in.Bot)
	}
	if err := ctx.Err(); err != nil {
		return store.Admitted{}, err
	}
	word := ""
	if in.Kind == "message" {
		word = asCommand(in.Text)
	}
	if word != "" {
		in.Kind = kindCommand
	}
	used, today, err := e.takeMessage(bot, in)
	if err != nil {
		return store.Admitted{}, err
	}
	a, err := e.Store.Admit(store.Admission{
		At: e.now(), Bot: in.Bot, Key: in.Key, Kind: in.Kind, Surface: in.Surface, Channel: in.Channel, Thread: in.Thread, Title: in.Title,
		Person: in.Person, Name: in.Name, Text: withDropped(in), Lane: in.Lane, Merge: e.Config.Merge && word == "" && in.supersedes == 0 && len(in.calls) == 0, Usage: used, Command: in.Command,
		Own: in.Own, Supersedes: in.supersedes, Journal: e.firstLines(in), Calls: len(in.calls), Tick: in.tick, RepeatOf: in.repeatOf,
	})
	if err != nil || a.Duplicate {
		e.untake(used)
		return a, e.refused(err)
	}
	e.Crash("admitted")
	e.Log.Info("turn admitted", "turn", a.Turn.String(), "bot", in.Bot, "surface", in.Surface)
	switch {
	case a.Into != 0:
		e.tookIn(a, in.Kind)
		return a, nil
	case word != "":
		e.obeyNow(ctx, a.Turn, word)
		return a, nil
	}
	e.count("", store.Queued)
	if refused, err := e.refuse(ctx, bot, in, a, today); err != nil || refused {
		return a, err
	}
	e.wakeAdmitted(a, wokenBy(in.Kind))
	return a, nil
}

// firstLines is the journal that a turn begins with, nil for most.
func (e *Engine) firstLines(in Incoming) []*store.Step {
	if len(in.calls) == 0 {
		return nil
	}
	var reply replyStep
	for i, c := range in.calls {
		reply.Calls = append(reply.Calls, llm.Call{ID: fmt.Sprint("do_", i), Name: c.Name, Arguments: c.Arguments})
	}
	return []*store.Step{line("reply", e.now(), reply), line("decided", e.now(), in.decided)}
}

// withDropped is what was said, and what came with it that a model cannot read: the person is to be
// told by the answer (S10).
func withDropped(in Incoming) string {
	if len(in.Dropped) == 0 {
		return in.Text
	}
	return strings.TrimSpace(in.Text + "\n[came with what cannot be read here, say so: " + strings.Join(in.Dropped, ", ") + "]")
}

// tookIn follows a message that has joined a waiting turn. One that is re-arming or owed is thereby
// started; any other goes on at its time and answers both.
func (e *Engine) tookIn(a store.Admitted, kind string) {
	e.mu.Lock()
	e.tally.move("", store.Done)
	e.tally.settled[store.Merged]++
	e.mu.Unlock()
	if a.IntoState != store.Rearming && a.IntoState != store.Owed {
		return
	}
	if _, err := e.start(a.Into, wokenBy(kind), false, nil); err != nil {
		e.Log.Error("start a turn by what it took in", "turn", a.Into.String(), "err", err)
	}
}

// wokenBy is what an event of a kind is to the turn that it wakes.
func wokenBy(kind string) string {
	if byClock(kind) {
		return "schedule"
	}
	return "message"
}

// obeyNow carries a command out that has just been admitted. If its turn cannot be read, it stands
// in the store, and the next start carries it out.
func (e *Engine) obeyNow(ctx context.Context, turn store.ID, word string) {
	e.count("", store.Queued)
	t, err := e.Store.Turn(turn)
	if err != nil {
		e.Log.Error("read a command", "turn", turn.String(), "err", err)
		return
	}
	e.obey(context.WithoutCancel(ctx), t, word)
}

// count counts a turn over from one state to another.
func (e *Engine) count(from, to store.State) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.tally.move(from, to)
}

// refuse ends a message's turn at once where a limit of its person is reached (R14); it has its row
// and is told so politely. today is how many messages he has sent today.
func (e *Engine) refuse(ctx context.Context, bot *Bot, in Incoming, a store.Admitted, today int64) (bool, error) {
	why, err := e.limited(bot, in, today)
	if err != nil || why == "" {
		return false, err
	}
	t, err := e.Store.Turn(a.Turn)
	if err != nil {
		return false, err
	}
	e.settle(context.WithoutCancel(ctx), &run{turn: a.Turn}, &t, store.Settled{Outcome: store.Refused, Text: why, Error: why})
	return true, nil
}

// start queues a waiting turn with a new episode and makes it ready: a person's message, an operator
// and what the clock sends have the full ladder. An operator also starts the conversation's count of
// re-arms anew; a message has done so when it came, and the clock never does (R5).
func (e *Engine) start(turn store.ID, by string, force bool, c *store.Command) (store.Turn, error) {
	before, err := e.Store.Turn(turn)
	if err != nil {
		return before, err
	}
	wake := store.Wake{Turn: turn, At: e.now(), NewEpisode: true, ClearRearms: by == "operator", Command: c}
	if waits := episodeOf(before).Waits; waits.N > 0 { // the run of stated waits goes on
		wake.Episode = episode{Waits: waits}.bytes()
	}
	if asksWhetherWanted(&before) {
		wake.Spoken = e.now()
	}
	after, err := e.Store.WakeTurn(wake)
	if err != nil {
		return after, err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	account := accountGate(&before)
	if after.Was != after.State { // else it was woken, or went on by itself, since it was read
		e.tally.move(after.Was, after.State)
		e.leaveGate(&before)
	}
	if r := e.sched.runs[turn]; r != nil && r.place == waiting { // the run it waited in is over
		delete(e.sched.runs, turn)
	}
	e.wakeLocked(turn, after.Conversation, by, 0, force)
	if account != "" {
		e.sched.runs[turn].account = account
	}
	e.pump()
	return after, nil
}
