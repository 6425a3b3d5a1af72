package web

import (
	"strings"
	"testing"
	"time"

	"holdfast/engine"
	"holdfast/store"
)

// S10: /metrics needs the token like the API. The names are those of CONTRACT.md §6.
func TestMetricsS10(t *testing.T) {
	g := newRig(t, nil)
	counts := make([]uint64, len(engine.LagBounds())+1)
	counts[0], counts[3] = 2, 1
	g.house.fig = engine.Figures{
		Turns: map[store.State]int64{store.Parked: 3, store.Done: 7}, Lost: 1, Gates: map[string]int{"hold": 2}, Alerts: map[string]int{"outage": 1},
		Settled: map[store.Outcome]int64{store.Answered: 6}, Waits: map[string]time.Duration{"retry-after": 45 * time.Second}, Parks: 4, Rearms: 5,
		Requests: []engine.RequestCount{{Provider: "openai", Model: "a/b", Class: "rate_limit", N: 8}, {Provider: "openai", Model: "a/b", N: 9}},
		Lag:      engine.Lag{Counts: counts, Sum: 40 * time.Millisecond},
	}
	if status, _, body := g.do(t, request{method: "GET", path: "/metrics"}); status != 401 || strings.Contains(body, "holdfast_") {
		t.Errorf("%d %s", status, body)
	}
	status, _, body := g.do(t, request{method: "GET", path: "/metrics", token: testToken})
	if status != 200 {
		t.Fatalf("%d %s", status, body)
	}
	for _, line := range []string{
		`holdfast_turns{state="parked"} 3`, `holdfast_turns{state="done"} 7`, `holdfast_turns{state="owed"} 0`, `holdfast_turns_settled_total{outcome="answered"} 6`,
		`holdfast_requests_total{class="rate_limit",model="a/b",provider="openai"} 8`, `holdfast_requests_total{class="",model="a/b",provider="openai"} 9`,
		`holdfast_wait_seconds_total{wait_from="retry-after"} 45`, `holdfast_parks_total 4`, `holdfast_rearms_total 5`,
		`holdfast_resume_lag_seconds_bucket{le="0.005"} 2`, `holdfast_resume_lag_seconds_bucket{le="0.05"} 3`, `holdfast_resume_lag_seconds_bucket{le="+Inf"} 3`,
		`holdfast_resume_lag_seconds_sum 0.04`, `holdfast_resume_lag_seconds_count 3`,
		`holdfast_gates{why="hold"} 2`, `holdfast_gates{why="down"} 0`, `holdfast_posts_pending 0`, `holdfast_lost_turns 1`, `holdfast_alerts{kind="outage"} 1`, `holdfast_alerts{kind="poisoned"} 0`,
		`# TYPE go_goroutines gauge`, `# TYPE holdfast_resume_lag_seconds histogram`, `# TYPE holdfast_parks_total counter`,
	} {
		if !strings.Contains(body, line+"\n") {
			t.Errorf("there is no %s", line)
		}
	}
	if t.Failed() {
		t.Log(body)
	}
	if status, _, _ := g.do(t, request{method: "GET", path: "/metrics", cookie: g.login(t)}); status != 200 {
		t.Errorf("with a login: %d", status)
	}
}
