package engine

import (
	"strings"
	"testing"
	"time"
)

// A line that stays away is told once, however often it is tried meanwhile, and is over when it is up again,
// also in another process, or when the config has it no more.
func TestSurfaceDown(t *testing.T) {
	inHouse(t, nil, func(h *house) {
		h.engine.SurfaceState("web", "connecting", "")
		for range 100 {
			h.engine.SurfaceState("web", "down", "no route to host")
			h.engine.SurfaceState("web", "connecting", "")
			h.wait(time.Second)
		}
		equal(t, "alerts before two minutes", h.openAlerts(), []string(nil))
		h.wait(2 * time.Minute)
		equal(t, "alerts", h.openAlerts(), []string{"surface_down"})
		open, err := h.store.OpenAlerts()
		if err != nil || open[0].Subject != "web" || !strings.HasPrefix(open[0].Text, "web is not connected since 00:00:00: ") || !strings.Contains(open[0].Text, "doctor") {
			t.Errorf("%+v, %v", open, err)
		}
		h.engine.SurfaceState("web", "connected", "")
		equal(t, "alerts", h.openAlerts(), []string(nil))
		h.engine.SurfaceState("web", "down", "the token was revoked")
		h.wait(4 * time.Minute)
		equal(t, "alerts", h.openAlerts(), []string{"surface_down"})
		h.shutdown()
		h.start() // … whose line comes up
		equal(t, "alerts in a new process", h.openAlerts(), []string(nil))
		h.engine.SurfaceState("web", "down", "the token was revoked")
		h.wait(4 * time.Minute)
		h.shutdown()
		h.web.name = "another"
		h.start()
		h.wait(2 * time.Minute)
		equal(t, "alerts without that surface", h.openAlerts(), []string(nil))
	})
}
