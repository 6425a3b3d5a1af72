package webtest

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Violation is one finding of axe.
type Violation struct {
	ID    string   `json:"id"`
	Help  string   `json:"help"`
	Nodes []string `json:"nodes"` // what was found, as HTML and why
}

// Axe looks for what bars people with impairments from the page as it is shown now: by all its rules, or
// by those named.
func (t *Tab) Axe(rules ...string) []Violation {
	t.t.Helper()
	source, err := os.ReadFile(filepath.Join(moduleRoot(), "web", "testdata", "axe", "axe.min.js"))
	t.do("read axe", err)
	if !Eval[bool](t, `Boolean(window.axe)`) {
		Eval[bool](t, string(source)+"\n;true")
	}
	options := map[string]any{"resultTypes": []string{"violations"}}
	if len(rules) > 0 {
		options["runOnly"] = rules
	}
	how, err := json.Marshal(options)
	t.do("name the rules", err)
	found := Eval[string](t, `axe.run(document, `+string(how)+`).then((r) => JSON.stringify(r.violations.map((v) => ({id: v.id, help: v.help, nodes: v.nodes.map((n) => n.html + "\n\t\t" + n.failureSummary)}))))`)
	var list []Violation
	t.do("read what axe found", json.Unmarshal([]byte(found), &list))
	return list
}

// Accessible fails the test for every finding of axe. state names what is shown, rules those looked at
// (none = all).
func (t *Tab) Accessible(state string, rules ...string) {
	t.t.Helper()
	for _, v := range t.Axe(rules...) {
		t.t.Errorf("%s: %s (%s)\n\t%s", state, v.Help, v.ID, strings.Join(v.Nodes, "\n\t"))
	}
}

// moduleRoot is where go.mod lies; tests run in the folder of their package.
func moduleRoot() string {
	dir, _ := os.Getwd() // "" leads to "", where nothing is found
	for d := dir; ; d = filepath.Dir(d) {
		if _, err := os.Stat(filepath.Join(d, "go.mod")); err == nil {
			return d
		}
		if d == filepath.Dir(d) {
			panic(fmt.Sprintf("no go.mod above %s", dir))
		}
	}
}
