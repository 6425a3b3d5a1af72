package main

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"holdfast/store"
)

// lister is a provider that answers a look at its models.
func lister(t *testing.T, key string, answer func(http.ResponseWriter)) string {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/v1/models" || r.Header.Get("Authorization") != "Bearer "+key && r.Header.Get("X-Api-Key") != key {
			http.Error(w, `{"error":{"message":"wrong key `+key+`"}}`, http.StatusUnauthorized)
			return
		}
		answer(w)
	}))
	t.Cleanup(s.Close)
	return s.URL
}

// TestDoctorLooksAtEverything: what is well and what is wrong, each with what to do, the exit code,
// and no key in it.
func TestDoctorLooksAtEverything(t *testing.T) {
	h := newHome(t)
	models := func(w http.ResponseWriter) { fmt.Fprint(w, `{"data":[{"id":"large"},{"id":"models/small"}]}`) }
	closed := httptest.NewServer(nil)
	closed.Close()
	h.write(fmt.Sprintf(`[store]
dir = "store"
[web]
listen = "127.0.0.1:0"
[provider.good]
base_url = "%s/v1"
api_key = "sk-verysecretkey"
[provider.claude]
wire = "anthropic"
base_url = "%s"
api_key = "sk-verysecretkey"
[provider.typo]
base_url = "%s/v1"
api_key = "sk-verysecretkey"
[provider.lost]
base_url = "%s/v1"
[provider.sick]
base_url = "%s/v1"
api_key = "k"
[provider.full]
base_url = "%s/v1"
api_key = "k"
[[bot]]
models = ["good/large", "good/small", "good/lrage", "claude/large", "typo/x", "lost/x", "sick/x", "full/x", "openai/gpt-5-mini", "demo/demo"]
`, lister(t, "sk-verysecretkey", models), lister(t, "sk-verysecretkey", models), lister(t, "sk-another", models), closed.URL,
		lister(t, "k", func(w http.ResponseWriter) { w.WriteHeader(503) }), lister(t, "k", func(w http.ResponseWriter) { w.WriteHeader(429) })))
	old := time.Now().Add(-2 * time.Hour)
	st, err := store.Open(store.Config{Dir: filepath.Join(h.dir, "store")}, quiet())
	if err != nil {
		t.Fatal(err)
	}
	a, err := st.Admit(store.Admission{At: store.At(old), Bot: "bot", Key: "k", Kind: "message", Surface: "web", Channel: "c", Person: "p", Text: "hello", Lane: "durable"})
	if err != nil {
		t.Fatal(err)
	}
	if err := st.Close(); err != nil {
		t.Fatal(err)
	}
	code, out, errOut := h.run("doctor")
	if code != 1 || errOut != "" || strings.Contains(out, "secret") || !strings.HasSuffix(out, "\n5 problems.\n") {
		t.Errorf("%d %s\n%s", code, errOut, out)
	}
	for _, want := range []string{
		`ok +config +holdfast\.toml`, `ok +store +.*holdfast\.db is sound \(`, `note +daemon +does not run; start it with: holdfast run`,
		`ok +good +answers in \d+ ms; it does not list lrage: is the name right\?`, `ok +claude +answers in \d+ ms\n`,
		`problem +typo +does not accept its key \(401\); look at api_key in \[provider.typo\]`,
		`problem +lost +cannot be reached at 127\.0\.0\.1:\d+ \(.*refused.*\); look at the network, and at base_url in \[provider\.lost\]`,
		`problem +sick +is overloaded \(503\); turns wait for it by themselves`, `note +full +answers, but is rate limiting`,
		`problem +openai +has no key: set OPENAI_API_KEY, or write api_key in \[provider\.openai\]`, `ok +demo +is built in`,
		`note +alerts +reach nobody`, `problem +turns +1 turn without an answer for more than an hour; holdfast turns --waiting --older-than 1h lists them`,
		` +` + a.Turn.String() + ` of .*: queued for a worker`,
	} {
		if !regexp.MustCompile(want).MatchString(out) {
			t.Errorf("%s is not in\n%s", want, out)
		}
	}
}

func TestDoctorOfARunningHouse(t *testing.T) {
	h := newHome(t)
	h.write("[store]\ndir = \"store\"\n[web]\nlisten = \"127.0.0.1:0\"\n[alerts]\nwebhook = \"http://127.0.0.1:1/\"\n[[bot]]\nmodels = [\"demo/demo\"]\n")
	d := h.start("run")
	h.say(d, filepath.Join(h.dir, "store"), "c1", "!fail 429 90m and this one waits")
	out := h.want("doctor")
	for _, want := range []string{"ok  daemon  runs at http://" + d.address + "\n", "ok  turns   none is without an answer", "\nEverything is well.\n"} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is not in\n%s", want, out)
		}
	}
	h.write("[[bot]]\n")
	if code, _, errOut := h.run("doctor"); code != 1 || !strings.Contains(errOut, "holdfast.toml:1: bot.models: is missing") {
		t.Errorf("%d %s", code, errOut)
	}
}

// TestDoctorLooksAtToolServers: those that a bot or visitors may use are started and named with their
// tools, or with why not; others are left alone.
func TestDoctorLooksAtToolServers(t *testing.T) {
	peer := sdk.NewServer(&sdk.Implementation{Name: "notes", Version: "1"}, nil)
	for i := range 14 {
		peer.AddTool(&sdk.Tool{Name: fmt.Sprintf("t%02d", i), InputSchema: map[string]any{"type": "object"}},
			func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) { return nil, nil })
	}
	server := httptest.NewServer(sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return peer }, nil))
	defer server.Close()
	defer server.CloseClientConnections()
	h := newHome(t)
	h.write(fmt.Sprintf(`[store]
dir = "store"
[alerts]
webhook = "http://127.0.0.1:1/"
[web]
listen = "127.0.0.1:1"
public = "bot"
public_tools = ["gone"]
[[bot]]
models = ["demo/demo"]
tools = ["notes", "dead", "time"]
[[mcp]]
name = "notes"
url = "%s/"
[[mcp]]
name = "gone"
url = "http://127.0.0.1:1/KEYPATH333/mcp"
[[mcp]]
name = "dead"
command = ["sh", "-c", "echo no licence >&2; exit 4"]
[[mcp]]
name = "unused"
command = ["sh", "-c", "echo started > unused"]
`, server.URL))
	code, out, errOut := h.run("doctor")
	if code != 1 || errOut != "" || strings.Contains(out, "KEYPATH333") || strings.Contains(out, "unused") || !strings.HasSuffix(out, "\n2 problems.\n") {
		t.Errorf("%d %s\n%s", code, errOut, out)
	}
	for _, want := range []string{
		`ok +notes +has 14 tools, after .*: notes_t00, .*, notes_t11, and 2 more\n`,
		`problem +gone +cannot be used as a tool server: .*connection refused`,
		`problem +dead +cannot be used as a tool server: the program has ended with exit status 4 after it wrote "no licence"\n`,
	} {
		if !regexp.MustCompile(want).MatchString(out) {
			t.Errorf("%s is not in\n%s", want, out)
		}
	}
	if _, err := os.Stat(filepath.Join(h.dir, "unused")); err == nil {
		t.Error("a server that nobody uses was started")
	}
}
