package engine

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"holdfast/engine/llm"
	"holdfast/store"
)

// simModels is a provider of a simulation. It does what the script says, and knows what it has said
// itself: who comes before the time it has stated, or more at once than it has slots, is caught here.
type simModels struct {
	sim   *sim
	name  string
	key   string
	slots int
	daily int

	mu    sync.Mutex
	plays map[string][]string // by model: what it does, word by word, again and again
	at    map[string]int      // by model: the next word
	live  map[*simRequest]bool
	seen  []*simRequest
	holds []simHold
	days  map[string]int // requests by day
	calls int            // times that tools were called
}

// simRequest is one that was sent.
type simRequest struct {
	model  string // PROVIDER/MODEL
	wall   store.Time
	sent   time.Time
	word   string   // what became of it
	labels []string // of the messages it answers
	room   string   // of the last one
}

// simHold is a stated wait that binds.
type simHold struct {
	key, model string
	from       store.Time
	until      store.Time
	length     time.Duration
	unsure     bool // stated at the moment of a kill: it may not have been written any more
}

// play sets what a model, or all of them (""), does from now on.
func (m *simModels) play(model string, words ...string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if model == "" {
		clear(m.plays)
	}
	m.plays[model], m.at[model] = words, 0
}

// Prepare fixes what is asked: "ROOM LABEL LABEL …".
func (m *simModels) Prepare(r llm.Request) (llm.Prepared, error) {
	labels, room := asked(r.Messages)
	return llm.Prepared{Model: r.Model, Body: []byte(strings.Join(append([]string{room}, labels...), " "))}, nil
}

var simLabel = regexp.MustCompile(`\bm\d+ in \S+`)

// asked reads from the end of a request which messages it answers, and the room of the last one.
func asked(ms []llm.Message) (labels []string, room string) {
	from := 0
	for i, msg := range ms {
		if msg.Role == "assistant" && len(msg.Calls) == 0 {
			from = i + 1
		}
	}
	for _, msg := range ms[min(from, len(ms)):] {
		if msg.Role != "user" {
			continue
		}
		for _, found := range simLabel.FindAllString(msg.Text, -1) {
			label, where, _ := strings.Cut(found, " in ")
			labels, room = append(labels, label), where
		}
	}
	return labels, room
}

// hammering is how often nobody may ask within a second: the provider is asked for one turn by at
// most its three models, each with two resends.
const hammering = 12

// within is how many requests for the same messages came within that time, without a completed step
// of their conversation in between.
func (m *simModels) within(r *simRequest, d time.Duration) int {
	n := 1 // this one
	for _, other := range slices.Backward(m.seen[:len(m.seen)-1]) {
		if time.Since(other.sent) > d {
			break
		}
		if other.room != r.room {
			continue
		}
		if slices.Equal(other.labels, r.labels) {
			n++
		}
		if strings.HasPrefix(other.word, "call") {
			break
		}
	}
	return n
}

// callsMost is how often a provider's models call tools; from then on they answer. It is a few times what
// one turn may do: a schedule whose every turn does it for hours shows nothing new, and takes seconds.
const callsMost = 100

// begin takes a request in and says what becomes of it.
func (m *simModels) begin(p llm.Prepared) (*simRequest, string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	r := &simRequest{model: m.name + "/" + p.Model, wall: m.sim.now(), sent: time.Now()}
	words := strings.Split(string(p.Body), " ")
	r.room, r.labels = words[0], words[1:]
	for other := range m.live {
		if other.room == r.room && r.room != "" {
			m.sim.fault("two at once", "%s is asked for %v while it answers %v of the same conversation", r.model, r.labels, other.labels)
		}
	}
	for _, h := range m.holds {
		if h.key == m.key && !h.unsure && h.model == r.model && h.from < r.wall && r.wall < h.until && !m.sim.script.early() {
			m.sim.fault("inside a hold", "%s is asked for %v %v before the end of the wait of %v that it has stated", r.model, r.labels, h.until.Sub(r.wall), h.length)
		}
	}
	m.checkAllowances(r)
	m.live[r] = true
	if len(m.live) > m.slots {
		m.sim.fault("slots", "%s has %d requests at once and takes %d", m.name, len(m.live), m.slots)
	}
	m.seen = append(m.seen, r)
	which := p.Model
	if _, own := m.plays[which]; !own {
		which = ""
	}
	r.word = "ok"
	if plays := m.plays[which]; len(plays) > 0 {
		r.word = plays[m.at[which]%len(plays)]
		m.at[which]++
	}
	if strings.HasPrefix(r.word, "call") {
		if m.calls++; m.calls > callsMost {
			r.word = "ok"
		}
	}
	if n := m.within(r, time.Second); n > hammering {
		m.sim.fault("hammering", "%s is asked for %v %d times within a second", r.model, r.labels, n)
	}
	if m.sim.failed() {
		return r, "hang" // whatever goes round in circles comes to a stop
	}
	return r, r.word
}

// checkAllowances: no request goes over a provider's limit per day, or is made for a bot whose tokens
// of the day are used up.
func (m *simModels) checkAllowances(r *simRequest) {
	day := m.sim.today()
	if m.days[day]++; m.daily > 0 && m.days[day] > m.daily {
		m.sim.fault("allowance", "%s is asked %d times on %s, %d are allowed", m.name, m.days[day], day, m.daily)
	}
	if len(r.labels) == 0 {
		return
	}
	m.sim.mu.Lock()
	said, used := m.sim.said[r.labels[0]], int64(0)
	if said == nil { // a tick's
		m.sim.mu.Unlock()
		return
	}
	for _, at := range m.sim.tokens[said.in.Bot] {
		if at < r.wall && dayOf(at) == day { // at the same moment it may not be known yet
			used += simTokens
		}
	}
	m.sim.mu.Unlock()
	for _, b := range m.sim.parts.Bots {
		if b.Name == said.in.Bot && b.DailyTokens > 0 && used >= int64(b.DailyTokens) {
			m.sim.fault("allowance", "%s is asked for %v when %d of %d tokens are used", r.model, r.labels, used, b.DailyTokens)
		}
	}
}

// simTokens is what an answer of a fakeModels costs.
const simTokens = 4

func dayOf(at store.Time) string { return at.Go().UTC().Format(time.DateOnly) }

func (s *sim) today() string { return dayOf(s.now()) }

func (m *simModels) end(r *simRequest, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.live, r)
	if took, most := time.Since(r.sent), m.sim.parts.Config.TurnDeadline; took > most {
		m.sim.fault("deadline", "a request of %s for %v took %v where a turn may take %v", r.model, r.labels, took, most)
	}
	if err == nil {
		m.sim.hasAnswered(r.labels)
	}
	f, ok := errors.AsType[*llm.Failure](err)
	if !ok || f.Stated <= 0 || slices.Contains([]llm.Class{llm.Refused, llm.TooLarge, llm.Auth, llm.Canceled}, f.Class) {
		return
	}
	now := m.sim.now()
	m.holds = append(m.holds, simHold{key: m.key, model: r.model, from: now, until: now.Add(f.Stated), length: f.Stated})
}

// released forgets the holds of a model and returns them.
func (m *simModels) released(model string) (forgotten []simHold) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.holds = slices.DeleteFunc(m.holds, func(h simHold) bool {
		if h.model == model {
			forgotten = append(forgotten, h)
		}
		return h.model == model
	})
	return forgotten
}

// notReleased takes that back.
func (m *simModels) notReleased(holds []simHold) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.holds = append(m.holds, holds...)
}

// stepped follows the wall clock: what was over stays over, and after a step back no end lies further
// ahead than the wait's own length.
func (m *simModels) stepped(before, now store.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.holds = slices.DeleteFunc(m.holds, func(h simHold) bool { return h.until <= before })
	for i, h := range m.holds {
		m.holds[i].until = min(h.until, now.Add(h.length))
		m.holds[i].from = min(h.from, now)
	}
}

// killed does not insist on what was stated at the moment of a kill; it may still be kept.
func (m *simModels) killed(now store.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for i, h := range m.holds {
		m.holds[i].unsure = h.unsure || h.from >= now
	}
}

// longest is the latest end of a hold.
func (m *simModels) longest() (until store.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, h := range m.holds {
		until = max(until, h.until)
	}
	return until
}

func (m *simModels) Stream(ctx context.Context, p llm.Prepared) iter.Seq2[llm.Event, error] {
	return func(yield func(llm.Event, error) bool) {
		r, word := m.begin(p)
		var failure error
		defer func() { m.end(r, failure) }()
		word, took, _ := strings.Cut(word, "@")
		one := &fakeModels{script: []string{word}}
		one.took, _ = time.ParseDuration(took)
		switch word {
		case "ok":
			one.script[0] = "ok:re " + strings.Join(r.labels, " ")
		case "stall":
			one.script[0] = "ok:let me see"
		default:
			if word == "call" {
				one.script[0] = "call:look"
			}
		}
		for ev, err := range one.Stream(ctx, p) {
			if ev.Finish != nil && word == "stall" {
				ev, err = llm.Event{}, stall(ctx)
			}
			failure = err
			if !yield(ev, err) {
				return
			}
		}
	}
}

// stall is a stream that says no more.
func stall(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return &llm.Failure{Class: llm.Canceled, Text: context.Cause(ctx).Error()}
	case <-time.After(2 * time.Minute):
		return &llm.Failure{Class: llm.Timeout, Transient: true, Silent: true, Begun: true, Status: 200, Text: "no byte for 2m"}
	}
}

// simChat is a chat platform: it keeps messages, and its failures are the script's.
type simChat struct {
	mu     sync.Mutex
	state  string
	posts  int
	shown  map[string]store.Post // by handle: what people see
	byPost map[string]string     // post → handle
}

func (c *simChat) Name() string   { return "chat" }
func (c *simChat) Traits() Traits { return Traits{Mention: func([]string) string { return "@you" }} }
func (c *simChat) Run(ctx context.Context, e *Engine) error {
	e.SurfaceState(c.Name(), "connected", "")
	<-ctx.Done()
	return nil
}
func (c *simChat) Draft(Place, store.ID, string) {}
func (c *simChat) Working(Place, store.ID, bool) {}

func (c *simChat) is(state string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.state = state
	if state == "gone" { // somebody has deleted all messages
		clear(c.shown)
	}
}

func (c *simChat) failure() error {
	switch c.state {
	case "down":
		return errors.New("the platform is down")
	case "busy":
		return &RetryAfter{After: 7 * time.Second, Err: errors.New("the platform is busy")}
	}
	return nil
}

func (c *simChat) Post(_ context.Context, _ Place, p store.Post) (string, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.failure(); err != nil {
		return "", err
	}
	key := fmt.Sprint(p.ID, p.Part)
	if h, ok := c.byPost[key]; ok && p.Tries > 0 {
		if _, there := c.shown[h]; there { // it had gone through: no second copy
			c.shown[h] = p
			return h, nil
		}
	}
	c.posts++
	h := fmt.Sprint("h", c.posts)
	c.shown[h], c.byPost[key] = p, h
	if c.state == "maybe" {
		return "", errors.New("no answer from the platform")
	}
	return h, nil
}

func (c *simChat) Edit(_ context.Context, _ Place, p store.Post) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.failure(); err != nil {
		return err
	}
	if _, ok := c.shown[p.Handle]; !ok {
		return ErrGone
	}
	c.shown[p.Handle] = p
	if c.state == "maybe" {
		return errors.New("no answer from the platform")
	}
	return nil
}

// of are the messages of a turn that people see.
func (c *simChat) of(turn store.ID) (list []store.Post) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, h := range slices.Sorted(maps.Keys(c.shown)) {
		if c.shown[h].Turn == turn {
			list = append(list, c.shown[h])
		}
	}
	return list
}
