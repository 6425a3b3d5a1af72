package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestPragmasAreAsAsked(t *testing.T) {
	s := opened(t)
	for name, want := range map[string]string{"synchronous": "2", "journal_mode": "wal", "busy_timeout": "5000", "cache_size": "-4096"} {
		var got any
		if err := s.writer.conn.one("PRAGMA " + name).Scan(&got); err != nil || fmt.Sprint(got) != want {
			t.Errorf("%s is %v, %v; want %s", name, got, err, want)
		}
	}
	if c, err := open(filepath.Join(t.TempDir(), "x.db"), "rwc", []pragma{{"synchronous", "normal", "2"}}); err == nil {
		c.close()
		t.Error("a pragma that is not as asked is taken")
	}
	if _, err := Open(Config{Dir: t.TempDir(), Synchronous: "off"}, quiet()); err == nil {
		t.Error("an unknown synchronous is taken")
	}
}

func TestOddDirectory(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "ä b?c#d%41&mode=ro")
	s := openIn(t, dir)
	turn := queued(t, s, 1)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(filepath.Join(dir, "holdfast.db")); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	if read(t, openIn(t, dir), turn).ID != turn {
		t.Error("lost")
	}
}

func TestOneDaemonOnAFile(t *testing.T) {
	dir := t.TempDir()
	s := openIn(t, dir)
	_, err := Open(Config{Dir: dir}, quiet())
	if !errors.Is(err, ErrLocked) || !strings.Contains(err.Error(), dir) {
		t.Errorf("got %v", err)
	}
	queued(t, s, 1) // the refused one has not broken the first one's hold
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	openIn(t, dir)
}

func TestReaderBesideWriter(t *testing.T) {
	dir := t.TempDir()
	if _, err := OpenReader(Config{Dir: dir}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v", err)
	}
	s := openIn(t, dir)
	first := queued(t, s, 1)
	r, err := OpenReader(Config{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	second := queued(t, s, 2)
	for _, id := range []ID{first, second} {
		if turn, err := r.Turn(id); err != nil || turn.State != Queued {
			t.Errorf("%+v, %v", turn, err)
		}
	}
	if _, err := r.Admit(hello(t0, "a", "ada", "a")); !errors.Is(err, ErrReadOnly) {
		t.Errorf("a reader writes: %v", err)
	}
	if r.Epoch() != s.Epoch() {
		t.Error("epochs differ")
	}
	if err := errors.Join(s.Close(), r.Close()); err != nil {
		t.Fatal(err)
	}
	if r, err = OpenReader(Config{Dir: dir}); err != nil { // no daemon
		t.Fatal(err)
	}
	if turn, err := r.Turn(second); err != nil || turn.ID != second {
		t.Errorf("%+v, %v", turn, err)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	if s = openIn(t, dir); s.unclean {
		t.Error("a reader makes the end look unclean")
	}
}

// later is the schema with one step more.
func later(t *testing.T) []migration {
	t.Helper()
	list, err := schema()
	if err != nil {
		t.Fatal(err)
	}
	return append(list, migration{"one more", `ALTER TABLE turns ADD COLUMN mood TEXT NOT NULL DEFAULT 'calm'`})
}

// migrated opens the file in dir with one step more and closes it again.
func migrated(t *testing.T, path string, made []migration) error {
	t.Helper()
	s := &Store{path: path, log: quiet()}
	if err := s.prepareFile(made); err != nil {
		return err
	}
	defer s.Close()
	c, err := open(path, "rw", writerPragmas("full"))
	if err != nil {
		return err
	}
	return errors.Join(migrate(c, made), c.close())
}

func TestMigrationKeepsTheOldFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "holdfast.db")
	s := openIn(t, dir)
	turn := queued(t, s, 1)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	made := later(t)
	kept := fmt.Sprintf("%s.%d", path, len(made)-1)
	if err := os.WriteFile(kept, []byte("an older copy"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := migrated(t, path, made); err != nil {
		t.Fatal(err)
	}
	if err := migrated(t, path, made); err != nil {
		t.Errorf("a second start: %v", err)
	}
	c, err := open(path, "ro", readerPragmas())
	if err != nil {
		t.Fatal(err)
	}
	var mood string
	if err := c.one(`SELECT mood FROM turns WHERE id = ?`, turn).Scan(&mood); err != nil || mood != "calm" {
		t.Errorf("%q, %v", mood, err)
	}
	if err := c.close(); err != nil {
		t.Fatal(err)
	}

	_, err = Open(Config{Dir: dir}, quiet()) // which knows one step less
	if !errors.Is(err, ErrNewer) || !strings.Contains(err.Error(), filepath.Base(kept)) {
		t.Errorf("a newer file is taken, or the copy not named: %v", err)
	}
	if _, err := OpenReader(Config{Dir: dir}); !errors.Is(err, ErrNewer) {
		t.Errorf("a reader takes it: %v", err)
	}
	for _, end := range []string{"", "-wal", "-shm"} { // what the error says
		if err := os.Remove(path + end); err != nil && end == "" {
			t.Fatal(err)
		}
	}
	if err := os.Rename(kept, path); err != nil {
		t.Fatal(err)
	}
	if read(t, openIn(t, dir), turn).State != Queued {
		t.Error("the copy is not the old file")
	}
}

func TestNewerFileWithoutACopy(t *testing.T) {
	dir := t.TempDir()
	if err := migrated(t, filepath.Join(dir, "holdfast.db"), later(t)); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(dir, "holdfast.db.0")); err == nil {
		t.Error("a new file was kept")
	}
	if _, err := Open(Config{Dir: dir}, quiet()); !errors.Is(err, ErrNewer) || !strings.Contains(err.Error(), "no copy") {
		t.Errorf("got %v", err)
	}
}

func TestFailedMigrationChangesNothing(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "holdfast.db")
	if err := openIn(t, dir).Close(); err != nil {
		t.Fatal(err)
	}
	made := later(t)
	made[len(made)-1].sql += "; INSERT INTO nowhere VALUES (1)"
	if err := migrated(t, path, made); err == nil || !strings.Contains(err.Error(), "one more") {
		t.Errorf("got %v", err)
	}
	openIn(t, dir)
}

func TestStrangeFileIsRefused(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "holdfast.db"), []byte(strings.Repeat("not a database. ", 500)), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(Config{Dir: dir}, quiet()); !errors.Is(err, ErrDamaged) {
		t.Errorf("got %v", err)
	}
	dir = t.TempDir()
	c, err := open(filepath.Join(dir, "holdfast.db"), "rwc", nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(c.script("CREATE TABLE theirs (a)"), c.close()); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(Config{Dir: dir}, quiet()); err == nil || !strings.Contains(err.Error(), "not a file of holdfast") {
		t.Errorf("got %v", err)
	}
}

func TestEmptyFileOfAnInterruptedStart(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "holdfast.db"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	queued(t, openIn(t, dir), 1)
}

func TestBackup(t *testing.T) {
	s := opened(t)
	turn := queued(t, s, 1)
	dir := t.TempDir()
	path := filepath.Join(dir, "copy.db")
	session := []byte("a hash of 32 bytes, as it is kept")
	if err := errors.Join(s.PutSession(session, 1<<60), s.PutLink(session, 1<<60), s.SetMeta(Paused, `["openai"]`, nil)); err != nil {
		t.Fatal(err)
	}
	if err := s.Backup(path); err != nil {
		t.Fatal(err)
	}
	if b, err := os.ReadFile(path); err != nil || bytes.Contains(b, session) {
		t.Errorf("a login is in the copy (%v)", err)
	}
	if err := s.Backup(path); !errors.Is(err, fs.ErrExist) {
		t.Errorf("got %v", err)
	}
	if err := s.Backup(filepath.Join(dir, "nowhere", "copy.db")); err == nil {
		t.Error("a backup into nowhere")
	}
	queued(t, s, 2) // the store goes on
	if err := os.Rename(path, filepath.Join(dir, "holdfast.db")); err != nil {
		t.Fatal(err)
	}
	b := openIn(t, dir)
	if v, err := b.Meta(Restored); err != nil || v != "1" || b.Epoch() == s.Epoch() || read(t, b, turn).State != Queued {
		t.Errorf("%q, %v, epoch %s", v, err, b.Epoch())
	}
	if v, err := b.Meta(Paused); err != nil || v != `["openai",""]` {
		t.Errorf("paused: %s, %v", v, err)
	}
	if v, err := s.Meta(Restored); err != nil || v != "" {
		t.Errorf("the store itself was marked: %q, %v", v, err)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "*.part*")); len(left) != 0 {
		t.Errorf("left: %v", left)
	}
	if err := b.Check(); err != nil {
		t.Error(err)
	}
}

func TestCheckFindsDamage(t *testing.T) {
	dir := t.TempDir()
	s := openIn(t, dir)
	for i := range 200 {
		queued(t, s, i)
	}
	if err := errors.Join(s.Check(), s.Close()); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "holdfast.db")
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for i := len(b) - 3*4096; i < len(b)-2*4096; i += 64 {
		copy(b[i:], "damage, damage, damage")
	}
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	s = openIn(t, dir)
	if err := s.Check(); !errors.Is(err, ErrDamaged) {
		t.Errorf("got %v", err)
	}
	if err := s.Verify(context.Background()); err != nil {
		t.Errorf("verified after a clean end: %v", err)
	}
	s.unclean = true
	if err := s.Verify(context.Background()); !errors.Is(err, ErrDamaged) {
		t.Errorf("got %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := s.Verify(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

func TestDefaults(t *testing.T) {
	c := Default()
	if c.Synchronous != "full" || c.Keep.Hours() != 90*24 {
		t.Errorf("%+v", c)
	}
	var keys []string
	problem := func(key, _ string) { keys = append(keys, key) }
	c.Dir = "x"
	c.Validate(problem)
	Config{Synchronous: "off", Keep: -1}.Validate(problem)
	if strings.Join(keys, " ") != "dir synchronous keep" {
		t.Errorf("%v", keys)
	}
}
