package web_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"holdfast/web"
	"holdfast/web/webtest"
)

// state is one thing that the page can show.
type state struct {
	name  string
	path  string
	setup func(d *webtest.Daemon)
	wait  string
	then  func(t *webtest.Tab) // after wait
	log   bool                 // the daemon writes log lines
}

type object = webtest.Object

func at(ago time.Duration) string {
	return time.Now().Add(-ago).UTC().Format("2006-01-02T15:04:05.000Z")
}

func chat(id, title string, ago time.Duration, state string) object {
	return object{"id": id, "bot": "bot", "surface": "web", "source": "web", "title": title, "created": at(ago), "active": at(ago), "state": state}
}

func said(id, turn, text string, ago time.Duration) object {
	return object{"id": id, "chat": "c1", "turn": turn, "role": "user", "kind": "message", "name": nil, "text": text, "html": "<p>" + strings.ReplaceAll(text, "\n", "<br>") + "</p>", "at": at(ago), "edited": nil}
}

func told(id, turn, kind, html string, ago time.Duration) object {
	return object{"id": id, "chat": "c1", "turn": turn, "role": "bot", "kind": kind, "name": "bot", "text": html, "html": html, "at": at(ago), "edited": nil}
}

func turn(id, st string, more object) object {
	t := object{
		"id": id, "bot": "bot", "chat": "c1", "surface": "web", "state": st, "outcome": nil, "lane": "durable", "version": 1, "created": at(2 * time.Minute),
		"first_failed_at": nil, "retry_at": nil, "wait_from": nil, "wait_ms": nil, "reason": nil, "attempts_n": 1, "requests_n": 1, "parks_n": 0, "rearm": nil,
		"merged_into": nil, "model": "demo/demo", "text": nil, "error": nil,
	}
	for k, v := range more {
		t[k] = v
	}
	return t
}

func attempt(turn string, n int, ago time.Duration, status int, class, outcome, rung, from string, wait int) object {
	a := object{"turn": turn, "n": n, "send": n, "at": at(ago), "model": "demo/demo", "status": status, "class": class, "stated_wait_ms": nil, "wait_ms": wait, "wait_from": from, "rung": rung, "outcome": outcome, "request_id": "req_7Qm2", "ms": 184 + 90*n}
	if from == "" {
		a["wait_ms"], a["wait_from"] = nil, nil
	}
	return a
}

var rateLimited = object{"why": "failure", "class": "rate_limit", "status": 429, "provider": "demo", "model": "demo", "text": "demo is rate limiting (429)"}

func parked(id string, in time.Duration) object {
	return turn(id, "parked", object{"version": 4, "retry_at": at(-in), "wait_ms": 45000, "wait_from": "retry-after", "reason": rateLimited, "attempts_n": 3, "requests_n": 5, "parks_n": 1, "first_failed_at": at(20 * time.Second)})
}

func others(d *webtest.Daemon) {
	d.Put("chat", chat("c2", "Weekly report, the short version", 3*time.Hour, "done"))
	slack := chat("c3", "What did the deploy break?", 5*time.Hour, "parked")
	slack["surface"], slack["source"] = "slack/ada", "slack/ada"
	d.Put("chat", slack)
	d.Put("chat", chat("c4", "Names for a boat that never sinks", 26*time.Hour, "done"))
	d.Put("chat", chat("c5", "Explain the difference between a mutex and a channel to someone who knows neither", 28*time.Hour, "done"))
	d.Put("chat", chat("c6", "Translate the manual", 4*24*time.Hour, "done"))
	d.Put("chat", chat("c7", "Recipe for rye bread", 60*24*time.Hour, "done"))
}

const markdown = `<p>A back-off waits <strong>longer after every failure</strong>, so that a busy provider gets room to recover. Three things matter:</p>
<ol><li>The wait <em>doubles</em>: 2 s, 4 s, 8 s … up to a cap.</li><li>A wait that the provider <a href="https://www.rfc-editor.org/rfc/rfc9110#field.retry-after" rel="noopener noreferrer nofollow" target="_blank">states itself</a> is never shortened.</li><li>Jitter keeps many clients apart.</li></ol>
<h3>In Go</h3>
<pre><code class="language-go">// next is the wait before try n, from 0.
func next(n int, base, limit time.Duration) time.Duration {
	wait := base &lt;&lt; n
	if wait &lt;= 0 || wait &gt; limit {
		return limit // also when the shift overflows
	}
	return wait
}
</code></pre>
<p>With <code>base = 2s</code> and <code>limit = 60s</code> that gives:</p>
<table><thead><tr><th>try</th><th align="right">wait</th><th>so far</th></tr></thead><tbody><tr><td>1</td><td align="right">2 s</td><td>2 s</td></tr><tr><td>2</td><td align="right">4 s</td><td>6 s</td></tr><tr><td>3</td><td align="right">8 s</td><td>14 s</td></tr></tbody></table>
<ul><li><input type="checkbox" checked="" disabled=""> stated waits win</li><li><input type="checkbox" disabled=""> jitter, if many ask</li></ul>
<blockquote><p>Nothing is sent earlier than the provider asked.</p></blockquote>`

func answered(d *webtest.Daemon) {
	others(d)
	d.Put("chat", chat("c1", "How does exponential back-off work?", 0, "done"))
	d.Put("turn", turn("t1", "done", object{"outcome": "answered", "attempts_n": 3, "requests_n": 5, "parks_n": 1, "text": "x"}))
	d.Put("message", said("1", "t1", "How does exponential back-off work? Show me a little Go.", 3*time.Minute))
	d.Put("message", told("2", "t1", "answer", markdown, 2*time.Minute))
}

func again(d *webtest.Daemon) {
	answered(d)
	d.Put("message", said("3", "t2", "And how long until it gives up?", 30*time.Second))
}

func healthy(turns object) object {
	all := object{"accepted": 128, "done": 121, "queued": 0, "running": 2, "retrying": 1, "parked": 3, "rearming": 0, "owed": 1, "lost": 0}
	for k, v := range turns {
		all[k] = v
	}
	return object{
		"now": at(0), "version": "0.1.0", "uptime_s": 93784, "turns": all, "provider_admission": []object{},
		"upcoming": []object{{"kind": "gate", "turn": nil, "at": at(-32 * time.Second), "count": 4, "of": nil}, {"kind": "resume", "turn": "t2", "at": at(-33 * time.Second), "count": nil, "of": nil}},
		"alerts":   []object{}, "paused": []string{}, "surfaces": []object{{"name": "web", "state": "connected", "since": at(26 * time.Hour)}, {"name": "slack/ada", "state": "connecting", "since": at(10 * time.Second)}},
	}
}

const free = "openrouter/meta-llama/llama-3.3-70b-instruct:free"

func provider(name, model string, more object) object {
	p := object{
		"id": name + "/" + model, "provider": name, "model": model, "bots": []string{"bot"}, "state": "open", "cooldown_until": nil, "cooldown_reason": nil,
		"requests": 7, "failures": 0, "last_error": nil, "last_ok": at(3 * time.Minute),
	}
	for k, v := range more {
		p[k] = v
	}
	return p
}

func operator(d *webtest.Daemon) {
	again(d)
	d.Health = healthy(nil)
	d.Health["paused"] = []string{"ollama"}
	d.Health["upcoming"] = append(d.Health["upcoming"].([]object), object{"kind": "rearm", "turn": "t4", "at": at(-400 * time.Second), "count": 2, "of": 3}, object{"kind": "delivery", "turn": "t1", "at": at(-70 * time.Second), "count": nil, "of": nil})
	d.Bots = []object{
		{"name": "bot", "models": []string{"demo/demo", free, "ollama/qwen3:4b"}},
		{"name": "reports", "models": []string{"openai/gpt-5-mini"}},
	}
	d.Put("provider", provider("demo", "demo", object{"state": "held", "waiting": 4, "people": 3, "requests": 61, "failures": 9, "last_error": "429 Too Many Requests"}))
	d.Put("provider", provider("openrouter", strings.TrimPrefix(free, "openrouter/"), object{"state": "down", "waiting": 1, "people": 1, "requests": 12, "failures": 12, "last_error": "503 no instances available", "last_ok": at(31 * time.Hour)}))
	d.Put("provider", provider("ollama", "qwen3:4b", object{"requests": 0, "last_ok": nil}))
	d.Put("provider", provider("openai", "gpt-5-mini", object{"bots": []string{"reports"}, "cooldown_until": at(-95 * time.Second), "cooldown_reason": "overloaded", "failures": 1, "last_error": "503 overloaded, try again"}))
	d.Put("gate", object{"id": "demo/demo", "provider": "demo", "model": "demo", "why": "hold", "until": at(-32 * time.Second), "since": at(13 * time.Second), "class": "rate_limit", "error": "429 Too Many Requests: requests per minute reached, retry after 45 s", "waiting": 4, "people": 3})
	d.Put("gate", object{"id": "openrouter/meta-llama/llama-3.3-70b-instruct:free", "provider": "openrouter", "model": "meta-llama/llama-3.3-70b-instruct:free", "why": "down", "until": at(-150 * time.Second), "since": at(22 * time.Minute), "class": "overloaded", "error": "503 no instances available", "waiting": 1, "people": 1})
	d.Put("alert", object{"id": "a2", "kind": "account", "subject": "openrouter", "since": at(5 * time.Hour), "text": "openrouter refuses the key (401). 1 turn is kept until it is put right.", "acked": at(4 * time.Hour), "cleared": nil})
	d.Put("alert", object{"id": "a1", "kind": "outage", "subject": free, "acked": nil, "cleared": nil, "since": at(9 * time.Minute), "text": "Turns have waited on openrouter/meta-llama/llama-3.3-70b-instruct:free for 9 min; it has answered nobody."})
	d.Put("turn", parked("t2", 33*time.Second))
	owed := turn("t3", "owed", object{"chat": "c3", "surface": "slack/ada", "reason": object{"why": "account", "class": "auth", "status": 401, "provider": "openrouter", "model": "x", "text": "openrouter refuses the key (401)"}, "attempts_n": 7, "requests_n": 9, "parks_n": 4, "created": at(5 * time.Hour)})
	d.Put("turn", owed)
	d.Put("turn", turn("t4", "rearming", object{"chat": "c2", "retry_at": at(-400 * time.Second), "wait_ms": 480000, "wait_from": "rearm", "rearm": object{"n": 2, "of": 3}, "reason": object{"why": "failure", "class": "network", "status": 0, "provider": "ollama", "model": "x", "text": "ollama cannot be reached"}, "attempts_n": 5, "requests_n": 11, "parks_n": 3, "created": at(time.Hour)}))
	d.Put("turn", turn("t5", "retrying", object{"chat": "c5", "retry_at": at(-5 * time.Second), "wait_ms": 8000, "wait_from": "backoff", "reason": object{"why": "failure", "class": "server", "status": 503, "provider": "demo", "model": "x", "text": "demo has an error of its own (503)"}}))
	journal(d, "t2")
}

// call is a tool call of a turn.
func call(id, name, title, args, st string, ms, result any) object {
	return object{"id": id, "name": name, "title": title, "args": args, "state": st, "ms": ms, "result": result, "progress": nil, "at": at(40 * time.Second)}
}

// calls are some in every state.
func calls() []object {
	busy := call("k2", "notes_read_file", "Read a file", `{"path":"/srv/notes/launch.md"}`, "running", nil, nil)
	busy["progress"] = "2 of 5 pages"
	return []object{
		call("k1", "notes_search", "Search notes", `{"query":"launch date","limit":5}`, "done", 184, "launch.md: the launch is on 4 May"),
		busy,
		call("k3", "fetch", "Fetch a page", `{"url":"https://example.org/a/very/long/path/that/goes/on/and/on/and/does/not/break/by/itself"}`, "failed", 10004, "it did not answer within 10 s"),
		call("k4", "mail_send", "Send a mail", `{"to":"ada@example.org"}`, "unknown", 900, nil),
		call("k5", "notes_delete", "Delete a file", `{"path":"/srv/notes/old.md"}`, "denied", 0, "denied by a person"),
	}
}

// approving is a turn that asks whether it may.
func approving(id, kind string) object {
	return turn(id, "parked", object{"version": 4, "wait_from": "approval", "reason": object{"why": "approval", "class": nil, "status": 0, "provider": nil, "model": nil, "text": "a call has to be approved"}, "calls": []object{
		call("k1", "notes_search", "Search notes", `{"query":"launch date"}`, "done", 184, "launch.md"),
		call("k2", "mail_send", "Send a mail", `{}`, "asked", nil, nil),
	}, "approval": object{"id": "ap1", "asked": at(30 * time.Second), "kind": kind, "calls": []object{
		{"id": "k2", "name": "mail_send", "title": "Send a mail", "args": `{"to":"ada@example.org","subject":"Launch","body":"We launch on 4 May.\nBring \u202ecake"}`, "destructive": false},
		{"id": "k3", "name": "notes_delete", "title": "Delete a file", "args": `{"path":"/srv/notes/draft.md"}`, "destructive": true},
	}}})
}

func schedule(name, source string, more object) object {
	s := object{"name": name, "bot": "bot", "cron": "0 9 * * 1-5", "timezone": "Europe/Berlin", "prompt": "Summarise what is open.", "to": "slack:ada/C0123", "source": source, "next": at(-5 * time.Hour), "last": at(19 * time.Hour), "last_turn": "t1", "paused": false, "missed": "once"}
	for k, v := range more {
		s[k] = v
	}
	return s
}

// things is an operator's page with schedules, memory and usage.
func things(d *webtest.Daemon) {
	again(d)
	d.Has = []string{"schedules", "memory", "usage"}
	d.Bots = []object{{"name": "bot", "models": []string{"demo/demo"}}, {"name": "reports", "models": []string{"demo/demo"}}}
	d.Put("turn", approving("t2", "approval"))
	d.Put("schedule", schedule("standup", "config", nil))
	d.Put("schedule", schedule("water-the-plants", "bot", object{"cron": "@every 48h", "to": "web:c1", "prompt": "Remind Ada to water the plants.", "last": nil, "last_turn": nil, "missed": "skip"}))
	d.Put("schedule", schedule("weekly", "config", object{"bot": "reports", "paused": true, "next": nil}))
	d.Put("memory", object{"id": "m1", "bot": "bot", "person": "slack:U1", "text": "Ada prefers metric units.", "at": at(50 * time.Hour), "conversation": "c1"})
	d.Put("memory", object{"id": "m2", "bot": "reports", "person": nil, "text": "The launch is on 4 May.", "at": at(3 * time.Hour), "conversation": nil})
	for i, day := range []string{"2026-11-30", "2026-11-29"} {
		d.Put("usage", object{"id": day + "a", "day": day, "bot": "bot", "model": "openai/gpt-5-mini", "requests": 41 + i, "tokens_in": 182004, "tokens_out": 9120, "cost": 0.064})
		d.Put("usage", object{"id": day + "b", "day": day, "bot": "reports", "model": free, "requests": 7, "tokens_in": 20311, "tokens_out": 801, "cost": nil})
	}
}

func journal(d *webtest.Daemon, id string) {
	d.Put("attempt", attempt(id, 1, 200*time.Second, 503, "server", "retry", "L1", "backoff", 400))
	d.Put("attempt", attempt(id, 2, 199*time.Second, 503, "server", "retry", "L1", "backoff", 800))
	d.Put("attempt", attempt(id, 3, 197*time.Second, 0, "network", "park", "L5", "backoff", 60000))
	d.Put("attempt", attempt(id, 4, 130*time.Second, 200, "server", "park", "L5", "backoff", 60000))
	d.Put("attempt", attempt(id, 5, 12*time.Second, 429, "rate_limit", "park", "L5", "retry-after", 45000))
	d.Put("step", object{"id": "s1", "turn": id, "n": 1, "kind": "called", "at": at(150 * time.Second), "body": object{"tool": "notes_search", "args": object{"q": "back-off"}}})
	d.Put("step", object{"id": "s2", "turn": id, "n": 2, "kind": "resulted", "at": at(149 * time.Second), "body": object{"ok": true}})
	d.Put("post", object{"id": "p1", "turn": id, "part": 0, "kind": "notice", "state": "done", "text": "Still on it: demo is busy, goes on at 14:02, no need to send it again.", "created": at(90 * time.Second), "at": at(90 * time.Second)})
}

func states() []state {
	chatPath := "/chats/c1"
	return []state{
		{name: "login", path: "/login", setup: func(d *webtest.Daemon) {}, wait: `document.querySelector("#secret")`},
		{name: "empty", path: "/", setup: others, wait: `document.querySelector(".side a[aria-current]")`, then: func(t *webtest.Tab) {
			t.Press("New chat")
			t.Wait(`document.querySelector(".welcome")`)
		}},
		{name: "demo", path: "/chats/new1", setup: func(d *webtest.Daemon) { d.Demo = true; others(d) }, wait: `document.querySelector(".welcome")`},
		{name: "answered", path: chatPath, setup: answered, wait: `document.querySelector(".hljs-keyword")`, then: func(t *webtest.Tab) {
			webtest.Eval[bool](t, `(document.querySelector(".scroller").scrollTop = 0, true)`)
		}},
		{name: "streaming", path: chatPath, setup: func(d *webtest.Daemon) {
			again(d)
			d.Put("turn", turn("t2", "running", nil))
			d.Render("t2", "c1", 0, "<p>That depends on what the provider says. Holdfast keeps two sums apart:</p>", "<ul><li>its own waits, which end after <strong>15 minutes</strong>,</li><li>stated waits, which do not count at all.</li></ul>", "<p>When the first is spent, the whole turn is sent again after 2, 8 and then 32 min")
		}, wait: `document.querySelectorAll(".md.open .block").length === 3`},
		{name: "thinking", path: chatPath, setup: func(d *webtest.Daemon) {
			again(d)
			d.Put("turn", turn("t2", "running", nil))
		}, wait: `document.querySelector(".working")`},
		{name: "retrying", path: chatPath, setup: func(d *webtest.Daemon) {
			again(d)
			d.Put("turn", turn("t2", "retrying", object{"retry_at": at(-6 * time.Second), "wait_ms": 8000, "wait_from": "backoff", "reason": object{"why": "failure", "class": "server", "status": 503, "provider": "demo", "model": "demo", "text": "demo is having trouble"}}))
		}, wait: `document.querySelector(".retry .digits")`},
		{name: "parked", path: chatPath, setup: func(d *webtest.Daemon) {
			again(d)
			d.Put("turn", parked("t2", 33*time.Second))
			d.Put("message", told("4", "t2", "notice", "<p>Still on it: demo is busy.</p>", 20*time.Second))
			d.Put("message", said("5", "t5", "Only for the free tier, I mean.", 10*time.Second))
			d.Put("turn", turn("t5", "done", object{"outcome": "merged", "merged_into": "t2"}))
			journal(d, "t2")
		}, wait: `document.querySelector(".retry .digits")`, then: func(t *webtest.Tab) {
			t.Press("Why the wait")
			t.Wait(`document.querySelectorAll(".retry .data tbody tr").length === 5`)
		}},
		{name: "owed", path: chatPath, setup: func(d *webtest.Daemon) {
			again(d)
			d.Put("turn", turn("t2", "owed", object{"attempts_n": 9, "reason": object{"why": "account", "class": "auth", "status": 401, "provider": "openrouter", "model": "x", "text": "openrouter refuses the key (401)"}}))
		}, wait: `document.querySelector(".retry")`},
		{name: "ended", path: chatPath, setup: func(d *webtest.Daemon) {
			again(d)
			d.Put("turn", turn("t2", "done", object{"outcome": "failed", "attempts_n": 4, "error": "refused"}))
			d.Put("message", told("4", "t2", "terminal", "<p>I cannot answer this: demo refuses the request, after 4 attempts.</p>", 20*time.Second))
			d.Put("message", said("6", "t6", "Tell me about the weather", 10*time.Second))
			d.Put("turn", turn("t6", "done", object{"outcome": "cancelled", "text": "The weather is a"}))
		}, wait: `document.querySelector(".terminal")`},
		{name: "offline", path: chatPath, setup: answered, wait: `document.querySelector(".hljs-keyword")`},
		{name: "unsent", path: chatPath, setup: func(d *webtest.Daemon) {
			answered(d)
			d.OnCommand = func(c webtest.Command) (int, any) {
				return 409, object{"error": object{"code": "other_bot", "message": "This chat belongs to another bot."}}
			}
		}, wait: `document.querySelector(".hljs-keyword")`, then: func(t *webtest.Tab) {
			t.Say("Does this arrive?")
			t.WaitText("Not sent")
		}},
		{name: "rearming", path: chatPath, setup: func(d *webtest.Daemon) {
			again(d)
			d.Put("turn", turn("t2", "rearming", object{"retry_at": at(-90 * time.Second), "wait_ms": 120000, "wait_from": "rearm", "rearm": object{"n": 1, "of": 3}, "reason": rateLimited, "attempts_n": 6}))
		}, wait: `document.querySelector(".retry").innerText.includes("1 of 3")`},
		{name: "stale", path: chatPath, setup: func(d *webtest.Daemon) {
			again(d)
			d.Put("turn", turn("t2", "owed", object{"wait_from": "approval", "attempts_n": 9, "reason": object{"why": "stale", "class": nil, "status": 0, "provider": nil, "model": nil, "text": "I can answer now; you asked 26 hours ago: “And how long until it gives up?” Still wanted?"}}))
		}, wait: `document.querySelector(".retry .primary")`},
		{name: "editing", path: chatPath, setup: answered, wait: `document.querySelector(".hljs-keyword")`, then: func(t *webtest.Tab) {
			t.Press("Edit this message")
			t.Wait(`document.querySelector(".editing textarea")`)
		}},
		{name: "visitor", path: "/", setup: func(d *webtest.Daemon) { d.Visitor = true }, wait: `document.querySelector(".welcome")`},
		{name: "visitor waits", path: chatPath, setup: func(d *webtest.Daemon) {
			d.Visitor = true
			again(d)
			d.Put("turn", turn("t2", "retrying", object{"lane": "fail_fast", "retry_at": at(-6 * time.Second), "wait_ms": 8000, "wait_from": "backoff", "model": nil, "reason": object{"why": "failure", "class": nil, "status": 0, "provider": nil, "model": nil, "text": "The AI is busy at the moment; it goes on by itself and the answer will come here."}}))
		}, wait: `document.querySelector(".working") && !document.querySelector(".side, .retry, button[aria-label*=again]")`},
		{name: "visitor refused", path: chatPath, setup: func(d *webtest.Daemon) {
			d.Visitor = true
			answered(d)
			d.OnCommand = func(c webtest.Command) (int, any) {
				return 429, object{"error": object{"code": "too_many", "message": "That was a lot in a short time. Ask again in 12 minutes."}}
			}
		}, wait: `document.querySelector(".hljs-keyword")`, then: func(t *webtest.Tab) {
			t.Say("Does this stay here?")
			t.Wait(`document.querySelector(".refused") && document.querySelector("#composer").value === "Does this stay here?"`)
		}},
		{name: "right to left", path: chatPath, setup: func(d *webtest.Daemon) {
			others(d)
			d.Put("chat", chat("c1", "مرحبا بالعالم، كيف حالك اليوم؟", 0, "done"))
			d.Put("chat", chat("c8", "שלום עולם and English together", time.Hour, "done"))
			d.Put("message", said("1", "t1", "اشرح لي التراجع الأسي مع مثال قصير 👩‍👩‍👧‍👦", 3*time.Minute))
			d.Put("turn", turn("t1", "done", object{"outcome": "answered"}))
			d.Put("message", told("2", "t1", "answer", `<p>التراجع الأسي ينتظر <strong>أطول بعد كل فشل</strong>، حتى يجد المزود المشغول متسعا.</p><ol><li>تتضاعف المدة: ثانيتان، أربع، ثمان.</li><li>ما يطلبه المزود لا يُختصر.</li></ol><blockquote><p>لا يُرسل شيء قبل أوانه.</p></blockquote><table><thead><tr><th>محاولة</th><th>انتظار</th></tr></thead><tbody><tr><td>1</td><td>2 s</td></tr></tbody></table><pre><code class="language-go">wait := base &lt;&lt; n</code></pre><p>English again.</p>`, 2*time.Minute))
			d.Put("message", said("3", "t2", "וכמה זמן עד שהוא מוותר?", 30*time.Second))
			d.Put("turn", parked("t2", 33*time.Second))
		}, wait: `document.querySelector(".retry .digits") && document.querySelector(".hljs-keyword, .code")`},
		{name: "versions", path: chatPath, setup: func(d *webtest.Daemon) {
			others(d)
			d.Put("chat", chat("c1", "Names for a boat", 0, "done"))
			exchange(d, "t1", 90*time.Second, true, nil)
			exchange(d, "t2", 80*time.Second, false, "t1")
		}, wait: `document.querySelector(".versions")`},
		{name: "tools", path: chatPath, setup: func(d *webtest.Daemon) {
			again(d)
			d.Put("turn", turn("t2", "running", object{"calls": calls()}))
		}, wait: `document.querySelectorAll(".call").length === 5`, then: func(t *webtest.Tab) {
			webtest.Eval[bool](t, `(document.querySelectorAll(".call summary").forEach((s, i) => i % 2 || s.click()), true)`)
			t.Wait(`document.querySelectorAll(".call[open] .raw").length >= 4`)
		}},
		{name: "tools done", path: chatPath, setup: func(d *webtest.Daemon) {
			again(d)
			list := calls()
			list[1]["state"], list[1]["ms"] = "done", 20
			d.Put("turn", turn("t2", "done", object{"outcome": "answered", "calls": list}))
			d.Put("message", told("4", "t2", "answer", "<p>The launch is on 4 May.</p>", 20*time.Second))
		}, wait: `document.querySelector("[data-turn=t2] summary")?.innerText.trim() === "5 tool calls"`},
		{name: "approval", path: chatPath, setup: func(d *webtest.Daemon) {
			again(d)
			d.Put("turn", approving("t2", "approval"))
		}, wait: `document.querySelectorAll(".asked li").length === 2`},
		{name: "approval unknown", path: chatPath, setup: func(d *webtest.Daemon) {
			again(d)
			d.Put("turn", approving("t2", "unknown"))
		}, wait: `document.querySelector(".asks").innerText.includes("Leave it")`},
		{name: "operator things", path: "/operator", setup: things, wait: `document.querySelector("#usage tfoot") && document.querySelectorAll("#memory li").length === 2 && document.querySelectorAll("#schedules li").length === 3 && document.querySelector("#approvals")`},
		{name: "operator things below", path: "/operator", setup: things, wait: `document.querySelector("#usage tfoot")`, then: func(t *webtest.Tab) {
			webtest.Eval[bool](t, `(document.querySelector("#schedules").scrollIntoView(), true)`)
		}},
		{name: "operator", path: "/operator", setup: operator, wait: `document.querySelectorAll(".row .digits").length >= 3`, log: true},
		{name: "operator below", path: "/operator", setup: operator, wait: `document.querySelectorAll(".row .digits").length >= 3`, log: true, then: func(t *webtest.Tab) {
			webtest.Eval[bool](t, `(document.querySelector(".operator-body").scrollTop = 1e6, true)`)
		}},
		{name: "turn", path: "/turns/t2", setup: operator, wait: `document.querySelector(".bar.failed")`},
	}
}

// looks are the sizes and colours in which every state must be right.
var looks = map[string]webtest.Look{
	"1280-light":  {Width: 1280, Height: 800, Still: true},
	"1280-dark":   {Width: 1280, Height: 800, Still: true, Dark: true},
	"390-light":   {Width: 390, Height: 844, Still: true, Touch: true},
	"390-dark":    {Width: 390, Height: 844, Still: true, Dark: true, Touch: true},
	"360-light":   {Width: 360, Height: 640, Still: true, Touch: true},
	"1280-forced": {Width: 1280, Height: 800, Still: true, Dark: true, Forced: true},
}

// rules are those of axe that a look can break: all at first, in the dark only that of colours, at
// 360 px and in forced colours, of which axe knows nothing, that of scrolling by keyboard.
func rules(l webtest.Look) []string {
	switch {
	case l.Forced || l.Width == 360:
		return []string{"scrollable-region-focusable"}
	case l.Dark:
		return []string{"color-contrast"}
	}
	return nil
}

// writeLog writes what a daemon would, once the page has asked for it.
func writeLog(t *testing.T, d *webtest.Daemon, tab *webtest.Tab) {
	eventually(t, "the page asks for the log", func() bool { return len(d.LogLevels()) == 1 })
	d.Log(1, "info", "turn claimed", object{"turn": "t2", "bot": "bot"})
	d.Log(2, "debug", "context built", object{"turn": "t2"})
	d.Log(3, "warn", "request failed", object{"turn": "t2", "provider": "demo", "class": "rate_limit", "status": 429, "wait_ms": 45000})
	d.Log(4, "error", "store an alert", object{"err": "database is locked (5) (SQLITE_BUSY)"})
	tab.Wait(`document.querySelectorAll(".log li").length === 3 && document.querySelector(".log a[href='/turns/t2']")`)
}

// TestStates shows every state in every look: no finding of axe, an empty console, no request to
// another host, nothing wider than the window. With HOLDFAST_SHOTS=DIR it leaves a picture of each.
func TestStates(t *testing.T) {
	browser := webtest.Start(t)
	for _, s := range states() {
		t.Run(s.name, func(t *testing.T) {
			d := webtest.NewDaemon(t, web.Dist)
			d.Health = healthy(nil)
			s.setup(d)
			tab := browser.For(t).Tab(looks["1280-light"])
			tab.Open(d.URL + s.path)
			tab.Wait(s.wait)
			if s.log {
				writeLog(t, d, tab)
			}
			if s.then != nil {
				s.then(tab)
			}
			if s.name == "offline" {
				d.Away(true)
				tab.WaitText("No connection")
			}
			if s.name == "offline" || s.name == "unsent" || s.name == "visitor refused" {
				tab.Forget() // the browser complains of the failed requests itself
			}
			for name, look := range looks {
				if testing.Short() && name != "1280-light" && name != "390-dark" {
					continue
				}
				tab.Show(look)
				time.Sleep(60 * time.Millisecond) // a frame or two, for the picture's sake
				tab.Accessible(s.name+" "+name, rules(look)...)
				if wide := webtest.Eval[int](tab, `document.documentElement.scrollWidth - innerWidth`); wide > 0 {
					t.Errorf("%s: %d px wider than the window", name, wide)
				}
				if dir := os.Getenv("HOLDFAST_SHOTS"); dir != "" {
					tab.Shot(filepath.Join(dir, fmt.Sprintf("%s-%s.png", s.name, name)))
				}
			}
			if s.name == "offline" {
				tab.Forget()
			}
			tab.Clean(d.URL)
		})
	}
}
