package engine

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"holdfast/engine/ladder"
	"holdfast/engine/llm"
)

// A simScript is a text of lines, of which any may be left out. First the house, then what happens:
//
//	set KEY VALUE                                  a setting, see simSetting
//	provider p0 SLOTS [DAILY]                      a provider, how many requests it takes at once, and how many we make a day
//	bot b0 p0/m0 p1/m0                             a bot and its chain
//	TIME say m0 b0 web/r0 ann [fail_fast] [!stop]  a message, or a command
//	TIME again m0                                  the platform delivers it a second time
//	TIME as p0/m0 503 429/45s@2s ok                what the model does from now on, word by word, again and again; @ is how long it takes;
//	                                               p0 is all its models, "all" all of them all, as when the host has lost its network
//	tools                                          every bot has the tools look, put, write and ask, see simWorld
//	TIME tool write ok lost@3s                     what becomes of a tool's calls from now on, likewise
//	TIME approve m0 · deny m0 · do m0 · leave m0   a word on what the turn of a message asks, or has lost
//	TIME stop m0 · resume m0                       an order to the turn that answers a message
//	TIME edit m0 · delete m0 · regenerate m0       the question is changed, taken back, asked again
//	TIME release p0/m0 · pause p0 · unpause p0     "all" is everything
//	TIME kill 30s [POINT]                          at once, or at the next such crash point; it is started again after that time
//	TIME restart 5s                                a clean stop, likewise
//	TIME step -1h                                  the wall clock jumps
//	TIME chat down · busy · gone · maybe · up      the chat platform fails, is busy, has lost messages, answers nobody, is well
//	TIME key p0 k2 · chain b0 p1/m0                a change of the config, from the next start on
//	TIME gone p0 · back p0                         likewise: a provider or a bot is not in the config any more, and is in it again
//	TIME heal                                      all is well from now on; the end, if no line says so
type simScript []string

func (s simScript) String() string { return strings.Join(s, "\n") + "\n" }

// readScript takes the lines of a text; what stands behind # is for readers.
func readScript(text string) simScript {
	var s simScript
	for line := range strings.SplitSeq(text, "\n") {
		line, _, _ = strings.Cut(line, "#")
		if line = strings.TrimSpace(line); line != "" {
			s = append(s, line)
		}
	}
	return s
}

// simEvent is a line that happens at a time.
type simEvent struct {
	at    time.Duration
	words []string
	line  string
}

// events are the lines that have a time, as they stand.
func (s simScript) events() (list []simEvent) {
	for _, line := range s {
		words := strings.Fields(line)
		if at, err := time.ParseDuration(words[0]); err == nil && len(words) > 1 {
			list = append(list, simEvent{at, words[1:], line})
		}
	}
	return list
}

// parts is the house that a script describes, without its store and surfaces, and the providers'
// slots and requests a day.
func (s simScript) parts() (Parts, map[string][2]int, error) {
	p := Parts{Config: Default(), Retry: ladder.Default(), Alerts: DefaultAlerts(), Location: time.UTC}
	model := DefaultBot()
	providers := map[string][2]int{}
	for _, line := range s {
		words := strings.Fields(line)
		var err error
		switch {
		case words[0] == "set" && len(words) == 3:
			err = simSetting(&p, &model, words[1], words[2])
		case words[0] == "provider" && len(words) > 2:
			var n [2]int
			_, err = fmt.Sscan(strings.Join(words[2:], " ")+" 0", &n[0], &n[1])
			providers[words[1]] = n
		case words[0] == "bot" && len(words) > 1:
			p.Bots = append(p.Bots, Bot{Name: words[1], Models: words[2:]})
		case words[0] == "schedule" && len(words) == 6: // NAME BOT ROOM EVERY MISSED
			p.Schedules = append(p.Schedules, Schedule{
				Name: words[1], Bot: words[2], Cron: "@every " + words[4], Prompt: words[1] + " in web/" + words[3], To: "web:" + words[3], Missed: words[5],
			})
		}
		if err != nil {
			return p, nil, fmt.Errorf("%s: %w", line, err)
		}
	}
	if slices.Contains(s, "tools") {
		model.Tools = []string{"box"}
	}
	for i, b := range p.Bots {
		p.Bots[i] = model
		p.Bots[i].Name, p.Bots[i].Models = b.Name, b.Models
	}
	return p, providers, nil
}

// provider is a simulated one as the engine knows it.
func (m *simModels) provider() Provider {
	return Provider{Provider: m, Config: llm.Config{Concurrency: m.slots, DailyRequests: m.daily}, KeyID: m.key}
}

// simSetting carries out a "set"; model is what all bots are like.
func simSetting(p *Parts, model *Bot, key, value string) (err error) {
	r, c := &p.Retry, &p.Config
	durations := map[string]*time.Duration{
		"resend_longest": &r.ResendLongest, "park_from": &r.ParkFrom, "park_cap": &r.ParkCap, "park_horizon": &r.ParkHorizon, "gate_cap": &r.GateCap,
		"stated_wait_fallback": &r.StatedWaitFallback, "stated_wait_end": &r.StatedWaitEnd, "stated_wait_max": &r.StatedWaitMax,
		"stale_after": &r.StaleAfter, "notice_after": &r.NoticeAfter, "mention_after": &r.MentionAfter, "fail_fast_wait": &r.FailFastWait,
		"turn_deadline": &c.TurnDeadline, "stop_grace": &c.StopGrace,
	}
	numbers := map[string]*int{
		"resends": &r.Resends, "waits": &r.Waits, "max_parks": &r.MaxParks, "gate_after": &r.GateAfter, "max_requests": &r.MaxRequests,
		"max_waiting": &r.MaxWaiting, "workers": &c.Workers, "poison_after": &c.PoisonAfter,
		"per_person": &model.PerPerson, "daily_tokens": &model.DailyTokens, "max_steps": &model.MaxSteps,
	}
	switches := map[string]*bool{"park": &r.Park, "owed": &r.Owed, "stated_wait_early": &r.StatedWaitEarly, "durable": &c.Durable, "merge": &c.Merge}
	words := map[string]*string{"stated_wait_mode": &r.StatedWaitMode, "on_stop": &r.OnStop}
	switch {
	case durations[key] != nil:
		*durations[key], err = time.ParseDuration(value)
	case numbers[key] != nil:
		*numbers[key], err = strconv.Atoi(value)
	case switches[key] != nil:
		*switches[key], err = strconv.ParseBool(value)
	case words[key] != nil:
		*words[key] = value
	case key == "rearm":
		r.Rearm = nil
		for w := range strings.SplitSeq(value, ",") {
			if d, err := time.ParseDuration(w); err == nil {
				r.Rearm = append(r.Rearm, d)
			}
		}
	default:
		err = fmt.Errorf("no setting is named %q", key)
	}
	return err
}

// smaller leaves lines out of a script as long as it still fails, first many at a time.
func (s simScript) smaller(fails func(simScript) bool) simScript {
	for n := 2; len(s) > 1; {
		size := (len(s) + n - 1) / n
		found := false
		for at := 0; at < len(s); at += size {
			less := append(append(simScript(nil), s[:at]...), s[min(at+size, len(s)):]...)
			if fails(less) {
				s, found, n = less, true, max(n-1, 2)
				break
			}
		}
		if !found && size == 1 {
			return s
		} else if !found {
			n = min(2*n, len(s))
		}
	}
	return s
}
