package main

import (
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// rooms are the packages of the house, each with the rooms it may import; arrows go down only. A
// room stands for the packages inside it, unless they have a line of their own.
var rooms = map[string][]string{
	"holdfast":                      {"web", "surfaces", "engine", "engine/llm", "engine/ladder", "engine/tool", "store", "internal/cli", "internal/config"},
	"holdfast/web":                  {"engine", "store"},
	"holdfast/surfaces/webchat":     {"engine", "store"},
	"holdfast/surfaces/slack":       {"engine", "store", "surfaces/door", "surfaces/markup"},
	"holdfast/surfaces/discord":     {"engine", "store", "surfaces/door", "surfaces/markup"},
	"holdfast/surfaces/telegram":    {"engine", "store", "surfaces/door", "surfaces/markup"},
	"holdfast/surfaces/door":        {"engine", "store"},
	"holdfast/surfaces/markup":      nil,
	"holdfast/surfaces/surfacetest": {"engine", "store"}, // only tests import it
	"holdfast/engine":               {"engine/ladder", "engine/rhythm", "engine/wheel", "engine/llm", "engine/tool", "store"},
	"holdfast/engine/ladder":        nil,
	"holdfast/engine/rhythm":        nil,
	"holdfast/engine/wheel":         nil,
	"holdfast/engine/llm":           nil,
	"holdfast/engine/tool":          nil,
	"holdfast/store":                nil,
	"holdfast/internal/cli":         {"internal/config"},
	"holdfast/internal/config":      nil,
}

// pkg is a package as go list tells it.
type pkg struct {
	ImportPath string
	Imports    []string
}

// TestArrows keeps the house as it is drawn: who may import whom, and that nobody else speaks SQL.
func TestArrows(t *testing.T) {
	seen := map[string]bool{}
	for _, p := range listPackages(t) {
		room := roomOf(p.ImportPath)
		if room == "" {
			t.Errorf("%s is no room of the house; give it a line in rooms, or put it into one", p.ImportPath)
			continue
		}
		seen[room] = true
		for _, path := range p.Imports {
			to := roomOf(path)
			allowed := slices.ContainsFunc(rooms[room], func(r string) bool { return to == "holdfast/"+r || strings.HasPrefix(to, "holdfast/"+r+"/") })
			if to != "" && to != room && !allowed {
				t.Errorf("%s must not import %s", p.ImportPath, path)
			}
			if slices.Contains([]string{"database/sql", "modernc.org/libc", "modernc.org/sqlite"}, path) && room != "holdfast/store" {
				t.Errorf("%s must not import %s: the only SQL is in store", p.ImportPath, path)
			}
		}
	}
	for room := range rooms {
		if !seen[room] {
			t.Errorf("there is no room %s", room)
		}
	}
}

// roomOf is the room that a package belongs to; "" for none of ours.
func roomOf(path string) string {
	if path == "holdfast" {
		return path
	}
	for path != "holdfast" && path != "" {
		if _, ok := rooms[path]; ok {
			return path
		}
		path = path[:max(0, strings.LastIndex(path, "/"))]
	}
	return ""
}

func listPackages(t *testing.T) (list []pkg) {
	t.Helper()
	out, err := exec.Command("go", "list", "-json=ImportPath,Imports", "./...").Output()
	if err != nil {
		t.Fatal(err)
	}
	for d := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p pkg
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			return list
		} else if err != nil {
			t.Fatal(err)
		}
		list = append(list, p)
	}
}
