package main

import (
	"bufio"
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestInitWritesTheThreeLines: the shortest config, which is then found first, is fine for check, and
// is never written over.
func TestInitWritesTheThreeLines(t *testing.T) {
	h := newHome(t)
	h.env = append(h.env, "OPENROUTER_API_KEY=sk-secret")
	out := h.want("init", "--yes", "--surface", "discord", "--slack-manifest", "app.yaml")
	text, err := os.ReadFile(filepath.Join(h.dir, "holdfast.toml"))
	if want := "[[bot]]\nmodels = [\"openrouter/meta-llama/llama-3.3-70b-instruct:free\"]\n[[discord]]\n"; err != nil || string(text) != want {
		t.Fatalf("%v\n%s", err, text)
	}
	for _, want := range []string{"holdfast.toml is written", "  DISCORD_TOKEN  https://discord.com/", "Then start it with: holdfast run", "app.yaml is written"} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is not in\n%s", want, out)
		}
	}
	if strings.Contains(out, "sk-secret") || strings.Contains(out, "OPENROUTER_API_KEY") {
		t.Errorf("the key is set already:\n%s", out)
	}
	if m, err := os.ReadFile(filepath.Join(h.dir, "app.yaml")); err != nil || !strings.Contains(string(m), "socket_mode_enabled: true") {
		t.Errorf("manifest: %v\n%s", err, m)
	}
	h.env = append(h.env, "DISCORD_TOKEN=x")
	if out := h.want("check"); !strings.Contains(out, "holdfast.toml is fine.") {
		t.Error(out)
	}
	if code, _, errOut := h.run("init", "--yes"); code != 1 || !strings.Contains(errOut, "there is a config already, and nothing is overwritten: holdfast.toml") {
		t.Errorf("%d %q", code, errOut)
	}
	if again, _ := os.ReadFile(filepath.Join(h.dir, "holdfast.toml")); !bytes.Equal(again, text) {
		t.Error("it was written over")
	}
}

func TestInitOfAProviderOfOnesOwn(t *testing.T) {
	h := newHome(t)
	h.want("--config", "my.toml", "init", "--provider", "mine", "--model", "large", "--base-url", "http://10.0.0.1/v1", "--key-env", "MINE_KEY")
	text, err := os.ReadFile(filepath.Join(h.dir, "my.toml"))
	if want := "[[bot]]\nmodels = [\"mine/large\"]\n[provider.mine]\nbase_url = \"http://10.0.0.1/v1\"\napi_key = \"${MINE_KEY}\"\n"; err != nil || string(text) != want {
		t.Errorf("%v\n%s", err, text)
	}
	h.env = append(h.env, "MINE_KEY=x")
	h.want("--config", "my.toml", "check")
}

func TestInitThatCannotBeDone(t *testing.T) {
	h := newHome(t)
	for _, c := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"init"}, 1, "no model was found: no key is in the environment, and no Ollama answers; name a provider, for example: holdfast init --provider openai"},
		{[]string{"init", "--provider", "opnai"}, 1, "opnai is no known provider; say where it is: --base-url"},
		{[]string{"init", "--provider", "lmstudio"}, 1, "say which model of lmstudio answers: --model NAME"},
		{[]string{"init", "--provider", "mine", "--model", "x", "--base-url", "10.0.0.1"}, 1, "so nothing was written"},
		{[]string{"init", "--provider", "demo", "--surface", "irc"}, 2, `"irc" is no surface; use slack, discord or telegram`},
		{[]string{"init", "--demo"}, 1, "the demo needs no config"},
	} {
		if code, _, errOut := h.run(c.args...); code != c.code || !strings.Contains(errOut, c.want) {
			t.Errorf("%v: %d %q", c.args, code, errOut)
		}
		if left, _ := filepath.Glob(filepath.Join(h.dir, "*.toml")); left != nil {
			t.Fatalf("%v left %v", c.args, left)
		}
	}
}

// TestInitAsks: on a terminal it asks until there is an answer that it can use.
func TestInitAsks(t *testing.T) {
	for name, c := range map[string]struct{ says, want string }{
		"defaults":  {"\n\n\n", "[[bot]]\nmodels = [\"groq/openai/gpt-oss-120b\"]\n"},
		"surfaces":  {"deepseek\n\nirc\nSlack, telegram\nno\n", "[[bot]]\nmodels = [\"deepseek/deepseek-chat\"]\n[[slack]]\n[[telegram]]\n"},
		"one's own": {"a b\nmine\n\nhttp://10.0.0.1/v1\nMINE\n\nlarge\n\n", "[[bot]]\nmodels = [\"mine/large\"]\n[provider.mine]\nbase_url = \"http://10.0.0.1/v1\"\napi_key = \"${MINE}\"\n"},
	} {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			p := testPlace(map[string]string{"GROQ_API_KEY": "x", "OLLAMA_HOST": "127.0.0.1:1"})
			q := &questions{place: p, in: bufio.NewReader(strings.NewReader(c.says)), out: &out, ask: true}
			i := &initCmd{}
			if err := i.answer(t.Context(), q); err != nil || i.text() != c.want || i.Manifest != "" {
				t.Errorf("%v\n%s\n%s", err, i.text(), out.String())
			}
		})
	}
	q := &questions{place: testPlace(nil), in: bufio.NewReader(strings.NewReader("openai\n")), out: &bytes.Buffer{}, ask: true}
	if err := (&initCmd{}).answer(t.Context(), q); err != nil { // the end of the input takes the default
		t.Error(err)
	}
	q.in = bufio.NewReader(strings.NewReader(""))
	if err := (&initCmd{}).answer(t.Context(), q); err != errUnanswered {
		t.Error(err)
	}
}
