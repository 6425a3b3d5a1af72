package web

import (
	"holdfast/engine"
	"holdfast/store"
)

// alertJSON is something an operator must know; cleared is null while it is open.
type alertJSON struct {
	ID      string     `json:"id"` // "" for one that could not be stored
	Kind    string     `json:"kind"`
	Subject *string    `json:"subject"` // PROVIDER/MODEL, a bot, a surface, a turn
	Since   store.Time `json:"since"`
	Text    string     `json:"text"`
	Acked   store.Time `json:"acked"`
	Cleared store.Time `json:"cleared"`
}

func showAlert(a store.Alert) alertJSON {
	return alertJSON{ID: a.ID.String(), Kind: a.Kind, Subject: some(a.Subject), Since: a.Since, Text: a.Text, Acked: a.Acked, Cleared: a.Cleared}
}

func (r *reader) alertOf(text string) (store.Alert, error) {
	id, err := store.ParseID(text)
	if err != nil {
		return store.Alert{}, err
	}
	return r.store.Alert(id)
}

// providerJSON is a model that a bot names: what stands before it and how it has done in the last hour.
type providerJSON struct {
	ID          string     `json:"id"` // PROVIDER/MODEL
	Provider    string     `json:"provider"`
	Model       string     `json:"model"`
	Bots        []string   `json:"bots"`
	State       string     `json:"state"` // "open" | "held" | "down"
	Until       store.Time `json:"until"` // end of the gate's closing
	CoolUntil   store.Time `json:"cooldown_until"`
	CoolReason  *string    `json:"cooldown_reason"`
	Paused      bool       `json:"paused"`
	NoKey       bool       `json:"no_key"`
	Waiting     int        `json:"waiting"`
	People      int        `json:"people"` // whose turns wait
	Requests    int        `json:"requests"`
	Failures    int        `json:"failures"`
	Median      *int64     `json:"median_ms"`
	LastError   *string    `json:"last_error"`
	LastErrorAt store.Time `json:"last_error_at"`
	LastOK      store.Time `json:"last_ok"`
}

func showProvider(p engine.ProviderShape) providerJSON {
	return providerJSON{
		ID: p.Provider + "/" + p.Model, Provider: p.Provider, Model: p.Model, Bots: append([]string{}, p.Bots...), State: p.State, Until: p.Until,
		CoolUntil: p.CoolUntil, CoolReason: some(p.CoolWhy), Paused: p.Paused, NoKey: p.NoKey, Waiting: p.Waiting, People: p.People, Requests: p.Requests, Failures: p.Failures,
		Median: some(p.Median), LastError: some(p.LastError), LastErrorAt: p.LastErrorAt, LastOK: p.LastOK,
	}
}

// provider finds one by PROVIDER/MODEL; nil if no bot names it.
func (r *reader) provider(id string) func(caller) (any, error) {
	for _, p := range r.engine.Providers() {
		if p.Provider+"/"+p.Model == id {
			return as(showProvider(p))
		}
	}
	return nil
}
