package engine

import (
	"context"
	"errors"
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
	_, sum, err := e.take(name, 0, 0)
	return sum, err
}

// take counts n more of a limit per day, in memory at once and in what it returns, to be stored with
// its fact; untake takes it back if that fact is not stored. sum is what is used up then, this
// included. Where that would be over limit (0 = none) nothing is counted, and N is 0.
func (e *Engine) take(name string, n, limit int64) (u store.Usage, sum int64, err error) {
	u = store.Usage{Day: e.today(), Name: name, N: n}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.spending.day != u.Day {
		counts, err := e.Store.UsageOn(u.Day)
		if err != nil {
			return store.Usage{}, 0, err
		}
		e.spending = spending{day: u.Day, counts: counts}
	}
	sum = e.spending.counts[name] + n
	if limit > 0 && sum > limit {
		return store.Usage{}, sum - n, nil
	}
	if n > 0 {
		e.spending.counts[name] = sum
	}
	return u, sum, nil
}

// untake takes back what was not used.
func (e *Engine) untake(u store.Usage) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if u.N > 0 && e.spending.day == u.Day {
		e.spending.counts[u.Name] -= u.N
	}
}

// errAllowance is a request that would go over its provider's limit per day: another turn has taken the last one.
var errAllowance = errors.New("the allowance of the day is used up")

// takeRequest counts a request against its provider's limit per day, if there is one.
func (e *Engine) takeRequest(model string) (store.Usage, error) {
	provider, _ := splitModel(model)
	e.mu.Lock()
	s := e.services[provider]
	e.mu.Unlock()
	if s == nil || s.Config.DailyRequests <= 0 {
		return store.Usage{}, nil
	}
	u, _, err := e.take(requestsOf(provider), 1, int64(s.Config.DailyRequests))
	if err == nil && u.N == 0 {
		err = errAllowance
	}
	return u, err
}

// takeMessage counts a message against its person's limit per day, if there is one; sum is how many
// there are then.
func (e *Engine) takeMessage(bot *Bot, in Incoming) (u store.Usage, sum int64, err error) {
	if bot.PerPerson <= 0 || in.Trusted || in.Kind != "message" {
		return store.Usage{}, 0, nil
	}
	return e.take(messagesOf(bot.Name, in.Person), 1, 0)
}

// overBudget tells which limit of the day keeps a turn from sending; "" if none does (R14).
func (e *Engine) overBudget(bot *Bot, provider string) (string, error) {
	e.mu.Lock()
	s := e.services[provider]
	e.mu.Unlock()
	if limit := int64(s.Config.DailyRequests); limit > 0 {
		if n, err := e.spent(requestsOf(provider)); err != nil || n >= limit {
			return e.allowance(provider), err
		}
	}
	if limit := int64(bot.DailyTokens); limit > 0 {
		if n, err := e.spent(tokensOf(bot.Name)); err != nil || n >= limit {
			return fmt.Sprintf("the allowance of %d tokens a day is used up", limit), err
		}
	}
	return "", nil
}

// allowance says that a provider's requests of the day are used up.
func (e *Engine) allowance(provider string) string {
	e.mu.Lock()
	defer e.mu.Unlock()
	s := e.services[provider]
	return fmt.Sprintf("the allowance of %d requests a day to %s is used up", s.Config.DailyRequests, s.label())
}

// waitForDay parks a turn until the day turns: nothing fails, no park and nothing of the horizon is counted.
func (e *Engine) waitForDay(ctx context.Context, r *run, t *store.Turn, why string) verdict {
	now, until := e.now(), e.tomorrow()
	if t.Lane == failFast {
		return e.endBusy(ctx, r, t, until, store.Reason{Why: "budget", Text: capital(why)})
	}
	ep := episodeOf(*t)
	e.waitsAtGate(&ep, now)
	w := store.Waiting{
		Turn: t.ID, At: now, State: store.Parked, Resumed: t.Resumed, FirstFailed: t.FirstFailed, RearmN: t.RearmN, RearmOf: t.RearmOf, Episode: ep.bytes(),
		Wait:   store.Wait{RetryAt: until, From: "budget", MS: int64(until - now)},
		Reason: store.Reason{Why: "budget", Text: capital(why)},
	}
	post := e.notice(t, w, e.waitStart(t, ep), until)
	if post != nil {
		w.Posts = []store.Post{*post}
	}
	moved, err := e.storeWait(w)
	if err != nil {
		return e.trouble(ctx, r, "park until the day turns", err)
	}
	e.follow(t, moved)
	e.logNotice(t, post, post != nil && post.ID != 0)
	e.logWait(t, w)
	e.asRow(t, until)
	return over
}

// limited tells a person at once that a limit of his is reached: "" if none is. today is how many
// messages he has sent today, this one included. Operators, the token and a login are exempt.
func (e *Engine) limited(bot *Bot, in Incoming, today int64) (string, error) {
	if in.Trusted || in.Kind != "message" || in.Person == "" || slices.Contains(bot.Operators, in.Person) {
		return "", nil
	}
	if limit := int64(bot.PerPerson); limit > 0 && today > limit {
		return fmt.Sprintf("Those were your %d messages for today; it goes on tomorrow.", limit), nil
	}
	if limit := e.Retry.MaxWaiting; limit > 0 && in.Lane == "durable" && !e.nobodyWaits() {
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
