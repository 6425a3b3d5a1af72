//go:build unix

package mcp

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"holdfast/engine/tool"
)

// TestNPMServers speaks to the official servers, which npx loads. It runs where HOLDFAST_NPM is set; if
// that is an address, server-everything is expected there too, over streamable HTTP.
func TestNPMServers(t *testing.T) {
	asked := os.Getenv("HOLDFAST_NPM")
	if asked == "" {
		t.Skip("HOLDFAST_NPM is not set")
	}
	npx := func(t *testing.T, env map[string]string, args ...string) *playing {
		p := run(t, "", tool.Config{Name: "npm", Command: append([]string{"npx", "-y"}, args...), Env: env, Approve: "writes"})
		p.until(t, "connected", func() bool { return p.state == Connected })
		return p
	}
	holds := func(t *testing.T, r tool.Result, want string) {
		t.Helper()
		if r.Failed || !strings.Contains(r.Text, want) {
			t.Errorf("%+v, want %s", r, want)
		}
	}
	everything := func(t *testing.T, p *playing) {
		holds(t, p.call(t, "npm_echo", `{"message":"hello"}`), "hello")
		holds(t, p.call(t, "npm_get-sum", `{"a":2,"b":40}`), "42")
		holds(t, p.call(t, "npm_get-structured-content", `{"location":"New York"}`), `"temperature":`)
		holds(t, p.call(t, "npm_get-tiny-image", `{}`), "[image, image/png, ")
		holds(t, p.call(t, "npm_get-resource-links", `{"count":2}`), "[resource demo://resource/dynamic/")
		if r := p.call(t, "npm_get-sum", `{"a":"x"}`); !r.Failed {
			t.Error("wrong arguments are no failure:", r)
		}
		ctx, cancel := context.WithCancel(t.Context())
		heard := ""
		_, err := p.tool(t, "npm_trigger-long-running-operation").Call(ctx, tool.Call{
			Arguments: []byte(`{"duration":20,"steps":40}`), Progress: func(text string) { heard = text; cancel() }})
		if !errors.Is(err, context.Canceled) || !strings.Contains(heard, " of 40") {
			t.Error(err, heard)
		}
		holds(t, p.call(t, "npm_echo", `{"message":"still there"}`), "still there")
	}
	t.Run("everything", func(t *testing.T) { everything(t, npx(t, nil, "@modelcontextprotocol/server-everything")) })
	t.Run("everything over HTTP", func(t *testing.T) {
		if !strings.HasPrefix(asked, "http") {
			t.Skip("HOLDFAST_NPM is no address")
		}
		everything(t, run(t, "", tool.Config{Name: "npm", URL: asked, Approve: "writes"}))
	})
	t.Run("filesystem", func(t *testing.T) {
		dir := t.TempDir()
		p := npx(t, nil, "@modelcontextprotocol/server-filesystem", dir)
		note := filepath.Join(dir, "note.txt")
		holds(t, p.call(t, "npm_write_file", `{"path":"`+note+`","content":"kept"}`), "note.txt")
		if text, err := os.ReadFile(note); err != nil || string(text) != "kept" {
			t.Errorf("%q %v", text, err)
		}
		holds(t, p.call(t, "npm_read_text_file", `{"path":"`+note+`"}`), "kept")
		if r := p.call(t, "npm_read_text_file", `{"path":"/etc/passwd"}`); !r.Failed {
			t.Error(r)
		}
		if s := p.tool(t, "npm_write_file").Spec(); s.ReadOnly || !s.Idempotent || !s.Destructive {
			t.Errorf("%+v", s)
		}
	})
	t.Run("memory", func(t *testing.T) {
		p := npx(t, map[string]string{"MEMORY_FILE_PATH": filepath.Join(t.TempDir(), "memory.jsonl")}, "@modelcontextprotocol/server-memory")
		p.call(t, "npm_create_entities", `{"entities":[{"name":"Ada","entityType":"person","observations":["likes tea"]}]}`)
		holds(t, p.call(t, "npm_search_nodes", `{"query":"tea"}`), "Ada")
	})
}
