package engine

import (
	"encoding/json"
	"errors"
	"slices"

	"holdfast/store"
)

// CallShape is a tool call as people see it.
type CallShape struct {
	Key       string
	Name      string
	Title     string // for people; "" = Name
	Arguments string // JSON
	State     string // "asked" (waits for approval) | "running" | "done" | "failed" | "unknown" (whether it has happened) | "denied"
	At        store.Time
	MS        int64
	Result    string
	Progress  string // what its tool says while it runs
}

// ApprovalShape is what a turn waits for a person's word on.
type ApprovalShape struct {
	ID    store.ID
	Kind  string // "approval" | "unknown": what has been cut off is to be done again, or left
	Asked store.Time
	Calls []AskedCall
}

// AskedCall is a call that needs a person's word.
type AskedCall struct {
	Key         string
	Name        string
	Title       string
	Arguments   string
	Destructive bool
}

// CallsOf reads the tool calls of a turn in order, and its open approval, nil if it waits for none.
func (e *Engine) CallsOf(t store.Turn) ([]CallShape, *ApprovalShape, error) {
	steps, err := e.Store.Steps(t.ID)
	if err != nil {
		return nil, nil, err
	}
	open, err := e.openApproval(t)
	if err != nil {
		return nil, nil, err
	}
	progress := e.Progress(t.ID)
	var shapes []CallShape
	for _, c := range toolCalls(t.ID, steps) {
		s := CallShape{Key: c.key, Name: c.Name, Arguments: string(c.Arguments), At: c.at, State: c.state(t, open), Progress: progress[c.key]}
		if c.called != nil {
			s.Title = c.called.Title
		}
		if c.result != nil {
			s.MS, s.Result = c.result.MS, c.result.Text
		}
		shapes = append(shapes, s)
	}
	return shapes, open, nil
}

// openApproval is the one that a turn waits for, else the one about its calls that were cut off.
func (e *Engine) openApproval(t store.Turn) (*ApprovalShape, error) {
	kind := postUnknown
	if t.State != store.Done && t.Reason.Why == "approval" {
		kind = postApproval
	}
	a, err := e.Store.OpenApproval(t.ID, kind)
	if errors.Is(err, store.ErrNotFound) {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	return approvalShape(a), nil
}

func approvalShape(a store.Approval) *ApprovalShape {
	var calls []askedCall
	_ = json.Unmarshal(a.Calls, &calls) // of our own making; what cannot be read is shown without its calls
	shape := &ApprovalShape{ID: a.ID, Kind: a.Kind, Asked: a.Asked}
	for _, c := range calls {
		shape.Calls = append(shape.Calls, AskedCall{Key: c.Key, Name: c.Name, Title: c.Title, Arguments: string(c.Arguments), Destructive: c.Destructive})
	}
	return shape
}

// asked is its calls as they are stored.
func (a *ApprovalShape) asked() (list []askedCall) {
	for _, c := range a.Calls {
		list = append(list, askedCall{Key: c.Key, Name: c.Name, Title: c.Title, Arguments: json.RawMessage(c.Arguments), Destructive: c.Destructive})
	}
	return list
}

// state is how a call stands.
func (c *toolCall) state(t store.Turn, open *ApprovalShape) string {
	switch {
	case c.result != nil && c.result.Unknown:
		return "unknown"
	case c.result != nil && c.result.Denied:
		return "denied"
	case c.result != nil && c.result.Failed:
		return "failed"
	case c.result != nil:
		return "done"
	case open != nil && open.Kind == postApproval && slices.ContainsFunc(open.Calls, func(a AskedCall) bool { return a.Key == c.key }):
		return "asked"
	case t.State == store.Done && c.called != nil && !c.called.repeatable():
		return "unknown"
	case t.State == store.Done && c.called == nil:
		return "denied" // it was never made
	case t.State == store.Done:
		return "failed"
	}
	return "running"
}
