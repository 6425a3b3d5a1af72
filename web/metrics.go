package web

import (
	"log/slog"
	"net/http"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"holdfast/engine"
	"holdfast/store"
)

// metrics reads the engine's figures when it is asked, and only then.
type metrics struct {
	engine house
	store  *store.Store

	turns, settled, requests, waits, parks, rearms, lag, gates, posts, lost, alerts *prometheus.Desc
}

// newMetrics serves the names of CONTRACT.md §6 and Go's own.
func newMetrics(e house, st *store.Store, log *slog.Logger) http.Handler {
	desc := func(name, help string, labels ...string) *prometheus.Desc {
		return prometheus.NewDesc("holdfast_"+name, help, labels, nil)
	}
	all := prometheus.NewRegistry()
	all.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}), &metrics{
		engine: e, store: st,
		turns:    desc("turns", "Turns by state.", "state"),
		settled:  desc("turns_settled_total", "Turns that have ended since the process began, by outcome.", "outcome"),
		requests: desc("requests_total", "Requests to models that have ended, by the class of their failure; a success has none.", "provider", "model", "class"),
		waits:    desc("wait_seconds_total", "Planned waits of turns, by what decided their length.", "wait_from"),
		parks:    desc("parks_total", "Times that a turn was parked after a failure."),
		rearms:   desc("rearms_total", "Times that an exhausted turn was set to be sent again."),
		lag:      desc("resume_lag_seconds", "How late turns ran whose time had come."),
		gates:    desc("gates", "Closed gates of models, by why.", "why"),
		posts:    desc("posts_pending", "Posts that are not out."),
		lost:     desc("lost_turns", "Turns that nothing will wake; must stay 0."),
		alerts:   desc("alerts", "Open alerts by kind.", "kind"),
	})
	return promhttp.HandlerFor(all, promhttp.HandlerOpts{ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelError), ErrorHandling: promhttp.ContinueOnError})
}

// Describe is prometheus.Collector's.
func (m *metrics) Describe(to chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{m.turns, m.settled, m.requests, m.waits, m.parks, m.rearms, m.lag, m.gates, m.posts, m.lost, m.alerts} {
		to <- d
	}
}

// Collect is prometheus.Collector's. What is known by name beforehand is there from the start, as 0.
func (m *metrics) Collect(to chan<- prometheus.Metric) {
	f := m.engine.Figures()
	gauge := func(d *prometheus.Desc, v float64, labels ...string) {
		to <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, labels...)
	}
	total := func(d *prometheus.Desc, v float64, labels ...string) {
		to <- prometheus.MustNewConstMetric(d, prometheus.CounterValue, v, labels...)
	}
	for _, s := range states() {
		gauge(m.turns, float64(f.Turns[s]), string(s))
	}
	for _, o := range []store.Outcome{store.Answered, store.Failed, store.Refused, store.Cancelled, store.Merged} {
		total(m.settled, float64(f.Settled[o]), string(o))
	}
	for _, r := range f.Requests {
		total(m.requests, float64(r.N), r.Provider, r.Model, r.Class)
	}
	for _, from := range []string{"backoff", "retry-after", "gate", "rearm", "approval", "budget"} {
		total(m.waits, f.Waits[from].Seconds(), from)
	}
	total(m.parks, float64(f.Parks))
	total(m.rearms, float64(f.Rearms))
	to <- lag(m.lag, f.Lag)
	for _, why := range []string{"hold", "down"} {
		gauge(m.gates, float64(f.Gates[why]), why)
	}
	gauge(m.lost, float64(f.Lost))
	for _, kind := range engine.AlertKinds() {
		gauge(m.alerts, float64(f.Alerts[kind]), kind)
	}
	n, err := m.store.PostsPending()
	if err != nil {
		to <- prometheus.NewInvalidMetric(m.posts, err)
		return
	}
	gauge(m.posts, float64(n))
}

// lag adds the buckets up, as the format has them.
func lag(d *prometheus.Desc, l engine.Lag) prometheus.Metric {
	buckets, n := map[float64]uint64{}, uint64(0)
	for i, bound := range engine.LagBounds() {
		if i < len(l.Counts) {
			n += l.Counts[i]
		}
		buckets[bound] = n
	}
	if last := len(engine.LagBounds()); last < len(l.Counts) {
		n += l.Counts[last]
	}
	return prometheus.MustNewConstHistogram(d, n, l.Sum.Seconds(), buckets)
}
