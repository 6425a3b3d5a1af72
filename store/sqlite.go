package store

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"modernc.org/libc"
	sqlite3 "modernc.org/sqlite/lib"
)

// handle is an open connection of SQLite, through the part of its C interface (sqlite.org/c3ref) that this
// room needs. It stands here instead of database/sql and its driver, which would be a third of what a fact
// costs: they ask for names and types of columns at every query, make a copy of every argument by malloc,
// and put each value on the heap twice. One goroutine at a time, so SQLite's own locks are left out.
type handle struct {
	tls *libc.TLS
	db  uintptr // sqlite3*
}

// fault is an error of SQLite's.
type fault struct {
	code int32 // extended; the low byte is the primary code
	text string
}

func (f *fault) Error() string { return fmt.Sprintf("%s (%d)", f.text, f.code) }

// connect opens a file; mode is "ro", which neither makes nor changes it, "rw", or "rwc", which makes it. vfs is
// SQLite's way to files, "" the usual one.
func connect(path, mode, vfs string) (*handle, error) {
	flags := int32(sqlite3.SQLITE_OPEN_READONLY)
	switch mode {
	case "rw":
		flags = sqlite3.SQLITE_OPEN_READWRITE
	case "rwc":
		flags = sqlite3.SQLITE_OPEN_READWRITE | sqlite3.SQLITE_OPEN_CREATE
	}
	h := &handle{tls: libc.NewTLS()}
	name, err := libc.CString(path)
	if err != nil {
		h.tls.Close()
		return nil, err
	}
	defer libc.Xfree(h.tls, name)
	way := uintptr(0)
	if vfs != "" {
		if way, err = libc.CString(vfs); err != nil {
			h.tls.Close()
			return nil, err
		}
		defer libc.Xfree(h.tls, way)
	}
	var rc int32
	h.db = h.made(func(out uintptr) {
		rc = sqlite3.Xsqlite3_open_v2(h.tls, name, out, flags|sqlite3.SQLITE_OPEN_NOMUTEX, way)
	})
	if rc == sqlite3.SQLITE_OK {
		rc = sqlite3.Xsqlite3_extended_result_codes(h.tls, h.db, 1)
	}
	if rc == sqlite3.SQLITE_OK {
		rc = h.keepPlans()
	}
	if rc != sqlite3.SQLITE_OK {
		return nil, errors.Join(h.fail(rc), h.close())
	}
	return h, nil
}

// keepPlans lets the plan of a statement rest on its text alone (SQLITE_DBCONFIG_ENABLE_QPSG). Else a
// parameter that is compared with the column of a partial index would have it planned anew at every run.
func (h *handle) keepPlans() int32 {
	list := libc.Xcalloc(h.tls, 2, 8)
	defer libc.Xfree(h.tls, list)
	return sqlite3.Xsqlite3_db_config(h.tls, h.db, sqlite3.SQLITE_DBCONFIG_ENABLE_QPSG, libc.VaList(list, int32(1), uintptr(0)))
}

// made returns the pointer that a function of SQLite's leaves at out.
func (h *handle) made(do func(out uintptr)) uintptr {
	out := libc.Xcalloc(h.tls, 1, 8)
	defer libc.Xfree(h.tls, out)
	do(out)
	return uintptr(binary.NativeEndian.Uint64(libc.GoBytes(out, 8)))
}

// close ends the connection; its statements must be closed before.
func (h *handle) close() error {
	err := h.fail(sqlite3.Xsqlite3_close_v2(h.tls, h.db))
	h.tls.Close()
	return err
}

// fail makes an error of a result, nil of one that is none.
func (h *handle) fail(rc int32) error {
	if rc == sqlite3.SQLITE_OK || rc == sqlite3.SQLITE_ROW || rc == sqlite3.SQLITE_DONE {
		return nil
	}
	text := libc.GoString(sqlite3.Xsqlite3_errstr(h.tls, rc))
	if h.db != 0 {
		if more := libc.GoString(sqlite3.Xsqlite3_errmsg(h.tls, h.db)); more != text {
			text += ": " + more
		}
	}
	return explain(&fault{rc, text})
}

// script runs several statements without arguments.
func (h *handle) script(sql string) error {
	text, err := libc.CString(sql)
	if err != nil {
		return err
	}
	defer libc.Xfree(h.tls, text)
	return h.fail(sqlite3.Xsqlite3_exec(h.tls, h.db, text, 0, 0, 0))
}

// inTransaction reports whether one is open: after some errors SQLite has rolled it back by itself.
func (h *handle) inTransaction() bool { return sqlite3.Xsqlite3_get_autocommit(h.tls, h.db) == 0 }

// changes is how many rows the last statement that changes any has changed.
func (h *handle) changes() int { return int(sqlite3.Xsqlite3_changes(h.tls, h.db)) }

// written is how many rows were changed since the connection was opened; it wraps around.
func (h *handle) written() int32 { return sqlite3.Xsqlite3_total_changes(h.tls, h.db) }

// interruptAt lets what runs on the connection end once ctx is done. The function that it returns ends
// that. An interrupt that comes before a statement's first step is forgotten by SQLite, hence one after another.
func (h *handle) interruptAt(ctx context.Context) (end func()) {
	over, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		select {
		case <-over:
			return
		case <-ctx.Done():
		}
		tls := libc.NewTLS()
		defer tls.Close()
		for {
			sqlite3.Xsqlite3_interrupt(tls, h.db)
			select {
			case <-over:
				return
			case <-time.After(time.Millisecond):
			}
		}
	}()
	return func() {
		close(over)
		<-ended
	}
}
