package slack

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"holdfast/engine"
	"holdfast/surfaces/door"
	"holdfast/surfaces/markup"
	"holdfast/surfaces/surfacetest"
)

// Who and what is in the fake's workspace.
const (
	team    = "T0HOME"
	botUser = "U0BOT"
	botID   = "B0BOT"
	general = "C0GENERAL"
)

type object = map[string]any

// message is one in a channel.
type message struct {
	channel, user, bot, text, ts, thread, sent, subtype string
	markdown                                            bool
	blocks                                              []object
	metadata                                            object
	team                                                string
	files                                               []object
	edits                                               int
}

// fake is a small Slack over pipes. Envelopes that are not acknowledged within three seconds come
// again, at once and after a minute; with no socket open they wait for their next try.
type fake struct {
	t     *testing.T
	pipes *surfacetest.Pipes
	http  *http.Server
	ended sync.WaitGroup
	reply string // of the bot
	cfg   Config

	mu        sync.Mutex
	nowTS     int64
	messages  []*message
	roots     map[string]string // a thread's ts by its name
	faults    []surfacetest.Fault
	calls     []string
	errors    map[string]string // a method's error, for good
	statuses  map[string]string // channel/thread → sign
	told      []string
	sockets   []*websocket.Conn
	opened    int
	mute      bool // no pings
	pending   map[string]chan struct{}
	last      func()   // sends the last events again
	newest    *message // what was said last
	envelope  int
	archived  bool
	noReplies bool // roots take no replies
	limits    bool // Slack's real ones
	refused   int  // calls that met them
	posted    map[string]time.Time
	updated   []time.Time
	fewest    int // connections there have been at the same time
	scopes    string
	channels  []string // that the bot is in
	done      chan struct{}
}

func newFake(t *testing.T) *fake {
	f := &fake{
		t: t, pipes: surfacetest.NewPipes(), roots: map[string]string{}, channels: []string{general}, errors: map[string]string{}, posted: map[string]time.Time{}, statuses: map[string]string{},
		pending: map[string]chan struct{}{}, done: make(chan struct{}), cfg: Default(),
	}
	f.cfg.Name, f.cfg.Bot, f.cfg.AppToken, f.cfg.BotToken, f.cfg.APIURL = "ada", "bot", "xapp-1", "xoxb-1", "http://slack.test/api/"
	mux := http.NewServeMux()
	mux.HandleFunc("/api/{method}", f.api)
	mux.HandleFunc("/link", f.socket)
	f.http = &http.Server{Handler: mux}
	f.ended.Go(func() { _ = f.http.Serve(f.pipes) })
	return f
}

func (f *fake) Surface() engine.Surface {
	return New(f.cfg, door.Parts{Reply: f.reply, Log: quiet(), Dial: f.pipes.Dial})
}

func (f *fake) Close() {
	close(f.done)
	f.pipes.Close()
	f.http.Close()
	f.mu.Lock()
	for _, ws := range f.sockets {
		ws.Close()
	}
	f.mu.Unlock()
	f.ended.Wait()
}

func (f *fake) Limit() int { return markup.SlackLimit }

func userOf(person string) string { return "U0" + strings.ToUpper(person) }

func (f *fake) ts() string {
	f.nowTS = max(f.nowTS+1, time.Now().UnixMicro())
	return fmt.Sprintf("%d.%06d", f.nowTS/1e6, f.nowTS%1e6)
}

// Say mentions the bot in #general; both events come, as from Slack.
func (f *fake) Say(thread, person, text string) {
	f.mu.Lock()
	m := &message{channel: general, user: userOf(person), text: "<@" + botUser + "> " + escape(text), thread: f.roots[thread], sent: "c" + strconv.Itoa(len(f.messages)), team: team}
	f.add(m)
	if m.thread == "" {
		f.roots[thread] = m.ts
	}
	f.mu.Unlock()
	f.tell(m, "message", "app_mention")
}

func (f *fake) SayFile(thread, person, name string) {
	m := &message{channel: general, user: userOf(person), text: "<@" + botUser + ">", subtype: "file_share", files: []object{{"name": name}}, thread: f.roots[thread], team: team}
	f.mu.Lock()
	f.add(m)
	if m.thread == "" {
		f.roots[thread] = m.ts
	}
	f.mu.Unlock()
	f.tell(m, "message", "app_mention")
}

func (f *fake) Reword(text string) {
	f.mu.Lock()
	m := f.newest
	m.text = "<@" + botUser + "> " + escape(text)
	e := object{"type": "message", "subtype": "message_changed", "channel": m.channel, "channel_type": "channel", "message": f.json(m, false), "ts": f.ts()}
	f.mu.Unlock()
	f.deliver("events_api", object{"event": e})
}

func (f *fake) Unsay() bool {
	f.mu.Lock()
	e := object{"type": "message", "subtype": "message_deleted", "channel": f.newest.channel, "channel_type": "channel", "deleted_ts": f.newest.ts, "ts": f.ts()}
	f.mu.Unlock()
	f.deliver("events_api", object{"event": e})
	return true
}

func escape(s string) string {
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(s)
}

// tell sends a message's events, and keeps them for Again.
func (f *fake) tell(m *message, types ...string) {
	f.mu.Lock()
	f.newest = m
	f.mu.Unlock()
	send := func() {
		for _, kind := range types {
			f.mu.Lock()
			e := f.json(m, false)
			f.mu.Unlock()
			e["type"], e["channel"], e["event_ts"] = kind, m.channel, m.ts
			if kind == "message" {
				e["channel_type"] = map[byte]string{'C': "channel", 'D': "im", 'G': "group"}[m.channel[0]]
			}
			f.deliver("events_api", object{"type": "event_callback", "team_id": team, "event": e})
		}
	}
	f.mu.Lock()
	f.last = send
	f.mu.Unlock()
	send()
}

func (f *fake) Again() {
	f.mu.Lock()
	send := f.last
	f.mu.Unlock()
	send()
}

// deliver sends an envelope until it is acknowledged: at once, after three seconds, and a minute later.
func (f *fake) deliver(kind string, payload object) {
	f.mu.Lock()
	f.envelope++
	acked := make(chan struct{})
	id := fmt.Sprint("env-", f.envelope)
	f.mu.Unlock()
	f.ended.Go(func() {
		for retry, wait := range []time.Duration{0, 3 * time.Second, time.Minute, 5 * time.Minute} {
			select {
			case <-acked:
				return
			case <-f.done:
				return
			case <-time.After(wait):
			}
			f.mu.Lock()
			f.pending[fmt.Sprint(id, ".", retry)] = acked
			if n := len(f.sockets); n > 0 {
				_ = f.sockets[n-1].WriteJSON(object{"envelope_id": fmt.Sprint(id, ".", retry), "type": kind, "payload": payload, "retry_attempt": retry})
			}
			f.mu.Unlock()
		}
	})
}

func (f *fake) add(m *message) {
	m.ts = f.ts()
	f.messages = append(f.messages, m)
	if m.bot != "" {
		delete(f.statuses, m.channel+"/"+m.thread)
	}
}

func (f *fake) find(channel, ts string) *message {
	for _, m := range f.messages {
		if m.ts == ts && m.channel == channel {
			return m
		}
	}
	return nil
}

// Shown lists the bot's messages in a thread of #general.
func (f *fake) Shown(thread string) (list []surfacetest.Message) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, m := range f.of(f.roots[thread]) {
		list = append(list, surfacetest.Message{Text: m.text, Pings: pingsIn(m), Edits: m.edits})
	}
	return list
}

func (f *fake) of(root string) (list []*message) {
	for _, m := range f.messages {
		if m.bot == botID && m.thread == root && root != "" {
			list = append(list, m)
		}
	}
	return list
}

var notifies = regexp.MustCompile(`<(?:!(?:channel|here|everyone)(?:\|[^>]*)?|!subteam\^[^>]+|@[UW][A-Z0-9]+(?:\|[^>]*)?)>`)

// pingsIn are those that a message notifies; people by the names of the suite.
func pingsIn(m *message) (list []string) {
	for _, p := range notifies.FindAllString(m.text, -1) {
		if id, ok := strings.CutPrefix(p, "<@U0"); ok {
			p = strings.ToLower(strings.TrimSuffix(id, ">"))
		}
		list = append(list, p)
	}
	return list
}

func (f *fake) Delete(thread string, i int) {
	f.mu.Lock()
	m := f.of(f.roots[thread])[i]
	f.remove(m)
	f.mu.Unlock()
}

func (f *fake) remove(m *message) {
	f.messages = slices.DeleteFunc(f.messages, func(x *message) bool { return x == m })
}

// Press presses a button of a message; Slack sends it as an envelope.
func (f *fake) Press(thread string, i int, person, label string) {
	f.mu.Lock()
	m := f.of(f.roots[thread])[i]
	f.mu.Unlock()
	for _, b := range m.blocks {
		elements, _ := b["elements"].([]any)
		for _, x := range elements {
			e := x.(object)
			if e["text"].(object)["text"] == label {
				f.deliver("interactive", object{
					"type": "block_actions", "user": object{"id": userOf(person)}, "channel": object{"id": m.channel},
					"message": object{"ts": m.ts, "thread_ts": m.thread}, "actions": []object{{"action_id": e["action_id"], "value": e["value"], "type": "button"}},
				})
				return
			}
		}
	}
	f.t.Errorf("no button %s in %q", label, m.text)
}

func (f *fake) Told() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.told)
}

func (f *fake) Fault(x surfacetest.Fault) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.faults = append(f.faults, x)
}

// Calls counts by "post" and "edit", or by a method's own name.
func (f *fake) Calls(op string) (n int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, c := range f.calls {
		if c == op || c == opOf(op) {
			n++
		}
	}
	return n
}

func opOf(op string) string {
	return map[string]string{"post": "chat.postMessage", "edit": "chat.update"}[op]
}

func (f *fake) Working(thread string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.statuses[general+"/"+f.roots[thread]] != ""
}

// api answers a Web API method.
func (f *fake) api(w http.ResponseWriter, r *http.Request) {
	method := r.PathValue("method")
	if err := r.ParseForm(); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	f.mu.Lock()
	f.calls = append(f.calls, method)
	fault := f.fault(method)
	switch fault.Kind {
	case "limited":
		f.mu.Unlock()
		w.Header().Set("Retry-After", strconv.Itoa(int(fault.After.Seconds())))
		w.WriteHeader(http.StatusTooManyRequests)
		fmt.Fprint(w, `{"ok":false,"error":"ratelimited"}`)
		return
	case "down":
		f.mu.Unlock()
		http.Error(w, "<html>", http.StatusServiceUnavailable)
		return
	}
	if f.limits && f.limited(method, r.Form.Get("channel")) {
		f.refused++
		f.mu.Unlock()
		w.Header().Set("Retry-After", "5")
		w.WriteHeader(http.StatusTooManyRequests)
		return
	}
	answer, code := f.call(method, r.Form)
	scopes := f.scopes
	f.mu.Unlock()
	if fault.Kind == "lost" {
		panic(http.ErrAbortHandler)
	}
	if answer == nil {
		answer = object{}
	}
	if answer["ok"] = code == ""; code != "" {
		answer["error"] = code
	}
	w.Header().Set("X-OAuth-Scopes", scopes)
	_ = json.NewEncoder(w).Encode(answer)
}

// limited keeps one post a second and channel, and fifty updates a minute.
func (f *fake) limited(method, channel string) bool {
	now := time.Now()
	switch method {
	case "chat.postMessage":
		if now.Sub(f.posted[channel]) < time.Second {
			return true
		}
		f.posted[channel] = now
	case "chat.update":
		f.updated = slices.DeleteFunc(f.updated, func(t time.Time) bool { return now.Sub(t) > time.Minute })
		if len(f.updated) >= 50 {
			return true
		}
		f.updated = append(f.updated, now)
	}
	return false
}

// fault takes the fault that a call meets.
func (f *fake) fault(method string) surfacetest.Fault {
	for i := range f.faults {
		x := &f.faults[i]
		if opOf(x.Op) != method || x.Skip == 0 && x.Times == 0 {
			continue
		}
		if x.Skip > 0 {
			x.Skip--
			return surfacetest.Fault{}
		}
		x.Times--
		return *x
	}
	return surfacetest.Fault{}
}

func (f *fake) call(method string, a url.Values) (object, string) {
	if code := f.errors[method]; code != "" {
		return nil, code
	}
	switch method {
	case "auth.test":
		return object{"user_id": botUser, "bot_id": botID, "team_id": team}, ""
	case "apps.connections.open":
		return object{"url": "ws://slack.test/link"}, ""
	case "chat.postMessage":
		return f.post(a)
	case "chat.update":
		return f.update(a)
	case "chat.postEphemeral":
		f.told = append(f.told, a.Get("text"))
		return object{"message_ts": f.ts()}, ""
	case "assistant.threads.setStatus":
		f.statuses[a.Get("channel_id")+"/"+a.Get("thread_ts")] = a.Get("status")
		return nil, ""
	case "conversations.history", "conversations.replies":
		return f.history(a, method == "conversations.replies")
	case "conversations.info":
		return object{"channel": object{"id": a.Get("channel"), "name": "general", "is_member": true}}, ""
	case "users.conversations":
		var list []object
		for _, id := range f.channels {
			list = append(list, object{"id": id})
		}
		return object{"channels": list}, ""
	case "users.info":
		name := strings.ToLower(strings.TrimPrefix(a.Get("user"), "U0"))
		return object{"user": object{"id": a.Get("user"), "profile": object{"display_name": name}}}, ""
	}
	return nil, "unknown_method"
}

// put reads what a message says.
func (f *fake) put(m *message, a url.Values, limit int) string {
	text, md := a.Get("text"), a.Get("markdown_text")
	switch {
	case text != "" && md != "":
		return "markdown_text_conflict"
	case text == "" && md == "":
		return "no_text"
	case len([]rune(text)) > limit || len([]rune(md)) > 12000:
		return "msg_too_long"
	}
	m.text, m.markdown, m.blocks = text+md, md != "", nil
	if b := a.Get("blocks"); b != "" {
		if err := json.Unmarshal([]byte(b), &m.blocks); err != nil {
			return "invalid_blocks"
		}
	}
	return ""
}

func (f *fake) post(a url.Values) (object, string) {
	if f.archived {
		return nil, "is_archived"
	}
	if f.noReplies && a.Get("thread_ts") != "" {
		return nil, "cannot_reply_to_message"
	}
	m := &message{channel: a.Get("channel"), user: botUser, bot: botID, thread: a.Get("thread_ts"), team: team}
	if code := f.put(m, a, 40000); code != "" {
		return nil, code
	}
	if meta := a.Get("metadata"); meta != "" {
		if err := json.Unmarshal([]byte(meta), &m.metadata); err != nil {
			return nil, "invalid_metadata_format"
		}
	}
	f.add(m)
	return object{"channel": m.channel, "ts": m.ts}, ""
}

func (f *fake) update(a url.Values) (object, string) {
	m := f.find(a.Get("channel"), a.Get("ts"))
	switch {
	case m == nil:
		return nil, "message_not_found"
	case m.bot != botID:
		return nil, "cant_update_message"
	case f.archived:
		return nil, "is_inactive"
	}
	if code := f.put(m, a, 4000); code != "" {
		return nil, code
	}
	m.edits++
	return object{"channel": m.channel, "ts": m.ts}, ""
}

func (f *fake) history(a url.Values, replies bool) (object, string) {
	var list []object
	for _, m := range f.messages {
		root := m.ts == a.Get("ts")
		switch {
		case m.channel != a.Get("channel"), replies && !root && m.thread != a.Get("ts"), !replies && m.thread != "":
			continue
		case !(replies && root) && (a.Get("oldest") != "" && m.ts <= a.Get("oldest") || a.Get("latest") != "" && m.ts >= a.Get("latest")):
			continue
		}
		list = append(list, f.json(m, a.Get("include_all_metadata") != ""))
	}
	if !replies {
		slices.Reverse(list)
	}
	return object{"messages": list}, ""
}

func (f *fake) json(m *message, metadata bool) object {
	o := object{"type": "message", "user": m.user, "ts": m.ts, "text": m.text, "team": m.team}
	for key, value := range map[string]string{"bot_id": m.bot, "client_msg_id": m.sent, "subtype": m.subtype, "thread_ts": m.thread} {
		if value != "" {
			o[key] = value
		}
	}
	if m.files != nil {
		o["files"] = m.files
	}
	if metadata && m.metadata != nil {
		o["metadata"] = m.metadata
	}
	for _, r := range f.messages {
		if r.thread == m.ts {
			o["latest_reply"], o["thread_ts"] = r.ts, m.ts
		}
	}
	return o
}

// socket is a Socket Mode connection.
func (f *fake) socket(w http.ResponseWriter, r *http.Request) {
	var up websocket.Upgrader
	ws, err := up.Upgrade(w, r, nil)
	if err != nil {
		return
	}
	f.ended.Go(func() { f.connection(ws) })
}

func (f *fake) connection(ws *websocket.Conn) {
	defer ws.Close()
	f.mu.Lock()
	_ = ws.WriteJSON(object{"type": "hello"})
	f.sockets = append(f.sockets, ws)
	f.opened++
	f.mu.Unlock()
	gone := make(chan struct{})
	f.ended.Go(func() {
		for {
			select {
			case <-gone:
				return
			case <-time.After(10 * time.Second):
			}
			f.mu.Lock()
			mute := f.mute
			f.mu.Unlock()
			if !mute {
				_ = ws.WriteControl(websocket.PingMessage, nil, time.Now().Add(time.Second))
			}
		}
	})
	for {
		var ack struct {
			Envelope string `json:"envelope_id"`
		}
		if err := ws.ReadJSON(&ack); err != nil {
			break
		}
		f.mu.Lock()
		if acked := f.pending[ack.Envelope]; acked != nil {
			select {
			case <-acked:
			default:
				close(acked)
			}
		}
		f.mu.Unlock()
	}
	close(gone)
	f.mu.Lock()
	f.sockets = slices.DeleteFunc(f.sockets, func(x *websocket.Conn) bool { return x == ws })
	f.fewest = min(f.fewest, len(f.sockets))
	f.mu.Unlock()
}
