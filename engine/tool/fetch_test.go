package tool

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"testing"
	"unicode/utf8"
)

// called calls the one tool of a set with that name.
func called(t *testing.T, set Set, name string, arguments any) Result {
	t.Helper()
	tools, err := set.Tools(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	given, err := json.Marshal(arguments)
	if err != nil {
		t.Fatal(err)
	}
	for _, tool := range tools {
		if tool.Spec().Name == name {
			r, err := tool.Call(t.Context(), Call{Arguments: given, By: Caller{Bot: "ada"}})
			if err != nil {
				t.Fatal(err)
			}
			return r
		}
	}
	t.Fatalf("there is no %s", name)
	return Result{}
}

type args map[string]any

func TestPublic(t *testing.T) {
	for a, want := range map[string]bool{
		"8.8.8.8": true, "93.184.216.34": true, "2606:4700::1111": true, "100.128.0.1": true, "172.32.0.1": true,
		"127.0.0.1": false, "127.9.9.9": false, "0.0.0.0": false, "10.1.2.3": false, "172.16.0.1": false, "172.31.255.255": false, "192.168.1.1": false,
		"169.254.169.254": false, "100.64.0.1": false, "100.100.100.200": false, "192.0.0.192": false, "168.63.129.16": false,
		"224.0.0.1": false, "239.255.255.250": false, "255.255.255.255": false, "240.0.0.1": false, "198.18.0.1": false, "203.0.113.1": false,
		"::1": false, "::": false, "fe80::1": false, "fe80::1%eth0": false, "fc00::1": false, "fd00:ec2::254": false, "ff02::1": false,
		"::ffff:127.0.0.1": false, "::ffff:8.8.8.8": false, "64:ff9b::7f00:1": false, "64:ff9b:1::1": false, "2002:7f00:1::": false, "2001::1": false,
		"2001:db8::1": false, "::127.0.0.1": false, "fec0::1": false, "100::1": false,
	} {
		if got := public(netip.MustParseAddr(a)); got != want {
			t.Errorf("%s: public is %v", a, got)
		}
	}
	if public(netip.Addr{}) {
		t.Error("no address is public")
	}
}

// FuzzPublic: whatever the standard library knows to be no public address is none here.
func FuzzPublic(f *testing.F) {
	f.Add([]byte{127, 0, 0, 1})
	f.Add([]byte(netip.MustParseAddr("64:ff9b::a00:1").AsSlice()))
	f.Fuzz(func(t *testing.T, b []byte) {
		a, ok := netip.AddrFromSlice(b)
		if !ok {
			return
		}
		inside := a.IsPrivate() || a.IsLoopback() || a.IsLinkLocalUnicast() || a.IsMulticast() || a.IsUnspecified() || !a.IsGlobalUnicast()
		if public(a) && (inside || a.Is4In6()) {
			t.Errorf("%s is public", a)
		}
	})
}

// TestFetchGuard: no name and no redirect leads to an address inside, and nothing is sent there.
func TestFetchGuard(t *testing.T) {
	var asked []string
	inside := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { asked = append(asked, r.URL.Path) }))
	defer inside.Close()
	outside := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if to := r.URL.Query().Get("to"); to != "" {
			http.Redirect(w, r, to, http.StatusFound)
			return
		}
		fmt.Fprint(w, "fine")
	}))
	defer outside.Close()
	port := netip.MustParseAddrPort(strings.TrimPrefix(outside.URL, "http://")).Port()
	set := newFetch("test", func(to netip.AddrPort) bool { return to.Port() == port || public(to.Addr()) })
	local := strings.Replace(inside.URL, "127.0.0.1", "localhost", 1)
	numeric := strings.Replace(inside.URL, "127.0.0.1", "0x7f000001", 1)
	mapped := strings.Replace(inside.URL, "127.0.0.1", "[::ffff:127.0.0.1]", 1)
	for address, want := range map[string]string{
		inside.URL: "is not on the public internet", local: "is not on the public internet", mapped: "is not on the public internet",
		numeric:                                "",
		outside.URL + "?to=" + inside.URL:      "is not on the public internet",
		outside.URL + "?to=file:///etc/passwd": "only http:// and https:// can be fetched",
		outside.URL + "?to=" + url.QueryEscape("http://a:b@example.org"): "addresses with a user name or password are not fetched",
		"file:///etc/passwd": "only http:// and https:// can be fetched", "gopher://x": "only http:// and https:// can be fetched",
		"http://": "the address has no host", "http://ada:secret@example.org/": "addresses with a user name or password are not fetched",
		"::": "url is no address",
	} {
		if r := called(t, set, "fetch", args{"url": address}); !r.Failed || !strings.Contains(r.Text, want) {
			t.Errorf("%s: %+v, want %s", address, r, want)
		}
	}
	if r := called(t, set, "fetch", args{"url": outside.URL}); r.Failed || !strings.HasSuffix(r.Text, "\n\nfine") {
		t.Error(r)
	}
	if r := called(t, NewFetch("test"), "fetch", args{"url": outside.URL}); !r.Failed || !strings.Contains(r.Text, "127.0.0.1 is not on the public internet") {
		t.Error(r)
	}
	if len(asked) > 0 {
		t.Errorf("the inside was asked for %q", asked)
	}
}

// anywhere is a fetch that may go to the test's own servers.
func anywhere() Set { return newFetch("test", func(netip.AddrPort) bool { return true }) }

func TestFetch(t *testing.T) {
	long := strings.Repeat("ä", 20_000)
	seen := http.Header{}
	mux := http.NewServeMux()
	say := func(path, media, text string) {
		mux.HandleFunc(path, func(w http.ResponseWriter, r *http.Request) {
			seen = r.Header
			w.Header().Set("Content-Type", media)
			http.SetCookie(w, &http.Cookie{Name: "a", Value: "b"})
			fmt.Fprint(w, text)
		})
	}
	say("/page", "text/html", "<title>A page</title><p>Hello <a href='/json'>there</a>")
	say("/json", "application/json; charset=utf-8", `{"a":1}`)
	say("/latin", "text/plain; charset=ISO-8859-1", "caf\xe9 \x80")
	say("/meta", "text/html", "<meta http-equiv=content-type content='text/html; charset=windows-1252'>\x93caf\xe9\x94")
	say("/image", "image/png", "\x89PNG")
	say("/none", "text/html", "")
	say("/long", "text/plain; charset=utf-8", long)
	say("/huge", "text/plain", strings.Repeat("x", longestPage+10))
	mux.HandleFunc("/gone", func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "it was here once", http.StatusGone) })
	mux.HandleFunc("/round", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/round", http.StatusFound) })
	mux.HandleFunc("/on", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/json", http.StatusFound) })
	server := httptest.NewServer(mux)
	defer server.Close()
	for path, want := range map[string]Result{
		"/page":  {Text: "Title: A page\nAddress: " + server.URL + "/page\n\nHello [there](" + server.URL + "/json)"},
		"/json":  {Text: "Address: " + server.URL + "/json\n\n{\"a\":1}"},
		"/on":    {Text: "Address: " + server.URL + "/json\n\n{\"a\":1}"},
		"/latin": {Text: "Address: " + server.URL + "/latin\n\ncafé €"},
		"/meta":  {Text: "Address: " + server.URL + "/meta\n\n“café”"},
		"/none":  {Text: "Address: " + server.URL + "/none\n\n(The page has no text.)"},
		"/image": {Text: "the page is image/png, which is no text", Failed: true},
		"/gone":  {Text: "the page answers 410 Gone: it was here once\n", Failed: true},
		"/round": {Text: "it redirects more than 5 times", Failed: true},
	} {
		if got := called(t, anywhere(), "fetch", args{"url": server.URL + path}); got != want {
			t.Errorf("%s:\ngot  %+v\nwant %+v", path, got, want)
		}
	}
	if seen.Get("Cookie") != "" || seen.Get("Authorization") != "" || seen.Get("Referer") != "" || seen.Get("User-Agent") != "Holdfast/test" {
		t.Error(seen)
	}
	if got := inPages(t, func(offset int) Result {
		return called(t, anywhere(), "fetch", args{"url": server.URL + "/long", "offset": offset})
	}); got != "Address: "+server.URL+"/long\n\n"+long {
		t.Errorf("the pages make %d bytes, want %d", len(got), len(long))
	}
	if r := called(t, anywhere(), "fetch", args{"url": server.URL + "/huge", "offset": longestPage - 10}); !strings.Contains(r.Text, "only the first 2 MB") {
		t.Error(r)
	}
	if r := called(t, anywhere(), "fetch", args{"url": server.URL + "/json", "offset": 100}); !r.Failed || !strings.Contains(r.Text, "offset 100 is not in the text, which has 7 bytes") {
		t.Error(r)
	}
}

// inPages reads on until no answer names a further offset.
func inPages(t *testing.T, get func(offset int) Result) (all string) {
	t.Helper()
	for offset, n := 0, 0; ; n++ {
		r := get(offset)
		if r.Failed || len(r.Text) > MaxResult || !utf8.ValidString(r.Text) || n > 10 {
			t.Fatal(n, r.Failed, len(r.Text))
		}
		text, note, more := strings.Cut(r.Text, "\n[bytes ")
		all += text
		if !more {
			return all
		}
		if _, err := fmt.Sscanf(note[strings.Index(note, "offset "):], "offset %d]", &offset); err != nil {
			t.Fatal(note, err)
		}
	}
}

// TestFetchCancel: a page that does not come is not waited for after the call's end.
func TestFetchCancel(t *testing.T) {
	asked, release := make(chan struct{}), make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { close(asked); <-release }))
	defer server.Close()
	defer close(release)
	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-asked; cancel() }()
	tools, _ := anywhere().Tools(ctx)
	if _, err := tools[0].Call(ctx, Call{Arguments: json.RawMessage(`{"url":"` + server.URL + `"}`)}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func TestHTMLText(t *testing.T) {
	base, _ := url.Parse("https://example.org/a/b")
	for in, want := range map[string]string{
		"<p>One\n two</p><p>three":                                                             "One two\n\nthree",
		"<h1>Top</h1><h2><a href=c>Sub</a></h2>x":                                              "# Top\n\n## [Sub](https://example.org/a/c)\n\nx",
		"<a href='/x'><h2>T</h2> more</a>.":                                                    "[T more](https://example.org/x).",
		"see (<a href=//o.org/?a=1&amp;b=2>it</a>)":                                            "see ([it](https://o.org/?a=1&b=2))",
		"<a href='#top'>up</a> <a href='javascript:x()'>run</a> <a href='mailto:a@b'>mail</a>": "up run mail",
		"<ul><li>a<li><b>b</b> c</ul>d":                                                        "- a\n- b c\n\nd",
		"<table><tr><th>A<th>B<tr><td>1<td>2</table>":                                          "A | B\n1 | 2",
		"a<script>x<y</script>b<style>p{}</style>c<noscript>n</noscript>":                      "abc",
		"<script src=x />alert()</script>y":                                                    "y",
		"a<svg/>b<svg><title>t</title><path/></svg>c":                                          "abc",
		"a<div hidden>x<div>y</div>z</div>b":                                                   "a\nb",
		"<p hidden>a<p>b<p style='color:red; display: none'>c</p>d":                            "b\n\nd",
		"<body style='visibility:hidden'>shown":                                                "shown",
		"<pre>if x {\n  y()\n}\n</pre>z":                                                       "if x {\n  y()\n}\n\nz",
		"a<br>b<br/>c<hr>d":                                                                    "a\nb\nc\n\nd",
		"<img alt='a  cat' src=x> <img src=y>":                                                 "[image: a cat]",
		"&lt;b&gt; &eacute;&#8364; &nbsp;x":                                                    "<b> é€ x",
		"<a href=x></a>y<a href=z> z</a>":                                                      "y[z](https://example.org/a/z)",
		"a <b> b </b> c":                                                                       "a b c",
		"":                                                                                     "",
	} {
		if got, _ := htmlText(in, base); got != want {
			t.Errorf("%s:\ngot  %q\nwant %q", in, got, want)
		}
	}
	if _, title := htmlText("<title>\n A &amp; B </title><title>C</title>", base); title != "A & B" {
		t.Errorf("%q", title)
	}
}

func FuzzHTMLText(f *testing.F) {
	for _, s := range []string{"<p>a<b>c", "<a href=x>y", "<pre>\n x", "<title>", "<svg/><p hidden>", "<td>x<li>", "\xff<script>"} {
		f.Add(s)
	}
	base, _ := url.Parse("https://example.org/a")
	f.Fuzz(func(t *testing.T, in string) {
		text, title := htmlText(decoded([]byte(in), charsetOf([]byte(in))), base)
		if !utf8.ValidString(text) || !utf8.ValidString(title) {
			t.Errorf("%q gives no UTF-8", in)
		}
		for _, scheme := range []string{"](javascript:", "](file:", "](data:"} {
			if strings.Contains(strings.ToLower(text), scheme) && !strings.Contains(strings.ToLower(in), scheme) {
				t.Errorf("%q leads to %s", in, scheme)
			}
		}
	})
}
