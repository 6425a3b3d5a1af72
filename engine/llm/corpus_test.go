package llm

import (
	"bufio"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// corpusCase is one line of testdata/provider-failures.jsonl, or of testdata/more-failures.jsonl with
// kinds of failures beyond it.
type corpusCase struct {
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
		Class     Class    `json:"class"`
		Transient bool     `json:"transient"`
		StatedMS  *float64 `json:"stated_wait_ms"`
		Limit     *int64   `json:"limit"` // in tokens; nil = not looked at
		Why       string   `json:"why"`
	} `json:"want"`
}

func readCorpus(t testing.TB) []corpusCase {
	t.Helper()
	var all []corpusCase
	for name, least := range map[string]int{"provider-failures.jsonl": 164, "more-failures.jsonl": 110} {
		f, err := os.Open(filepath.Join("testdata", name))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		read := len(all)
		s := bufio.NewScanner(f)
		s.Buffer(nil, 1<<20)
		for s.Scan() {
			var c corpusCase
			if err := json.Unmarshal(s.Bytes(), &c); err != nil {
				t.Fatal(err)
			}
			all = append(all, c)
		}
		if read = len(all) - read; s.Err() != nil || read < least {
			t.Fatalf("%s: %d cases, %v", name, read, s.Err())
		}
	}
	return all
}

func (c corpusCase) answer() Answer {
	a := Answer{Status: c.Status, Header: map[string][]string{}, Body: []byte(c.Body), Now: c.Now}
	for k, v := range c.Headers {
		a.Header[k] = []string{v}
	}
	switch c.Where {
	case "network":
		a.Body, a.Err = nil, errors.New(c.Body)
	case "stream":
		a.Body, a.Stream, a.End = nil, c.Stream, c.End
	}
	return a
}

// check compares a reading with what the corpus wants.
func (c corpusCase) check(t *testing.T, f *Failure) {
	t.Helper()
	if f.Class != c.Want.Class || f.Transient != c.Want.Transient {
		t.Errorf("%s: %s transient=%v, want %s transient=%v: %s\n%s", c.ID, f.Class, f.Transient, c.Want.Class, c.Want.Transient, c.Want.Why, c.Body)
	}
	switch {
	case c.Want.StatedMS == nil && f.HasStated:
		t.Errorf("%s: states %v, want none: %s", c.ID, f.Stated, c.Want.Why)
	case c.Want.StatedMS != nil && !f.HasStated:
		t.Errorf("%s: states nothing, want %v ms: %s", c.ID, *c.Want.StatedMS, c.Want.Why)
	case c.Want.StatedMS != nil:
		if d := float64(f.Stated)/1e6 - *c.Want.StatedMS; d > 1 || d < -1 {
			t.Errorf("%s: states %v, want %v ms: %s", c.ID, f.Stated, *c.Want.StatedMS, c.Want.Why)
		}
	}
	if c.Want.Limit != nil && f.Limit != *c.Want.Limit {
		t.Errorf("%s: limit %d, want %d", c.ID, f.Limit, *c.Want.Limit)
	}
}

// T4, F9: every failure of the corpus is read as it should be.
func TestClassifyCorpus(t *testing.T) {
	for _, c := range readCorpus(t) {
		c.check(t, Classify(c.answer()))
	}
}
