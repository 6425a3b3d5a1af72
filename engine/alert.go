package engine

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"holdfast/store"
)

// Kinds of alerts.
const (
	alertOutage       = "outage"
	alertHardDown     = "hard_down"
	alertProviderWait = "provider_wait"
	alertAccount      = "account"
	alertDelivery     = "delivery_stuck"
	alertSurface      = "surface_down"
	alertStore        = "store"
	alertPoisoned     = "poisoned"
)

// AlertKinds are all kinds of alerts, as metrics name them.
func AlertKinds() []string {
	return []string{alertOutage, alertHardDown, alertProviderWait, alertAccount, alertDelivery, alertSurface, alertStore, alertPoisoned}
}

// raise opens an alert unless it is open: page, log, and whoever is configured is told once.
func (e *Engine) raise(kind, subject string, since store.Time, text string) {
	e.mu.Lock()
	if _, open := e.open[kind+"|"+subject]; open {
		e.mu.Unlock()
		return
	}
	a := store.Alert{Kind: kind, Subject: subject, Since: since, Raised: e.now(), Text: strings.TrimSpace(text)}
	if e.Alerts.To == "" && e.Alerts.Webhook == "" {
		a.Told = 2
	}
	e.open[kind+"|"+subject] = a
	e.mu.Unlock()
	opened, err := e.Store.RaiseAlert(&a)
	if err != nil { // what is wrong with the store is in the log all the same
		e.Log.Error("store an alert", "kind", kind, "subject", subject, "err", err)
	}
	if opened || err != nil {
		e.mu.Lock()
		e.open[kind+"|"+subject] = a
		e.mu.Unlock()
		e.Log.Warn("alert raised", "kind", kind, "subject", subject, "text", text)
		e.outbox.tell(a)
	}
}

// clear closes one; nothing happens if it is not open.
func (e *Engine) clear(kind, subject string) {
	e.mu.Lock()
	a, open := e.open[kind+"|"+subject]
	delete(e.open, kind+"|"+subject)
	e.mu.Unlock()
	if !open {
		return
	}
	cleared, err := e.Store.ClearAlert(kind, subject, e.now())
	if err != nil {
		e.Log.Error("clear an alert", "kind", kind, "subject", subject, "err", err)
	} else if cleared {
		e.Log.Info("alert cleared", "kind", kind, "subject", subject)
		e.outbox.tell(a)
	}
}

// loadAlerts reads what is open.
func (e *Engine) loadAlerts() error {
	open, err := e.Store.OpenAlerts()
	if err != nil {
		return err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, a := range open {
		e.open[a.Kind+"|"+a.Subject] = a
	}
	return nil
}

// openAlerts are those that are open, oldest first. Engine.mu is held.
func (e *Engine) openAlerts() []store.Alert {
	list := slices.Collect(maps.Values(e.open))
	slices.SortFunc(list, func(a, b store.Alert) int {
		return cmp.Or(cmp.Compare(a.Raised, b.Raised), strings.Compare(a.Kind+a.Subject, b.Kind+b.Subject))
	})
	return list
}

// Ack notes that an operator has seen an alert. One of a poisoned turn is over with that, and one of a
// message that will not be delivered; the others are over when their cause is.
func (e *Engine) Ack(_ context.Context, id store.ID, c *store.Command) error {
	if err := e.Store.AckAlert(id, e.now(), c); err != nil {
		return err
	}
	a, err := e.Store.Alert(id)
	if err != nil {
		return err
	}
	over := a.Kind == alertPoisoned
	if a.Kind == alertDelivery {
		still, err := e.undelivered(a.Subject)
		if err != nil {
			return err
		}
		over = !still
	}
	if over {
		e.clear(a.Kind, a.Subject)
		return nil
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if _, open := e.open[a.Kind+"|"+a.Subject]; open {
		e.open[a.Kind+"|"+a.Subject] = a
	}
	return nil
}

// storeTrouble tells that the store cannot be read or written; what people said is kept all the same.
func (e *Engine) storeTrouble(err error) {
	e.raise(alertStore, "store", e.now(), "the store cannot be used: "+err.Error()+"; nothing is lost, but nothing new is taken until it can")
}

// count is a number with its noun.
func count(n int, noun string) string {
	switch {
	case n == 1:
		return "1 " + noun
	case noun == "person":
		return fmt.Sprintf("%d people", n)
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// clock is a moment as operators read it.
func (e *Engine) clock(t store.Time) string {
	at, now := t.Go().In(e.Location), e.Wall().In(e.Location)
	if at.YearDay() == now.YearDay() && at.Year() == now.Year() {
		return at.Format("15:04:05")
	}
	return at.Format("2006-01-02 15:04:05")
}

// link is where to look on the page; "" if its address is not known.
func (e *Engine) link(path string) string {
	if e.PublicURL == "" {
		return ""
	}
	return strings.TrimSuffix(e.PublicURL, "/") + path
}

// alertMessage is what a webhook is sent.
type alertMessage struct {
	ID      string     `json:"id"`
	Kind    string     `json:"kind"`
	Subject string     `json:"subject"`
	State   string     `json:"state"` // "raised" | "cleared"
	Since   store.Time `json:"since"`
	Cleared store.Time `json:"cleared"`
	Text    string     `json:"text"`
	Link    string     `json:"link"`
}

// tellAlerts delivers what is not delivered yet; each message is tried until it is through. all is false
// if one is to be tried again.
func (e *Engine) tellAlerts(ctx context.Context) (all bool) {
	list, err := e.Store.UntoldAlerts(e.now())
	if err != nil {
		e.Log.Error("read alerts to be told", "err", err)
		e.pause(ctx, outboxAgain)
		nudge(e.outbox.alerts)
		return true
	}
	all = true
	for _, a := range list {
		err := e.tellAlert(ctx, a)
		switch {
		case ctx.Err() != nil:
			return all
		case err == nil:
			a.Told, a.NextTry, a.Tries = a.Told+1, 0, 0
		default:
			e.Log.Warn("an alert could not be delivered; it is tried again", "kind", a.Kind, "err", err)
			a.NextTry = e.now().Add(min(deliverBase<<min(a.Tries, 12), deliverCap))
			a.Tries++
			all = false
		}
		if err := e.Store.MarkAlert(a, e.now()); err != nil {
			e.Log.Error("store an alert's delivery", "err", err)
		}
	}
	return all
}

// tellAlert delivers one message by the webhook and to the surface that are configured.
func (e *Engine) tellAlert(ctx context.Context, a store.Alert) error {
	m := alertMessage{ID: a.ID.String(), Kind: a.Kind, Subject: a.Subject, State: "raised", Since: a.Since, Text: a.Text, Link: e.link("/operator")}
	if a.Told == 1 {
		m.State, m.Cleared, m.Text = "cleared", a.Cleared, "over: "+a.Text
	}
	if e.Alerts.Webhook != "" {
		if err := e.post(ctx, m); err != nil {
			return err
		}
	}
	name, channel := alertPlace(e.Alerts.To)
	s := e.surfaces[name]
	if s == nil {
		return nil
	}
	_, err := s.Post(ctx, Place{Channel: channel}, store.Post{ID: a.ID, Part: a.Told, Kind: "terminal", Text: m.Text, Tries: a.Tries})
	return err
}

// alertPlace reads "slack:NAME/CHANNEL" as a surface's name and a channel.
func alertPlace(to string) (surface, channel string) {
	kind, rest, _ := strings.Cut(to, ":")
	name, channel, _ := strings.Cut(rest, "/")
	return kind + "/" + name, channel
}

// post sends a message to the webhook.
func (e *Engine) post(ctx context.Context, m alertMessage) error {
	body, err := json.Marshal(m)
	if err != nil {
		return fmt.Errorf("alert as JSON: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, e.Alerts.Webhook, bytes.NewReader(body))
	if err != nil {
		return fmt.Errorf("[alerts] webhook: %w", err)
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := e.webhook.Do(req)
	if err != nil {
		return fmt.Errorf("[alerts] webhook does not answer: %w", withoutURL(err))
	}
	resp.Body.Close()
	if resp.StatusCode/100 != 2 {
		return fmt.Errorf("[alerts] webhook answered %d", resp.StatusCode)
	}
	return nil
}
