package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"holdfast/store"
)

// dead is a provider that answers 503 until it is healed, and afterwards 429 to whoever comes on top
// of four at once.
type dead struct {
	*httptest.Server
	healed   atomic.Bool
	requests atomic.Int64
	now      atomic.Int64
	most     atomic.Int64
	tooMany  atomic.Int64
}

func newDead(t *testing.T) *dead {
	d := &dead{}
	d.Server = httptest.NewServer(d)
	t.Cleanup(d.Close)
	return d
}

func (d *dead) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	d.requests.Add(1)
	n := d.now.Add(1)
	defer d.now.Add(-1)
	switch {
	case !d.healed.Load():
		http.Error(w, `{"error":{"message":"overloaded"}}`, http.StatusServiceUnavailable)
		return
	case n > 4:
		d.tooMany.Add(1)
		http.Error(w, `{"error":{"message":"rate limit"}}`, http.StatusTooManyRequests)
		return
	}
	for most := d.most.Load(); n > most && !d.most.CompareAndSwap(most, n); most = d.most.Load() {
	}
	<-time.After(5 * time.Millisecond) // so that requests overlap
	w.Header().Set("Content-Type", "text/event-stream")
	fmt.Fprint(w, "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"yes\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n")
}

// sixtieth are the default settings of the ladder, each a sixtieth as long: a quarter of an hour
// passes in 15 s.
const sixtieth = `[retry]
resend_base = "7ms"
resend_longest = "33ms"
wait_base = "33ms"
park_from = "167ms"
park_base = "33ms"
park_cap = "1s"
park_horizon = "15s"
gate_cap = "5s"
rearm = ["2s", "8s", "32s"]
notice_after = "500ms"
max_waiting = 0
[log]
level = "warn"
`

// F12 with real processes: 1,000 turns on one dead model. Once it counts as down it is asked as by one
// turn, at most 60 times in a (sixtieth of a) quarter of an hour for all of them together; when it is
// back all are answered once, without a rate limit from our own rush.
func TestThousandTurnsOnADeadModelF12(t *testing.T) {
	const turns = 1000
	d := newDead(t)
	p := newProcess(t, fmt.Sprintf("%s[provider.fake]\nbase_url = %q\n[[bot]]\nmodels = [\"fake/one\"]\n", sixtieth, d.URL))
	p.up()
	begin := time.Now()
	var hands sync.WaitGroup
	next := atomic.Int64{}
	for range 16 {
		hands.Go(func() {
			for n := next.Add(1); n <= turns; n = next.Add(1) {
				if _, ok := p.send(fmt.Sprint("m", n), fmt.Sprint("room", n), "hello"); !ok {
					t.Errorf("message %d is not taken", n)
				}
			}
		})
	}
	p.until("down", 15*time.Second, func() bool {
		var state struct {
			Gates []struct {
				Reason string `json:"cooldown_reason"`
			} `json:"provider_admission"`
		}
		p.do("GET", "/api/v1/state", nil, &state)
		return len(state.Gates) == 1 && state.Gates[0].Reason == "down"
	})
	down, first := time.Now(), d.requests.Load()
	hands.Wait()
	sent := time.Since(begin)
	<-time.After(time.Until(down.Add(15 * time.Second)))
	asked := d.requests.Load() - first
	d.healed.Store(true)
	healed := time.Now()
	p.until("all answered", time.Minute, func() bool { return p.counts()["done"] == turns })
	t.Logf("%d requests until it counted as down, %d in the quarter of an hour after; %d messages taken in %v, all answered %v after it was back, %d at once",
		first, asked, turns, sent.Round(time.Millisecond), time.Since(healed).Round(time.Millisecond), d.most.Load())
	if asked > 60 {
		t.Errorf("%d requests while it was down, at most 60 are due", asked)
	}
	if d.tooMany.Load() != 0 || d.most.Load() > 4 {
		t.Errorf("%d at once after the recovery, %d of them too many", d.most.Load(), d.tooMany.Load())
	}
	if n := d.requests.Load() - first - asked; n != turns {
		t.Errorf("%d requests for %d answers", n, turns)
	}
	p.kill()
	p.sound()
	p.allAnsweredOnce(turns)
}

// counts are the turns by state.
func (p *process) counts() map[string]int {
	var state struct{ Turns map[string]int }
	p.do("GET", "/api/v1/state", nil, &state)
	return state.Turns
}

// allAnsweredOnce looks into the file.
func (p *process) allAnsweredOnce(turns int) {
	p.t.Helper()
	s, err := store.OpenReader(store.Config{Dir: filepath.Join(p.dir, "data")})
	if err != nil {
		p.t.Fatal(err)
	}
	defer s.Close()
	wrong := 0
	for n := 1; n <= turns; n++ {
		c, err := s.Chat(fmt.Sprint("room", n))
		if err != nil {
			p.t.Fatal(err)
		}
		ms, err := s.Messages(c.ID, 0, 10)
		if err != nil {
			p.t.Fatal(err)
		}
		if len(ms) != 2 || ms[1].Text != "yes" {
			if wrong++; wrong < 4 {
				b, _ := json.Marshal(ms)
				p.t.Errorf("room%d: %s", n, b)
			}
		}
	}
	if wrong > 0 {
		p.t.Errorf("%d chats without one answer", wrong)
	}
}
