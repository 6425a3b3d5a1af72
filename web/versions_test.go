package web_test

import (
	"fmt"
	"testing"
	"time"

	"holdfast/web/webtest"
)

// articles is what the transcript shows, in order: messages by their id, answers by their turn.
const articles = `[...document.querySelectorAll("article")].map((a) => a.dataset.message ?? a.dataset.turn).join(" ")`

// exchange puts a question, its answer and the turn between them; without a question the turn has
// been asked again.
func exchange(d *webtest.Daemon, id string, ago time.Duration, asks bool, supersedes any) {
	d.Put("turn", turn(id, "done", object{"outcome": "answered", "created": at(ago), "supersedes": supersedes}))
	if asks {
		d.Put("message", said("q"+id, id, "Question "+id, ago))
	}
	d.Put("message", told("a"+id, id, "answer", "<p>Answer "+id+"</p>", ago-time.Second))
}

func TestEarlierVersionsAreKeptAndShownOnDemand(t *testing.T) {
	_, tab := page(t, func(d *webtest.Daemon) {
		others(d)
		d.Put("chat", chat("c1", "Versions", 0, "done"))
		exchange(d, "t1", 90*time.Second, true, nil)
		exchange(d, "t2", 80*time.Second, true, nil)
		exchange(d, "t3", 70*time.Second, false, "t2") // asked again
		exchange(d, "t4", 60*time.Second, false, "t3") // and once more
		exchange(d, "t5", 50*time.Second, true, nil)   // goes on
		exchange(d, "t6", 40*time.Second, true, "t2")  // in other words, from far above
	})
	shows := func(want, count string) {
		t.Helper()
		tab.Wait(articles + fmt.Sprintf(` === %q && (document.querySelector(".versions")?.innerText ?? "").replace(/\s+/g, " ").trim() === %q`, want, count))
	}
	shows("qt1 t1 qt6 t6", "4 / 4")
	webtest.Eval[bool](tab, `(document.querySelector("[aria-label='Earlier version']").focus(), true)`)
	tab.Enter()
	shows("qt1 t1 qt2 t4 qt5 t5", "3 / 4") // with what came after it
	if !webtest.Eval[bool](tab, `document.activeElement.ariaLabel === "Earlier version" && !document.querySelector("[aria-label^='Answer again'], [aria-label^='Edit']")`) {
		t.Error("the focus is lost, or an old version can be asked again")
	}
	tab.Enter()
	shows("qt1 t1 qt2 t3", "2 / 4")
	tab.Enter()
	shows("qt1 t1 qt2 t2", "1 / 4")
	tab.Enter() // there is none before it
	shows("qt1 t1 qt2 t2", "1 / 4")
	tab.Accessible("the first of four versions")
	tab.Press("Later version")
	shows("qt1 t1 qt2 t3", "2 / 4")
}

func TestANewVersionIsShownAtOnce(t *testing.T) {
	d, tab := page(t, func(d *webtest.Daemon) {
		d.Put("chat", chat("c1", "Versions", 0, "done"))
		exchange(d, "t1", 90*time.Second, true, nil)
		exchange(d, "t2", 80*time.Second, false, "t1")
	})
	tab.Press("Earlier version")
	tab.Wait(articles + ` === "qt1 t1"`)
	d.Put("turn", turn("t3", "running", object{"created": at(0), "supersedes": "t2"}))
	tab.Wait(articles + ` === "qt1 t3" && document.querySelector("[data-turn=t3] .working") && document.querySelector(".versions").innerText.includes("3 / 3")`)
}

// What is paged in brings its turns, so that an old answer has its foot, and stays over a reconnect.
func TestOlderMessagesComeWithTheirTurns(t *testing.T) {
	d, tab := page(t, func(d *webtest.Daemon) {
		d.Messages = 100
		d.Put("chat", chat("c1", "Long", 0, "done"))
		for i := range 130 {
			exchange(d, fmt.Sprintf("t%03d", i), time.Duration(1000-i)*time.Second, true, nil)
		}
	})
	tab.Wait(`document.querySelectorAll("article").length === 100`)
	webtest.Eval[bool](tab, `(document.querySelector(".scroller").scrollTop = 0, true)`)
	tab.Wait(`document.querySelectorAll("article").length >= 200 && document.querySelectorAll("a[href='/turns/t031']").length === 1`)
	d.Drop(1013)
	webtest.Eval[bool](tab, `(dispatchEvent(new Event("online")), true)`)
	tab.Wait(`!document.querySelector(".side-line .wait") && document.querySelectorAll("a[href='/turns/t031']").length === 1`)
}

func TestThreeHundredChatsAreFound(t *testing.T) {
	d, tab := page(t, func(d *webtest.Daemon) {
		answered(d)
		for i := range 300 {
			d.Put("chat", chat(fmt.Sprintf("x%03d", i), fmt.Sprintf("Chat number %d", i), time.Duration(i+10)*time.Hour, "done"))
		}
	})
	rows := `document.querySelectorAll(".side-list li").length`
	tab.Wait(rows + ` === 200`)
	webtest.Eval[bool](tab, `(document.querySelector(".side-list").scrollTop = 1e6, true)`)
	tab.Wait(rows + ` === 307`)
	tab.Reload()
	tab.Wait(rows + ` === 200`)
	tab.Click(".search input")
	tab.Type("number 299")
	tab.Wait(rows + ` === 1 && document.querySelector(".side-list li").innerText.includes("Chat number 299")`)
	tab.Clean(d.URL)
}

func TestTicksTellHowModelsDo(t *testing.T) {
	d, tab := page(t, operator)
	tab.Click(".side-bottom a")
	tab.WaitText("61 requests in the last hour, 9 failed.")
	d.SetHealth("providers", nil)
	d.Tick([]object{provider("demo", "demo", object{"requests": 64, "failures": 10})})
	tab.WaitText("64 requests in the last hour, 10 failed.")
	tab.Clean(d.URL)
}
