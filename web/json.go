package web

import (
	"encoding/json"

	"holdfast/engine"
	"holdfast/store"
	"holdfast/web/markdown"
)

// The shapes of CONTRACT.md §3. A field without a value is null.

type turnJSON struct {
	ID          string      `json:"id"`
	Bot         string      `json:"bot"`
	Chat        string      `json:"chat"`
	Surface     string      `json:"surface"`
	State       string      `json:"state"`
	Outcome     *string     `json:"outcome"`
	Lane        string      `json:"lane"`
	Version     int64       `json:"version"`
	Created     store.Time  `json:"created"`
	FirstFailed store.Time  `json:"first_failed_at"`
	RetryAt     store.Time  `json:"retry_at"`
	WaitFrom    *string     `json:"wait_from"`
	WaitMS      *int64      `json:"wait_ms"`
	Reason      *reasonJSON `json:"reason"`
	Attempts    int         `json:"attempts_n"`
	Requests    int         `json:"requests_n"`
	Parks       int         `json:"parks_n"`
	Rearm       *rearmJSON  `json:"rearm"`
	MergedInto  *string     `json:"merged_into"`
	Supersedes  *string     `json:"supersedes"` // the turn that this one takes the place of
	Model       *string     `json:"model"`
	Text        *string     `json:"text"`
	Error       *string     `json:"error"`

	Calls    []callJSON    `json:"calls,omitempty"` // of tools
	Approval *approvalJSON `json:"approval,omitempty"`
}

type reasonJSON struct {
	Why      string  `json:"why"`
	Class    *string `json:"class"`
	Status   int     `json:"status"`
	Provider *string `json:"provider"`
	Model    *string `json:"model"`
	Text     *string `json:"text"`
}

type rearmJSON struct {
	N  int `json:"n"`
	Of int `json:"of"`
}

type attemptJSON struct {
	Turn      string     `json:"turn,omitempty"` // only on the socket
	N         int        `json:"n"`
	Send      int        `json:"send"`
	At        store.Time `json:"at"`
	Model     string     `json:"model"`
	Status    int        `json:"status"`
	Class     string     `json:"class"`
	StatedMS  *int64     `json:"stated_wait_ms"`
	WaitMS    *int64     `json:"wait_ms"`
	WaitFrom  *string    `json:"wait_from"`
	Rung      string     `json:"rung"`
	Outcome   *string    `json:"outcome"` // null while under way
	RequestID *string    `json:"request_id"`
	MS        *int64     `json:"ms"`
	Error     *string    `json:"error"`
}

type stepJSON struct {
	N    int             `json:"n"`
	Kind string          `json:"kind"`
	At   store.Time      `json:"at"`
	Body json.RawMessage `json:"body"`
}

type postJSON struct {
	ID      string     `json:"id"`
	Part    int        `json:"part"`
	Kind    string     `json:"kind"`
	State   string     `json:"state"`
	Text    string     `json:"text"`
	Handle  *string    `json:"handle"`
	NextTry store.Time `json:"next_try_at"`
	Tries   int        `json:"tries"`
	Created store.Time `json:"created"`
	Edited  store.Time `json:"edited"`
	Error   *string    `json:"error"`
}

type chatJSON struct {
	ID      string     `json:"id"`
	Bot     string     `json:"bot"`
	Surface string     `json:"surface"`
	Source  string     `json:"source"` // what began it: its surface, or "schedule"
	Title   string     `json:"title"`
	Created store.Time `json:"created"`
	Active  store.Time `json:"active"`
	State   *string    `json:"state"`
}

type messageJSON struct {
	ID     string     `json:"id"`
	Chat   string     `json:"chat"`
	Turn   *string    `json:"turn"`
	Role   string     `json:"role"`
	Kind   string     `json:"kind"`
	Name   *string    `json:"name"`
	Text   string     `json:"text"`
	HTML   string     `json:"html"`
	At     store.Time `json:"at"`
	Edited store.Time `json:"edited"`
}

// some is a pointer to a value, nil for the zero value.
func some[T comparable](v T) *T {
	var zero T
	if v == zero {
		return nil
	}
	return &v
}

// chatOf is the outside id of a turn's conversation, as store.Chat.Key has it.
func chatOf(t store.Turn) string {
	if t.Surface == surface {
		return t.Channel
	}
	return t.Conversation.String()
}

func showTurn(t store.Turn) turnJSON {
	j := turnJSON{
		ID: t.ID.String(), Bot: t.Bot, Chat: chatOf(t), Surface: t.Surface, State: string(t.State), Outcome: some(string(t.Outcome)),
		Lane: t.Lane, Version: t.Version, Created: t.Created, FirstFailed: t.FirstFailed, RetryAt: t.RetryAt, WaitFrom: some(t.From),
		Attempts: t.Attempts, Requests: t.Requests, Parks: t.Parks, MergedInto: some(t.MergedInto.String()), Supersedes: some(t.Supersedes.String()), Model: some(t.Model),
		Text: some(t.Text), Error: some(t.Error),
	}
	if t.From != "" {
		j.WaitMS = &t.MS
	}
	if r := t.Reason; r.Why != "" {
		j.Reason = &reasonJSON{Why: r.Why, Class: some(r.Class), Status: r.Status, Provider: some(r.Provider), Model: some(r.Model), Text: some(r.Text)}
	}
	if t.RearmN > 0 {
		j.Rearm = &rearmJSON{N: t.RearmN, Of: t.RearmOf}
	}
	return j
}

func showAttempt(a store.Attempt) attemptJSON {
	j := attemptJSON{
		N: a.N, Send: a.Send, At: a.At, Model: a.Model, Status: a.Status, Class: a.Class, WaitFrom: some(a.WaitFrom), Rung: a.Rung,
		Outcome: some(a.Outcome), RequestID: some(a.RequestID), Error: some(a.Error),
	}
	if a.StatedMS >= 0 {
		j.StatedMS = &a.StatedMS
	}
	if a.WaitFrom != "" {
		j.WaitMS = &a.WaitMS
	}
	if a.Outcome != "" {
		j.MS = &a.MS
	}
	return j
}

func showStep(s store.Step) stepJSON {
	j := stepJSON{N: s.N, Kind: s.Kind, At: s.At, Body: s.Body}
	if !json.Valid(s.Body) {
		j.Body = json.RawMessage("null")
	}
	return j
}

func showPost(p store.Post) postJSON {
	return postJSON{
		ID: p.ID.String(), Part: p.Part, Kind: p.Kind, State: p.State, Text: p.Text, Handle: some(p.Handle), NextTry: p.NextTry,
		Tries: p.Tries, Created: p.Created, Edited: p.Edited, Error: some(p.Error),
	}
}

func showChat(c store.Chat) chatJSON {
	j := chatJSON{ID: c.Key, Bot: c.Bot, Surface: c.Surface, Source: c.Surface, Title: c.Title, Created: c.Created, Active: c.Active, State: some(string(c.State))}
	if engine.IsSchedule(c.Person) {
		j.Source = "schedule"
	}
	return j
}

// showMessage renders what the bot wrote as Markdown and what people wrote as they typed it.
func showMessage(m store.Message, chat string, md *markdown.Renderer) messageJSON {
	j := messageJSON{
		ID: m.ID.String(), Chat: chat, Turn: some(m.Turn.String()), Role: m.Role, Kind: m.Kind, Name: some(m.Name), Text: m.Text,
		At: m.At, Edited: m.Edited,
	}
	if m.Role == "user" {
		j.HTML = markdown.Plain(m.Text)
	} else {
		j.HTML = md.HTML(m.Text)
	}
	return j
}

// show maps rows to their shapes; never nil, so that an empty list is [].
func show[A, B any](rows []A, one func(A) B) []B {
	out := make([]B, 0, len(rows))
	for _, row := range rows {
		out = append(out, one(row))
	}
	return out
}
