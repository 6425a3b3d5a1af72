package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"holdfast/store"
)

// pauseKey names the gate at which turns wait while a target is paused.
const pauseKey = "pause|"

// Pause stops all sending for a provider, a bot, or everybody (""); it outlives the process. Turns
// that want to send wait as rows and use nothing up.
func (e *Engine) Pause(ctx context.Context, target string, c *store.Command) error {
	return e.setPaused(ctx, target, true, c)
}

// Unpause lets them run again.
func (e *Engine) Unpause(ctx context.Context, target string, c *store.Command) error {
	return e.setPaused(ctx, target, false, c)
}

// pausedFor is the gate at which a turn waits before it acts, nil if nothing pauses its bot, or the model
// that it was at.
func (e *Engine) pausedFor(t *store.Turn, model string) *gate {
	e.mu.Lock()
	defer e.mu.Unlock()
	if model == "" {
		model = t.Model
	}
	return e.pausedBy(t.Bot, model)
}

// Paused reads what is paused; "" is everything.
func (e *Engine) Paused() []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.Clone(e.paused)
}

func (e *Engine) setPaused(ctx context.Context, target string, on bool, c *store.Command) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := e.loadPaused(); err != nil { // an engine that only serves the file has not read it
		return fmt.Errorf("read what is paused: %w", err)
	}
	e.mu.Lock()
	known := target == "" || e.bots[target] != nil || e.services[target] != nil || slices.Contains(e.paused, target)
	next := slices.DeleteFunc(slices.Clone(e.paused), func(t string) bool { return t == target })
	e.mu.Unlock()
	if !known {
		return fmt.Errorf("%w: no provider or bot is named %q", store.ErrNotFound, target)
	}
	if on {
		next = append(next, target)
	}
	b, err := json.Marshal(next)
	if err != nil {
		return fmt.Errorf("store what is paused: %w", err)
	}
	if err := e.Store.SetMeta(store.Paused, string(b), c); err != nil {
		return err
	}
	if !on && target == "" { // what came out of a backup has been looked at
		if err := e.Store.SetMeta(store.Restored, "", nil); err != nil {
			return err
		}
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.paused = next
	if !on {
		e.letInSoon(e.pauseGate(target), "operator")
	}
	if !on && target == "" {
		e.restored = false
		e.outbox.poke()
	}
	return nil
}

// isRestored tells that the store came out of a backup and nobody has looked at it yet: what waits to be
// posted may have been posted after the backup was made.
func (e *Engine) isRestored() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.restored
}

// loadPaused reads what an earlier process has paused.
func (e *Engine) loadPaused() error {
	text, err := e.Store.Meta(store.Paused)
	if err != nil || text == "" {
		return err
	}
	restored, err := e.Store.Meta(store.Restored)
	if err != nil {
		return err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.restored = restored != ""
	return json.Unmarshal([]byte(text), &e.paused)
}

// pausedBy finds what keeps a turn of a bot from sending to a model, nil if nothing does. Engine.mu is held.
func (e *Engine) pausedBy(bot, model string) *gate {
	provider, _ := splitModel(model)
	for _, target := range e.paused {
		if target == "" || target == bot || target == provider {
			return e.pauseGate(target)
		}
	}
	return nil
}

// pauseGate is where turns wait while a target is paused. Engine.mu is held.
func (e *Engine) pauseGate(target string) *gate {
	if g := e.gates[pauseKey+target]; g != nil {
		return g
	}
	return e.addGate(store.Gate{Key: pauseKey + target, Why: "paused"})
}

// pauses reports a gate that is only a pause, and of what.
func (g *gate) pauses() (target string, ok bool) { return strings.CutPrefix(g.row.Key, pauseKey) }
