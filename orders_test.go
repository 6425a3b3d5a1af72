package main

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestOrdersOnMany: every filter chooses, a dry run only tells, what is held is said to be, and people
// are told what the operator says.
func TestOrdersOnMany(t *testing.T) {
	h := newHome(t)
	dir := filepath.Join(h.dir, "store")
	m := newScripted(t, func(_ int, asked string) string {
		if strings.HasPrefix(asked, "hold") {
			return "429/5400"
		}
		return "503"
	})
	h.write("[store]\ndir = \"store\"\n[web]\nlisten = \"127.0.0.1:0\"\n[engine]\nmerge = false\n[retry]\nresends = 0\nwaits = 0\npark_base = \"1h\"\npark_cap = \"1h\"\npark_horizon = \"2h\"\nmax_requests = 0\n" +
		"[provider.fake]\nbase_url = \"" + m.URL + "\"\n[[bot]]\nmodels = [\"fake/one\"]\n")
	d := h.start("run")
	busy := h.say(d, dir, "c1", "busy")
	h.until(func() bool { return strings.Contains(h.want("turn", busy), "parked until") }, func() string { return h.want("turns") })
	for line, want := range map[string]string{
		"resume --waiting --dry-run":                           busy + `\n1 turn would be resumed\n`,
		"resume --state parked --dry-run":                      busy + `\n1 turn would be resumed\n`,
		"resume --state owed --dry-run":                        `0 turns would be resumed\n`,
		"cancel --model fake/one --dry-run":                    busy + `\n1 turn would be cancelled\n`,
		"cancel --model fake/two --dry-run":                    `0 turns would be cancelled\n`,
		"cancel --bot bot --waiting --dry-run":                 busy + `\n1 turn would be cancelled\n`,
		"cancel --bot eve --dry-run":                           `0 turns would be cancelled\n`,
		"cancel --waiting --older-than 1h --dry-run":           `0 turns would be cancelled\n`,
		"cancel --waiting --older-than 1ms --dry-run":          busy + `\n1 turn would be cancelled\n`,
		"turns --bot eve":                                      `No turns\.\n`,
		"turns --model fake/one --older-than 1ms --waiting":    `(?s)TURN .*` + busy + ` .*`,
		"turns --state done --model fake/one":                  `No turns\.\n`,
		"resume --waiting --model fake/two":                    `0 turns resumed\n`,
		"cancel --waiting --dry-run --json --older-than 1ms":   `(?s)\{.*"count": 1,.*` + busy + `.*`,
		"resume --waiting --older-than 1ms --model fake/one":   busy + `\n1 turn resumed\n`,
		"resume --state parked --bot bot --older-than 1d":      `0 turns resumed\n`,
		"cancel --state running --older-than 1ms --bot nobody": `0 turns cancelled\n`,
	} {
		if out := h.want(strings.Fields(line)...); !regexp.MustCompile(`^` + want + `$`).MatchString(out) {
			t.Errorf("%s: %q", line, out)
		}
		if strings.HasPrefix(line, "resume") { // let it come to wait again
			h.until(func() bool { return strings.Contains(h.want("turn", busy), "parked until") }, func() string { return h.want("turns") })
		}
	}
	held := h.say(d, dir, "c2", "hold on")
	h.until(func() bool { return regexp.MustCompile(`retry-after`).MatchString(h.want("turn", held)) }, func() string { return h.want("turns") })
	if out := h.want("resume", "--waiting"); !regexp.MustCompile(`^0 turns resumed\n2 turns left as they were, since the provider has asked to wait: the first until [\d: -]+\n$`).MatchString(out) {
		t.Errorf("%q", out)
	}
	if out := h.want("cancel", "--waiting", "--say", "closed for today"); !strings.HasSuffix(out, "\n2 turns cancelled\n") {
		t.Errorf("%q", out)
	}
	for _, order := range []string{"cancel", "resume", "cancel --dry-run"} { // what is over is not said to have been ended by this
		if out := h.want(append(strings.Fields(order), held)...); out != held+": nothing to do, it is done: cancelled\n" {
			t.Errorf("%s: %q", order, out)
		}
	}
	if out := h.want("turn", held); !strings.Contains(out, "closed for today") {
		t.Error(out)
	}
}
