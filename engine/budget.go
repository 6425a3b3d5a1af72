package engine

import (
	"context"
	"fmt"
	"slices"
	"time"

	"holdfast/store"
)

// spending is what has been used up today of the limits per day; read from the store at the first
// look of a day. Guarded by Engine.mu.
type spending struct {
	day    string
	counts map[string]int64
}

func requestsOf(provider string) string    { return "requests|" + provider }
func tokensOf(bot string) string           { return "tokens|" + bot }
func messagesOf(bot, person string) string { return "messages|" + bot + "|" + person }

// today is the day by the configured time zone.
func (e *Engine) today() string { return e.Wall().In(e.Location).Format(time.DateOnly) }

// tomorrow is when the day turns.
func (e *Engine) tomorrow() store.Time {
	now := e.Wall().In(e.Location)
	return store.At(time.Date(now.Year(), now.Month(), now.Day()+1, 0, 0, 0, 0, e.Location))
}

// spent is what has been used of a limit today.
func (e *Engine) spent(name string) (int64, error) {
	day := e.today()
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.spending.day != day {
		counts, err := e.Store.UsageOn(day)
		if err != nil {
			return 0, err
		}
		e.spending = spending{day: day, counts: counts}
	}
	return e.spending.counts[name], nil
}

// spend counts something up in memory and returns it to be stored with its fact.
func (e *Engine) spend(name string, n int64) store.Usage {
	day := e.today()
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.spending.day == day {
		e.spending.counts[name] += n
	}
	return store.Usage{Day: day, Name: name, N: n}
}

// overBudget tells which limit of the day keeps a turn from sending; "" if none does (R14).
func (e *Engine) overBudget(bot *Bot, provider string) (string, error) {
	e.mu.Lock()
	s := e.services[provider]
	e.mu.Unlock()
	if limit := int64(s.Config.DailyRequests); limit > 0 {
		if n, err := e.spent(requestsOf(provider)); err != nil || n >= limit {
			return fmt.Sprintf("the allowance of %d requests a day to %s is used up", limit, s.label()), err
		}
	}
	if limit := int64(bot.DailyTokens); limit > 0 {
		if n, err := e.spent(tokensOf(bot.Name)); err != nil || n >= limit {
			return fmt.Sprintf("the allowance of %d tokens a day is used up", limit), err
		}
	}
	return "", nil
}

// waitForDay parks a turn until the day turns: nothing fails, no park and nothing of the horizon is counted.
func (e *Engine) waitForDay(ctx context.Context, r *run, t *store.Turn, why string) verdict {
	now, until := e.now(), e.tomorrow()
	if t.Lane == failFast {
		return e.endBusy(ctx, r, t, until, store.Reason{Why: "budget", Text: capital(why)})
	}
	ep := episodeOf(*t)
	if ep.GateSince.IsZero() {
		ep.GateSince = now.Go()
	}
	w := store.Waiting{
		Turn: t.ID, At: now, State: store.Parked, Resumed: t.Resumed, FirstFailed: t.FirstFailed, RearmN: t.RearmN, RearmOf: t.RearmOf, Episode: ep.bytes(),
		Wait:   store.Wait{RetryAt: until, From: "budget", MS: int64(until - now)},
		Reason: store.Reason{Why: "budget", Text: capital(why)},
	}
	if post := e.notice(t, w, e.waitStart(t, ep), until); post != nil {
		w.Posts = []store.Post{*post}
	}
	moved, err := e.Store.WaitTurn(w)
	if err != nil {
		return e.trouble(ctx, r, "park until the day turns", err)
	}
	e.follow(t, moved)
	e.logWait(t, w)
	e.asRow(t, until)
	return over
}

// limited tells a person at once that a limit of his is reached: "" if none is. Operators, the
// token and a login are exempt.
func (e *Engine) limited(bot *Bot, in Incoming) (string, error) {
	if in.Trusted || in.Kind != "message" || in.Person == "" || slices.Contains(bot.Operators, in.Person) {
		return "", nil
	}
	if limit := int64(bot.PerPerson); limit > 0 {
		n, err := e.spent(messagesOf(bot.Name, in.Person))
		if err != nil {
			return "", err
		}
		if n > limit { // this message is counted already
			return fmt.Sprintf("Those were your %d messages for today; it goes on tomorrow.", limit), nil
		}
	}
	if limit := e.Retry.MaxWaiting; limit > 0 && in.Lane == "durable" {
		n, err := e.Store.WaitingOf(in.Person)
		if err != nil {
			return "", err
		}
		if n >= limit {
			return fmt.Sprintf("%d of your messages wait for an answer already; they are kept. Please ask this one again when they are answered.", n), nil
		}
	}
	return "", nil
}
