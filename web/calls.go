package web

import (
	"context"
	"errors"
	"strings"

	"holdfast/engine"
	"holdfast/store"
	"holdfast/web/command"
)

// callShown is how many bytes of a call's arguments and of its result a page is sent.
const callShown = 4 << 10

// callJSON is a tool call of a turn.
type callJSON struct {
	ID       string     `json:"id"`
	Name     string     `json:"name"`
	Title    string     `json:"title"`
	Args     string     `json:"args"`
	State    string     `json:"state"`
	At       store.Time `json:"at"`
	MS       *int64     `json:"ms"`
	Result   *string    `json:"result"`
	Progress *string    `json:"progress"`
}

// approvalJSON is what a turn waits for a person's word on: whole, since what is approved must be what was read.
type approvalJSON struct {
	ID    string          `json:"id"`
	Asked store.Time      `json:"asked"`
	Kind  string          `json:"kind"`
	Calls []askedCallJSON `json:"calls"`
}

type askedCallJSON struct {
	ID          string `json:"id"`
	Name        string `json:"name"`
	Title       string `json:"title"`
	Args        string `json:"args"`
	Destructive bool   `json:"destructive"`
}

func showCall(c engine.CallShape) callJSON {
	title := c.Title
	if title == "" {
		title = c.Name
	}
	j := callJSON{ID: c.Key, Name: c.Name, Title: title, Args: shorten(c.Arguments), State: c.State, At: c.At, Progress: some(c.Progress)}
	if c.State != "asked" && c.State != "running" {
		j.MS, j.Result = &c.MS, some(shorten(c.Result))
	}
	return j
}

func showApproval(a *engine.ApprovalShape) *approvalJSON {
	if a == nil {
		return nil
	}
	return &approvalJSON{ID: a.ID.String(), Asked: a.Asked, Kind: a.Kind, Calls: show(a.Calls, func(c engine.AskedCall) askedCallJSON {
		title := c.Title
		if title == "" {
			title = c.Name
		}
		return askedCallJSON{ID: c.Key, Name: c.Name, Title: title, Args: c.Arguments, Destructive: c.Destructive}
	})}
}

// shorten cuts a text for the page; the turn's own page has it whole in its journal.
func shorten(text string) string {
	if len(text) <= callShown {
		return text
	}
	return strings.ToValidUTF8(text[:callShown], "") + "…"
}

// showTurns are what a caller may see of turns, with their tool calls; a visitor sees none of those.
func (r *reader) showTurns(who caller, turns []store.Turn) ([]turnJSON, error) {
	list := make([]turnJSON, 0, len(turns))
	for _, t := range turns {
		j, err := r.showTurn(who, t)
		if err != nil {
			return nil, err
		}
		list = append(list, j)
	}
	return list, nil
}

func (r *reader) showTurn(who caller, t store.Turn) (turnJSON, error) {
	j := who.turn(t)
	if who.visits() || t.Calls == 0 && t.Reason.Why != "approval" {
		return j, nil
	}
	calls, approval, err := r.engine.CallsOf(t)
	if err != nil {
		return j, err
	}
	j.Calls, j.Approval = show(calls, showCall), showApproval(approval)
	return j, nil
}

// decide stores an operator's word on an approval.
func (s *Server) decide(ctx context.Context, c command.Command, once *store.Command) (carried, error) {
	id, err := store.ParseID(c.Target)
	var t store.Turn
	if err == nil {
		t, err = s.engine.Decide(ctx, engine.Decision{Approval: id, Allow: c.Allow, Command: once})
	}
	switch {
	case err == nil:
	case errors.Is(err, store.ErrNotFound):
		return carried{}, &problem{status: 404, code: "not_found", message: "there is no approval of that id"}
	case errors.Is(err, store.ErrSettled):
		return carried{}, &problem{status: 409, code: "settled", message: "this was decided already, or its turn has ended", turn: &t}
	}
	done, err := result(once, err)
	if err == nil && !done.Duplicate {
		done.Turn, done.Chat = some(t.ID.String()), some(chatOf(t))
	}
	return done, err
}
