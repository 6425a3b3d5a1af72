package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"time"
	"unicode/utf8"
)

// selftestCmd proves on this machine what Holdfast promises: it starts a daemon of its own on an
// empty directory, breaks its provider and kills it, and looks at what becomes of the questions.
type selftestCmd struct {
	JSON bool `help:"As JSON."`
	Keep bool `help:"Leave the directory where it is, for a look at the log and the store."`
}

// selftestTime is what all checks get together.
const selftestTime = time.Minute

// check is one thing that is done to the daemon, and what must come of it.
type check struct {
	done, must string
	run        func(context.Context, *trial) (seen string, err error)
}

// checked is a check with what was seen.
type checked struct {
	Done string `json:"done"`
	Must string `json:"must"`
	Seen string `json:"seen"`
	OK   bool   `json:"ok"`
}

func (s selftestCmd) Run(c *call) error {
	signalled, stop := untilSignal()
	defer stop()
	ctx, cancel := context.WithTimeout(signalled, selftestTime)
	defer cancel()
	begin := time.Now()
	program, err := os.Executable()
	if err != nil {
		return fmt.Errorf("find this program: %w", err)
	}
	t, err := newTrial(ctx, program)
	if err != nil {
		return fmt.Errorf("the selftest could not begin: %w", err)
	}
	defer t.end(s.Keep)
	if !s.JSON {
		fmt.Fprintf(c.out, "A daemon of its own runs in %s, with the demo provider and short waits.\n\n", t.dir)
		grid(c.out, "", "WHAT IS DONE", "WHAT MUST HAPPEN", "WHAT WAS SEEN")
	}
	checks := checks()
	results := make([]checked, 0, len(checks))
	failed := 0
	for _, k := range checks {
		r := k.carryOut(ctx, t)
		if signalled.Err() != nil {
			return fmt.Errorf("stopped after %d of %d checks", len(results), len(checks))
		}
		results = append(results, r)
		if !r.OK {
			failed++
		}
		if !s.JSON {
			grid(c.out, map[bool]string{true: "ok", false: "FAILED"}[r.OK], r.Done, r.Must, r.Seen)
		}
	}
	return s.sum(c, t, results, failed, time.Since(begin))
}

// carryOut runs one check; the provider is well when it begins.
func (k check) carryOut(ctx context.Context, t *trial) checked {
	r := checked{Done: k.done, Must: k.must}
	err := t.heal(ctx)
	if err == nil {
		r.Seen, err = k.run(ctx, t)
	}
	if r.OK = err == nil; err != nil {
		r.Seen = err.Error()
	}
	return r
}

// sum says how it went.
func (s selftestCmd) sum(c *call, t *trial, results []checked, failed int, took time.Duration) error {
	if s.JSON {
		out := struct {
			OK      bool      `json:"ok"`
			Version string    `json:"version"`
			MS      int64     `json:"ms"`
			Checks  []checked `json:"checks"`
		}{failed == 0, version, took.Milliseconds(), results}
		if err := json.NewEncoder(c.out).Encode(out); err != nil {
			return err
		}
	} else if failed == 0 {
		fmt.Fprintf(c.out, "All %d checks passed in %s on %s/%s: no turn was lost, and none was answered twice.\n",
			len(results), length(took.Milliseconds()/1000*1000), runtime.GOOS, runtime.GOARCH)
	} else {
		fmt.Fprintf(c.out, "%d of %s failed. The daemon's last words:\n%s\n", failed, counted(len(results), "check"), t.lastWords())
	}
	if s.Keep {
		fmt.Fprintf(c.err, "The directory is left where it is: %s\n", t.dir)
	}
	if failed > 0 {
		return errSaid
	}
	return nil
}

// gridWidths are the columns' widths: 80 characters with what stands between them.
var gridWidths = [...]int{6, 22, 24, 22}

// grid prints one row of the table, its cells broken into lines.
func grid(w io.Writer, cells ...string) {
	lines := make([][]string, len(cells))
	height := 0
	for i, cell := range cells {
		lines[i] = broken(cell, gridWidths[i])
		height = max(height, len(lines[i]))
	}
	for n := range height {
		var b strings.Builder
		for i := range cells {
			line := ""
			if n < len(lines[i]) {
				line = lines[i][n]
			}
			b.WriteString(line)
			b.WriteString(strings.Repeat(" ", max(0, gridWidths[i]-utf8.RuneCountInString(line))+2))
		}
		fmt.Fprintln(w, strings.TrimRight(b.String(), " "))
	}
	fmt.Fprintln(w)
}

// broken is a text in lines of at most width characters; a word that is longer stands alone.
func broken(text string, width int) (lines []string) {
	line := ""
	for _, word := range strings.Fields(text) {
		switch {
		case line == "":
			line = word
		case utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) <= width:
			line += " " + word
		default:
			lines = append(lines, line)
			line = word
		}
	}
	return append(lines, line)
}
