package web

import (
	"net/http"
	"strconv"
	"time"

	"holdfast/engine"
	"holdfast/store"
)

// usageJSON is what a bot has used of a model on a day. Cost is null where the config has no price.
type usageJSON struct {
	Day       string   `json:"day"`
	Bot       string   `json:"bot"`
	Model     string   `json:"model"`
	Requests  int64    `json:"requests"`
	TokensIn  int64    `json:"tokens_in"`
	TokensOut int64    `json:"tokens_out"`
	Cost      *float64 `json:"cost"`
}

// usageDays is how far back it is told unless asked otherwise, and at most.
const (
	usageDays     = 30
	usageDaysMost = 3660
)

// handleUsage tells what was used, per day, bot and model, the newest day first: ?days=30.
func (s *Server) handleUsage(w http.ResponseWriter, r *http.Request) {
	days := usageDays
	if text := r.URL.Query().Get("days"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 || n > usageDaysMost {
			refuse(w, badRequest("days must be 1 to %d", usageDaysMost))
			return
		}
		days = n
	}
	used, err := s.store.TokensSince(time.Now().In(s.location).AddDate(0, 0, 1-days).Format(time.DateOnly))
	if err != nil {
		s.fail(w, r, err)
		return
	}
	reply(w, http.StatusOK, struct {
		Days     []usageJSON `json:"days"`
		Currency string      `json:"currency"`
	}{show(used, s.showUsage), s.currency})
}

func (s *Server) showUsage(n store.Tokens) usageJSON {
	return usageJSON{Day: n.Day, Bot: n.Bot, Model: n.Model, Requests: n.Requests, TokensIn: n.In, TokensOut: n.Out, Cost: s.cost(n.Model, n.In, n.Out)}
}

// cost is what so many tokens of a model cost; nil if the config has no price for it.
func (s *Server) cost(model string, in, out int64) *float64 {
	p, ok := s.prices[model]
	if !ok {
		return nil
	}
	return new(p.Cost(in, out))
}

// spentJSON is what a turn has used; cost is null where one of its models has no price.
type spentJSON struct {
	TokensIn  int64    `json:"tokens_in"`
	TokensOut int64    `json:"tokens_out"`
	Cost      *float64 `json:"cost"`
	Currency  string   `json:"currency"`
}

func (s *Server) spent(attempts []store.Attempt) (all spentJSON) {
	all = spentJSON{Cost: new(0.0), Currency: s.currency}
	for _, a := range attempts {
		if a.TokensIn+a.TokensOut == 0 {
			continue
		}
		all.TokensIn += a.TokensIn
		all.TokensOut += a.TokensOut
		cost := s.cost(a.Model, a.TokensIn, a.TokensOut)
		if all.Cost != nil && cost != nil {
			*all.Cost += *cost
		} else {
			all.Cost = nil
		}
	}
	return all
}

// pricesOf are prices by model.
func pricesOf(list []engine.Price) map[string]engine.Price {
	prices := make(map[string]engine.Price, len(list))
	for _, p := range list {
		prices[p.Model] = p
	}
	return prices
}
