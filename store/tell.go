package store

// Told is what the same transaction tells besides the turn itself; every part may be nil.
type Told struct {
	Attempt *AttemptEnd // how the request under way ended
	Step    *Step       // one more line of the journal
	Calls   []*Step     // lines of tool calls about to be made; each counts
	Ask     *Approval   // a question to a person before calls are made; its ID is set
	Gates   []Gate      // gates that this fact closes, moves or opens
	Usage   []Usage     // counts that limits go by
	Tokens  *Tokens     // what a request has used
	Posts   []Post      // new posts (ID 0) and new text for those there are (ID set); they stay as given
}

// tell writes it for a turn whose row has just been written, and all of it into the log.
func (f *fact) tell(t *Turn, told Told) error {
	if err := f.changed(object{kind: kindTurn, id: t.ID}); err != nil {
		return err
	}
	if told.Attempt != nil {
		if err := f.endAttempt(t.ID, told.Attempt); err != nil {
			return wrap("end request", err)
		}
	}
	if told.Step != nil {
		if err := f.addStep(t.ID, told.Step); err != nil {
			return wrap("add step", err)
		}
	}
	if err := f.addCalls(t, told.Calls); err != nil {
		return wrap("add calls", err)
	}
	if told.Ask != nil {
		if err := f.putApproval(t.ID, told.Ask); err != nil {
			return wrap("ask for approval", err)
		}
	}
	for _, p := range told.Posts {
		if err := f.putPost(t, &p); err != nil {
			return wrap("put post", err)
		}
	}
	for _, u := range told.Usage {
		if err := f.use(u); err != nil {
			return wrap("count usage", err)
		}
	}
	if told.Tokens != nil {
		if err := f.addTokens(*told.Tokens); err != nil {
			return wrap("count tokens", err)
		}
	}
	for i := range told.Gates {
		if err := f.putGate(&told.Gates[i]); err != nil {
			return wrap("put gate", err)
		}
	}
	return nil
}
