package web

import (
	"bytes"
	"compress/gzip"
	"io"
	"regexp"
	"strings"
	"testing"
)

func TestPageAndAssets(t *testing.T) {
	g := newRig(t, nil)
	for _, path := range []string{"/", "/login", "/operator", "/chats/c1", "/turns/abc"} {
		status, h, body := g.do(t, request{method: "GET", path: path})
		if status != 200 || h.Get("Cache-Control") != "no-cache" || h.Get("Content-Type") != "text/html; charset=utf-8" || !strings.HasPrefix(body, "<!doctype html>") {
			t.Errorf("%s: %d %v", path, status, h)
		}
	}
	_, h, index := g.do(t, request{method: "GET", path: "/"})
	script := regexp.MustCompile(`"(/assets/app\.[0-9a-f]{16}\.js)"`).FindStringSubmatch(index)
	if script == nil || strings.Contains(index, `"/assets/app.css"`) {
		t.Fatalf("index does not name hashed files: %s", index)
	}
	if status, _, _ := g.do(t, request{method: "GET", path: "/", header: map[string]string{"If-None-Match": h.Get("ETag")}}); status != 304 {
		t.Errorf("a known index: %d, want 304", status)
	}

	status, h, body := g.do(t, request{method: "GET", path: script[1]})
	if status != 200 || h.Get("Cache-Control") != "public, max-age=31536000, immutable" || h.Get("Content-Type") != "text/javascript; charset=utf-8" || !strings.HasPrefix(body, "console.log(1);") {
		t.Errorf("script: %d %v %s", status, h, body)
	}
	_, zh, zipped := g.do(t, request{method: "GET", path: script[1], header: map[string]string{"Accept-Encoding": "br, gzip"}})
	if zh.Get("Content-Encoding") != "gzip" || zh.Get("ETag") == h.Get("ETag") || zh.Get("Vary") != "Accept-Encoding" {
		t.Fatalf("compressed: %v", zh)
	}
	z, err := gzip.NewReader(bytes.NewReader([]byte(zipped)))
	if err != nil {
		t.Fatal(err)
	}
	if plain, err := io.ReadAll(z); err != nil || string(plain) != body {
		t.Errorf("compressed form differs: %v", err)
	}
	for _, path := range []string{"/assets/app.js", "/assets/SOURCES.sha256", "/assets/index.html", "/SOURCES.sha256", "/assets/../index.html"} {
		if status, _, _ := g.do(t, request{method: "GET", path: path}); status == 200 {
			t.Errorf("%s is served", path)
		}
	}
}

// The page as it is built: every file it names is there, under a name that changes with it.
func TestBuiltPageNamesItsFiles(t *testing.T) {
	a, err := loadAssets(Dist, "holdfast login --demo")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range regexp.MustCompile(`/assets/([^"]+)`).FindAllStringSubmatch(string(a.index.body), -1) {
		if _, ok := a.files[name[1]]; !ok {
			t.Errorf("index.html names /assets/%s, which is not served", name[1])
		}
	}
	if !bytes.Contains(a.index.body, []byte(` data-login="holdfast login --demo"`)) {
		t.Error("index.html does not know how to get a login link")
	}
	if !bytes.Contains(a.index.body, []byte(` data-build="`+a.build+`"`)) || len(a.build) != 16 {
		t.Errorf("index.html does not know its build, %q", a.build)
	}
	for name, f := range a.files {
		if bytes.Contains(f.body, []byte("/assets/")) {
			t.Errorf("%s names other files itself; only index.html is rewritten to hashed names", name)
		}
	}
}

func TestAcceptsGzip(t *testing.T) {
	for in, want := range map[string]bool{"gzip": true, "br, GZIP": true, "gzip;q=0.5": true, "gzip; q=0": false, "gzip;q=0.0": false, "br": false, "": false, "x-gzip": false} {
		if got := acceptsGzip(in); got != want {
			t.Errorf("acceptsGzip(%q) = %v, want %v", in, got, want)
		}
	}
}

func TestHealthAndReady(t *testing.T) {
	g := newRig(t, nil)
	if status, _, _ := g.do(t, request{method: "GET", path: "/healthz"}); status != 200 {
		t.Errorf("healthz %d", status)
	}
	if status, _, _ := g.do(t, request{method: "GET", path: "/readyz"}); status != 200 {
		t.Errorf("readyz %d", status)
	}
	g.house.mu.Lock()
	g.house.ready = errBroken
	g.house.mu.Unlock()
	if status, _, body := g.do(t, request{method: "GET", path: "/readyz"}); status != 503 || !strings.Contains(body, "broken") {
		t.Errorf("readyz %d %s", status, body)
	}
	if status, _, _ := g.do(t, request{method: "GET", path: "/healthz"}); status != 200 {
		t.Errorf("healthz while not ready %d", status)
	}
}
