package main

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"holdfast/web/webtest"
)

// The page over a real daemon: a message is answered; while the turn is parked the bubble counts
// down, and a reload and a second tab show the same (N1); the daemon is killed and started under the
// open page, which reconnects, doubles nothing and shows the answer (N4, P7).
func TestPageOverARealDaemon(t *testing.T) {
	b := webtest.Start(t)
	m := newScripted(t, func(n int, _ string) string {
		if n == 2 {
			return "429/12"
		}
		return "ok"
	})
	p := newProcess(t, m.config("[retry]\nnotice_after = \"0s\"\n"))
	p.up()
	tab := b.Tab(webtest.Look{})
	tab.Open(p.url + "/login#test-token-0123456789")
	tab.Wait(`document.querySelector("#composer")`)
	tab.Say("Hello there")
	tab.WaitText("re: Hello there")
	chat := strings.TrimPrefix(webtest.Eval[string](tab, "location.pathname"), "/chats/")
	tab.Clean(p.url)

	tab.Say("Wait for me")
	digits := `document.querySelector(".retry .digits")?.textContent ?? ""`
	tab.Wait(`/\d/.test(` + digits + `)`)
	reason := webtest.Eval[string](tab, `document.querySelector(".retry").innerText`)
	if !strings.Contains(reason, "fake is rate limiting") || !strings.Contains(reason, "429") {
		t.Errorf("the bubble says %q", reason)
	}
	first := webtest.Eval[string](tab, digits)
	tab.Wait(digits + ` !== ` + fmt.Sprintf("%q", first)) // it counts
	tab.Reload()
	tab.Wait(`/\d/.test(` + digits + `)`)
	second := tab.Beside(webtest.Look{})
	second.Open(p.url + "/chats/" + chat)
	second.Wait(`/\d/.test(` + digits + `)`)
	tab.Clean(p.url)
	second.Clean(p.url)

	p.kill()
	p.up()
	for _, tab := range []*webtest.Tab{tab, second} {
		tab.WaitText("re: Wait for me")
		tab.Wait(`!document.querySelector(".retry")`)
		if n := webtest.Eval[int](tab, `[...document.querySelectorAll(".said")].length`); n != 2 {
			t.Errorf("%d messages of the person, want 2", n)
		}
		tab.Forget() // the refused connections while the daemon was down
	}
	p.until("settled", 10*time.Second, func() bool { // the page shows the text before the turn is settled
		return strings.Join(p.transcript(chat), "|") == "user: Hello there|bot: re: Hello there|user: Wait for me|bot: re: Wait for me"
	})
	if n := m.requests(); n != 3 {
		t.Errorf("%d requests, want 3", n)
	}
	tab.Say("And now?")
	tab.WaitText("re: And now?")
	tab.Clean(p.url)
}
