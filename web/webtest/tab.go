package webtest

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
)

// patience is how long Wait waits for what must come.
const patience = 20 * time.Second

// Open goes to an address and waits until it is loaded.
func (t *Tab) Open(address string) {
	t.t.Helper()
	t.do("open "+address, chromedp.Do(t.ctx, chromedp.Navigate(address)))
}

// Reload loads the page again.
func (t *Tab) Reload() {
	t.t.Helper()
	t.do("reload", chromedp.Do(t.ctx, chromedp.Reload()))
}

// Script runs before any script of every page that is opened from now on.
func (t *Tab) Script(js string) {
	t.t.Helper()
	_, err := chromedp.Call(t.ctx, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: js})
	t.do("add a script", err)
}

// Eval is the value of an expression, promises awaited.
func Eval[T any](t *Tab, js string) T {
	t.t.Helper()
	v, err := chromedp.Run(t.ctx, chromedp.Evaluate[T](js, chromedp.EvalAwaitPromise))
	t.do("evaluate "+js, err)
	return v
}

// Wait waits until an expression is true.
func (t *Tab) Wait(js string) {
	t.t.Helper()
	for end := time.Now().Add(patience); ; time.Sleep(20 * time.Millisecond) {
		v, err := chromedp.Run(t.ctx, chromedp.Evaluate[bool]("Boolean("+js+")"))
		if err == nil && v {
			return
		}
		if time.Now().After(end) {
			text, _ := chromedp.Run(t.ctx, chromedp.Evaluate[string]("document.body.innerText"))
			t.t.Fatalf("this did not come true: %s (last error: %v)\nthe page shows:\n%s\nconsole:\n%s", js, err, text, strings.Join(t.Console(), "\n"))
		}
	}
}

// WaitText waits until the page shows a text.
func (t *Tab) WaitText(text string) {
	t.t.Helper()
	quoted, _ := json.Marshal(text)
	t.Wait("document.body.innerText.includes(" + string(quoted) + ")")
}

// Click presses the first element that a CSS selector finds, once it is there.
func (t *Tab) Click(selector string) {
	t.t.Helper()
	quoted, _ := json.Marshal(selector)
	t.Wait("document.querySelector(" + string(quoted) + ")")
	t.do("click "+selector, chromedp.Do(t.ctx, chromedp.Click(chromedp.CSS(selector))))
}

// Press clicks the button or link that bears these words.
func (t *Tab) Press(words string) {
	t.t.Helper()
	quoted, _ := json.Marshal(words)
	find := fmt.Sprintf(`[...document.querySelectorAll("button, a, summary")].find((b) => (b.innerText.trim() === %[1]s || b.getAttribute("aria-label") === %[1]s) && !b.disabled)`, quoted)
	t.Wait(find)
	Eval[bool](t, "("+find+".click(), true)")
}

// Type presses one key after another where the focus is.
func (t *Tab) Type(text string) {
	t.t.Helper()
	for _, r := range text {
		t.key(string(r), "", string(r), 0)
	}
}

// Say writes a message into the composer and sends it with Enter.
func (t *Tab) Say(text string) {
	t.t.Helper()
	t.Wait(`document.querySelector("#composer")`)
	Eval[bool](t, `(document.querySelector("#composer").focus(), true)`)
	_, err := chromedp.Call(t.ctx, input.InsertText, input.InsertTextParams{Text: text})
	t.do("write", err)
	t.Enter()
}

// Enter presses that key as a keyboard does: a page that takes it keeps its character away.
func (t *Tab) Enter() {
	t.t.Helper()
	t.key("Enter", "Enter", "\r", 13)
}

// Escape presses that key.
func (t *Tab) Escape() {
	t.t.Helper()
	t.key("Escape", "Escape", "", 27)
}

// Tabulate presses the tabulator, which moves the focus.
func (t *Tab) Tabulate() {
	t.t.Helper()
	t.key("Tab", "Tab", "", 9)
}

func (t *Tab) key(key, code, text string, virtual int64) {
	t.t.Helper()
	p := input.DispatchKeyEventParams{Type: input.DispatchKeyEventTypeKeyDown, Key: key, Code: code, Text: text, WindowsVirtualKeyCode: virtual}
	_, err := chromedp.Call(t.ctx, input.DispatchKeyEvent, p)
	t.do("press "+key, err)
	p.Type, p.Text = input.DispatchKeyEventTypeKeyUp, ""
	_, err = chromedp.Call(t.ctx, input.DispatchKeyEvent, p)
	t.do("let go of "+key, err)
}

// Shot writes a picture of the tab.
func (t *Tab) Shot(file string) {
	t.t.Helper()
	png, err := chromedp.Run(t.ctx, chromedp.CaptureScreenshot())
	t.do("take a picture", err)
	t.do("make the folder", os.MkdirAll(filepath.Dir(file), 0o755))
	t.do("write the picture", os.WriteFile(file, png, 0o644))
}

func (t *Tab) do(what string, err error) {
	t.t.Helper()
	if err != nil {
		t.t.Fatalf("%s: %v", what, err)
	}
}
