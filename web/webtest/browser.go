// Package webtest looks at the page as a person would: it starts headless Chromium, opens tabs,
// types and presses, and keeps what must not happen (console messages, requests to other origins).
// Daemon plays the server's side of the protocol for tests that need only the page.
//
// Without a browser on the machine a test is skipped, but fails where CI is set.
package webtest

import (
	"context"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// Browser is one running Chromium with a profile of its own.
type Browser struct {
	t   testing.TB
	ctx context.Context
}

// Start runs a browser until the test ends.
func Start(t testing.TB) *Browser {
	t.Helper()
	path := find()
	if path == "" {
		if os.Getenv("CI") != "" {
			t.Fatal("no Chromium on this machine; install the package chromium")
		}
		t.Skip("no Chromium on this machine")
	}
	flags := []chromedp.ExecAllocatorOption{chromedp.ExecPath(path), chromedp.UserDataDir(t.TempDir()), chromedp.Headless, chromedp.NoSandbox, chromedp.NoFirstRun}
	for _, name := range []string{"disable-gpu", "disable-quic", "disable-background-networking", "disable-component-update", "disable-sync", "disable-default-apps", "no-default-browser-check", "disable-dev-shm-usage", "disable-features=Translate"} {
		key, value, has := strings.Cut(name, "=")
		if has {
			flags = append(flags, chromedp.Flag(key, value))
		} else {
			flags = append(flags, chromedp.Flag(key, true))
		}
	}
	flags = append(flags, chromedp.Flag("force-color-profile", "srgb"), chromedp.Flag("lang", "en-GB"))
	alloc, stop := chromedp.NewExecAllocator(context.Background(), flags...)
	t.Cleanup(stop)
	ctx, end := chromedp.NewContext(alloc, chromedp.WithErrorf(func(string, ...any) {}))
	t.Cleanup(end)
	if err := chromedp.Do(ctx); err != nil {
		t.Fatalf("start the browser: %v", err)
	}
	return &Browser{t: t, ctx: ctx}
}

// find looks for a browser by the names that systems give it.
func find() string {
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	return ""
}

// Look is how a tab shows the page; the zero value is 1280×800 in light.
type Look struct {
	Width, Height int64
	Dark          bool
	Still         bool // prefers-reduced-motion
	Touch         bool // no hovering pointer
	Forced        bool // forced colours, as high contrast themes have them
}

// Tab is one open page.
type Tab struct {
	t   testing.TB
	ctx context.Context
	*seen
}

// seen is what a page has done, in order.
type seen struct {
	mu       sync.Mutex
	console  []string
	requests []string
}

// Tab opens one in a browser context of its own, so that it shares neither cookies nor storage.
func (b *Browser) Tab(l Look) *Tab {
	b.t.Helper()
	return b.open(b.ctx, l, chromedp.WithNewBrowserContext())
}

// Beside opens a second tab that shares cookies and storage with this one.
func (t *Tab) Beside(l Look) *Tab {
	t.t.Helper()
	return (&Browser{t: t.t}).open(t.ctx, l)
}

func (b *Browser) open(parent context.Context, l Look, more ...chromedp.ContextOption) *Tab {
	b.t.Helper()
	tab := &Tab{t: b.t, seen: &seen{}}
	ctx, end := chromedp.NewContext(parent, append(more, chromedp.WithListener(tab.note))...)
	tab.ctx = ctx
	b.t.Cleanup(end)
	tab.do("open a tab", chromedp.Do(ctx))
	_, err := chromedp.Call(ctx, network.Enable, network.EnableParams{})
	tab.do("watch the network", err)
	_, err = chromedp.Call(ctx, log.Enable, cdp.Empty{})
	tab.do("watch the log", err)
	tab.Show(l)
	return tab
}

// Show changes size and look.
func (t *Tab) Show(l Look) {
	t.t.Helper()
	if l.Width == 0 {
		l.Width, l.Height = 1280, 800
	}
	_, err := chromedp.Call(t.ctx, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{Width: l.Width, Height: l.Height, DeviceScaleFactor: 1, Mobile: l.Touch})
	t.do("set the size", err)
	scheme, motion, hover := "light", "no-preference", "hover"
	if l.Dark {
		scheme = "dark"
	}
	if l.Still {
		motion = "reduce"
	}
	if l.Touch {
		hover = "none"
	}
	forced := "none"
	if l.Forced {
		forced = "active"
	}
	_, err = chromedp.Call(t.ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{
		{Name: "prefers-color-scheme", Value: scheme}, {Name: "prefers-reduced-motion", Value: motion}, {Name: "hover", Value: hover},
		{Name: "forced-colors", Value: forced},
	}})
	t.do("set the look", err)
}

// note keeps console messages and requests. It must return at once.
func (t *Tab) note(ev any) {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch e := ev.(type) {
	case *runtime.EventConsoleAPICalled:
		var words []string
		for _, a := range e.Args {
			words = append(words, strings.Trim(string(a.Value), `"`)+a.Description)
		}
		t.console = append(t.console, string(e.Type)+": "+strings.Join(words, " "))
	case *runtime.EventExceptionThrown:
		text := e.ExceptionDetails.Text
		if x := e.ExceptionDetails.Exception; x != nil {
			text += " " + x.Description
		}
		t.console = append(t.console, "exception: "+text)
	case *log.EventEntryAdded:
		t.console = append(t.console, string(e.Entry.Level)+": "+e.Entry.Text+" "+e.Entry.URL)
	case *network.EventRequestWillBeSent:
		t.requests = append(t.requests, e.Request.URL)
	case *network.EventWebSocketCreated:
		t.requests = append(t.requests, e.URL)
	}
}

// Console is what the page wrote to the console, exceptions and the browser's own complaints
// included. A daemon that is down makes the browser complain: see Forget.
func (t *Tab) Console() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return append([]string(nil), t.console...)
}

// Forget empties the console, after a part of a test in which the browser has to complain.
func (t *Tab) Forget() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.console = nil
}

// Requests are the addresses that the page has asked for so far, in order.
func (t *Tab) Requests() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return append([]string(nil), t.requests...)
}

// Foreign are the requests to other hosts than that of base.
func (t *Tab) Foreign(base string) []string {
	home, err := url.Parse(base)
	t.do("read the address", err)
	t.mu.Lock()
	defer t.mu.Unlock()
	var foreign []string
	for _, r := range t.requests {
		if u, err := url.Parse(r); err != nil || u.Scheme != "data" && u.Host != home.Host {
			foreign = append(foreign, r)
		}
	}
	return foreign
}

// Clean fails the test if the console is not empty or a request went to another host.
func (t *Tab) Clean(base string) {
	t.t.Helper()
	if c := t.Console(); len(c) > 0 {
		t.t.Errorf("console is not empty:\n%s", strings.Join(c, "\n"))
	}
	if f := t.Foreign(base); len(f) > 0 {
		t.t.Errorf("requests to other hosts:\n%s", strings.Join(f, "\n"))
	}
}

// For is the same tab for a subtest, which it fails; it ends with the test that has opened it.
func (t *Tab) For(sub testing.TB) *Tab { return &Tab{t: sub, ctx: t.ctx, seen: t.seen} }

// For is the same browser for a subtest: its tabs end with it and fail it.
func (b *Browser) For(t testing.TB) *Browser { return &Browser{t: t, ctx: b.ctx} }
