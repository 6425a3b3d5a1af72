package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// TestSelftest: the built binary proves the promise from any directory, without a config, in under a
// minute, with lines that fit a terminal, and takes everything away.
func TestSelftest(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.env = append(h.env, "TMPDIR="+h.dir, "HOLDFAST_CONFIG=")
	begin := time.Now()
	out := h.want("selftest")
	t.Logf("took %v", time.Since(begin).Round(100*time.Millisecond))
	if !regexp.MustCompile(`\nAll \d+ checks passed in \d+ s on \S+: no turn was lost, and none was answered twice\.\n$`).MatchString(out) {
		t.Error(out)
	}
	if n := len(regexp.MustCompile(`(?m)^ok  `).FindAllString(out, -1)); n != len(checks()) || strings.Contains(out, "FAILED") {
		t.Errorf("%d of %d checks are ok:\n%s", n, len(checks()), out)
	}
	for line := range strings.Lines(out[strings.Index(out, "WHAT IS DONE"):]) {
		if len(line) > 81 && !strings.HasPrefix(line, "All ") {
			t.Errorf("line of %d characters: %s", len(line), line)
		}
	}
	if left, _ := filepath.Glob(filepath.Join(h.dir, "*")); left != nil {
		t.Errorf("left behind: %v", left)
	}
}

// TestSelftestThatFails: what goes wrong stands in the table and in the exit code, and the daemon's
// log is shown.
func TestSelftestThatFails(t *testing.T) {
	t.Parallel()
	if err := binaries().err; err != nil {
		t.Fatal(err)
	}
	h := newHome(t)
	liar := filepath.Join(h.dir, "holdfast") // a daemon that forgets everything when it is killed
	script := "#!/bin/sh\nrm -rf store\nexec " + binaries().program + " \"$@\"\n"
	if err := os.WriteFile(liar, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	tr, err := newTrial(t.Context(), binaries().program)
	if err != nil {
		t.Fatal(err)
	}
	defer tr.end(false)
	tr.program = liar
	var results []checked
	failed := 0
	for _, k := range []check{
		{"a", "b", checkPlain}, {"a", "b", checkKilledWaiting}, {"a", "b", checkSentTwice}, {"a", "b", checkStore},
		{"a", "b", func(context.Context, *trial) (string, error) { return "", errors.New("no") }},
	} {
		r := k.carryOut(t.Context(), tr)
		results = append(results, r)
		if !r.OK {
			failed++
		}
	}
	if !results[0].OK || failed != 4 {
		t.Errorf("%+v", results)
	}
	var out, errOut bytes.Buffer
	c := &call{out: &out, err: &errOut}
	if err := (selftestCmd{}).sum(c, tr, results, failed, time.Second); err != errSaid || !strings.Contains(out.String(), "4 of 5 checks failed. The daemon's last words:\n") ||
		!strings.Contains(out.String(), "turn admitted") {
		t.Errorf("%v\n%s", err, out.String())
	}
	out.Reset()
	if err := (selftestCmd{JSON: true}).sum(c, tr, results, failed, time.Second); err != errSaid {
		t.Error(err)
	}
	var shown struct {
		OK     bool
		Checks []checked
	}
	if err := json.Unmarshal(out.Bytes(), &shown); err != nil || shown.OK || len(shown.Checks) != 5 || shown.Checks[1].OK {
		t.Errorf("%v %s", err, out.String())
	}
}

func TestGrid(t *testing.T) {
	var b bytes.Buffer
	grid(&b, "ok", "One two three four five.", "Überlänge ist nichts.", "seen")
	want := "ok      One two three four      Überlänge ist nichts.     seen\n        five.\n\n"
	if b.String() != want {
		t.Errorf("%q", b.String())
	}
}
