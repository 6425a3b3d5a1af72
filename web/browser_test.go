package web_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"holdfast/web"
	"holdfast/web/webtest"
)

// page opens one chat of a scripted daemon in a browser.
func page(t *testing.T, setup func(d *webtest.Daemon)) (*webtest.Daemon, *webtest.Tab) {
	t.Helper()
	browser := webtest.Start(t)
	d := webtest.NewDaemon(t, web.Dist)
	d.Health = healthy(nil)
	setup(d)
	tab := browser.Tab(webtest.Look{})
	tab.Open(d.URL + "/chats/c1")
	tab.Wait(`document.querySelector(".side a[aria-current]")`)
	return d, tab
}

func sent(d *webtest.Daemon, cmd string) (list []webtest.Command) {
	for _, c := range d.Commands() {
		if c.Cmd == cmd {
			list = append(list, c)
		}
	}
	return list
}

func eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); !is(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("did not come true: %s", what)
		}
	}
}

func TestMessageIsShownOnceFromOutboxToAnswer(t *testing.T) {
	var d *webtest.Daemon
	d, tab := page(t, answered)
	var once sync.Once
	d.OnCommand = func(c webtest.Command) (status int, reply any) {
		once.Do(func() { status, reply = 503, object{"error": object{"code": "not_stored", "message": "later"}} })
		if status == 0 {
			m := said("3", "t2", "And <b>then</b>?", 0)
			m["html"] = "<p>And &lt;b&gt;then&lt;/b&gt;?</p>"
			d.Put("turn", turn("t2", "queued", object{"attempts_n": 0}))
			d.Put("message", m) // comes before the reply to the POST
			status, reply = 200, object{"id": c.ID, "ok": true, "turn": "t2", "chat": "c1", "seq": 9, "duplicate": false}
		}
		return status, reply
	}
	tab.Say("And <b>then</b>?")
	tab.Wait(`document.querySelector("[data-message='3']") && !document.querySelector("[data-out]")`)
	tab.Wait(`document.querySelectorAll(".said").length === 2 && Object.keys(localStorage).filter((k) => k.startsWith("holdfast.out.")).length === 0`)
	ids := map[string]bool{}
	for _, c := range sent(d, "message.send") {
		ids[c.ID] = true
	}
	if n := len(sent(d, "message.send")); n != 2 || len(ids) != 1 {
		t.Errorf("%d tries under %d ids, want 2 under 1", n, len(ids))
	}
	d.Put("turn", turn("t2", "running", object{"version": 2}))
	d.Render("t2", "c1", 0, "<p>Then it <em>wai", "x")
	tab.Wait(`document.querySelectorAll("[data-turn=t2] .block").length === 2`)
	d.Render("t2", "c1", 1, "<p>More.</p>")
	d.Put("message", told("4", "t2", "answer", "<p>Then it <em>waits</em>.</p>", 0))
	d.Put("turn", turn("t2", "done", object{"version": 3, "outcome": "answered"}))
	tab.Wait(`document.querySelectorAll("[data-turn=t2] .block").length === 1 && document.querySelector("[data-turn=t2]").innerText.includes("Then it waits.")`)
	tab.Forget() // the 503
	tab.Clean(d.URL)
}

// A reply that is lost makes the page send again under the same id; the message is there once.
func TestLostReplyMakesNoSecondMessage(t *testing.T) {
	var d *webtest.Daemon
	d, tab := page(t, answered)
	var lost sync.Once
	d.OnCommand = func(c webtest.Command) (status int, reply any) {
		lost.Do(func() {
			d.Put("turn", turn("t2", "queued", object{"attempts_n": 0}))
			d.Put("message", said("3", "t2", "Once", 0))
			status = -1
		})
		if status == 0 {
			status, reply = 200, object{"id": c.ID, "ok": true, "turn": "t2", "chat": "c1", "seq": 9, "duplicate": true}
		}
		return status, reply
	}
	tab.Say("Once")
	eventually(t, "it is sent again", func() bool { return len(sent(d, "message.send")) == 2 })
	tab.Wait(`document.querySelector("[data-message='3']") && !document.querySelector("[data-out]") && document.querySelectorAll(".said").length === 2`)
	if s := sent(d, "message.send"); s[0].ID != s[1].ID {
		t.Errorf("sent as %s and as %s", s[0].ID, s[1].ID)
	}
}

func TestMessageWrittenOfflineGoesWhenTheDaemonIsBack(t *testing.T) {
	d, tab := page(t, answered)
	d.Away(true)
	tab.Say("Written in a tunnel")
	tab.Wait(`document.querySelector("[data-out]").innerText.includes("Queued")`)
	tab.Open("about:blank")
	d.Away(false)
	tab.Open(d.URL + "/chats/c1")
	eventually(t, "the message is sent", func() bool { return len(sent(d, "message.send")) == 1 })
	tab.Wait(`document.querySelector("[data-out]").innerText.includes("Sent")`)
	if c := sent(d, "message.send")[0]; c.Args["text"] != "Written in a tunnel" || c.Args["bot"] != "bot" || c.Args["chat"] != "c1" {
		t.Errorf("sent %v", c.Args)
	}
}

func TestDraftsAreKeptPerChat(t *testing.T) {
	d, tab := page(t, answered)
	tab.Click("#composer")
	tab.Type("half a thought")
	tab.Press("Weekly report, the short version")
	tab.Wait(`document.querySelector("#composer").value === ""`)
	tab.Reload()
	tab.Wait(`document.querySelector("#composer")?.value === ""`)
	tab.Press("How does exponential back-off work?")
	tab.Wait(`document.querySelector("#composer").value === "half a thought"`)
	tab.Clean(d.URL)
}

func TestNothingIsDoubledByTwentyDisconnectsDuringAStream(t *testing.T) {
	d, tab := page(t, again)
	d.Put("turn", turn("t2", "running", nil))
	var blocks []string
	for i := range 60 {
		blocks = append(blocks, fmt.Sprintf("<p>Paragraph %d.</p>", i))
		d.Render("t2", "c1", i, blocks[i])
		if i%3 == 2 {
			d.Drop([]int{0, 1012, 1013}[rand.IntN(3)])
			webtest.Eval[bool](tab, `(dispatchEvent(new Event("online")), true)`)
		}
		time.Sleep(time.Duration(rand.IntN(20)) * time.Millisecond)
	}
	tab.Wait(`document.querySelectorAll("[data-turn=t2] .block").length === 60`)
	if got := webtest.Eval[string](tab, `[...document.querySelectorAll("[data-turn=t2] .block")].map((b) => b.innerHTML).join("")`); got != strings.Join(blocks, "") {
		t.Errorf("the stream shows %s", got)
	}
	if n := webtest.Eval[int](tab, `document.querySelectorAll(".said").length`); n != 2 {
		t.Errorf("%d messages shown, want 2", n)
	}
	d.Put("message", told("4", "t2", "answer", strings.Join(blocks, ""), 0))
	d.Put("turn", turn("t2", "done", object{"version": 2, "outcome": "answered"}))
	tab.Wait(`document.querySelectorAll("[data-turn=t2] .block").length === 1 && document.querySelectorAll("article").length === 4`)
	tab.Forget() // cut lines
	if f := tab.Foreign(d.URL); len(f) > 0 {
		t.Error(f)
	}
}

// N1: the bubble counts down by the server's clock and never below zero.
func TestRetryBubbleCountsDownN1(t *testing.T) {
	d, tab := page(t, again)
	d.Put("turn", parked("t2", 2500*time.Millisecond))
	tab.Wait(`document.querySelector(".retry-why").innerText === "demo is rate limiting (429)"`)
	tab.Wait(`/^0:0[23]$/.test(document.querySelector(".retry .digits").innerText)`)
	tab.Wait(`document.querySelector(".retry-count").innerText === "Retrying…"`)
	late := parked("t2", -11*time.Second)
	late["version"] = 5
	d.Put("turn", late)
	tab.Wait(`document.querySelector(".retry-count").innerText === "Waiting for the daemon"`)
	old := turn("t2", "running", object{"version": 3}) // older than what is shown
	d.Put("turn", old)
	d.Put("turn", turn("t1", "done", object{"version": 2, "outcome": "answered"}))
	tab.Wait(`document.querySelector(".retry")`)
	tab.Press("Stop")
	eventually(t, "turn.stop", func() bool { return len(sent(d, "turn.stop")) == 1 && sent(d, "turn.stop")[0].Target == "t2" })
	tab.Clean(d.URL)
}

func TestTryNowInsideAHoldSaysUntilWhen(t *testing.T) {
	d, tab := page(t, func(d *webtest.Daemon) { again(d); d.Put("turn", parked("t2", 33*time.Second)) })
	d.OnCommand = func(webtest.Command) (int, any) {
		t2 := parked("t2", 40*time.Second)
		t2["version"] = 6
		return 409, object{"error": object{"code": "held", "message": "held until then"}, "turn": t2}
	}
	tab.Press("Try now")
	tab.WaitText("Held by the provider until")
	tab.Wait(`/^0:(3[5-9]|40)$/.test(document.querySelector(".retry .digits").innerText)`)
}

// P19 as it is seen: the joined message shows, and the answer stands after the last of them.
func TestAnswerStandsAfterTheJoinedMessages(t *testing.T) {
	d, tab := page(t, func(d *webtest.Daemon) {
		again(d)
		d.Put("message", said("5", "t5", "One thing more", 10*time.Second))
		d.Put("turn", turn("t5", "done", object{"outcome": "merged", "merged_into": "t2"}))
		d.Put("turn", parked("t2", 33*time.Second))
	})
	order := `[...document.querySelectorAll("article")].map((a) => a.dataset.message ?? a.dataset.turn).join(" ")`
	tab.Wait(order + ` === "1 t1 3 5 t2"`)
	d.Put("message", told("6", "t2", "answer", "<p>Both.</p>", 0))
	d.Put("turn", turn("t2", "done", object{"version": 9, "outcome": "answered"}))
	tab.Wait(order + ` === "1 t1 3 5 t2" && document.querySelector("[data-turn=t2]").innerText.includes("Both.")`)
	tab.Clean(d.URL)
}

func TestScrollFollowsOnlyAReaderAtTheEnd(t *testing.T) {
	d, tab := page(t, again)
	left := `(({scrollHeight: h, clientHeight: c, scrollTop: t}) => h - c - t)(document.querySelector(".scroller"))`
	d.Put("turn", turn("t2", "running", nil))
	long := strings.Repeat("<p>A line of the answer.</p>", 5)
	for i := range 10 {
		d.Render("t2", "c1", i, long)
	}
	tab.Wait(`document.querySelectorAll("[data-turn=t2] .block").length === 10 && ` + left + ` < 2`)
	webtest.Eval[bool](tab, `(document.querySelector(".scroller").scrollTop -= 30, true)`) // within 64 px, but upward
	time.Sleep(100 * time.Millisecond)
	d.Render("t2", "c1", 10, long)
	tab.WaitText("New messages")
	if n := webtest.Eval[float64](tab, left); n < 100 {
		t.Errorf("the page took the reader along: %v px from the end", n)
	}
	tab.Press("New messages")
	tab.Wait(left + ` < 2 && !document.querySelector(".to-end")`)
	d.Render("t2", "c1", 11, long)
	tab.Wait(`document.querySelectorAll("[data-turn=t2] .block").length === 12 && ` + left + ` < 2`)
	tab.Clean(d.URL)
}

func TestKeys(t *testing.T) {
	d, tab := page(t, func(d *webtest.Daemon) { again(d); d.Put("turn", turn("t2", "running", nil)) })
	webtest.Eval[bool](tab, `(document.activeElement.blur(), true)`)
	tab.Type("/")
	tab.Wait(`document.activeElement.id === "composer" && document.activeElement.value === ""`)
	webtest.Eval[bool](tab, `(document.activeElement.dispatchEvent(new KeyboardEvent("keydown", {key: "Enter", isComposing: true, bubbles: true, cancelable: true})), true)`)
	tab.Type("a")
	webtest.Eval[bool](tab, `document.activeElement.dispatchEvent(new KeyboardEvent("keydown", {key: "Enter", shiftKey: true, bubbles: true, cancelable: true}))`)
	if n := len(sent(d, "message.send")); n != 0 {
		t.Errorf("%d messages sent while composing or by Shift+Enter", n)
	}
	tab.Escape()
	eventually(t, "Escape stops", func() bool { return len(sent(d, "turn.stop")) == 1 })
	tab.Enter()
	eventually(t, "Enter sends", func() bool { return len(sent(d, "message.send")) == 1 })
	tab.Clean(d.URL)
}

func TestLogin(t *testing.T) {
	browser := webtest.Start(t)
	d := webtest.NewDaemon(t, web.Dist)
	answered(d)
	d.LogOut()
	tab := browser.Tab(webtest.Look{})
	tab.Open(d.URL + "/turns/t1")
	tab.WaitText("holdfast login")
	tab.Open(d.URL + "/login#wrong")
	tab.WaitText("That link was used already or is too old.")
	if hash := webtest.Eval[string](tab, `location.hash`); hash != "" {
		t.Errorf("the secret stays in the address: %s", hash)
	}
	tab.Click("#secret")
	tab.Type(d.URL + "/login#open")
	tab.Enter()
	tab.Wait(`location.pathname === "/chats/c1" && document.querySelectorAll("article").length === 2`)
	d.LogOut()
	tab.WaitText("holdfast login")
}

func TestDeletedChatCanBeTakenBack(t *testing.T) {
	d, tab := page(t, answered)
	tab.Press("Delete this chat")
	tab.WaitText("is deleted.")
	tab.Wait(`location.pathname !== "/chats/c1" && ![...document.querySelectorAll(".side-list a")].some((a) => a.pathname === "/chats/c1")`)
	tab.Press("Undo")
	tab.Wait(`[...document.querySelectorAll(".side-list a")].some((a) => a.pathname === "/chats/c1")`)
	tab.Press("How does exponential back-off work?")
	tab.Press("Delete this chat")
	tab.Open(d.URL + "/operator") // leaving the page makes it final
	eventually(t, "chat.delete", func() bool {
		return slices.ContainsFunc(sent(d, "chat.delete"), func(c webtest.Command) bool { return c.Target == "c1" })
	})
	if n := len(sent(d, "chat.delete")); n != 1 {
		t.Errorf("%d deletions, want 1", n)
	}
}

// longChat is a chat of 500 messages.
func longChat(d *webtest.Daemon) {
	others(d)
	d.Put("chat", chat("c1", "Long", 0, "done"))
	for i := range 250 {
		id := fmt.Sprintf("t%04d", i)
		age := time.Duration(1000-i) * time.Second
		d.Put("turn", turn(id, "done", object{"outcome": "answered", "created": at(age)}))
		d.Put("message", said(fmt.Sprintf("m%04da", i), id, fmt.Sprintf("Question %d", i), age))
		d.Put("message", told(fmt.Sprintf("m%04db", i), id, "answer", "<p>Answer <strong>"+fmt.Sprint(i)+"</strong></p><ul><li>one</li><li>two</li></ul>", age-500*time.Millisecond))
	}
}

// streamLong has the answer of a turn stream in: 20 KB, in 200 frames.
func streamLong(d *webtest.Daemon, tab *webtest.Tab, id string) {
	d.Put("turn", turn(id, "running", object{"created": at(0)}))
	d.Put("message", said("x"+id, id, "Write much", 0))
	for i := range 200 {
		d.Render(id, "c1", i, "<p>"+strings.Repeat("word ", 20)+"</p>")
		time.Sleep(10 * time.Millisecond)
	}
	tab.Wait(`document.querySelectorAll("[data-turn=` + id + `] .block").length === 200`)
}

// scrollUp scrolls through a long chat.
func scrollUp(tab *webtest.Tab) {
	for range 20 {
		webtest.Eval[bool](tab, `(document.querySelector(".scroller").scrollTop -= 3000, true)`)
		time.Sleep(20 * time.Millisecond)
	}
}

// Neither in a chat of 500 messages nor while an answer of 20 KB streams may a frame cost 50 ms of
// work. Processor time is measured, not the clock, since other tests run beside this one; the clock is
// in TestFiguresOfLongTasks.
func TestLongChatsAndAnswersDoNotBlock(t *testing.T) {
	d, tab := page(t, longChat)
	tab.Wait(`document.querySelectorAll("article").length === 500`)
	before := tab.Work()
	streamLong(d, tab, "u1")
	after := tab.Work()
	if per := after.Per(before); per > 50*time.Millisecond {
		t.Errorf("a frame of the stream costs %v", per)
	}
	scrollUp(tab)
	if per := tab.Work().Per(after); per > 50*time.Millisecond {
		t.Errorf("a frame of scrolling costs %v", per)
	}
	tab.Clean(d.URL)
}

// Each paragraph runs in the direction of its own words, and text without words that run leftward does not
// pay for that: a megabyte would take seconds to lay out.
func TestDirectionOfEachParagraph(t *testing.T) {
	_, tab := page(t, func(d *webtest.Daemon) {
		answered(d)
		d.Put("message", said("3", "t2", "Only left to right", 0))
		d.Put("turn", turn("t2", "done", object{"outcome": "answered"}))
		d.Put("message", told("4", "t2", "answer", "<p>English first.</p><ul><li>שלום עולם</li><li>again English</li></ul>", 0))
	})
	start := func(of string) string {
		tab.Wait(`document.querySelector("` + of + `")`)
		return webtest.Eval[string](tab, `((e) => { const r = document.createRange(); r.selectNodeContents(e); const t = r.getBoundingClientRect(), b = e.getBoundingClientRect(); return getComputedStyle(e).unicodeBidi + (t.left - b.left < 2 ? " left" : b.right - t.right < 2 ? " right" : " between"); })(document.querySelector("`+of+`"))`)
	}
	for of, want := range map[string]string{
		"[data-message='3'] p":             "isolate left",
		"[data-turn=t2] p":                 "plaintext left",
		"[data-turn=t2] li:nth-of-type(1)": "plaintext right",
		"[data-turn=t2] li:nth-of-type(2)": "plaintext left",
		"[data-turn=t1] .md .block > p":    "isolate left",
	} {
		if got := start(of); got != want {
			t.Errorf("%s is %s, want %s", of, got, want)
		}
	}
}

// A page that has outlived its build gets the new one, draft and all; if that is no newer it says so
// instead of reloading for ever.
func TestPageOfAnOldBuildReloadsOnce(t *testing.T) {
	d, tab := page(t, answered)
	tab.Click("#composer")
	tab.Type("half a thought")
	webtest.Eval[bool](tab, `(window.old = true)`)
	d.Drop(4409)
	tab.Wait(`!window.old && document.querySelector("#composer")?.value === "half a thought" && document.querySelector(".side-line .good")`)
	d.Drop(4409)
	tab.WaitText("The daemon has a newer page than this one. Reload to get it.")
	tab.Clean(d.URL)
}

func TestOperatorSeesAnAlertAndPauses(t *testing.T) {
	d, tab := page(t, operator)
	d.OnCommand = func(c webtest.Command) (int, any) {
		switch c.Cmd {
		case "alert.ack":
			d.Put("alert", object{"id": c.Target, "kind": "outage", "subject": free, "since": at(9 * time.Minute), "text": "It answers nobody.", "acked": at(0), "cleared": nil})
		case "pause":
			d.SetHealth("paused", []string{"ollama", c.Target})
		}
		return 0, nil
	}
	tab.Click(".side-bottom a")
	tab.Wait(`document.querySelector(".side .badge.bad").innerText === "1 alert"`)
	tab.WaitText("4 turns of 3 people wait, the oldest since")
	tab.WaitText("1 turn of 1 person waits.")
	tab.Press("Ack outage of " + free)
	tab.Wait(`document.querySelectorAll(".card.seen").length === 2 && !document.querySelector(".side .badge.bad")`)
	d.Put("alert", object{"id": "a1", "kind": "outage", "subject": free, "since": at(9 * time.Minute), "text": "It answers nobody.", "acked": at(0), "cleared": at(0)})
	tab.Wait(`document.querySelectorAll(".card.seen").length === 1`)

	chain := `[...document.querySelector(".chain").children].map((l) => l.querySelector(".state").innerText + " " + l.querySelector(".link-name").innerText).join(" | ")`
	if got, want := webtest.Eval[string](tab, chain), "Held demo/demo | Down "+free+" | Paused ollama/qwen3:4b"; got != want {
		t.Errorf("the chain reads %q, want %q", got, want)
	}
	tab.Press("Pause everything")
	tab.WaitText("Everything is paused")
	if got := sent(d, "pause"); len(got) != 1 || got[0].Target != "" {
		t.Errorf("sent %v, want one pause of everything", got)
	}
	tab.Press("Unpause ollama")
	eventually(t, "unpause is sent", func() bool { s := sent(d, "unpause"); return len(s) == 1 && s[0].Target == "ollama" })

	eventually(t, "the page asks for the log", func() bool { return slices.Equal(d.LogLevels(), []string{"info"}) })
	webtest.Eval[bool](tab, `([...document.querySelectorAll("input[name=level]")].at(-1).click(), true)`)
	eventually(t, "… from the level chosen", func() bool { return slices.Equal(d.LogLevels(), []string{"error"}) })
	tab.Press("New chat")
	eventually(t, "… and no more of it", func() bool { return len(d.LogLevels()) == 0 })
	tab.Clean(d.URL)
}

func TestAnswerIsMadeAgainAndTheOldOneKept(t *testing.T) {
	d, tab := page(t, answered)
	tab.Press("Answer again; this one is kept")
	eventually(t, "turn.regenerate is sent", func() bool { s := sent(d, "turn.regenerate"); return len(s) == 1 && s[0].Target == "t1" })
	d.Put("turn", turn("t2", "running", object{"created": at(0), "supersedes": "t1"})) // nothing was said for it
	tab.Wait(`!document.querySelector("[data-turn=t1]") && document.querySelector("article:last-of-type[data-turn=t2] .working") && document.querySelector("[data-message='1']")`)
	tab.Press("Earlier version")
	tab.Wait(`document.querySelector("[data-turn=t1] table") && !document.querySelector("[data-turn=t2]")`)
	tab.Press("Later version")
	d.Put("message", told("7", "t2", "answer", "<p>Once more.</p>", 0))
	d.Put("turn", turn("t2", "done", object{"version": 2, "outcome": "answered"}))
	tab.Wait(`document.querySelector("[data-turn=t2]").innerText.includes("Once more.") && document.querySelectorAll("[aria-label^='Answer again']").length === 1`)
	tab.Press("Edit this message")
	tab.Wait(`document.activeElement.matches(".editing textarea")`)
	webtest.Eval[bool](tab, `(document.activeElement.value = "How does it work?", true)`)
	tab.Press("Ask this")
	eventually(t, "message.edit is sent", func() bool {
		s := sent(d, "message.edit")
		return len(s) == 1 && s[0].Target == "t1" && s[0].Args["text"] == "How does it work?"
	})
	tab.Wait(`!document.querySelector(".editing")`)
	tab.Clean(d.URL)
}

func TestStaleTurnIsAnsweredYesOrNo(t *testing.T) {
	d, tab := page(t, func(d *webtest.Daemon) {
		again(d)
		d.Put("turn", turn("t2", "owed", object{"reason": object{"why": "stale", "class": nil, "status": 0, "provider": nil, "model": nil, "text": "Still wanted?"}}))
	})
	tab.Press("No")
	eventually(t, "no stops it", func() bool { s := sent(d, "turn.stop"); return len(s) == 1 && s[0].Target == "t2" })
	tab.Press("Yes")
	eventually(t, "yes resumes it", func() bool { s := sent(d, "turn.resume"); return len(s) == 1 && s[0].Target == "t2" })
	tab.Clean(d.URL)
}

func TestVisitorKeepsTheQuestionThatIsRefused(t *testing.T) {
	d, tab := page(t, func(d *webtest.Daemon) { answered(d) })
	d.Visitor = true
	d.OnCommand = func(c webtest.Command) (int, any) {
		return 429, object{"error": object{"code": "too_many", "message": "Ask again in a while."}}
	}
	tab.Open(d.URL + "/operator")
	tab.Wait(`location.pathname === "/chats/c1" && !document.querySelector(".side") && !document.querySelector("a[href^='/turns']")`)
	tab.Say("May I?")
	tab.Wait(`document.querySelector(".refused")?.innerText === "Ask again in a while." && document.querySelector("#composer").value === "May I?" && !document.querySelector("[data-out]")`)
	d.OnCommand = nil
	tab.Enter()
	tab.Wait(`!document.querySelector(".refused") && document.querySelector("#composer").value === ""`)
	tab.Forget() // the 429
	tab.Clean(d.URL)
}
