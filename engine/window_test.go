package engine

import (
	"context"
	"strings"
	"testing"
	"time"
)

// A local model's loaded context bounds what is sent, is asked for now and then only, and the log says how to raise it.
func TestLoadedContextBoundsThePrompt(t *testing.T) {
	asked, loaded := 0, int64(0)
	inHouse(t, func(p *Parts) {
		p.Bots[0].ContextTokens = 24000
		fake := p.Providers["fake"]
		fake.WindowHint = "set THE_LENGTH"
		fake.Window = func(_ context.Context, model string) int64 {
			if model != "one" {
				t.Errorf("asked for %q", model)
			}
			asked++
			return loaded
		}
		p.Providers["fake"] = fake
	}, func(h *house) {
		for range 5 {
			h.settled(h.say("ann", strings.Repeat("a", 1000)), s(1))
		}
		if asked != 5 {
			t.Errorf("asked %d times while it is not loaded", asked)
		}
		loaded = 800
		h.settled(h.say("ann", "and now?"), s(1))
		h.settled(h.say("ann", "and now?"), s(1))
		all := h.bodies()
		if last := all[len(all)-1]; asked != 6 || len(last) > 800*bytesPerTokenAtMost {
			t.Errorf("asked %d times, %d bytes", asked, len(last))
		}
		if warned := h.log.with("less context than the bot may use"); len(warned) != 1 || !strings.Contains(warned[0], "set THE_LENGTH") {
			t.Errorf("%q", warned)
		}
		h.wait(6 * time.Minute)
		h.settled(h.say("ann", "later"), s(1))
		if asked != 7 || len(h.log.with("less context")) != 1 {
			t.Errorf("asked %d times later", asked)
		}
	})
}
