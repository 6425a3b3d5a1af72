package telegram

import (
	"encoding/json"
	"fmt"
	"html"
	"log/slog"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf16"

	"holdfast/engine"
	"holdfast/surfaces/door"
	"holdfast/surfaces/surfacetest"
)

var _ engine.Surface = (*Surface)(nil)

type object = map[string]any

const (
	botID  = 1000
	alice  = 1001
	bob    = 1002
	robot  = 1003
	dm     = "1001" // the private chat with alice
	bobDM  = "1002"
	group  = "-5000" // the first thread of the suite
	botTag = "@HoldfastBot"
)

func people() map[string]int { return map[string]int{"alice": alice, "bob": bob, "robot": robot} }

// post is a message of the bot.
type post struct {
	id, replyTo int
	chat, topic string
	text        string   // as people see it
	buttons     []string // their data
	labels      []string
	pings       []string
	edits       int
	deleted     bool
	made        time.Time
}

type call struct {
	method, chat string
	at           time.Time
	status       int // 0: the answer was lost
}

// fault makes calls of a method go wrong.
type fault struct {
	method      string
	skip, times int
	status      int
	after       int // s
	what        string
	migrate     int
	lost        bool
}

// fake is a small Telegram; its threads are groups.
type fake struct {
	*surfacetest.Pipes
	http   http.Server
	served sync.WaitGroup
	cfg    Config
	reply  string
	token  string

	mu      sync.Mutex
	surface *Surface
	updates []object
	news    chan struct{} // closed at the next update
	nextID  int
	posts   []*post
	calls   []call
	faults  []*fault
	told    []string
	threads []string
	last    object
	ended   chan struct{}
}

// newFake is called in the bubble.
func newFake() *fake {
	time.Sleep(time.Until(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)))
	f := &fake{Pipes: surfacetest.NewPipes(), cfg: Default(), token: "123:abc", news: make(chan struct{}), nextID: 100, ended: make(chan struct{})}
	f.cfg.Bot, f.cfg.Name, f.cfg.Token, f.cfg.APIURL = "bot", "ada", "123:abc", "http://telegram.test"
	f.http.Handler = http.HandlerFunc(f.serve)
	f.served.Go(func() { _ = f.http.Serve(f.Pipes) })
	return f
}

func (f *fake) Surface() engine.Surface {
	f.surface = New(f.cfg, door.Parts{Reply: f.reply, Log: slog.New(slog.DiscardHandler), Dial: f.Dial})
	return f.surface
}

func (f *fake) Close() {
	close(f.ended)
	_ = f.http.Close()
	_ = f.Pipes.Close()
	f.served.Wait()
}

// chat is the group that stands for a thread of the suite.
func (f *fake) chat(thread string) string {
	i := slices.Index(f.threads, thread)
	if i < 0 {
		i = len(f.threads)
		f.threads = append(f.threads, thread)
	}
	return fmt.Sprint(-5000 - i)
}

func (f *fake) Say(thread, person, text string) {
	f.say(f.chat(thread), person, botTag+" "+text, nil)
}

func (f *fake) SayFile(thread, person, name string) {
	f.say(f.chat(thread), person, "", object{"caption": botTag, "caption_entities": entities(botTag), "document": object{"file_name": name}})
}

func (f *fake) Reword(text string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	m := maps.Clone(f.last)
	m["text"], m["entities"], m["edit_date"] = botTag+" "+text, entities(botTag+" "+text), time.Now().Unix()
	f.tell(object{"edited_message": m})
}

// Unsay: Telegram does not tell of deleted messages.
func (f *fake) Unsay() bool { return false }

// say is a person's message; more adds fields to it. It returns the message's id.
func (f *fake) say(chat, person, text string, more object) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.nextID++
	var n int
	_, _ = fmt.Sscan(chat, &n)
	kind := "private"
	if n < 0 {
		kind = "supergroup"
	}
	m := object{
		"message_id": f.nextID, "date": time.Now().Unix(), "text": text, "entities": entities(text), "chat": object{"id": n, "type": kind, "title": ""},
		"from": object{"id": people()[person], "is_bot": person == "robot", "first_name": strings.ToUpper(person[:1]) + person[1:]},
	}
	for k, v := range more {
		m[k] = v
	}
	id := f.nextID
	f.last = m
	f.tell(object{"message": m})
	return id
}

var nameInText = regexp.MustCompile(`@[A-Za-z]\w{4,}`)

func entities(text string) (list []object) {
	for _, at := range nameInText.FindAllStringIndex(text, -1) {
		list = append(list, object{"type": "mention", "offset": len(utf16.Encode([]rune(text[:at[0]]))), "length": at[1] - at[0]})
	}
	if strings.HasPrefix(text, "/") {
		cmd, _, _ := strings.Cut(text, " ")
		list = append([]object{{"type": "bot_command", "offset": 0, "length": len(cmd)}}, list...)
	}
	return list
}

// tell adds an update. fake.mu is held.
func (f *fake) tell(u object) {
	f.nextID++
	u["update_id"] = f.nextID
	f.updates = append(f.updates, u)
	close(f.news)
	f.news = make(chan struct{})
}

func (f *fake) Again() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.tell(object{"message": f.last})
}

func (f *fake) Shown(thread string) (list []surfacetest.Message) {
	for _, p := range f.in(f.chat(thread)) {
		list = append(list, surfacetest.Message{Text: p.text, Pings: p.pings, Edits: p.edits})
	}
	return list
}

// in are the bot's messages in a chat, oldest first.
func (f *fake) in(chat string) (list []post) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, p := range f.posts {
		if p.chat == chat && !p.deleted {
			list = append(list, *p)
		}
	}
	return list
}

func (f *fake) Delete(thread string, i int) {
	id := f.in(f.chat(thread))[i].id
	f.mu.Lock()
	defer f.mu.Unlock()
	f.find(id).deleted = true
}

func (f *fake) find(id int) *post {
	for _, p := range f.posts {
		if p.id == id && !p.deleted {
			return p
		}
	}
	return nil
}

func (f *fake) Press(thread string, i int, person, label string) {
	m := f.in(f.chat(thread))[i]
	f.press(person, m.buttons[slices.Index(m.labels, label)])
}

func (f *fake) press(person, data string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.tell(object{"callback_query": object{"id": "q", "data": data, "from": object{"id": people()[person]}}})
}

func (f *fake) Told() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.told)
}

var methods = map[string]string{"post": "sendMessage", "edit": "editMessageText"}

func (f *fake) Fault(x surfacetest.Fault) {
	g := fault{method: methods[x.Op], skip: x.Skip, times: x.Times}
	switch x.Kind {
	case "limited":
		g.status, g.after, g.what = 429, int(x.After.Seconds()), "Too Many Requests"
	case "down":
		g.status = 503
	case "lost":
		g.lost = true
	}
	f.plan(g)
}

func (f *fake) plan(g fault) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.faults = append(f.faults, &g)
}

func (f *fake) Calls(op string) int { return len(f.of(methods[op])) }

// of are the calls of a method.
func (f *fake) of(method string) (list []call) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, c := range f.calls {
		if c.method == method {
			list = append(list, c)
		}
	}
	return list
}

func (f *fake) Working(thread string) bool {
	on := time.Time{}
	for _, c := range f.of("sendChatAction") {
		if c.chat == f.chat(thread) {
			on = c.at
		}
	}
	for _, p := range f.in(f.chat(thread)) {
		if !p.made.Before(on) {
			return false
		}
	}
	return time.Since(on) < 5*time.Second
}

func (f *fake) Limit() int { return 4096 }

// serve runs a call: fault, work, record.
func (f *fake) serve(w http.ResponseWriter, r *http.Request) {
	method := r.URL.Path[strings.LastIndex(r.URL.Path, "/")+1:]
	args := object{}
	_ = json.NewDecoder(r.Body).Decode(&args)
	if method == "getUpdates" {
		f.wait(r, args)
	}
	f.mu.Lock()
	g := f.fault(method)
	status, answer := 200, object{"ok": true}
	if want := "/bot" + f.token + "/" + method; r.URL.Path != want {
		status, answer = refuse(401, "Unauthorized")
	} else if g.status != 0 {
		if status, answer = refuse(g.status, g.what); g.after > 0 {
			answer["parameters"] = object{"retry_after": g.after}
		} else if g.migrate != 0 {
			answer["parameters"] = object{"migrate_to_chat_id": g.migrate}
		}
	} else if what := f.do(method, args, answer); what != "" {
		status, answer = refuse(400, what)
	}
	c := call{method: method, chat: fmt.Sprint(args["chat_id"]), at: time.Now(), status: status}
	if g.lost {
		c.status = 0
	}
	f.calls = append(f.calls, c)
	f.mu.Unlock()
	if g.lost {
		panic(http.ErrAbortHandler)
	}
	w.WriteHeader(status)
	if g.status < 500 { // a proxy's answer is no JSON
		_ = json.NewEncoder(w).Encode(answer)
	}
}

func refuse(status int, what string) (int, object) {
	return status, object{"ok": false, "error_code": status, "description": what}
}

func (f *fake) fault(method string) fault {
	for _, g := range f.faults {
		switch {
		case g.method != method || g.times == 0:
			continue
		case g.skip > 0:
			g.skip--
			continue
		}
		g.times--
		return *g
	}
	return fault{}
}

// wait is a long poll's: until there is news, or its time is over.
func (f *fake) wait(r *http.Request, args object) {
	f.mu.Lock()
	offset, _ := args["offset"].(float64)
	f.updates = slices.DeleteFunc(f.updates, func(u object) bool { return float64(u["update_id"].(int)) < offset })
	news, any := f.news, len(f.updates) > 0
	f.mu.Unlock()
	seconds, _ := args["timeout"].(float64)
	if any || seconds == 0 {
		return
	}
	select {
	case <-news:
	case <-time.After(time.Duration(seconds) * time.Second):
	case <-r.Context().Done():
	case <-f.ended:
	}
}

// do is what a call does; what is not "" refuses it.
func (f *fake) do(method string, args, answer object) (what string) {
	text, _ := args["text"].(string)
	if args["parse_mode"] == "HTML" && (strings.Contains(text, "<oops") || strings.Contains(text, "& ")) {
		return "Bad Request: can't parse entities: Unsupported start tag"
	}
	p := &post{chat: fmt.Sprint(args["chat_id"]), topic: fmt.Sprint(args["message_thread_id"]), text: text, made: time.Now()}
	if args["parse_mode"] == "HTML" {
		p.read()
	}
	if n := len(utf16.Encode([]rune(p.text))); strings.HasSuffix(method, "Message") && n > 4096 {
		return "Bad Request: message is too long"
	}
	if k, ok := args["reply_markup"].(object); ok {
		for _, b := range k["inline_keyboard"].([]any)[0].([]any) {
			p.buttons = append(p.buttons, b.(object)["callback_data"].(string))
			p.labels = append(p.labels, b.(object)["text"].(string))
		}
	}
	switch method {
	case "getMe":
		answer["result"] = object{"id": botID, "is_bot": true, "username": botTag[1:], "first_name": "Holdfast"}
	case "getUpdates":
		answer["result"] = append([]object{}, f.updates...)
	case "sendMessage":
		f.nextID++
		p.id = f.nextID
		if reply, ok := args["reply_parameters"].(object); ok {
			p.replyTo = int(reply["message_id"].(float64))
		}
		f.posts = append(f.posts, p)
		answer["result"] = object{"message_id": p.id}
	case "editMessageText":
		var id int
		_, _ = fmt.Sscan(fmt.Sprint(args["message_id"]), &id)
		old := f.find(id)
		switch {
		case old == nil:
			return "Bad Request: message to edit not found"
		case old.text == p.text && slices.Equal(old.buttons, p.buttons):
			return "Bad Request: message is not modified: specified new message content and reply markup are exactly the same"
		}
		old.text, old.buttons, old.labels, old.edits = p.text, p.buttons, p.labels, old.edits+1
		answer["result"] = object{"message_id": id}
	case "answerCallbackQuery":
		f.told = append(f.told, text)
		answer["result"] = true
	case "getWebhookInfo":
		answer["result"] = object{"url": ""}
	case "getChat":
		if args["chat_id"] != group {
			return "Bad Request: chat not found"
		}
		answer["result"] = object{}
	default:
		answer["result"] = true
	}
	return ""
}

var (
	person2 = regexp.MustCompile(`<a href="tg://user\?id=(\d+)">`)
	block   = regexp.MustCompile(`(?s)<(pre|code)\b.*?</(pre|code)>`)
	anyTag  = regexp.MustCompile(`</?[a-z][^<>]*>`)
)

// read takes the markup out of a text and finds whom it notifies.
func (p *post) read() {
	for _, m := range person2.FindAllStringSubmatch(p.text, -1) {
		for name, id := range people() {
			if m[1] == fmt.Sprint(id) {
				p.pings = append(p.pings, name)
			}
		}
	}
	p.pings = append(p.pings, nameInText.FindAllString(block.ReplaceAllString(p.text, ""), -1)...)
	p.text = html.UnescapeString(anyTag.ReplaceAllString(p.text, ""))
}

// TestSuite is what every surface must do, but for what Telegram makes impossible: with a lost answer
// nobody can know whether a message is there. See TestLostAnswer and TestKilledAfterPost.
func TestSuite(t *testing.T) {
	surfacetest.Run(t, func(t *testing.T) surfacetest.Fake {
		_, name, _ := strings.Cut(t.Name(), "/")
		if slices.Contains([]string{"KilledAfterPost", "KilledAfterNotice", "LostAnswerOfPost"}, name) {
			t.Skip("Telegram has no key that makes a post unique, and no way to look for one")
		}
		return newFake()
	})
}
