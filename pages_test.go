package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"holdfast/web/webtest"
)

// opened is a daemon with a page that is logged in.
func opened(t *testing.T, extra string, script func(n int, asked string) string) (*process, *webtest.Tab) {
	t.Helper()
	m := newScripted(t, script)
	p := newProcess(t, extra+m.config("[retry]\nnotice_after = \"0s\"\n"))
	p.up()
	tab := webtest.Start(t).Tab(webtest.Look{})
	tab.Open(p.url + "/login#test-token-0123456789")
	tab.Wait(`document.querySelector("#composer")`)
	return p, tab
}

// reach presses the tabulator until the focus is where a condition holds of document.activeElement, e.
func reach(t *testing.T, tab *webtest.Tab, is string) {
	t.Helper()
	for range 60 {
		if webtest.Eval[bool](tab, `((e) => Boolean(`+is+`))(document.activeElement)`) {
			return
		}
		tab.Tabulate()
	}
	t.Fatalf("the tabulator does not lead to where %s", is)
}

// Everything that matters can be done without a pointer: log in, send, stop, try again, cancel a
// waiting turn, find its permalink.
func TestKeyboardOnly(t *testing.T) {
	m := newScripted(t, func(n int, asked string) string {
		if strings.HasPrefix(asked, "wait") {
			return "429/90"
		}
		return "ok"
	})
	p := newProcess(t, m.config("[retry]\nnotice_after = \"0s\"\nstated_wait_early = true\n"))
	p.up()
	tab := webtest.Start(t).Tab(webtest.Look{})
	tab.Open(p.url + "/")
	tab.Wait(`document.querySelector("#secret")`)
	reach(t, tab, `e.id === "secret"`)
	tab.Type("test-token-0123456789")
	tab.Enter()
	tab.Wait(`document.querySelector("#composer")`)
	tab.Forget() // the refused handshake before the login
	tab.Tabulate()
	reach(t, tab, `e.className === "skip"`)
	tab.Enter()
	tab.Tabulate()
	if !webtest.Eval[bool](tab, `document.querySelector("#main").contains(document.activeElement)`) {
		t.Error("the link over the list does not lead into the chat")
	}
	reach(t, tab, `e.id === "composer"`)
	tab.Type("hello")
	tab.Enter()
	tab.WaitText("re: hello")

	tab.Type("wait one")
	tab.Enter()
	tab.Wait(`document.querySelector(".retry .digits")`)
	tab.Escape()
	tab.Wait(`!document.querySelector(".retry") && document.querySelector(".bubble .state")?.innerText.includes("Stopped")`)

	tab.Type("wait two")
	tab.Enter()
	tab.Wait(`document.querySelector(".retry .digits")`)
	tab.Tabulate()
	reach(t, tab, `e.innerText === "Try now"`)
	tab.Enter()
	tab.WaitText("Held by the provider until")

	reach(t, tab, `e.getAttribute("href") === "/operator"`)
	tab.Enter()
	tab.Wait(`document.querySelector(".operator .row-name")`)
	reach(t, tab, `e.className === "row-name"`)
	tab.Enter()
	tab.Wait(`location.pathname.startsWith("/turns/")`)
	id := strings.TrimPrefix(webtest.Eval[string](tab, "location.pathname"), "/turns/")
	if got := p.turn(id); got.State != "parked" {
		t.Errorf("the permalink leads to %+v", got)
	}
	reach(t, tab, `e.innerText === "Cancel"`)
	tab.Enter()
	tab.Wait(`document.querySelector(".standing .state").innerText.includes("Stopped")`)
	if got := p.turn(id); got.Outcome != "cancelled" {
		t.Errorf("cancelled by keyboard: %+v", got)
	}
	tab.Forget() // the 409 of a held turn
	tab.Clean(p.url)
}

// An alert is seen, an answer made again, a question put in other words, and the log followed, all on
// a page over a real daemon.
func TestOperatorsPageOverARealDaemon(t *testing.T) {
	var mu sync.Mutex
	broken := false
	_, tab := opened(t, "", func(n int, asked string) string {
		mu.Lock()
		defer mu.Unlock()
		if broken {
			return "401"
		}
		return "ok"
	})
	tab.Say("First")
	tab.WaitText("re: First")
	tab.Press("Answer again; this one is kept")
	tab.Wait(`document.querySelector(".versions")?.innerText.includes("2 / 2") && document.querySelectorAll(".said").length === 1`)
	tab.Wait(`document.querySelector("[aria-label^='Answer again']")`)
	tab.Press("Edit this message")
	tab.Wait(`document.activeElement.matches(".editing textarea")`)
	webtest.Eval[bool](tab, `(document.activeElement.value = "Second", true)`)
	tab.Press("Ask this")
	tab.WaitText("re: Second")
	tab.Wait(`document.querySelector(".versions").innerText.includes("3 / 3") && document.querySelectorAll(".said").length === 1 && document.querySelector(".said").innerText.includes("Second")`)
	tab.Reload()
	tab.Wait(`document.querySelector(".versions")?.innerText.includes("3 / 3")`)
	tab.Press("Earlier version")
	tab.Wait(`document.querySelector(".said").innerText.includes("First") && document.querySelector(".bubble").innerText.includes("re: First")`)

	mu.Lock()
	broken = true
	mu.Unlock()
	tab.Say("Third")
	tab.Wait(`document.querySelector(".retry")`)
	tab.Click(".side-bottom a")
	tab.Wait(`document.querySelector(".card.bad")`)
	tab.Press(webtest.Eval[string](tab, `document.querySelector(".card.bad button").ariaLabel`))
	tab.Wait(`document.querySelector(".card.seen") && !document.querySelector(".card.bad") && !document.querySelector(".side .badge.bad")`)
	tab.Wait(`[...document.querySelectorAll(".log b")].some((b) => b.innerText === "turn owed") && document.querySelector(".log a[href^='/turns/']")`)
	tab.Clean(strings.TrimSuffix(webtest.Eval[string](tab, "location.origin"), "/"))
}

// A visitor chats and sees nothing else.
func TestVisitorOverARealDaemon(t *testing.T) {
	m := newScripted(t, func(int, string) string { return "ok" })
	p := newProcess(t, "public = \"bot\"\n"+m.config(""))
	p.up()
	tab := webtest.Start(t).Tab(webtest.Look{})
	tab.Open(p.url + "/")
	tab.Wait(`document.querySelector("#composer")`)
	tab.Say("Hello from the street")
	tab.WaitText("re: Hello from the street")
	if webtest.Eval[bool](tab, `Boolean(document.querySelector(".side, a[href^='/turns'], a[href='/operator']"))`) {
		t.Error("a visitor is shown what only operators see")
	}
	tab.Accessible("a visitor's chat")
	tab.Clean(p.url)
}

// Whatever a person or a model writes is text: no script, no image from elsewhere, no link that runs
// something; and a megabyte of it is shown.
func TestHostileTextOverARealDaemon(t *testing.T) {
	p, tab := opened(t, "", func(int, string) string { return "ok" })
	hostile := "<img src=x onerror=alert(1)><script>alert(2)</script> ![p](https://evil.example/p.png) [run](javascript:alert(3)) <svg onload=alert(4)> [d](data:text/html,x) שלום עולם 👩‍👩‍👧"
	tab.Say(hostile)
	tab.Wait(`document.querySelector(".bubble .md .block")?.innerText.includes("re:") && document.querySelector(".bubble .foot")`)
	found := webtest.Eval[string](tab, `[...document.querySelectorAll(".lines :is(img, script, iframe, object, embed, style, form)")].map((e) => e.outerHTML).concat([...document.querySelectorAll(".lines a")].map((a) => a.protocol).filter((p) => !/^https?:$/.test(p))).concat([...document.querySelectorAll(".lines *")].flatMap((e) => e.getAttributeNames()).filter((n) => /^on|^style$/.test(n))).join(" ")`)
	if found != "" {
		t.Errorf("the page holds %s", found)
	}
	for _, text := range []string{"<script>alert(2)</script>", "שלום עולם 👩‍👩‍👧"} {
		q, _ := json.Marshal(text)
		if n := webtest.Eval[int](tab, `[...document.querySelectorAll("article")].filter((a) => a.innerText.includes(`+string(q)+`)).length`); n != 2 {
			t.Errorf("%q is shown in %d of 2 places", text, n)
		}
	}

	chat := strings.TrimPrefix(webtest.Eval[string](tab, "location.pathname"), "/chats/")
	big := strings.Repeat("All work and no play. ", 1<<20/22)
	p.mustSend("big", chat, big)
	tab.Wait(`document.querySelectorAll(".bubble .foot").length === 2 && [...document.querySelectorAll(".bubble .md")].at(-1).textContent.length > 100`)
	for _, e := range []string{".said", ".bubble .md"} {
		if n := webtest.Eval[int](tab, `[...document.querySelectorAll("`+e+`")].at(-1).textContent.length`); n < 1<<20-100 {
			t.Errorf("%s shows %d of %d characters", e, n, len(big))
		}
	}
	if wide := webtest.Eval[int](tab, `document.documentElement.scrollWidth - innerWidth`); wide > 0 {
		t.Errorf("%d px wider than the window", wide)
	}
	tab.Say("And now?")
	tab.WaitText("re: And now?")
	tab.Clean(p.url)
}

// The first content is there within 300 ms after a link is followed. Other programs take time too, so
// the best of some tries counts.
func TestFirstContentIsFast(t *testing.T) {
	p, tab := opened(t, "", func(int, string) string { return "ok" })
	tab.Say("Hello")
	tab.WaitText("re: Hello")
	best := 1e9
	for range 12 {
		tab.Reload()
		tab.Wait(`document.querySelector(".bubble .md")`)
		best = min(best, webtest.Eval[float64](tab, `performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? 1e9`))
		if best <= 300 {
			break
		}
	}
	t.Logf("first content after %.0f ms", best)
	if best > 300 {
		t.Errorf("first content after %.0f ms, want at most 300", best)
	}
	tab.Clean(p.url)
}

// flowing is a provider whose answer streams: pieces of a kilobyte, one every few milliseconds.
func flowing(t *testing.T, pieces int, every time.Duration) *httptest.Server {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		next := time.NewTicker(every)
		defer next.Stop()
		for i := range pieces {
			<-next.C
			fmt.Fprintf(w, "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":%q}}]}\n\n", fmt.Sprintf("%04d %s\n\n", i, strings.Repeat("word ", 20)))
			w.(http.Flusher).Flush()
		}
		fmt.Fprint(w, "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n")
	}))
	t.Cleanup(s.Close)
	return s
}

// Fifty pages look at one answer that streams, and one more that reads nothing: each gets at most ten
// frames a second and in the end the whole text, the daemon needs less than one processor.
func TestFiftyPagesOnOneStream(t *testing.T) {
	const pages, pieces, every = 50, 300, 10 * time.Millisecond
	m := flowing(t, pieces, every)
	p := newProcess(t, fmt.Sprintf("[provider.fake]\nwire = \"openai\"\nbase_url = %q\n[[bot]]\nmodels = [\"fake/one\"]\n", m.URL))
	p.up()
	var readers sync.WaitGroup
	seen := make([]streamSeen, pages)
	for i := range pages {
		ws := p.dial("c1")
		readers.Go(func() { seen[i] = readStream(ws) })
	}
	p.dial("c1") // and reads nothing
	cpu, began := p.cpu(), time.Now()
	p.mustSend("m1", "c1", "Write")
	readers.Wait()
	took := time.Since(began)
	used := p.cpu() - cpu
	most := 0.0
	for i, s := range seen {
		rate := float64(s.frames-1) / s.last.Sub(s.first).Seconds()
		most = max(most, rate)
		if s.err != nil || rate > 10.5 || s.frames < 5 || !strings.Contains(s.text, "0000 ") || !strings.Contains(s.text, fmt.Sprintf("%04d ", pieces-1)) {
			t.Errorf("page %d: %d frames, %.1f a second, %d bytes of text: %v", i, s.frames, rate, len(s.text), s.err)
		}
	}
	t.Logf("%d pages, at most %.1f frames a second; %.2f of a processor over %v", pages, most, used.Seconds()/took.Seconds(), took.Round(time.Millisecond))
	if used > took {
		t.Errorf("the daemon used %v of processor time in %v", used, took)
	}
}

type streamSeen struct {
	frames      int
	text        string // of the answer, once it is done
	first, last time.Time
	err         error
}

// readStream reads until the turn is done and its answer is there as a message.
func readStream(ws *websocket.Conn) (s streamSeen) {
	for done := false; !done || s.text == ""; {
		ws.SetReadDeadline(time.Now().Add(time.Minute))
		var f struct {
			T, K string
			D    struct{ State, Role, Text string }
		}
		if s.err = ws.ReadJSON(&f); s.err != nil {
			return s
		}
		switch {
		case f.T == "render":
			if s.last = time.Now(); s.frames == 0 {
				s.first = s.last
			}
			s.frames++
		case f.K == "turn":
			done = f.D.State == "done"
		case f.K == "message" && f.D.Role == "bot":
			s.text = f.D.Text
		}
	}
	return s
}

// dial opens a socket that looks at a chat.
func (p *process) dial(chat string) *websocket.Conn {
	p.t.Helper()
	d := websocket.Dialer{Subprotocols: []string{"holdfast.v1"}}
	ws, _, err := d.Dial("ws"+strings.TrimPrefix(p.url, "http")+"/ws", http.Header{"Authorization": {"Bearer test-token-0123456789"}})
	if err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(func() { ws.Close() })
	if err := ws.WriteJSON(map[string]any{"t": "hello", "chat": chat}); err != nil {
		p.t.Fatal(err)
	}
	return ws
}

// cpu is the processor time that the daemon has used, from /proc; 0 where that is not.
func (p *process) cpu() time.Duration {
	p.t.Helper()
	if runtime.GOOS != "linux" {
		return 0
	}
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.cmd.Process.Pid))
	if err != nil {
		p.t.Fatal(err)
	}
	fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:])) // from the state on, field 3
	user, _ := strconv.Atoi(fields[11])
	system, _ := strconv.Atoi(fields[12])
	return time.Duration(user+system) * time.Second / 100
}
