package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"holdfast/web/webtest"
)

// thing is a page over a real daemon whose bot has tools, a schedule and a memory.
type thing struct {
	*process
	tab *webtest.Tab
	dir string // of the tool server
}

// answersByTools is what the model of such a bot does: it calls what it is asked to call, and then says
// what came of it.
func answersByTools(_ int, asked string) string {
	switch asked {
	case "look around":
		return "call/world_look+world_look+world_look+world_look"
	case "write it", "write more", "write in a storm":
		return "call/world_write"
	case "remember it":
		return `call/memory_remember {"text":"Ada drinks tea."}`
	case "wake up":
		return `call/schedule_set {"text":"Water the plants.","in":"2d"}`
	}
	return "ok/1000+50"
}

// What a bot does besides talking, on a page over a real daemon with a real tool server: calls are seen
// while they run and folded afterwards; approvals are given and refused by keyboard, one of them after
// a kill -9; schedules, memory and usage are shown and dealt with.
func TestThingsOverARealDaemon(t *testing.T) {
	browser := webtest.Start(t)
	m := newScripted(t, answersByTools)
	dir := t.TempDir()
	more := strings.Replace(quick, "[log]\nlevel = \"warn\"\n", "", 1) + "[[price]]\nmodel = \"fake/one\"\ninput = 2\noutput = 20\n" +
		"[[schedule]]\nname = \"standup\"\ncron = \"0 9 1 1 *\"\nprompt = \"What is open?\"\nto = \"web:standup\"\n"
	config := strings.Replace(m.worldConfig(dir, "writes", more), `tools = ["world"]`, `tools = ["world", "memory", "schedule"]`, 1)
	p := newProcess(t, config)
	p.up()
	tab := browser.Tab(webtest.Look{})
	tab.Open(p.url + "/login#test-token-0123456789")
	tab.Wait(`document.querySelector("#composer")`)
	for _, part := range []struct {
		name string
		test func(t *testing.T, h thing)
	}{
		{"calls", seeCalls}, {"approvals", decideByKeyboard}, {"approval over a kill", decideAfterKill},
		{"schedules", dealWithSchedules}, {"memory", dealWithMemory}, {"usage", seeUsage},
	} {
		if !t.Run(part.name, func(t *testing.T) { part.test(t, thing{p, tab.For(t), dir}) }) {
			return
		}
	}
	tab.Clean(p.url)
}

// ask says something in a chat of its own.
func (h thing) ask(text string) {
	h.tab.Press("New chat")
	h.tab.Wait(`document.querySelector(".starts")`)
	h.tab.Say(text)
}

// wrote is how often the world has been written to.
func (h thing) wrote(t *testing.T) int {
	t.Helper()
	n, _ := made(t, h.dir)
	return n["write"]
}

func seeCalls(t *testing.T, h thing) {
	hold := filepath.Join(h.dir, "hold")
	if err := os.WriteFile(hold, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	h.ask("look around")
	card := `document.querySelector(".bubble .calls li")?.innerText`
	h.tab.Wait(`document.querySelectorAll(".bubble .calls li").length === 4 && ` + card + `.includes("Running") && ` + card + `.includes("world_look") && ` + card + `.includes("half of it")`)
	if err := os.Remove(hold); err != nil {
		t.Fatal(err)
	}
	h.tab.WaitText("re: look is done")
	h.tab.Wait(`!document.querySelector(".bubble .calls") && document.querySelector(".bubble summary").innerText === "4 tool calls"`)
	h.tab.Click(".bubble summary")
	h.tab.Wait(`[...document.querySelectorAll(".bubble .calls .state")].map((s) => s.innerText).join() === "Done,Done,Done,Done"`)
	h.tab.Click(".bubble .calls summary")
	h.tab.Wait(`document.querySelector("[aria-label='Result of world_look']")?.innerText.trim() === "look is done"`)
}

func decideByKeyboard(t *testing.T, h thing) {
	h.ask("write it")
	h.tab.WaitText("May this be done?")
	if n := h.wrote(t); n != 0 {
		t.Errorf("made %d times before it was approved", n)
	}
	reach(t, h.tab, `e.ariaLabel === "Approve: world_write"`)
	h.tab.Enter()
	h.tab.WaitText("re: write is done")
	if n := h.wrote(t); n != 1 {
		t.Errorf("approved: made %d times", n)
	}
	h.tab.Say("write more")
	h.tab.WaitText("May this be done?")
	reach(t, h.tab, `e.ariaLabel === "Deny: world_write"`)
	h.tab.Enter()
	h.tab.Wait(`document.querySelectorAll(".bubble .foot time").length === 2`)
	h.tab.Wait(`[...document.querySelectorAll(".bubble .calls .state")].map((s) => s.innerText).join() === "Done,Denied"`)
	if n := h.wrote(t); n != 1 {
		t.Errorf("denied: made %d times", n)
	}
}

// P11: the approval waits in the store; after a kill -9 the page is back by itself, and what is
// approved on it is done once.
func decideAfterKill(t *testing.T, h thing) {
	before := h.wrote(t)
	h.ask("write in a storm")
	h.tab.WaitText("May this be done?")
	chat := strings.TrimPrefix(webtest.Eval[string](h.tab, "location.pathname"), "/chats/")
	h.kill()
	h.tab.Wait(`document.querySelector(".banner")`)
	h.up()
	h.tab.Wait(`!document.querySelector(".banner") && document.querySelector(".side-line").innerText.includes("Connected") && document.body.innerText.includes("May this be done?")`)
	h.tab.Forget() // the refused connections
	reach(t, h.tab, `e.ariaLabel === "Approve: world_write"`)
	h.tab.Enter()
	h.tab.WaitText("re: write is done")
	h.until("settled", 10*time.Second, func() bool {
		return strings.Join(h.transcript(chat), "|") == "user: write in a storm|bot: re: write is done"
	})
	if n := h.wrote(t) - before; n != 1 {
		t.Errorf("made %d times", n)
	}
	if n := webtest.Eval[int](h.tab, `document.querySelectorAll("article").length`); n != 2 {
		t.Errorf("%d articles, want the question and the answer", n)
	}
}

func dealWithSchedules(t *testing.T, h thing) {
	h.ask("wake up")
	h.tab.WaitText("re: ")
	h.tab.Click(".side-bottom a")
	row := func(text string) string {
		return `[...document.querySelectorAll("#schedules li")].find((l) => l.innerText.includes("` + text + `"))`
	}
	h.tab.Wait(row("What is open?") + `?.innerText.includes("Has not run yet.") && ` + row("Water the plants."))
	h.tab.Press("Run now: standup")
	h.tab.Wait(row("What is open?") + `.querySelector("a[href^='/turns/']")`)
	turn := strings.TrimPrefix(webtest.Eval[string](h.tab, row("What is open?")+`.querySelector("a").pathname`), "/turns/")
	h.until("answered", 10*time.Second, func() bool { return h.turn(turn).Outcome == "answered" })
	h.tab.Wait(`[...document.querySelectorAll(".side-list li")].find((l) => l.innerText.includes("standup"))?.querySelector(".badge")?.innerText === "schedule"`)
	h.tab.Press("Pause standup")
	h.tab.Wait(`/Paused\s/.test(` + row("What is open?") + `.innerText)`)
	h.tab.Reload()
	h.tab.Wait(`/Paused\s/.test(` + row("What is open?") + `?.innerText)`)
	h.tab.Press("Go on with standup")
	h.tab.Wait(`/Set\s/.test(` + row("What is open?") + `.innerText)`)
	h.tab.Press(webtest.Eval[string](h.tab, row("Water the plants.")+`.querySelector("[aria-label^=Delete]").ariaLabel`))
	h.tab.Wait(`document.activeElement.innerText === "Delete"`)
	h.tab.Enter()
	h.tab.Wait(`!` + row("Water the plants.") + ` && ` + row("What is open?"))
}

func dealWithMemory(t *testing.T, h thing) {
	h.ask("remember it")
	h.tab.WaitText("re: remembered as ")
	h.tab.Click(".side-bottom a")
	h.tab.Wait(`document.querySelectorAll("#memory li").length === 1 && document.querySelector("#memory li").innerText.includes("Ada drinks tea.")`)
	h.tab.Press("Delete: Ada drinks tea.")
	h.tab.Wait(`document.activeElement.innerText === "Delete"`)
	h.tab.Enter()
	h.tab.WaitText("Nothing is remembered yet.")
	h.tab.Reload()
	h.tab.WaitText("Nothing is remembered yet.")
}

// seeUsage: seven answers of 1000 and 50 tokens at 2 and 20 a million, after six requests that ended in calls.
func seeUsage(t *testing.T, h thing) {
	h.tab.Wait(`document.querySelector("#usage tfoot tr")`)
	for _, part := range []string{"tbody", "tfoot"} {
		got := webtest.Eval[string](h.tab, `[...document.querySelectorAll("#usage `+part+` tr")].map((r) => [...r.cells].slice(-5).map((c) => c.innerText).join(" ")).join("|")`)
		if want := "13 7,000 350 0.021 USD"; !strings.HasSuffix(got, want) || strings.Contains(got, "|") || part == "tbody" && got != "fake/one "+want {
			t.Errorf("%s reads %q, want %q in one row", part, got, want)
		}
	}
}
