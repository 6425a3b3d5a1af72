package store

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// mounted is a file system of its own with two megabytes; it needs the right to mount one.
func mounted(t *testing.T) (dir string) {
	t.Helper()
	dir = t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=2m"); err != nil {
		t.Skip("cannot mount a file system:", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// TestFullDiskS3 fills a small file system for real.
func TestFullDiskS3(t *testing.T) {
	dir := mounted(t)
	s := openIn(t, dir)
	ballast := filepath.Join(dir, "ballast")
	if err := os.WriteFile(ballast, make([]byte, 1<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	acknowledged := map[string]ID{}
	say := func(i int) error {
		a := hello(t0, fmt.Sprint("chat", i), "ada", fmt.Sprint("k", i))
		a.Text = strings.Repeat("a long message ", 500)
		out, err := s.Admit(a)
		if err == nil {
			acknowledged[a.Key] = out.Turn
		}
		return err
	}
	i := 0
	var err error
	for ; err == nil; i++ {
		err = say(i)
	}
	if !errors.Is(err, ErrFull) || i < 5 {
		t.Fatalf("after %d: %v", i, err)
	}
	for range 5 {
		if err := say(i); !errors.Is(err, ErrFull) {
			t.Fatalf("got %v", err)
		}
	}
	if err := os.Remove(ballast); err != nil {
		t.Fatal(err)
	}
	for range 10 {
		if err := say(i); err != nil {
			t.Fatalf("after space was made: %v", err)
		}
		i++
	}
	if err := s.Check(); err != nil {
		t.Error(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = openIn(t, dir)
	for _, id := range acknowledged {
		read(t, s, id)
	}
	if rows := rowsOf(t, s); rows.turns != len(acknowledged) {
		t.Errorf("%+v, acknowledged %d", rows, len(acknowledged))
	}
	if err := s.Close(); err != nil { // before the unmount
		t.Fatal(err)
	}
}

// openParent lets everybody into a test's directory.
func openParent(t *testing.T, dir string) {
	t.Helper()
	if err := os.Chmod(filepath.Dir(dir), 0o755); err != nil {
		t.Fatal(err)
	}
}

// asNobody runs fn with the file rights of a user who owns nothing.
func asNobody(t *testing.T, fn func()) {
	t.Helper()
	if os.Getuid() != 0 {
		fn()
		return
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if _, err := unix.SetfsuidRetUid(65534); err != nil {
		t.Skip(err)
	}
	defer func() { _ = unix.Setfsuid(0) }()
	fn()
}

func TestReadOnlyDirectory(t *testing.T) {
	dir := t.TempDir()
	openParent(t, dir)
	if err := os.Chmod(dir, 0o555); err != nil {
		t.Fatal(err)
	}
	asNobody(t, func() {
		_, err := Open(Config{Dir: dir}, quiet())
		if !errors.Is(err, os.ErrPermission) || !strings.Contains(err.Error(), dir) || !strings.Contains(err.Error(), "writable") {
			t.Errorf("got %v", err)
		}
	})
}

func TestReadOnlyFile(t *testing.T) {
	dir := t.TempDir()
	openParent(t, dir)
	if err := openIn(t, dir).Close(); err != nil {
		t.Fatal(err)
	}
	for name, mode := range map[string]os.FileMode{"": 0o777, "lock": 0o666, "holdfast.db": 0o444} {
		if err := os.Chmod(filepath.Join(dir, name), mode); err != nil {
			t.Fatal(err)
		}
	}
	asNobody(t, func() {
		s, err := Open(Config{Dir: dir}, quiet())
		if err == nil {
			err = s.Close()
			t.Error("a file that cannot be written is opened")
		}
		if !errors.Is(err, ErrReadOnly) || !strings.Contains(err.Error(), "writ") {
			t.Errorf("got %v", err)
		}
	})
}

// A store in a place that cannot be written says what to do, also where it is only read.
func TestReadOnlyPlaceSaysWhatToDo(t *testing.T) {
	dir := mounted(t)
	s := openIn(t, dir)
	queued(t, s, 1)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mount("tmpfs", dir, "tmpfs", syscall.MS_REMOUNT|syscall.MS_RDONLY, ""); err != nil {
		t.Skip("cannot mount it read-only:", err)
	}
	config := Config{Dir: dir, Synchronous: "normal"}
	if _, err := Open(config, quiet()); err == nil || !strings.Contains(err.Error(), "make it writable") {
		t.Errorf("got %v", err)
	}
	if _, err := OpenReader(config); err == nil || !strings.Contains(err.Error(), "must be readable and writable") {
		t.Errorf("got %v", err)
	}
}
