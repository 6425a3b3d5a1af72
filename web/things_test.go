package web_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"holdfast/web/webtest"
)

// Tool calls are folded cards that tell name, state and duration; open, also by keyboard, they show
// what was given and what came back.
func TestToolCallsAreShownFolded(t *testing.T) {
	d, tab := page(t, func(d *webtest.Daemon) {
		again(d)
		d.Put("turn", turn("t2", "running", object{"calls": calls()}))
	})
	card := func(n string) string {
		return `document.querySelectorAll(".call")[` + n + `].innerText.replace(/\s+/g, " ").trim()`
	}
	tab.Wait(card("0") + ` === "Done Search notes 184 ms" && ` + card("1") + ` === "Running Read a file 2 of 5 pages" && ` + card("2") + ` === "Failed Fetch a page 10 s"`)
	tab.Wait(card("3") + ` === "Not known whether it happened Send a mail 900 ms" && ` + card("4") + ` === "Denied Delete a file"`)
	webtest.Eval[bool](tab, `(document.querySelector(".call summary").focus(), true)`)
	tab.Enter()
	tab.Wait(`[...document.querySelectorAll(".call[open] .raw")].map((r) => r.textContent).join("|") === ` + "`{\n  \"query\": \"launch date\",\n  \"limit\": 5\n}|launch.md: the launch is on 4 May`")

	more := calls()
	more[1] = call("k2", "notes_read_file", "Read a file", `{}`, "done", 2100, "…")
	d.Put("turn", turn("t2", "running", object{"version": 2, "calls": more}))
	tab.Wait(card("1") + ` === "Done Read a file 2.1 s" && document.querySelector(".call[open]")`) // what is open stays open
	tab.Clean(d.URL)
}

// An approval shows all that a call would be given, and what hides in it.
func TestApprovalIsDecidedOnThePage(t *testing.T) {
	d, tab := page(t, func(d *webtest.Daemon) { again(d); d.Put("turn", approving("t2", "approval")) })
	tab.Wait(`document.querySelector(".asked .raw").textContent.includes("Bring \\u202ecake") && !document.querySelector(".asks [aria-label='Try now']")`)
	tab.Wait(`document.querySelector(".side .badge.wait").innerText === "1 to approve"`)
	tab.Wait(`document.querySelector(".asked li:last-child").innerText.includes("cannot be undone")`)
	decided := func(n int, allow bool) {
		t.Helper()
		eventually(t, "approval.decide", func() bool {
			s := sent(d, "approval.decide")
			return len(s) == n && s[n-1].Target == "ap1" && s[n-1].Args["allow"] == allow
		})
	}
	tab.Press("Approve: Send a mail, Delete a file")
	decided(1, true)
	tab.Click(".side-bottom a")
	tab.WaitText("1 approval waits for you")
	tab.Press("Deny: Send a mail, Delete a file")
	decided(2, false)
	d.Put("turn", turn("t2", "running", object{"version": 5}))
	tab.Wait(`!document.querySelector("#approvals") && !document.querySelector(".side .badge.wait")`)
	d.Put("turn", func() object { t := approving("t2", "unknown"); t["version"] = 6; return t }())
	tab.Press("Leave it: Send a mail, Delete a file")
	decided(3, false)
	tab.Clean(d.URL)
}

func TestSchedulesAreRunPausedAndDeleted(t *testing.T) {
	d, tab := page(t, things)
	d.OnCommand = func(c webtest.Command) (int, any) {
		switch c.Cmd {
		case "schedule.pause":
			d.Put("schedule", schedule(c.Target, "config", object{"paused": c.Args["paused"]}))
		case "schedule.delete":
			d.Remove("schedule", "name", c.Target)
		}
		return 0, nil
	}
	tab.Open(d.URL + "/operator")
	tab.WaitText("Summarise what is open.")
	d.Put("schedule", schedule("standup", "config", object{"prompt": "Changed elsewhere."}))
	tab.WaitText("Changed elsewhere.")
	row := `[...document.querySelectorAll("#schedules li")].find((l) => l.innerText.includes("standup")).innerText`
	tab.Wait(`/Set\s/.test(` + row + `) && ` + row + `.includes("0 9 * * 1-5")`)
	tab.Press("Run now: standup")
	tab.WaitText("standup runs now.")
	tab.Press("Pause standup")
	tab.Wait(`/Paused\s/.test(` + row + `)`)
	tab.Press("Go on with standup")
	tab.Wait(`/Set\s/.test(` + row + `)`)
	if webtest.Eval[bool](tab, `Boolean(document.querySelector("[aria-label='Delete standup']"))`) {
		t.Error("what the config sets can be deleted")
	}
	tab.Press("Delete water-the-plants")
	tab.Wait(`document.activeElement.innerText === "Delete"`) // asked once more
	if n := len(sent(d, "schedule.delete")); n != 0 {
		t.Errorf("deleted after %d presses", n)
	}
	tab.Enter()
	tab.Wait(`document.querySelectorAll("#schedules li").length === 2`)
	var names []string
	for _, c := range d.Commands() {
		names = append(names, c.Cmd+" "+c.Target)
	}
	if slices.ContainsFunc(tab.Requests(), func(r string) bool { return strings.HasSuffix(r, "/schedules") }) {
		t.Error("the page asks for schedules, which the socket brings")
	}
	if want := []string{"schedule.run standup", "schedule.pause standup", "schedule.pause standup", "schedule.delete water-the-plants"}; !slices.Equal(names, want) {
		t.Errorf("sent %q, want %q", names, want)
	}
	tab.Clean(d.URL)
}

func TestMemoryIsSearchedAndDeleted(t *testing.T) {
	d, tab := page(t, things)
	tab.Open(d.URL + "/operator")
	rows := `document.querySelectorAll("#memory li").length`
	tab.Wait(rows + ` === 2`)
	tab.Click("#memory input")
	tab.Type("launch")
	tab.Wait(rows + ` === 1 && document.querySelector("#memory li").innerText.includes("4 May")`)
	tab.Press("Delete: The launch is on 4 May.")
	tab.Press("Keep it")
	tab.Press("Delete: The launch is on 4 May.")
	tab.Wait(`document.activeElement.innerText === "Delete"`)
	tab.Enter()
	eventually(t, "memory.delete", func() bool { s := sent(d, "memory.delete"); return len(s) == 1 && s[0].Target == "m2" })
	tab.WaitText("Nothing that is remembered has these words.")
	tab.Clean(d.URL)
}

func TestUsageIsSummed(t *testing.T) {
	d, tab := page(t, things)
	tab.Open(d.URL + "/operator")
	tab.Wait(`[...document.querySelectorAll("#usage tfoot td")].map((c) => c.innerText).join(" ") === "97 404,630 19,842 0.13 EUR"`)
	tab.Wait(`[...document.querySelectorAll("#usage tbody tr")].map((r) => r.lastChild.innerText).join(" | ") === "0.064 EUR | not priced | 0.064 EUR | not priced"`)
	tab.Clean(d.URL)
}

// Where the daemon has none of it, nothing is asked for and nothing is shown.
func TestAbsentPartsAreNotShown(t *testing.T) {
	d, tab := page(t, func(d *webtest.Daemon) { things(d); d.Has = nil })
	tab.Open(d.URL + "/operator")
	tab.Wait(`document.querySelector(".rows")`)
	if webtest.Eval[bool](tab, `Boolean(document.querySelector("#schedules, #memory, #usage"))`) {
		t.Error("parts are shown that are not there")
	}
	asked := maps.Collect(func(yield func(string, bool) bool) {
		for _, u := range webtest.Eval[[]string](tab, `performance.getEntriesByType("resource").map((r) => new URL(r.name).pathname)`) {
			yield(u, true)
		}
	})
	if asked["/api/v1/schedules"] || asked["/api/v1/memory"] || asked["/api/v1/usage"] {
		t.Errorf("asked for %v", asked)
	}
	tab.Clean(d.URL)
}
