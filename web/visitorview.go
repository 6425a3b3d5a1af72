package web

import (
	"holdfast/store"
)

// turn is one as a caller may see it. A visitor is told in one sentence why he waits, and nothing of
// providers and models.
func (c caller) turn(t store.Turn) turnJSON {
	j := showTurn(t)
	if !c.visits() {
		return j
	}
	j.Model = nil
	if j.Reason != nil {
		j.Reason = &reasonJSON{Why: j.Reason.Why, Text: new(plainReason(t))}
	}
	return j
}

// plainReason is why a turn waits, or has ended without an answer, for people who know nothing of providers.
func plainReason(t store.Turn) string {
	switch {
	case t.State == store.Done:
		return "The AI could not answer this."
	case t.Reason.Why == "budget":
		return "What may be used today is used up; it goes on by itself when the day turns."
	case t.Reason.Why == "account":
		return "The AI cannot be reached at the moment; whoever runs this page has been told, and the answer will come here."
	case t.Reason.Why == "approval":
		return "Somebody has to allow what is to be done first; then it goes on by itself and the answer will come here."
	case t.Reason.Why == "stale":
		return t.Reason.Text
	}
	return "The AI is busy at the moment; it goes on by itself and the answer will come here."
}

// page is what a caller is told that does not change while the daemon runs.
func (s *Server) page(who caller) page {
	p := page{Version: s.version, Bots: s.bots, Demo: s.demo, PublicURL: s.config.PublicURL, Has: []string{"schedules", "memory", "usage"}}
	if p.Bots == nil {
		p.Bots = []Bot{}
	}
	if who.visits() {
		p = page{Version: s.version, Bots: []Bot{{Name: s.config.Public, Models: []string{}}}, Visitor: true, Codes: len(s.config.Codes) > 0}
	}
	return p
}
