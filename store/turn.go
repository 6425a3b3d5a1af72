package store

import (
	"bytes"
	"errors"
	"strconv"
)

// State is where a turn stands. DESIGN: queued → running → (retrying | parked | rearming | owed → queued …) → done.
type State string

const (
	Queued   State = "queued"   // admitted or woken, waits for a worker
	Running  State = "running"  // a request or a tool is under way
	Retrying State = "retrying" // waits in process
	Parked   State = "parked"   // waits as a row only: until RetryAt, or at Gate
	Rearming State = "rearming" // exhausted, sent again at RetryAt
	Owed     State = "owed"     // everything spent; waits at Gate, for a message or an operator
	Done     State = "done"
)

// waits reports whether a turn in this state waits for something other than a worker.
func (s State) waits() bool {
	return s == Retrying || s == Parked || s == Rearming || s == Owed
}

// Outcome is how a done turn ended.
type Outcome string

const (
	Answered  Outcome = "answered"
	Failed    Outcome = "failed"
	Refused   Outcome = "refused"
	Cancelled Outcome = "cancelled"
	Merged    Outcome = "merged"
)

// Turn is the work from one trigger to its settled answer, as the table keeps it.
type Turn struct {
	ID           ID
	Conversation ID
	Bot          string // with Surface, Channel and Thread: copied from the conversation when read
	Surface      string
	Channel      string
	Thread       string
	Person       string // who asked, as the surface names people; the merge and stop rules go by it
	Lane         string // "durable" | "fail_fast"
	State        State
	Was          State   // of what a fact returns: the state that it found the turn in; "" in what is only read
	Outcome      Outcome // "" until done
	Version      int64   // counts changes of this row
	Created      Time
	Spoken       Time // when the last message it answers arrived
	Ended        Time
	Messages     int // messages it answers and changes of them, merged ones included
	Wait             // what it waits for, all zero when it does not
	Reason       Reason
	Resumed      string // why the next run goes on: "" | "failure" | "restart"; told to the model (P12)
	FirstFailed  Time   // start of the episode, 0 outside one; kept when the turn ends inside one
	Attempts     int    // sends, in all
	Requests     int    // HTTP requests, in all
	Parks        int    // in all
	Calls        int    // tool calls, in all
	RearmN       int    // the re-arm that is waited for or under way, from 1; 0 = none
	RearmOf      int
	Deaths       int    // process deaths in a row in the current step
	Rearms       int    // of its conversation: re-arms in a row
	Episode      []byte // the ladder's record of the episode, opaque here; nil outside one
	MergedInto   ID
	Supersedes   ID     // the turn that this one takes the place of, with all that came after it
	Model        string // PROVIDER/MODEL of the latest request
	Text         string // the answer, the partial text of a stopped one, or the terminal text people saw
	Error        string // a plain sentence, or ""
}

// Wait is what a waiting turn waits for.
type Wait struct {
	RetryAt Time   // when it is due; 0 when only Gate, a message or an operator wakes it. Read with its turn it is the gate's end: where that is later, and always of one that has parked for nothing but the gate, whose own time is only for a look
	Gate    string // the gate's key when it waits at one, else ""
	From    string // "backoff" | "retry-after" | "gate" | "rearm" | "approval" | "budget"
	MS      int64  // planned length; a backward clock step never lets RetryAt lie further ahead
}

// Reason is the last failure, or whatever else a waiting turn waits for, in words for people.
type Reason struct {
	Why      string // "failure" | "gate" | "approval" | "budget" | "account" | "stale"; "" = none
	Class    string
	Status   int
	Provider string
	Model    string // without the provider
	Text     string
}

// turnColumns are what scan reads, of turns t and its conversations c.
const turnColumns = `t.id, t.conversation, c.bot, c.surface, c.channel, c.thread, t.person, t.lane, t.state, t.outcome, t.version,
	t.created, t.spoken, t.ended, t.messages,
	CASE t.gate WHEN '' THEN t.retry_at ELSE max(iif(t.state = 'parked' AND t.wait_from = 'gate', 0, t.retry_at), coalesce((SELECT g.until FROM gates g WHERE g.key = t.gate), 0)) END, t.gate, t.wait_from, t.wait_ms,
	t.reason_why, t.reason_class, t.reason_status, t.reason_provider, t.reason_model, t.reason_text,
	t.resumed, t.first_failed, t.attempts, t.requests, t.parks, t.rearm_n, t.rearm_of, t.deaths, c.rearms, t.episode,
	t.merged_into, t.supersedes, t.model, t.text, t.error, t.calls`

func (t *Turn) scan(r row) error {
	return r.Scan(&t.ID, &t.Conversation, &t.Bot, &t.Surface, &t.Channel, &t.Thread, &t.Person, &t.Lane, &t.State, &t.Outcome, &t.Version,
		&t.Created, &t.Spoken, &t.Ended, &t.Messages, &t.RetryAt, &t.Gate, &t.From, &t.MS,
		&t.Reason.Why, &t.Reason.Class, &t.Reason.Status, &t.Reason.Provider, &t.Reason.Model, &t.Reason.Text,
		&t.Resumed, &t.FirstFailed, &t.Attempts, &t.Requests, &t.Parks, &t.RearmN, &t.RearmOf, &t.Deaths, &t.Rearms, &t.Episode,
		&t.MergedInto, &t.Supersedes, &t.Model, &t.Text, &t.Error, &t.Calls)
}

// turn reads one turn; ErrNotFound if there is none.
func (c *conn) turn(id ID) (t Turn, err error) {
	err = t.scan(c.one(`SELECT `+turnColumns+` FROM turns t JOIN conversations c ON c.id = t.conversation WHERE t.id = ?`, id))
	return t, err
}

// open reads a turn that is to be changed; ErrSettled, with the turn, if it is done.
func (f *fact) open(id ID) (Turn, error) {
	t, err := f.turn(id)
	t.Was = t.State
	if err == nil && t.State == Done {
		err = ErrSettled
	}
	return t, err
}

// openCore is open for a fact that writes the wait, the reason and the episode anew: without them it
// reads half the columns, and that is the largest part of a park's work. The rest is zero in an open turn.
func (f *fact) openCore(id ID) (t Turn, err error) {
	t.ID = id
	err = f.one(`SELECT t.conversation, c.bot, c.surface, c.channel, c.thread, t.person, t.lane, t.state, t.version,
		t.created, t.spoken, t.messages, t.attempts, t.requests, t.parks, t.deaths, c.rearms, t.model, t.supersedes, t.calls
		FROM turns t JOIN conversations c ON c.id = t.conversation WHERE t.id = ?`, id).
		Scan(&t.Conversation, &t.Bot, &t.Surface, &t.Channel, &t.Thread, &t.Person, &t.Lane, &t.State, &t.Version,
			&t.Created, &t.Spoken, &t.Messages, &t.Attempts, &t.Requests, &t.Parks, &t.Deaths, &t.Rearms, &t.Model, &t.Supersedes, &t.Calls)
	t.Was = t.State
	if err == nil && t.State == Done {
		return f.open(id)
	}
	return t, err
}

// outcome is what a method that changes a turn returns: the turn as it is now, which with an error
// other than these three is nobody's business, since what was changed in it is not stored.
func outcome(tried string, t Turn, err error) (Turn, error) {
	if err == nil || errors.Is(err, ErrSettled) || errors.Is(err, ErrMoved) || errors.Is(err, ErrDuplicate) {
		return t, wrap(tried, err)
	}
	return Turn{}, wrap(tried, err)
}

// Turn reads one turn; ErrNotFound if there is none.
func (s *Store) Turn(id ID) (t Turn, err error) {
	err = s.read(func(c *conn) error {
		t, err = c.turn(id)
		return err
	})
	return t, wrap("read turn", err)
}

// TurnsOf reads turns by their ids, in one query, which costs a fraction of as many; those that are not
// there are left out.
func (s *Store) TurnsOf(ids []ID) (turns map[ID]Turn, err error) {
	turns = make(map[ID]Turn, len(ids))
	list := []byte("[")
	for _, id := range ids {
		list = append(strconv.AppendInt(list, int64(id), 10), ',')
	}
	list = append(bytes.TrimSuffix(list, []byte(",")), ']')
	err = s.read(func(c *conn) error {
		return c.each(func(r row) error {
			var t Turn
			err := t.scan(r)
			turns[t.ID] = t
			return err
		}, `SELECT `+turnColumns+` FROM json_each(?) j CROSS JOIN turns t ON t.id = j.value JOIN conversations c ON c.id = t.conversation`, string(list))
	})
	return turns, wrap("read turns", err)
}
