package web_test

import (
	"bytes"
	"compress/gzip"
	"io/fs"
	"regexp"
	"strings"
	"testing"

	"holdfast/web"
	"holdfast/web/ui"
)

func distFile(t *testing.T, name string) []byte {
	t.Helper()
	data, err := fs.ReadFile(web.Dist, name)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestDistIsBuiltFromTheSourcesAsTheyAre(t *testing.T) {
	want, err := ui.Sum("ui")
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.TrimSpace(string(distFile(t, "SOURCES.sha256"))); got != want {
		t.Errorf("web/dist was built from other sources than web/ui holds now; run: go generate ./web")
	}
}

func TestPageIsSmall(t *testing.T) {
	if n := len(distFile(t, "app.js")); n > 60_000 {
		t.Errorf("app.js has %d bytes, at most 60000 are allowed", n)
	}
	var zipped bytes.Buffer
	z := gzip.NewWriter(&zipped)
	for _, name := range []string{"index.html", "app.css", "app.js", "more.js", "code.js"} {
		z.Write(distFile(t, name))
	}
	z.Close()
	if n := zipped.Len(); n > 150_000 {
		t.Errorf("the page has %d bytes gzipped, at most 150000 are allowed", n)
	}
}

// The policy of the server forbids what the index must not hold anyway, and whatever the index names
// must be there.
func TestIndexKeepsToThePolicy(t *testing.T) {
	index := string(distFile(t, "index.html"))
	for _, bad := range []string{`<script>`, `<style`, ` style="`, ` onload=`, ` onclick=`, `http://`, `https://`} {
		if strings.Contains(index, bad) {
			t.Errorf("index.html holds %q", bad)
		}
	}
	names := regexp.MustCompile(`"/assets/([^"]+)"`).FindAllStringSubmatch(index, -1)
	if len(names) < 5 {
		t.Fatalf("index.html names %d assets", len(names))
	}
	for _, n := range names {
		distFile(t, n[1])
	}
}
