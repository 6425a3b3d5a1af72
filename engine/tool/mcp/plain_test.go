package mcp

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf8"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"holdfast/engine/tool"
)

func TestOffered(t *testing.T) {
	long := strings.Repeat("a", 70)
	got := offered("my.notes", []string{"read", "read note", "read.note", "read_note", long, long + "b"})
	want := []string{"my_notes_read", "my_notes_read_note_962707ba", "my_notes_read_note_cb7dedb9", "my_notes_read_note",
		"my_notes_" + strings.Repeat("a", 46) + "_", "my_notes_" + strings.Repeat("a", 46) + "_"}
	for i := range want {
		if i < 4 && got[i] != want[i] || i >= 4 && (!strings.HasPrefix(got[i], want[i]) || len(got[i]) != 64) {
			t.Errorf("got %s, want %s", got[i], want[i])
		}
	}
	if got[4] == got[5] {
		t.Error("two long names are the same:", got[4])
	}
	if again := offered("my.notes", []string{"read.note", "read note"}); again[0] != got[2] || again[1] != got[1] {
		t.Error("names change with what else there is:", again)
	}
	if got := offered("notes", []string{"a.b", "a_b"}); got[1] != "notes_a_b" || got[0] == got[1] {
		t.Error("a name that is good as it is was changed:", got)
	}
}

func FuzzOffered(f *testing.F) {
	f.Add("notes", "read", "read.")
	f.Add("", "ü", "ö")
	f.Fuzz(func(t *testing.T, server, a, b string) {
		if a == b {
			return
		}
		names := offered(server, []string{a, b})
		for _, n := range names {
			if len(n) == 0 || len(n) > longestName || plain(n) != n {
				t.Errorf("%q is no name", n)
			}
		}
		if names[0] == names[1] {
			t.Errorf("%q and %q have one name: %s", a, b, names[0])
		}
	})
}

func TestResult(t *testing.T) {
	size := int64(2_500_000)
	for _, c := range []struct {
		name string
		in   sdk.CallToolResult
		want tool.Result
	}{
		{"texts", sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: "a"}, &sdk.TextContent{Text: "b"}}}, tool.Result{Text: "a\nb"}},
		{"failed", sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: "no"}}, IsError: true}, tool.Result{Text: "no", Failed: true}},
		{"nothing", sdk.CallToolResult{}, tool.Result{Text: "(The tool has answered without a text.)"}},
		{"structured", sdk.CallToolResult{StructuredContent: map[string]any{"b": 1.0, "a": "x"}}, tool.Result{Text: `{"a":"x","b":1}`}},
		{"structured twice", sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: `{"b": 1, "a": "x"}`}}, StructuredContent: map[string]any{"b": 1.0, "a": "x"}},
			tool.Result{Text: `{"b": 1, "a": "x"}`}},
		{"media", sdk.CallToolResult{Content: []sdk.Content{
			&sdk.ImageContent{Data: make([]byte, 1234), MIMEType: "image/png"}, &sdk.AudioContent{Data: make([]byte, 3)},
			&sdk.ResourceLink{URI: "file:///a", MIMEType: "text/plain", Size: &size, Description: "all of\nit"},
			&sdk.EmbeddedResource{Resource: &sdk.ResourceContents{URI: "note://1", MIMEType: "text/plain", Text: "hello"}},
			&sdk.EmbeddedResource{Resource: &sdk.ResourceContents{URI: "note://2", Blob: make([]byte, 12)}}}},
			tool.Result{Text: "[image, image/png, 1.2 kB]\n[audio, unknown type, 3 bytes]\n[resource file:///a, text/plain, 2.5 MB: all of it]\n" +
				"[resource note://1, text/plain, 5 bytes]\nhello\n[resource note://2, unknown type, 12 bytes]"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := result(&c.in); got != c.want {
				t.Errorf("got  %+v\nwant %+v", got, c.want)
			}
		})
	}
	long := result(&sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: strings.Repeat("ä", tool.MaxResult)}}}).Text
	if len(long) > tool.MaxResult || len(long) < tool.MaxResult-100 || !utf8.ValidString(long) || !strings.HasSuffix(long, "more bytes left out]") {
		t.Error(len(long), long[len(long)-60:])
	}
}

func TestHide(t *testing.T) {
	h := secretsOf(tool.Config{Command: []string{"srv", "--api-key", "k-123456", "--token=t-123456", "API_TOKENS=u-123456", "/srv/notes", "--keyboard", "german"},
		Env: map[string]string{"A": "e-123456", "B": "1"}, URL: "https://ada:p-123456@example.org/mcp?t=q%2F12345"})
	got := h.from("k-123456 t-123456 u-123456 e-123456 p-123456 q/12345 q%2F12345 /srv/notes german 1")
	if want := strings.Repeat(hidden+" ", 7) + "/srv/notes german 1"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// TestHideAddress: hosted servers are often addressed by a key; what is behind the host is not shown
// unless it is how servers name their place, and words of a path are not taken out of other texts.
func TestHideAddress(t *testing.T) {
	for address, want := range map[string]string{
		"http://h.example/KEYPATH333/mcp?key=MCPURLKEY666": `Post "http://h.example[hidden]?[hidden]": refused (tool mcp, server notes)`,
		"https://h.example/api/v2/mcp":                     `Post "https://h.example/api/v2/mcp": refused (tool mcp, server notes)`,
		"https://h.example/server/notes/sse":               `Post "https://h.example[hidden]": refused (tool mcp, server notes)`,
		"https://h.example/k%2D1":                          `Post "https://h.example[hidden]": refused (tool mcp, server notes)`,
		"https://h.example/mcp?MCPURLKEY666":               `Post "https://h.example/mcp?[hidden]": refused (tool mcp, server notes)`,
	} {
		h := secretsOf(tool.Config{URL: address})
		if got := h.from(fmt.Sprintf("Post %q: refused (tool mcp, server notes)", address)); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
	h := secretsOf(tool.Config{URL: "https://h.example/s/KEY%20PATH/abcdefghijklmnopqrst/mcp"})
	if got, want := h.from("KEY PATH, KEY%20PATH, KEY+PATH, abcdefghijklmnopqrst, mcp"), "[hidden], [hidden], [hidden], [hidden], mcp"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestEnvironment(t *testing.T) {
	got := environment([]string{"PATH=/bin", "OPENAI_API_KEY=sk", "LC_ALL=C", "https_proxy=p", "HOME=/root"}, map[string]string{"HOME": "/srv"})
	if want := []string{"PATH=/bin", "LC_ALL=C", "https_proxy=p", "HOME=/srv"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestMessages: lines that are no messages are left out, whatever pieces they come in.
func TestMessages(t *testing.T) {
	long := strings.Repeat("x", 5000)
	in := "Hello\n\n{\"a\":\"" + long + "\"}\n" + long + "\n[1]\n{\"b\":2}\nbye"
	for name, r := range map[string]io.Reader{"whole": strings.NewReader(in), "bytes": iotest.OneByteReader(strings.NewReader(in))} {
		t.Run(name, func(t *testing.T) {
			words := &lastWords{log: slog.New(slog.DiscardHandler)}
			got, err := io.ReadAll(&messages{in: bufio.NewReader(r), stray: words})
			if want := "{\"a\":\"" + long + "\"}\n[1]\n{\"b\":2}\n"; err != nil || string(got) != want {
				t.Errorf("%v: got %d bytes, want %d", err, len(got), len(want))
			}
			if words.last() != "bye" {
				t.Errorf("the last stray line is %q", words.last())
			}
		})
	}
}

func TestSchema(t *testing.T) {
	for in, want := range map[string]string{
		`null`:            `{"properties":{},"type":"object"}`,
		`true`:            `{"properties":{},"type":"object"}`,
		`{"required":[]}`: `{"properties":{},"required":[],"type":"object"}`,
		`{"type":"object","properties":{"b":{"type":"string"},"a":{}}}`: `{"properties":{"a":{},"b":{"type":"string"}},"type":"object"}`,
	} {
		var v any
		if err := json.Unmarshal([]byte(in), &v); err != nil {
			t.Fatal(err)
		}
		if got := string(schema(v)); got != want {
			t.Errorf("%s: got %s, want %s", in, got, want)
		}
	}
}

func TestProgressText(t *testing.T) {
	for want, p := range map[string]sdk.ProgressNotificationParams{
		"3 of 10": {Progress: 3, Total: 10}, "7": {Progress: 7}, "half (1 of 2)": {Progress: 1, Total: 2, Message: "half\n"},
	} {
		if got := progress(&p); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	if got := short(strings.Repeat("ü", 300)); len(got) > longestShort || !utf8.ValidString(got) {
		t.Error(got)
	}
}
