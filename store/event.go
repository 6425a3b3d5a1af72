package store

import "errors"

// Event is one inbound thing, deduplicated per bot by Key. It has the id of the turn it made.
type Event struct {
	ID   ID
	Turn ID // the turn that answers it: its own, or the one it was merged into
	Key  string
	Kind string // "message" | "tick" | "wake" | "button" | "command" | "sent" (see Speak) | "withdrawn" (its message was deleted)
	Name string // who, as people read it
	Text string
	At   Time

	Behind int // the line of its turn's journal behind which it came in; 0 = before the journal begins
}

// Admission is an event that wants a turn.
type Admission struct {
	At      Time
	Bot     string
	Key     string // the platform's own id of the event; unique per bot
	Kind    string
	Surface string
	Channel string
	Thread  string
	Title   string // of the conversation, if it is new
	Person  string
	Name    string
	Text    string
	Lane    string
	Merge   bool  // a waiting turn of the same person takes the message in (P19)
	Usage   Usage // a count that this message adds to; N 0 = none
	Command *Command

	Journal []*Step // lines that the new turn's journal begins with, and
	Calls   int     // how many calls of tools they hold

	Supersedes ID   // the turn that this one takes the place of, with all that came after it; 0 = none
	Own        bool // on the web: only into a chat that Person has begun, or a new one

	Tick     *Tick // the schedule that sends it; nil = none does
	RepeatOf ID    // the turn that was asked just this before: if that one takes it in, it is not asked twice
}

// Admitted says what became of it.
type Admitted struct {
	Turn         ID    // the message's own turn
	Conversation ID    //
	Into         ID    // the waiting turn that took it in, else 0
	IntoState    State // that turn's state
	Seq          int64 // the change that tells of it
	Duplicate    bool  // the event was known: nothing has changed; Turn is the known turn
	Row          *Turn // that turn as it was written; nil of one that was known or taken in, or that no person has asked
}

// Admit writes event, conversation and turn in one transaction (P1). A known event changes nothing
// (S1), its command aside. With Merge, if the same person has a turn in this conversation that is
// retrying, parked (reason approval aside), rearming or owed, the new turn is written and ends
// merged, the older one (the newest such) takes the event, one more message and the new Spoken; a
// rearming or owed one is not woken here. On the web a chat belongs to one bot: ErrOtherBot for
// another (elsewhere each bot has a conversation of its own in the same place), and ErrElsewhere, which is
// one, for a new chat under the id of a conversation; with Own a chat of somebody else is ErrNotFound. What the clock sends (a tick or a wake) is also taken in by a re-arming
// turn of anybody in the conversation (R2). A message, or a press that asks, starts the conversation's
// count of re-arms anew (R5). With Tick its schedule moves on in the same transaction; ErrMoved if that
// has changed meanwhile. With Supersedes ErrBusy while that turn, or a later one of its
// conversation, is not done. ErrDuplicate, with what was stored, and ErrCommandReused: see Command.
func (s *Store) Admit(a Admission) (Admitted, error) {
	var out Admitted
	err := s.write(a.At, func(f *fact) error {
		err := f.known(a.Command)
		if errors.Is(err, ErrDuplicate) {
			out, err = f.admittedBefore(a.Command.Turn, a.Command.Seq)
			return errors.Join(ErrDuplicate, err)
		}
		if err == nil {
			out, err = f.admit(a)
		}
		return err
	})
	return out, wrap("admit event", err)
}

// admittedBefore says what is known of a turn that an event made earlier.
func (f *fact) admittedBefore(turn ID, seq int64) (Admitted, error) {
	t, err := f.turn(turn)
	out := Admitted{Turn: turn, Conversation: t.Conversation, Into: t.MergedInto, Seq: seq, Duplicate: true}
	if errors.Is(err, ErrNotFound) { // pruned
		return out, nil
	}
	if err == nil && out.Into != 0 {
		err = f.one(`SELECT state FROM turns WHERE id = ?`, out.Into).Scan(&out.IntoState)
		if errors.Is(err, ErrNotFound) {
			err = nil
		}
	}
	return out, err
}

func (f *fact) admit(a Admission) (out Admitted, err error) {
	var known ID
	err = f.one(`SELECT id FROM events WHERE key = ? AND bot = ?`, a.Key, a.Bot).Scan(&known)
	switch {
	case err == nil:
		if out, err = f.admittedBefore(known, f.writer.head); err != nil {
			return out, err
		}
		if err := f.moveOn(a.Tick, out.Turn, a.At); err != nil {
			return out, err
		}
		return out, f.keep(a.Command, out.Turn, chatKey(a.Surface, a.Channel, out.Conversation))
	case !errors.Is(err, ErrNotFound):
		return out, err
	}
	if out.Conversation, err = f.converse(a); err != nil {
		return out, err
	}
	if err := f.mayCutOff(a.Supersedes, out.Conversation); err != nil {
		return out, err
	}
	out.Turn = f.newID()
	if err := f.takeIn(a, &out); err != nil {
		return out, err
	}
	if err := f.admitTurn(a, out); err != nil {
		return out, err
	}
	if err := f.use(a.Usage); err != nil {
		return out, err
	}
	if err := f.moveOn(a.Tick, out.Turn, a.At); err != nil {
		return out, err
	}
	out.Seq = f.writer.head
	if out.Into == 0 && a.counts() { // else its conversation's count of re-arms is not known here
		out.Row = a.row(out)
	}
	return out, f.keep(a.Command, out.Turn, chatKey(a.Surface, a.Channel, out.Conversation))
}

// row is the turn that admitTurn has written for a person's message, as it would be read.
func (a *Admission) row(out Admitted) *Turn {
	return &Turn{
		ID: out.Turn, Conversation: out.Conversation, Bot: a.Bot, Surface: a.Surface, Channel: a.Channel, Thread: a.Thread, Person: a.Person, Lane: a.Lane,
		State: Queued, Version: 1, Created: a.At, Spoken: a.At, Messages: 1, Calls: a.Calls, Supersedes: a.Supersedes,
	}
}

// converse finds or makes the conversation; it is active now.
func (f *fact) converse(a Admission) (id ID, err error) {
	var bot, person string
	if a.Surface == web {
		err = f.one(`SELECT id, bot, person FROM conversations WHERE channel = ? AND surface = ? AND thread = ?`, a.Channel, a.Surface, a.Thread).Scan(&id, &bot, &person)
	} else {
		err = f.one(`SELECT id, bot, person FROM conversations WHERE channel = ? AND surface = ? AND thread = ? AND bot = ?`, a.Channel, a.Surface, a.Thread, a.Bot).Scan(&id, &bot, &person)
	}
	switch {
	case errors.Is(err, ErrNotFound):
		if err := f.notElsewhere(a); err != nil {
			return 0, err
		}
		id = f.newID()
		err = f.must(`INSERT INTO conversations (id, bot, surface, channel, thread, title, created, active, person) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
			id, a.Bot, a.Surface, a.Channel, a.Thread, a.Title, a.At, a.At, a.Person)
		if err == nil {
			err = f.changed(object{kind: kindChat, id: id})
		}
	case err == nil && a.Own && person != a.Person:
		err = ErrNotFound
	case err == nil && bot != a.Bot:
		err = ErrOtherBot
	case err == nil:
		err = f.must(`UPDATE conversations SET active = ?, rearms = iif(?, 0, rearms) WHERE id = ?`, a.At, a.counts(), id)
		if err == nil {
			err = f.changed(object{kind: kindChat, id: id})
		}
	}
	return id, err
}

// notElsewhere refuses a new chat on the web under the id of a conversation, which would hide that one.
func (f *fact) notElsewhere(a Admission) error {
	if a.Surface != web {
		return nil
	}
	id, err := ParseID(a.Channel)
	if err != nil {
		return nil // no id of ours
	}
	if _, err = f.chatByID(id); err == nil {
		return ErrElsewhere
	} else if errors.Is(err, ErrNotFound) {
		return nil
	}
	return err
}

// counts reports an event that a person has made and that asks something.
func (a *Admission) counts() bool { return a.Kind == "message" || a.Kind == "button" }

// byClock reports an event that nobody has made at its moment.
func (a *Admission) byClock() bool { return a.Kind == "tick" || a.Kind == "wake" }

// mayCutOff refuses to supersede what is not done: it could still take messages in or be answered.
func (f *fact) mayCutOff(turn, conversation ID) error {
	if turn == 0 {
		return nil
	}
	var open bool
	err := f.one(`SELECT EXISTS (SELECT 1 FROM turns WHERE conversation = ? AND ended = 0 AND id >= ?)`, conversation, turn).Scan(&open)
	if err == nil && open {
		err = ErrBusy
	}
	return err
}

// takeIn looks whether the person's latest open turn in this lane waits: then it answers this message
// too. If it does not wait the message has its own, lest it overtake what was said before. What the clock
// sends is also taken in by a re-arming turn of anybody (R2).
func (f *fact) takeIn(a Admission, out *Admitted) error {
	if !a.Merge {
		return nil
	}
	anybody := State("")
	if a.byClock() {
		anybody = Rearming
	}
	var latest ID
	var state State
	err := f.one(`SELECT id, state FROM turns WHERE conversation = ? AND ended = 0 AND (person = ? OR state = ?) AND lane = ? AND reason_why <> 'approval'
		ORDER BY id DESC LIMIT 1`, out.Conversation, a.Person, anybody, a.Lane).Scan(&latest, &state)
	if errors.Is(err, ErrNotFound) || err == nil && !state.waits() {
		return nil
	} else if err != nil {
		return err
	}
	out.Into, out.IntoState = latest, state
	return f.must(`UPDATE turns SET messages = messages + 1, spoken = ?, version = version + 1 WHERE id = ? AND state <> 'done'`, a.At, out.Into)
}

// roomOfTurn is how many bytes the row of a turn has room for, about as many as a wait needs.
const roomOfTurn = 200

// admitTurn writes the event and its own turn, which is done at once if another took the event in.
func (f *fact) admitTurn(a Admission, out Admitted) error {
	state, outcome, ended, answers, room := Queued, Outcome(""), Time(0), out.Turn, roomOfTurn
	if out.Into != 0 {
		state, outcome, ended, answers, room = Done, Merged, max(a.At, 1), out.Into, 0
		if out.Into == a.RepeatOf {
			a.Text = ""
		}
	}
	err := f.must(`INSERT INTO events (id, turn, bot, key, kind, name, at, text, behind) VALUES (?, ?, ?, ?, ?, ?, ?, ?, `+behind+`)`,
		out.Turn, answers, a.Bot, a.Key, a.Kind, a.Name, a.At, a.Text, answers)
	if err == nil {
		err = f.must(`INSERT INTO turns (id, conversation, person, lane, state, outcome, created, spoken, ended, merged_into, supersedes, room) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, zeroblob(?))`,
			out.Turn, out.Conversation, a.Person, a.Lane, state, outcome, a.At, a.At, ended, out.Into, a.Supersedes, room)
	}
	if err == nil {
		err = f.changed(object{kind: kindMessage, id: out.Turn})
	}
	for _, p := range a.Journal {
		if err == nil {
			err = f.addStep(out.Turn, p)
		}
	}
	if err == nil && a.Calls > 0 {
		err = f.must(`UPDATE turns SET calls = ? WHERE id = ?`, a.Calls, out.Turn)
	}
	if err == nil && out.Into != 0 {
		err = f.changed(object{kind: kindTurn, id: out.Into})
	}
	if err == nil {
		err = f.changed(object{kind: kindTurn, id: out.Turn})
	}
	return err
}

// behind is the newest line of a turn's journal, 0 if it has none.
const behind = `coalesce((SELECT max(n) FROM steps WHERE turn = ?), 0)`
