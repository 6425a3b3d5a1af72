package web

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"holdfast/engine"
	"holdfast/store"
)

// client is a page as the server sees it.
type client struct {
	*websocket.Conn
	t *testing.T
}

// frame is any frame.
type frame struct {
	T        string
	Seq      int64
	K        string
	D        map[string]any
	Epoch    string
	Head     int64
	Page     map[string]any
	Chat     string
	Chats    []map[string]any
	Messages []map[string]any
	Turns    []map[string]any
	Gates    []map[string]any
	Turn     string
	From     int
	Blocks   []string
	Code     int

	Alerts    []map[string]any
	Providers []map[string]any
	Schedules []map[string]any
	N         int64
	Level     string
	Msg       string
	Attrs     map[string]any
}

// dial opens a socket with the token, or with a login's cookie.
func (g *rig) dial(t *testing.T, cookie string) *client {
	t.Helper()
	h := http.Header{}
	if cookie == "" {
		h.Set("Authorization", "Bearer "+testToken)
	} else {
		h.Set("Origin", g.base)
		h.Set("Cookie", "holdfast_"+g.port+"="+cookie)
	}
	d := websocket.Dialer{Subprotocols: []string{"holdfast.v1"}}
	c, _, err := d.Dial("ws"+strings.TrimPrefix(g.base, "http")+"/ws", h)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return &client{c, t}
}

func (c *client) hello(epoch string, after int64, chat string) {
	c.t.Helper()
	if err := c.WriteJSON(map[string]any{"t": "hello", "epoch": epoch, "after": after, "chat": chat}); err != nil {
		c.t.Fatal(err)
	}
}

// next reads a frame; kinds given are skipped.
func (c *client) next(skip ...string) frame {
	c.t.Helper()
	for {
		c.SetReadDeadline(time.Now().Add(5 * time.Second))
		_, data, err := c.ReadMessage()
		if err != nil {
			c.t.Fatal(err)
		}
		var f frame
		if err := json.Unmarshal(data, &f); err != nil {
			c.t.Fatalf("%s: %v", data, err)
		}
		skipped := false
		for _, s := range skip {
			skipped = skipped || f.T == s
		}
		if !skipped {
			return f
		}
	}
}

// want reads a frame of a kind.
func (c *client) want(kind string) frame {
	c.t.Helper()
	f := c.next()
	if f.T != kind {
		c.t.Fatalf("frame %+v, want %s", f, kind)
	}
	return f
}

// until reads events up to the first of a kind for which ok holds.
func (c *client) until(kind string, ok func(d map[string]any) bool) frame {
	c.t.Helper()
	for {
		if f := c.want("ev"); f.K == kind && ok(f.D) {
			return f
		}
	}
}

// A page of another build than the server's is told to reload; one of the same, or of none, is served.
func TestPageOfAnotherBuildReloads(t *testing.T) {
	g := newRig(t, nil)
	for build, want := range map[string]string{"": "welcome", g.assets.build: "welcome", "0123456789abcdef": ""} {
		c := g.dial(t, "")
		if err := c.WriteJSON(map[string]any{"t": "hello", "build": build}); err != nil {
			t.Fatal(err)
		}
		if want != "" {
			c.want(want)
		} else if code := c.closed(); code != closeBuild {
			t.Errorf("closed with %d, want %d", code, closeBuild)
		}
	}
}

// closed reads until the socket is closed and returns the code.
func (c *client) closed() int {
	c.t.Helper()
	for {
		c.SetReadDeadline(time.Now().Add(5 * time.Second))
		if _, _, err := c.ReadMessage(); err != nil {
			if e, ok := err.(*websocket.CloseError); ok {
				return e.Code
			}
			c.t.Fatalf("ended with %v, want a close frame", err)
		}
	}
}

func has(key string, value any) func(map[string]any) bool {
	return func(d map[string]any) bool { return d[key] == value }
}

func TestSnapshotThenLive(t *testing.T) {
	g := newRig(t, nil)
	g.house.shape.Gates = []engine.GateShape{{Provider: "demo", Model: "echo", Why: "hold", Until: moment}}
	first := g.say(t, "m1", "c1", "hello")
	g.say(t, "m2", "c2", "elsewhere")

	c := g.dial(t, g.login(t))
	c.hello("", 0, "c1")
	w := c.want("welcome")
	if w.Epoch != g.store.Epoch() || w.Head != g.store.Head() || w.Page["version"] != "1.2.3" || w.Page["demo"] != true || w.Page["public_url"] != "" {
		t.Errorf("welcome %+v", w)
	}
	if has := fmt.Sprint(w.Page["has"]); has != "[schedules memory usage]" {
		t.Errorf("the operator's page has %s", has)
	}
	if bots := fmt.Sprint(w.Page["bots"]); bots != "[map[models:[demo/echo] name:ada]]" {
		t.Errorf("bots %s", bots)
	}
	s := c.want("snapshot")
	if s.Seq != w.Head || s.Chat != "c1" || len(s.Chats) != 2 || len(s.Messages) != 1 || len(s.Turns) != 2 || len(s.Gates) != 1 {
		t.Fatalf("snapshot %+v", s)
	}
	if m := s.Messages[0]; m["text"] != "hello" || m["turn"] != first.String() || m["role"] != "user" {
		t.Errorf("message %v", m)
	}
	c.want("live")

	g.say(t, "m3", "c2", "not for this page") // its turn comes, its text does not
	third := g.say(t, "m4", "c1", "more")
	seen, seq := map[string]int{}, s.Seq
	for {
		f := c.want("ev")
		if f.Seq <= seq {
			t.Errorf("seq %d after %d", f.Seq, seq)
		}
		seq = f.Seq
		seen[f.K]++
		if f.K == "message" && f.D["chat"] != "c1" {
			t.Errorf("a message of another chat: %v", f.D)
		}
		if f.K == "turn" && f.D["id"] == third.String() {
			break
		}
	}
	if seen["message"] != 1 || seen["turn"] != 2 {
		t.Errorf("seen %v, want one message and two turns", seen)
	}
}

// A chat that is looked at is in the snapshot also when two hundred others were active since.
func TestSnapshotHasAnOldChatThatIsLookedAt(t *testing.T) {
	g := newRig(t, nil)
	for i := range chatsShown + 1 {
		g.say(t, fmt.Sprint("m", i), fmt.Sprint("c", i), "hello")
	}
	c := g.dial(t, "")
	c.hello("", 0, "c0")
	c.want("welcome")
	s := c.want("snapshot")
	if n := len(s.Chats); n != chatsShown+1 || s.Chats[n-1]["id"] != "c0" || s.Chats[0]["id"] != fmt.Sprint("c", chatsShown) {
		t.Errorf("%d chats, the last %v", n, s.Chats[n-1])
	}
	c.want("live")
	c.hello("", 0, "c1")
	c.want("welcome")
	if s := c.want("snapshot"); len(s.Chats) != chatsShown {
		t.Errorf("%d chats for one of the latest, want %d", len(s.Chats), chatsShown)
	}
}

func TestReplayBringsOnlyWhatWasMissed(t *testing.T) {
	g := newRig(t, nil)
	g.say(t, "m1", "c1", "one")
	c := g.dial(t, "")
	c.hello("", 0, "c1")
	epoch := c.want("welcome").Epoch
	after := c.want("snapshot").Seq
	c.want("live")
	c.Close()

	id := g.say(t, "m2", "c1", "two")
	g.house.wait(t, id, time.Now().Add(time.Hour))
	g.command(t, `{"id":"r1","cmd":"turn.resume","target":"`+id.String()+`"}`)
	g.say(t, "m3", "c2", "elsewhere")

	c = g.dial(t, "")
	c.hello(epoch, after, "c1")
	c.want("welcome")
	var kinds []string
	var f frame
	for f = c.next(); f.T == "ev"; f = c.next() {
		kinds = append(kinds, f.K)
		if f.K == "turn" && f.D["id"] == id.String() && f.D["state"] != "queued" {
			t.Errorf("the turn is shown as it was: %v", f.D["state"])
		}
		if f.K == "message" && f.D["text"] == "one" {
			t.Error("a message that was known comes again")
		}
	}
	if f.T != "live" {
		t.Fatalf("%+v, want live", f)
	}
	turns := 0
	for _, k := range kinds {
		if k == "turn" {
			turns++
		}
	}
	if turns != 2 {
		t.Errorf("replay %v: a turn that changed three times must come once", kinds)
	}

	c = g.dial(t, "") // nothing missed
	c.hello(epoch, g.store.Head(), "c1")
	c.want("welcome")
	c.want("live")
}

func TestWhoNeedsASnapshot(t *testing.T) {
	g := newRig(t, nil)
	g.say(t, "m1", "c1", "one")
	epoch, head := g.store.Epoch(), g.store.Head()
	for name, h := range map[string]hello{
		"first time":    {Epoch: "", After: 0},
		"another store": {Epoch: "other", After: head},
		"from before":   {Epoch: epoch, After: 0},
		"from later":    {Epoch: epoch, After: head + 1},
	} {
		c := g.dial(t, "")
		c.hello(h.Epoch, h.After, "c1")
		c.want("welcome")
		if f := c.next(); f.T != "snapshot" {
			t.Errorf("%s: %s", name, f.T)
		}
	}

	c := g.dial(t, "") // turning to another chat on the same socket
	c.hello(epoch, head, "c1")
	c.want("welcome")
	c.want("live")
	c.hello(epoch, head, "c2")
	c.want("welcome")
	if s := c.want("snapshot"); s.Chat != "c2" || len(s.Messages) != 0 {
		t.Errorf("snapshot of a chat that is not made yet: %+v", s)
	}
	c.want("live")
	g.say(t, "m2", "c2", "first words")
	c.until("message", has("text", "first words"))
}

func TestTooFarBehindGetsASnapshot(t *testing.T) {
	g := newRig(t, nil)
	g.say(t, "m1", "c1", "one")
	epoch, after := g.store.Epoch(), g.store.Head()
	for i := range replayLongest + 1 {
		if err := g.store.RenameChat("c1", fmt.Sprint("t", i), store.At(time.Now()), nil); err != nil {
			t.Fatal(err)
		}
	}
	c := g.dial(t, "")
	c.hello(epoch, after, "c1")
	c.want("welcome")
	c.want("snapshot")
	c.want("live")
	c = g.dial(t, "")
	c.hello(epoch, after+1, "c1")
	c.want("welcome")
	if f := c.want("ev"); f.K != "chat" || f.D["title"] != fmt.Sprint("t", replayLongest) || f.Seq != g.store.Head() {
		t.Errorf("%+v: a thousand changes of one object come as one", f)
	}
	c.want("live")

	if _, err := g.store.PruneChanges(store.At(time.Now().Add(time.Hour)), 500); err != nil {
		t.Fatal(err)
	}
	c = g.dial(t, "")
	c.hello(epoch, after+1, "c1")
	c.want("welcome")
	c.want("snapshot")
}

// A command between reading and going live is neither missed nor out of order.
func TestNothingIsMissedWhileJoining(t *testing.T) {
	g := newRig(t, nil)
	g.say(t, "m0", "c1", "zero")
	const n = 60
	done := make(chan struct{})
	go func() {
		defer close(done)
		for i := range n {
			g.say(t, fmt.Sprint("w", i), "c1", fmt.Sprint("text ", i))
		}
	}()
	for range 5 {
		c := g.dial(t, "")
		c.hello("", 0, "c1")
		c.want("welcome")
		have := map[string]bool{}
		s := c.want("snapshot")
		for _, m := range s.Messages {
			have[m["text"].(string)] = true
		}
		c.want("live")
		seq := s.Seq
		for !have[fmt.Sprint("text ", n-1)] {
			f := c.want("ev")
			if f.Seq <= seq {
				t.Fatalf("seq %d after %d", f.Seq, seq)
			}
			seq = f.Seq
			if f.K == "message" {
				have[f.D["text"].(string)] = true
			}
		}
		for i := range n {
			if !have[fmt.Sprint("text ", i)] {
				t.Errorf("text %d is missed", i)
			}
		}
		c.Close()
	}
	<-done
}

func TestRendersReachOnlyTheirChat(t *testing.T) {
	g := newRig(t, nil)
	id := g.say(t, "m1", "c1", "hello")
	c := g.dial(t, "")
	c.hello("", 0, "c1")
	c.want("welcome")
	c.want("snapshot")
	c.want("live")
	g.live.Draft("c2", 99, "not here")
	g.live.Draft("c1", id, "# T\n\nfirst\n\nsec")
	f := c.want("render")
	if f.Turn != id.String() || f.Chat != "c1" || f.From != 0 || strings.Join(f.Blocks, "|") != "<h1>T</h1>|<p>first</p>|<p>sec</p>" {
		t.Fatalf("%+v", f)
	}
	g.live.Draft("c1", id, "# T\n\nfirst\n\nsecond\n\nthird")
	if f := c.want("render"); f.From > 2 || strings.Join(append([]string{"<h1>T</h1>", "<p>first</p>", "<p>sec</p>"}[:f.From], f.Blocks...), "|") != "<h1>T</h1>|<p>first</p>|<p>second</p>|<p>third</p>" {
		t.Fatalf("%+v", f)
	}

	late := g.dial(t, "") // a page that comes in the middle gets the whole text
	late.hello("", 0, "c1")
	late.want("welcome")
	late.want("snapshot")
	late.want("live")
	if f := late.want("render"); f.From != 0 || len(f.Blocks) != 4 {
		t.Errorf("%+v", f)
	}
}

func TestSlowPageIsCutOff(t *testing.T) {
	g := newRig(t, nil)
	c := g.dial(t, "")
	c.hello("", 0, "")
	c.want("welcome")
	c.want("snapshot")
	c.want("live")
	events := make([]event, queueLength+1)
	for i := range events {
		events[i] = event{seq: g.store.Head() + int64(i) + 1, frame: []byte(`{"t":"ev"}`)}
	}
	g.live.mu.Lock()
	for open := range g.live.conns {
		open.putEvents(events)
	}
	g.live.mu.Unlock()
	if code := c.closed(); code != 1013 {
		t.Errorf("closed with %d, want 1013", code)
	}
}

func TestStopSaysBye(t *testing.T) {
	g := newRig(t, nil)
	c, mute := g.dial(t, ""), g.dial(t, "") // one that never said hello is let go as well
	c.hello("", 0, "")
	c.want("welcome")
	c.want("snapshot")
	c.want("live")
	began := time.Now()
	ended := make(chan error, 1)
	go func() { ended <- g.stop() }()
	if f := c.want("bye"); f.Code != 1012 {
		t.Errorf("bye %d, want 1012", f.Code)
	}
	if code := c.closed(); code != 1012 {
		t.Errorf("closed with %d, want 1012", code)
	}
	if code := mute.closed(); code != 1012 {
		t.Errorf("the silent one: %d, want 1012", code)
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if took := time.Since(began); took > 1500*time.Millisecond {
		t.Errorf("the stop took %v", took)
	}
}

func TestSocketEndsWithItsLogin(t *testing.T) {
	g := newRig(t, nil)
	cookie := g.login(t)
	c := g.dial(t, cookie)
	c.hello("", 0, "")
	c.want("welcome")
	if status, _, _ := g.do(t, request{method: "POST", path: "/logout", origin: g.base, cookie: cookie}); status != 204 {
		t.Fatal(status)
	}
	if code := c.closed(); code != 4401 {
		t.Errorf("after logout: %d, want 4401", code)
	}

	g.tick = 20 * time.Millisecond // a login that ends elsewhere is noticed at the next tick
	cookie = g.login(t)
	c = g.dial(t, cookie)
	c.hello("", 0, "")
	c.want("welcome")
	c.want("snapshot")
	c.want("live")
	c.want("tick")
	hash := digest(cookie)
	if err := g.store.EndSession(hash[:]); err != nil {
		t.Fatal(err)
	}
	if code := c.closed(); code != 4401 {
		t.Errorf("after revocation: %d, want 4401", code)
	}
}

func TestNonsenseOnTheSocket(t *testing.T) {
	g := newRig(t, nil)
	for _, words := range []string{`hello`, `{"t":"command"}`, `{"t":"hello","chat":"../x"}`, `[]`} {
		c := g.dial(t, "")
		c.WriteMessage(websocket.TextMessage, []byte(words))
		if code := c.closed(); code != 1008 {
			t.Errorf("%s: %d, want 1008", words, code)
		}
	}
	c := g.dial(t, "")
	c.WriteMessage(websocket.TextMessage, []byte(`{"t":"hello","chat":"`+strings.Repeat("x", 5000)+`"}`))
	if code := c.closed(); code != 1009 {
		t.Errorf("a frame of 5 kB: %d, want 1009", code)
	}
}

func TestNothingIsReadWithoutAPage(t *testing.T) {
	g := newRig(t, nil)
	at := func() int64 {
		g.live.mu.Lock()
		defer g.live.mu.Unlock()
		return g.hub.at
	}
	g.say(t, "m1", "c1", "hello")
	if at() != 0 {
		t.Errorf("the hub has read up to %d without a page", at())
	}
	c := g.dial(t, "")
	c.hello("", 0, "c1")
	c.want("welcome")
	c.want("snapshot")
	c.want("live")
	g.say(t, "m2", "c1", "more")
	c.until("turn", has("state", "queued"))
	c.Close()
	g.live.open.Wait()
	for i := range 20 {
		g.say(t, fmt.Sprint("u", i), "c1", "unseen")
	}
	if behind := g.store.Head() - at(); behind < 10 {
		t.Errorf("without a page the hub is only %d changes behind; it must sleep", behind)
	}
}
