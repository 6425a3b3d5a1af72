package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"time"

	"holdfast/store"
	"holdfast/web/command"
)

// turn is the turn object of the API, as far as the tables show it.
type turn struct {
	ID       string     `json:"id"`
	Bot      string     `json:"bot"`
	Surface  string     `json:"surface"`
	State    string     `json:"state"`
	Outcome  string     `json:"outcome"`
	Created  time.Time  `json:"created"`
	RetryAt  *time.Time `json:"retry_at"`
	WaitFrom string     `json:"wait_from"`
	Reason   *reason    `json:"reason"`
	Attempts int        `json:"attempts_n"`
	Requests int        `json:"requests_n"`
	Parks    int        `json:"parks_n"`
	Rearm    *ofCount   `json:"rearm"`
	Merged   string     `json:"merged_into"`
	Model    string     `json:"model"`
	Text     string     `json:"text"`
	Error    string     `json:"error"`
	Made     []attempt  `json:"attempts"`
}

type reason struct {
	Why    string `json:"why"`
	Class  string `json:"class"`
	Status int    `json:"status"`
	Text   string `json:"text"`
}

type ofCount struct {
	N  int `json:"n"`
	Of int `json:"of"`
}

// attempt is one request.
type attempt struct {
	N        int       `json:"n"`
	Send     int       `json:"send"`
	At       time.Time `json:"at"`
	Model    string    `json:"model"`
	Status   int       `json:"status"`
	Class    string    `json:"class"`
	StatedMS *int64    `json:"stated_wait_ms"`
	WaitMS   *int64    `json:"wait_ms"`
	WaitFrom string    `json:"wait_from"`
	Rung     string    `json:"rung"`
	Outcome  string    `json:"outcome"`
	MS       *int64    `json:"ms"`
	Error    string    `json:"error"`
}

// age is a flag like 90m or 2d.
type age string

// UnmarshalText takes what the API takes as an age.
func (a *age) UnmarshalText(text []byte) error {
	if _, err := command.Age(string(text)); err != nil {
		return err
	}
	*a = age(text)
	return nil
}

// stateName is a flag that names a state.
type stateName string

// UnmarshalText refuses what is no state.
func (n *stateName) UnmarshalText(text []byte) error {
	switch s := store.State(text); s {
	case store.Queued, store.Running, store.Retrying, store.Parked, store.Rearming, store.Owed, store.Done:
		*n = stateName(s)
		return nil
	}
	return fmt.Errorf("%q is no state; use queued, running, retrying, parked, rearming, owed or done", text)
}

// filter chooses turns, alike in every command that takes several.
type filter struct {
	State     stateName `placeholder:"STATE" help:"Only turns in this state: queued, running, retrying, parked, rearming, owed or done."`
	Waiting   bool      `help:"Only turns that wait: retrying, parked, rearming or owed."`
	Bot       string    `placeholder:"NAME" help:"Only this bot's turns."`
	Model     string    `placeholder:"PROVIDER/MODEL" help:"Only turns whose latest request went to this model."`
	OlderThan age       `placeholder:"AGE" help:"Only turns older than this, for example 90m or 2d."`
}

// empty tells whether nothing was asked for.
func (f filter) empty() bool { return f == filter{} }

// query is the filter as the API takes it.
func (f filter) query() url.Values {
	q := url.Values{}
	for key, value := range map[string]string{"state": string(f.State), "bot": f.Bot, "model": f.Model, "older_than": string(f.OlderThan)} {
		if value != "" {
			q.Set(key, value)
		}
	}
	if f.Waiting {
		q.Set("waiting", "true")
	}
	return q
}

// turnsCmd lists turns.
type turnsCmd struct {
	filter
	Limit  int    `default:"50" placeholder:"N" help:"How many at most (${default})."`
	Before string `placeholder:"ID" help:"Go on below this turn, for the next page."`
	JSON   bool   `help:"As the API's JSON."`
}

func (t *turnsCmd) Run(c *call) error {
	if t.Limit < 1 || t.Limit > 1000 {
		return errors.New("--limit must be between 1 and 1000")
	}
	q := t.query()
	q.Set("limit", strconv.Itoa(t.Limit))
	if t.Before != "" {
		q.Set("before", t.Before)
	}
	var raw json.RawMessage
	if err := c.ask("/api/v1/turns", q, &raw); err != nil {
		return err
	}
	if t.JSON {
		return c.printJSON(raw)
	}
	var page struct {
		Turns []turn `json:"turns"`
		Next  string `json:"next"`
	}
	if err := json.Unmarshal(raw, &page); err != nil {
		return fmt.Errorf("read the list of turns: %w", err)
	}
	if len(page.Turns) == 0 {
		fmt.Fprintln(c.out, "No turns.")
		return nil
	}
	rows := [][]string{{"TURN", "ASKED", "BOT", "MODEL", "REQUESTS", "STATE"}}
	for _, t := range page.Turns {
		rows = append(rows, []string{t.ID, clock(&t.Created, c.now()), t.Bot, cmp.Or(t.Model, "–"), strconv.Itoa(t.Requests), t.words(c.now())})
	}
	table(c.out, rows)
	if page.Next != "" {
		fmt.Fprintf(c.out, "There are more: add --before %s\n", page.Next)
	}
	return nil
}

// words says where a turn stands and what it waits for.
func (t turn) words(now time.Time) string {
	switch t.State {
	case "done":
		if t.Outcome == "merged" {
			return "done: joined turn " + t.Merged
		}
		return "done: " + cmp.Or(t.Outcome, "no outcome")
	case "queued":
		return "queued for a worker"
	case "running":
		return "running"
	}
	words, at := map[string]string{"retrying": "retrying", "parked": "parked", "rearming": "re-arming", "owed": "owed"}[t.State], clock(t.RetryAt, now)
	switch {
	case t.State == "rearming" && t.Rearm != nil:
		words += fmt.Sprintf(" %d of %d at %s", t.Rearm.N, t.Rearm.Of, at)
	case t.State == "owed" && at != "":
		words += ", asks again at " + at
	case at != "":
		words += " until " + at
	}
	if r := t.Reason; r != nil {
		words += ": " + r.words()
	}
	return words
}

// words is a reason on one line.
func (r reason) words() string {
	text := cmp.Or(oneLine(r.Text, 60), r.Class, r.Why)
	if r.Status > 0 && !strings.Contains(text, strconv.Itoa(r.Status)) {
		text += fmt.Sprintf(" (%d)", r.Status)
	}
	return text
}

// turnCmd shows one turn.
type turnCmd struct {
	ID   string `arg:"" help:"The turn, as the list and the page name it."`
	JSON bool   `help:"As the API's JSON."`
}

func (t *turnCmd) Run(c *call) error {
	if !command.ValidID(t.ID) {
		return fmt.Errorf("%q is no turn's id; the command turns lists them", t.ID)
	}
	var raw json.RawMessage
	if err := c.ask("/api/v1/turns/"+t.ID, nil, &raw); err != nil {
		return err
	}
	if t.JSON {
		return c.printJSON(raw)
	}
	var shown turn
	if err := json.Unmarshal(raw, &shown); err != nil {
		return fmt.Errorf("read the turn: %w", err)
	}
	shown.print(c)
	return nil
}

// print shows a turn and a line for every request.
func (t turn) print(c *call) {
	now := c.now()
	rows := [][]string{
		{"turn", t.ID}, {"state", t.words(now)}, {"asked", clock(&t.Created, now) + " of bot " + t.Bot + " on " + t.Surface},
		{"sent", fmt.Sprintf("%s in %s, parked %s", counted(t.Requests, "request"), counted(t.Attempts, "attempt"), counted(t.Parks, "time"))},
	}
	if t.Error != "" {
		rows = append(rows, []string{"error", t.Error})
	}
	if t.Text != "" {
		rows = append(rows, []string{"text", oneLine(t.Text, 100)})
	}
	table(c.out, rows)
	if len(t.Made) == 0 {
		return
	}
	fmt.Fprintln(c.out)
	rows = [][]string{{"", "AT", "MODEL", "STATUS", "TOOK", "OUTCOME", "WAIT", "FROM", "WHY"}}
	for _, a := range t.Made {
		rows = append(rows, a.row(now))
	}
	table(c.out, rows)
}

// row is a request as a line of the table.
func (a attempt) row(now time.Time) []string {
	status, took, wait := "–", "–", "–"
	if a.Status > 0 {
		status = strconv.Itoa(a.Status)
	}
	if a.MS != nil {
		took = length(*a.MS)
	}
	if a.WaitMS != nil {
		wait = length(*a.WaitMS)
	}
	why := cmp.Or(oneLine(a.Error, 60), a.Class)
	return []string{strconv.Itoa(a.N), clock(&a.At, now), a.Model, status, took, cmp.Or(a.Outcome, "under way"), wait, cmp.Or(a.WaitFrom, "–"), why}
}

// printJSON prints an answer of the API, indented.
func (c *call) printJSON(raw json.RawMessage) error {
	e := json.NewEncoder(c.out)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(raw)
}
