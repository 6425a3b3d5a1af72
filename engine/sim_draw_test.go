package engine

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"time"
)

// storm draws scripts.
type storm struct {
	*rand.Rand
	lines     simScript
	providers []string
	models    []string // PROVIDER/MODEL
	bots      []string
	at        time.Duration
	length    time.Duration
	said      int
	labels    []string
}

// pick is one of a few, by chance.
func pick[T any](s *storm, of ...T) T { return of[s.IntN(len(of))] }

// odds is true once in n times.
func (s *storm) odds(n int) bool { return s.IntN(n) == 0 }

func (s *storm) add(format string, args ...any) {
	s.lines = append(s.lines, fmt.Sprintf(format, args...))
}

// drawScript is the script of a seed.
func drawScript(seed uint64) simScript {
	s := &storm{Rand: rand.New(rand.NewPCG(seed, 0x484f4c44))}
	s.settings()
	s.house()
	s.schedule()
	events := 4 + s.IntN(pick(s, 8, 16, 30))
	s.length = pick(s, time.Minute, 3*time.Minute, 10*time.Minute, 10*time.Minute, time.Hour, 4*time.Hour)
	s.behave()
	s.say()
	for range events {
		switch {
		case s.odds(3): // close on the last one
			s.at += time.Duration(s.IntN(3000)) * time.Millisecond
		case s.odds(5): // at the same moment
		default:
			s.at += time.Duration(s.Int64N(int64(2*s.length) / int64(events)))
		}
		s.at = s.at.Truncate(10 * time.Millisecond)
		s.event()
	}
	if seed%4 == 0 {
		return withCalls(s.lines, rand.New(rand.NewPCG(seed, 0x544f4f4c)))
	}
	return s.lines
}

// withCalls gives a script tools: models call them, they fail, people decide.
func withCalls(lines simScript, r *rand.Rand) simScript {
	s := &storm{Rand: r, lines: simScript{"tools"}}
	for _, line := range lines {
		words := strings.Fields(line)
		at, err := time.ParseDuration(words[0])
		if err != nil {
			s.lines = append(s.lines, line)
			continue
		}
		switch {
		case words[1] == "as" && s.odds(2):
			words = append(words, pick(s, callWords...)+pick(s, "", "@1s"), pick(s, "ok", "503", "429/45s"))
		case words[1] == "kill" && s.odds(3):
			words = append(words[:3], pick(s, "called", "acted", "stepped"))
		case words[1] == "say":
			s.labels = append(s.labels, words[2])
		}
		s.lines = append(s.lines, strings.Join(words, " "))
		switch {
		case s.odds(4):
			s.add("%v tool %s %s", at, pick(s, "look", "put", "write", "ask"), pick(s, "ok", "ok@3s", "ok@40s", "failed", "lost", "lost@3s", "unmade", "hang"))
		case s.odds(4) && len(s.labels) > 0:
			s.add("%v %s %s", at, pick(s, "approve", "approve", "deny", "do", "leave"), pick(s, s.labels...))
		}
	}
	return s.lines
}

// simChoices are values that differ from the defaults.
var simChoices = [][]string{
	{"park", "false"}, {"durable", "false"}, {"owed", "false"}, {"merge", "false"}, {"rearm", "false", "10s", "30s,2m"},
	{"gate_after", "0", "1", "2"}, {"resends", "0", "1"}, {"resend_longest", "0s", "10s"}, {"waits", "0", "1", "2"}, {"park_from", "0s", "1s", "1m"},
	{"park_horizon", "0s", "10s", "1m"}, {"max_parks", "0", "1", "3"}, {"stated_wait_mode", "horizon", "end"},
	{"stated_wait_fallback", "0s", "10s", "1m"}, {"stated_wait_max", "1m", "1h"}, {"stated_wait_end", "1m", "10m"}, {"stated_wait_early", "true"},
	{"stale_after", "10m", "1h", "48h", "0s"}, {"notice_after", "0s", "5m"}, {"max_requests", "0", "1", "2", "3", "7"}, {"workers", "1", "2"},
	{"turn_deadline", "5s", "1m"}, {"stop_grace", "0s", "1m"}, {"poison_after", "0", "1", "2"}, {"max_waiting", "0", "1"}, {"gate_cap", "10s"},
	{"on_stop", "drop"}, {"fail_fast_wait", "0s", "1m"}, {"per_person", "1", "2", "4"}, {"max_steps", "1", "3"},
}

// settings draws a few that differ from the defaults.
func (s *storm) settings() {
	for range s.IntN(5) {
		c := pick(s, simChoices...)
		s.add("set %s %s", c[0], pick(s, c[1:]...))
	}
	if s.odds(60) { // seldom: days that pass take long to play
		s.add("set daily_tokens %s", pick(s, "4", "9", "30"))
	}
}

// house draws one to three providers with one to two models, and one to three bots with chains.
func (s *storm) house() {
	for p := range 1 + s.IntN(3) {
		name := fmt.Sprint("p", p)
		s.add("provider %s %d%s", name, 1+s.IntN(4), pick(s, "", "", "", "", "", "", "", "", "", fmt.Sprint(" ", 1+s.IntN(20))))
		s.providers = append(s.providers, name)
		for m := range 1 + s.IntN(2) {
			s.models = append(s.models, fmt.Sprintf("%s/m%d", name, m))
		}
	}
	for b := range 1 + s.IntN(3) {
		s.bots = append(s.bots, fmt.Sprint("b", b))
		s.add("bot b%d %s", b, s.chain())
	}
}

// schedule draws one for a room of a bot now and then.
func (s *storm) schedule() {
	if b := s.IntN(len(s.bots)); s.odds(3) {
		s.add("schedule tick b%d r%d0 %v %s", b, b, pick(s, 30*time.Second, 2*time.Minute, 7*time.Minute, 20*time.Minute), pick(s, "once", "skip"))
	}
}

func (s *storm) chain() string {
	var chain []string
	for _, m := range s.Perm(len(s.models))[:min(1+s.IntN(3), len(s.models))] {
		chain = append(chain, s.models[m])
	}
	return strings.Join(chain, " ")
}

// event draws what happens next.
func (s *storm) event() {
	switch n := s.IntN(100); {
	case n < 34:
		s.say()
	case n < 58:
		s.behave()
	case n < 62:
		s.add("%v stop %s", s.at, pick(s, s.labels...))
	case n < 68:
		s.add("%v resume %s", s.at, pick(s, s.labels...))
	case n < 71:
		s.add("%v %s %s", s.at, pick(s, "again", "edit", "delete", "regenerate"), pick(s, s.labels...))
	case n < 75:
		s.add("%v release %s", s.at, pick(s, s.models...))
	case n < 78:
		s.add("%v pause %s", s.at, s.target())
	case n < 80:
		s.add("%v unpause %s", s.at, s.target())
	case n < 89:
		s.add("%v kill %v%s", s.at, s.downtime(), pick(s, "", "", " admitted", " waits", " waited", " begun", " replied", " stepped", " settles", " settled", " posted"))
	case n < 92:
		s.add("%v restart %v", s.at, s.downtime())
	case n < 95:
		s.add("%v step %v", s.at, pick(s, -time.Hour, time.Hour, -10*time.Second, 10*time.Second, -s.length, s.length, 26*time.Hour))
	case n < 98:
		s.add("%v chat %s", s.at, pick(s, "down", "busy", "gone", "maybe", "up"))
	case n < 99:
		s.add("%v key %s k%d", s.at, pick(s, s.providers...), 1+s.IntN(3))
	case s.odds(2):
		s.add("%v %s %s", s.at, pick(s, "gone", "gone", "back"), pick(s, pick(s, s.providers...), pick(s, s.bots...)))
	default:
		s.add("%v chain %s %s", s.at, pick(s, s.bots...), s.chain())
	}
}

func (s *storm) target() string {
	return pick(s, "all", pick(s, s.providers...), pick(s, s.bots...))
}

func (s *storm) downtime() time.Duration {
	return pick(s, 0, 0, time.Second, 10*time.Second, s.length/10, s.length/2).Truncate(time.Millisecond)
}

// say draws a message, or now and then a command. A place belongs to one bot.
func (s *storm) say() {
	label := fmt.Sprint("m", s.said)
	s.said++
	s.labels = append(s.labels, label)
	b := s.IntN(len(s.bots))
	more := ""
	if s.odds(12) {
		more = " fail_fast"
	}
	if s.odds(8) {
		more = " " + pick(s, "!stop", "!retry", "!status", "!new", "!help")
	}
	s.add("%v say %s %s %s/r%d%d %s%s", s.at, label, s.bots[b], pick(s, "web", "web", "chat"), b, s.IntN(pick(s, 1, 2, 4)), pick(s, "ann", "ann", "bob", "cid", "dan"), more)
}

// behave draws what a model does from now on.
func (s *storm) behave() {
	var words []string
	for range pick(s, 1, 1, 1, 2, 3) {
		word := pick(s, "ok", "ok", "503", "503", "500", "429", "429/"+s.stated(), "429/"+s.stated(), "503/"+s.stated(), "cut", "error", "reset", "silent", "stall",
			"401", "402", "402/"+s.stated(), "413", "400", "hang", "call")
		if s.odds(3) {
			word += pick(s, "@10ms", "@1s", "@7s", "@40s", "@3m")
		}
		words = append(words, word)
	}
	model := pick(s, s.models...)
	switch {
	case s.odds(3):
		model, _, _ = strings.Cut(model, "/")
	case s.odds(8):
		model = "all"
	}
	s.add("%v as %s %s", s.at, model, strings.Join(words, " "))
}

// stated draws a wait that a provider states: most are short.
func (s *storm) stated() string {
	return pick(s, "0s", "1ms", "900ms", "1.9s", "2.1s", "5s", "9.9s", "10s", "45s", "2m", "5m", "301s", "20m", pick(s, "59m59.999s", "1h", "3h", "24h", "30h"))
}
