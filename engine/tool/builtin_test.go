package tool

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestClock(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	set := NewClock(func() time.Time { return time.Date(2027, 1, 1, 23, 30, 0, 0, time.UTC) }, berlin)
	for zone, want := range map[string]Result{
		"":              {Text: "2027-01-02 00:30:00, Saturday, week 53 of 2026 (Europe/Berlin, CET, UTC+01:00)"},
		"UTC":           {Text: "2027-01-01 23:30:00, Friday, week 53 of 2026 (UTC, UTC+00:00)"},
		"Asia/Kolkata":  {Text: "2027-01-02 05:00:00, Saturday, week 53 of 2026 (Asia/Kolkata, IST, UTC+05:30)"},
		"Mars/Base":     {Text: `"Mars/Base" is no time zone known here; write a name like Europe/Berlin`, Failed: true},
		"../etc/passwd": {Text: `"../etc/passwd" is no time zone known here; write a name like Europe/Berlin`, Failed: true},
	} {
		if got := called(t, set, "time", args{"zone": zone}); got != want {
			t.Errorf("%q:\ngot  %+v\nwant %+v", zone, got, want)
		}
	}
	tools, _ := set.Tools(t.Context())
	if got, err := tools[0].Call(t.Context(), Call{}); err != nil || got.Failed { // some models send nothing for no arguments
		t.Error(got, err)
	}
	if got := called(t, set, "time", args{"zone": 7}); !got.Failed || !strings.HasPrefix(got.Text, "the arguments are not understood") {
		t.Error(got)
	}
}

func TestFiles(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "ada", "files") // is made
	set := NewFiles(func(bot string) string {
		if bot != "ada" {
			return ""
		}
		return dir
	})
	long := strings.Repeat("ß", 30_000)
	for _, step := range []struct {
		tool string
		args args
		want Result
	}{
		{"files_list", args{}, Result{Text: "(The directory is empty.)"}},
		{"files_read", args{"path": "a.txt"}, Result{Text: "a.txt: there is no such file", Failed: true}},
		{"files_write", args{"path": "/notes/a.txt", "text": "one"}, Result{Text: "Written: notes/a.txt, 3 bytes."}},
		{"files_write", args{"path": "notes/a.txt", "text": "two!"}, Result{Text: "Written: notes/a.txt, 4 bytes."}},
		{"files_write", args{"path": "notes/a.txt", "text": "two!"}, Result{Text: "Written: notes/a.txt, 4 bytes."}}, // may be repeated
		{"files_read", args{"path": "notes/a.txt"}, Result{Text: "two!"}},
		{"files_read", args{"path": "notes/a.txt", "offset": 2}, Result{Text: "o!"}},
		{"files_read", args{"path": "notes/a.txt", "offset": 9}, Result{Text: "notes/a.txt: offset 9 is not in the text, which has 4 bytes", Failed: true}},
		{"files_read", args{"path": "notes"}, Result{Text: "notes: is a directory; files_list shows it", Failed: true}},
		{"files_write", args{"path": "notes", "text": ""}, Result{Text: "notes: is a directory", Failed: true}},
		{"files_write", args{"path": "notes/a.txt"}, Result{Text: "notes/a.txt: text is missing", Failed: true}},
		{"files_write", args{"path": "", "text": "x"}, Result{Text: ".: is no name for a file", Failed: true}},
		{"files_write", args{"path": "big", "text": strings.Repeat("x", longestFile+1)}, Result{Text: "big: the text has 1048577 bytes; at most 1048576 are written", Failed: true}},
		{"files_write", args{"path": "../out", "text": "x"}, Result{Text: "../out: path escapes from parent", Failed: true}},
		{"files_read", args{"path": "notes/../../../etc/passwd"}, Result{Text: "../../etc/passwd: path escapes from parent", Failed: true}},
		{"files_write", args{"path": "long", "text": long}, Result{Text: "Written: long, 60000 bytes."}},
		{"files_delete", args{"path": "notes"}, Result{Text: "notes: directory not empty", Failed: true}},
		{"files_delete", args{"path": "notes/a.txt"}, Result{Text: "Deleted: notes/a.txt."}},
		{"files_delete", args{"path": "notes/a.txt"}, Result{Text: "notes/a.txt is not there."}}, // may be repeated
		{"files_delete", args{"path": "."}, Result{Text: ".: is no name for a file", Failed: true}},
	} {
		if got := called(t, set, step.tool, step.args); got != step.want {
			t.Errorf("%s %.60s:\ngot  %+v\nwant %+v", step.tool, fmt.Sprint(step.args), got, step.want)
		}
	}
	if got := inPages(t, func(offset int) Result { return called(t, set, "files_read", args{"path": "long", "offset": offset}) }); got != long {
		t.Errorf("the pages make %d bytes, want %d", len(got), len(long))
	}
	if got := called(t, set, "files_list", args{"path": "/"}).Text; !strings.HasPrefix(got, "long  60000 bytes  20") || !strings.Contains(got, "\nnotes/  20") || strings.Count(got, "\n") != 2 {
		t.Errorf("%q", got)
	}
}

// TestFilesStayInside: neither a symbolic link nor what is no file is read or written through.
func TestFilesStayInside(t *testing.T) {
	top := t.TempDir()
	dir, secret := filepath.Join(top, "files"), filepath.Join(top, "secret.txt")
	set := NewFiles(func(string) string { return dir })
	called(t, set, "files_write", args{"path": "own.txt", "text": "mine"})
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(os.WriteFile(secret, []byte("hers"), 0o600))
	must(os.Symlink(secret, filepath.Join(dir, "out")))
	must(os.Symlink("..", filepath.Join(dir, "up")))
	must(os.Symlink("own.txt", filepath.Join(dir, "in")))
	must(os.WriteFile(filepath.Join(dir, "picture"), []byte("\x89PNG\r\n\x1a\n\xff"), 0o600))
	for _, path := range []string{"out", "up/secret.txt"} {
		if r := called(t, set, "files_read", args{"path": path}); !r.Failed || strings.Contains(r.Text, "hers") || strings.Contains(r.Text, top) {
			t.Errorf("read %s: %+v", path, r)
		}
		called(t, set, "files_write", args{"path": path, "text": "changed"})
		called(t, set, "files_delete", args{"path": path})
	}
	if r := called(t, set, "files_list", args{"path": "up"}); !r.Failed {
		t.Error(r)
	}
	if text, err := os.ReadFile(secret); err != nil || string(text) != "hers" {
		t.Errorf("the file outside is %q, %v", text, err)
	}
	if r := called(t, set, "files_read", args{"path": "in"}); r.Text != "mine" {
		t.Error("a link that stays inside:", r)
	}
	if r := called(t, set, "files_read", args{"path": "picture"}); r != (Result{Text: "picture: is no text but image/png with 9 bytes", Failed: true}) {
		t.Error(r)
	}
	left, err := filepath.Glob(filepath.Join(dir, unfinished+"*"))
	if err != nil || left != nil {
		t.Error("left over:", left, err)
	}
}

// TestFilesFull: a bot cannot fill the disk.
func TestFilesFull(t *testing.T) {
	dir := t.TempDir()
	f, err := os.Create(filepath.Join(dir, "large"))
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Truncate(allFiles - 10); err != nil { // sparse: takes no room
		t.Fatal(err)
	}
	f.Close()
	set := NewFiles(func(string) string { return dir })
	if r := called(t, set, "files_write", args{"path": "a", "text": "12345"}); r.Failed {
		t.Error(r)
	}
	if r := called(t, set, "files_write", args{"path": "b", "text": "123456"}); !r.Failed || !strings.Contains(r.Text, "the directory is full") {
		t.Error(r)
	}
}

func TestWhatBuiltinsMayDo(t *testing.T) {
	got := map[string]string{}
	for _, set := range []Set{NewFetch("test"), NewClock(time.Now, nil), NewFiles(func(string) string { return "" })} {
		tools, err := set.Tools(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, tool := range tools {
			s := tool.Spec()
			got[s.Name] = fmt.Sprint(s.ReadOnly, s.Repeatable(), s.Destructive)
		}
	}
	want := map[string]string{"fetch": "true true false", "time": "true true false", "files_list": "true true false", "files_read": "true true false",
		"files_write": "false true true", "files_delete": "false true true"}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("read-only, repeatable, destructive:\ngot  %v\nwant %v", got, want)
	}
}

func TestCut(t *testing.T) {
	if got := Cut("short", 5); got != "short" {
		t.Error(got)
	}
	for max := 60; max < 70; max++ {
		got := Cut(strings.Repeat("ü", 100), max)
		kept, note, _ := strings.Cut(got, "\n")
		if len(got) > max || strings.Trim(kept, "ü") != "" || note != fmt.Sprintf("[cut here: %d more bytes left out]", 200-len(kept)) {
			t.Errorf("%d: %q", max, got)
		}
	}
	if got := FirstLine("\n  Reads\tit.\x1b[2J\u202e \nAnd more.", 80); got != "Reads it.[2J" {
		t.Error(got)
	}
}
