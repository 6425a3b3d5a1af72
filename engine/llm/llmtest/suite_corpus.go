package llmtest

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"holdfast/engine/llm"
)

// failureCase is one line of the corpus of provider failures.
type failureCase struct {
	ID      string            `json:"id"`
	Wire    string            `json:"wire"`
	Where   string            `json:"where"`
	Status  int               `json:"status"`
	Headers map[string]string `json:"headers"`
	Body    string            `json:"body"`
	Stream  []string          `json:"stream"`
	End     string            `json:"end"`
	Now     time.Time         `json:"now"`
	Want    struct {
		Class     llm.Class `json:"class"`
		Transient bool      `json:"transient"`
		StatedMS  *float64  `json:"stated_wait_ms"`
	} `json:"want"`
}

// corpus plays the failures of this wire, and those of any wire, over HTTP. A bubble's clock begins
// in 2000; a case with a clock of its own sleeps up to it.
func (w Wire) corpus(t *testing.T) {
	played := 0
	for _, name := range []string{"provider-failures.jsonl", "more-failures.jsonl"} {
		f, err := os.Open(filepath.Join("..", "testdata", name))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		for s := bufio.NewScanner(f); s.Scan(); {
			var c failureCase
			if err := json.Unmarshal(s.Bytes(), &c); err != nil {
				t.Fatal(err)
			}
			if c.Where == "network" || c.Wire != "any" && !slices.Contains(w.Names, c.Wire) {
				continue
			}
			played++
			t.Run(c.ID, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) { w.play(t, c) })
			})
		}
	}
	if played < 150 {
		t.Errorf("only %d cases played", played)
	}
}

func (w Wire) play(t *testing.T, c failureCase) {
	s, p, prepared := w.provider(t)
	if !c.Now.IsZero() {
		time.Sleep(time.Until(c.Now))
	}
	if c.Where == "stream" {
		s.Script(StreamAt(c.Stream, c.End, 0, c.Headers))
	} else {
		s.Script(Status(c.Status, c.Headers, c.Body))
	}
	h := Listen(t.Context(), p, prepared)
	f := h.Failure()
	if f == nil {
		t.Fatalf("heard %+v, want %s", h, c.Want.Class)
	}
	if f.Class != c.Want.Class || f.Transient != c.Want.Transient || f.Status != c.Status {
		t.Errorf("%s %d transient=%v, want %s transient=%v", f.Class, f.Status, f.Transient, c.Want.Class, c.Want.Transient)
	}
	if f.Begun != (c.Status == 200) || f.Silent != (c.End == "idle" && f.Class == llm.Timeout) {
		t.Errorf("begun %v, silent %v", f.Begun, f.Silent)
	}
	if f.HasStated != (c.Want.StatedMS != nil) {
		t.Errorf("states a wait: %v %v", f.HasStated, f.Stated)
	} else if f.HasStated {
		if d := float64(f.Stated)/1e6 - *c.Want.StatedMS; d > 1 || d < -1 {
			t.Errorf("states %v, want %v ms", f.Stated, *c.Want.StatedMS)
		}
	}
	if strings.ContainsAny(f.Text, "\n\r") || len([]rune(f.Text)) > 300 {
		t.Errorf("text %q", f.Text)
	}
	if n := len(s.Requests()); n != 1 {
		t.Errorf("%d requests", n)
	}
}
