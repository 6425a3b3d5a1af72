package slack

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"holdfast/engine"
	"holdfast/surfaces/slack/socket"
	"holdfast/surfaces/surfacetest"
)

// disconnect announces the end of the newest connection.
func (f *fake) disconnect(reason string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	_ = f.sockets[len(f.sockets)-1].WriteJSON(object{"type": "disconnect", "reason": reason})
}

// drop cuts all connections.
func (f *fake) drop() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, ws := range f.sockets {
		ws.Close()
	}
	f.sockets = nil
}

// lines are how many connections are open, and how many were opened.
func (f *fake) lines() (open, opened int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.sockets), f.opened
}

func stateOf(h *surfacetest.House) engine.SurfaceShape {
	return h.Engine.Shape().Surfaces[0]
}

// The new connection stands before the old one is closed; no connection leaks.
func TestNewSocketFirst(t *testing.T) {
	surfacetest.In(t, newFake, func(h *surfacetest.House, f *fake) {
		since := stateOf(h).Since
		for i := range 5 {
			h.Wait(time.Hour)
			f.mu.Lock()
			f.fewest = 100
			f.mu.Unlock()
			f.disconnect("refresh_requested")
			h.Wait(5 * time.Second)
			if open, opened := f.lines(); open != 1 || opened != i+2 || f.fewest != 1 {
				t.Fatalf("%d connections are open, %d were opened, never fewer than %d", open, opened, f.fewest)
			}
		}
		if s := stateOf(h); s.State != "connected" || s.Since != since {
			t.Errorf("line %+v", s)
		}
	})
}

// A connection without pings is dead and replaced; what was said meanwhile comes as a retry and is
// taken in.
func TestZombie(t *testing.T) {
	surfacetest.In(t, newFake, func(h *surfacetest.House, f *fake) {
		h.Wait(10 * time.Minute)
		if _, opened := f.lines(); opened != 1 {
			t.Fatalf("%d connections for a healthy line", opened)
		}
		f.mu.Lock()
		f.mute = true
		f.mu.Unlock()
		h.Wait(29 * time.Second)
		f.mu.Lock()
		f.mute = false
		f.mu.Unlock()
		h.Wait(20 * time.Second)
		if open, opened := f.lines(); open != 1 || opened != 2 {
			t.Fatalf("%d connections are open, %d were opened", open, opened)
		}
		f.drop()
		f.Say("a", "alice", "hello") // to nobody: its retry carries it
		h.Wait(10 * time.Second)
		h.Want("a", "answer")
		h.Wait(10 * time.Minute)
		if n := len(h.Model.Asked()); n != 1 {
			t.Errorf("the model was asked %d times", n)
		}
	})
}

// A refused token ends the line with what to do; nothing hammers.
func TestTokenRevoked(t *testing.T) {
	surfacetest.In(t, newFake, func(h *surfacetest.House, f *fake) {
		f.mu.Lock()
		f.errors["apps.connections.open"], f.errors["chat.postMessage"] = "token_revoked", "account_inactive"
		f.mu.Unlock()
		f.drop()
		h.Wait(time.Hour)
		s := stateOf(h)
		if s.State != "down" || !strings.Contains(s.Why, "app_token") || !strings.Contains(s.Why, "App-Level Tokens") {
			t.Errorf("line %+v", s)
		}
		if n := f.Calls("apps.connections.open"); n != 2 {
			t.Errorf("%d calls for a socket", n)
		}
		h.WantAlert("surface_down", "App-Level Tokens")
	})
}

// A scope that is missing stands at the line with what to do; when it is given the message goes out, and the
// line is well without a new connection.
func TestScopeIsMended(t *testing.T) {
	surfacetest.In(t, newFake, func(h *surfacetest.House, f *fake) {
		f.mu.Lock()
		f.errors["chat.postMessage"] = "missing_scope"
		f.mu.Unlock()
		f.Say("a", "alice", "hello")
		h.Wait(4 * time.Minute)
		if s := stateOf(h); s.State != "down" || !strings.Contains(s.Why, "Reinstall to Workspace") {
			t.Errorf("line %+v", s)
		}
		h.WantAlert("surface_down", "Reinstall to Workspace")
		f.mu.Lock()
		delete(f.errors, "chat.postMessage")
		f.mu.Unlock()
		h.Wait(6 * time.Minute)
		h.Want("a", "answer")
		if open, err := h.Store.OpenAlerts(); err != nil || len(open) != 0 || stateOf(h).State != "connected" {
			t.Errorf("line %+v, alerts %+v, %v", stateOf(h), open, err)
		}
	})
}

// A Slack that is away is waited for, ever longer.
func TestSlackAway(t *testing.T) {
	surfacetest.In(t, newFake, func(h *surfacetest.House, f *fake) {
		f.mu.Lock()
		f.errors["apps.connections.open"] = "internal_error"
		f.mu.Unlock()
		f.drop()
		h.Wait(10 * time.Minute)
		if s := stateOf(h); s.State != "connecting" || s.Why == "" {
			t.Errorf("line %+v", s)
		}
		h.WantAlert("surface_down", "internal_error")
		if n := f.Calls("apps.connections.open"); n < 15 || n > 50 {
			t.Errorf("%d calls for a socket in ten minutes", n)
		}
		f.mu.Lock()
		delete(f.errors, "apps.connections.open")
		f.mu.Unlock()
		h.Wait(time.Minute)
		if s := stateOf(h); s.State != "connected" {
			t.Errorf("line %+v", s)
		}
	})
}

// P1: what could not be stored is not acknowledged, and taken in when it comes again.
func TestAcknowledgedAfterStoredP1(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake(t)
		defer f.Close()
		ctx, cancel := context.WithCancel(t.Context())
		var got []socket.Envelope
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			c := socket.Config{
				Open: func(context.Context) (string, error) { return "ws://slack.test/link", nil }, Dial: f.pipes.Dial, Log: quiet(),
				State: func(string, string) {}, Up: func() {},
			}
			_ = socket.Run(ctx, c, func(_ context.Context, e socket.Envelope) error {
				got = append(got, e)
				if len(got) < 3 {
					return errors.New("disk full")
				}
				return nil
			})
		}()
		time.Sleep(time.Second)
		f.deliver("events_api", object{"event": object{}})
		time.Sleep(30 * time.Minute)
		cancel()
		<-ended
		if len(got) != 3 || got[2].Retry != 2 {
			t.Errorf("delivered %+v", got)
		}
	})
}

// N6, and the honest end: in a channel that is archived the post fails for good and blocks nobody.
func TestArchived(t *testing.T) {
	surfacetest.In(t, newFake, func(h *surfacetest.House, f *fake) {
		h.Model.Play("429/45s", "ok:late")
		f.Say("a", "alice", "hello")
		h.Wait(10 * time.Second)
		f.mu.Lock()
		f.archived = true
		f.mu.Unlock()
		h.Wait(2 * time.Minute)
		posts, err := h.Store.Posts(h.Turns()[0].ID)
		if err != nil || len(posts) != 1 || posts[0].State != "failed" || !strings.Contains(posts[0].Error, "is_archived") {
			t.Errorf("posts %+v, %v", posts, err)
		}
		if n := f.Calls("post"); n > 2 {
			t.Errorf("%d posts into an archived channel", n)
		}
		h.WantAlert("delivery_stuck", "is_archived")
	})
}

// An edit that Slack refuses for good makes one new post (N6).
func TestEditWindowClosed(t *testing.T) {
	surfacetest.In(t, newFake, func(h *surfacetest.House, f *fake) {
		h.Model.Play("429/45s", "ok:late")
		f.Say("a", "alice", "hello")
		h.Wait(10 * time.Second)
		f.mu.Lock()
		f.errors["chat.update"] = "edit_window_closed"
		f.mu.Unlock()
		h.Wait(2 * time.Minute)
		h.Want("a", "no need to send it again", "late")
	})
}

// A root that takes no replies does not swallow the answer.
func TestCannotReply(t *testing.T) {
	surfacetest.In(t, newFake, func(h *surfacetest.House, f *fake) {
		f.noReplies = true
		f.Say("a", "alice", "hello")
		h.Wait(10 * time.Second)
		last := f.messages[len(f.messages)-1]
		if last.bot != botID || last.thread != "" || last.text != "answer" {
			t.Errorf("the last message is %+v", last)
		}
	})
}

// Slack's real limits: 200 conversations that all wait, get a notice and then their answer, never
// meet a 429.
func TestOwnPaceKeepsLimits(t *testing.T) {
	const people = 200
	surfacetest.In(t, newFake, func(h *surfacetest.House, f *fake) {
		f.limits = true
		h.Model.Play("429/10m")
		for i := range people {
			f.Say(string(rune('a'+i%26))+string(rune('a'+i/26)), fmt.Sprint("p", i), "hello")
		}
		h.Wait(9 * time.Minute)
		h.Model.Play("ok:late")
		h.Wait(30 * time.Minute)
		for i := range people {
			h.Want(string(rune('a'+i%26))+string(rune('a'+i/26)), "late", "The answer is above")
		}
		if f.refused != 0 {
			t.Errorf("%d calls met a limit", f.refused)
		}
		if p, e := f.Calls("post"), f.Calls("edit"); p != 2*people || e < people || e > people+4 { // those that asked first may learn of a new time
			t.Errorf("%d posts and %d edits for %d notices, answers and mentions", p, e, people)
		}
	})
}

func TestCheck(t *testing.T) {
	surfacetest.In(t, newFake, func(h *surfacetest.House, f *fake) {
		f.cfg.AllowChannels = []string{general}
		s := f.Surface().(*Surface)
		defer s.api.Close()
		f.scopes = "chat:write,im:history,app_mentions:read,channels:history,groups:history,mpim:history,users:read,im:write,channels:read,groups:read,im:read,mpim:read"
		if got := s.Check(h.T.Context()); got != nil {
			t.Errorf("finds %q", got)
		}
		f.scopes = "chat:write,im:history,app_mentions:read,channels:history,groups:history,mpim:history,users:read,im:write"
		f.errors["apps.connections.open"] = "not_allowed_token_type"
		if got := s.Check(h.T.Context()); len(got) != 5 || !strings.Contains(got[0], "channels:read") || !strings.Contains(got[4], "app_token is of the wrong kind") {
			t.Errorf("finds %q", got)
		}
		f.errors["auth.test"] = "invalid_auth"
		if got := s.Check(h.T.Context()); len(got) != 2 || !strings.Contains(got[0], "bot_token") {
			t.Errorf("finds %q", got)
		}
	})
}

// What is said of a post is its turn, its part and its own id (N8), and nothing that loads pages.
func TestMetadata(t *testing.T) {
	surfacetest.In(t, newFake, func(h *surfacetest.House, f *fake) {
		f.Say("a", "alice", "hello")
		h.Wait(3 * time.Second)
		turn := h.Turns()[0]
		posts, err := h.Store.Posts(turn.ID)
		if err != nil {
			t.Fatal(err)
		}
		got, _ := json.Marshal(f.of(f.roots["a"])[0].metadata)
		want, _ := json.Marshal(object{"event_type": "holdfast_turn", "event_payload": object{"turn": turn.ID.String(), "part": 0, "post": posts[0].ID.String()}})
		if string(got) != string(want) {
			t.Errorf("metadata %s, want %s", got, want)
		}
	})
}
