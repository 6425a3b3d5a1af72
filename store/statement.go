package store

import (
	"fmt"
	"math"
	"reflect"

	"modernc.org/libc"
	"modernc.org/libc/sys/types"
	sqlite3 "modernc.org/sqlite/lib"
)

// statement is a prepared statement. Its arguments lie in memory of its own until it runs anew.
type statement struct {
	*handle
	raw  uintptr // sqlite3_stmt*
	room uintptr // where texts and blobs of its arguments lie
	size int     // of room, in bytes
	busy bool    // it has rows to be read
}

// statement prepares sql, which is a single one and will be kept.
func (h *handle) statement(sql string) (*statement, error) {
	text, err := libc.CString(sql)
	if err != nil {
		return nil, err
	}
	defer libc.Xfree(h.tls, text)
	s := &statement{handle: h}
	var rc int32
	s.raw = h.made(func(out uintptr) {
		rc = sqlite3.Xsqlite3_prepare_v3(h.tls, h.db, text, int32(len(sql)), sqlite3.SQLITE_PREPARE_PERSISTENT, out, 0)
	})
	if rc == sqlite3.SQLITE_OK && s.raw == 0 {
		return nil, fmt.Errorf("no statement: %q", sql)
	}
	return s, h.fail(rc)
}

func (s *statement) end() error {
	err := s.fail(sqlite3.Xsqlite3_finalize(s.tls, s.raw))
	libc.Xfree(s.tls, s.room)
	return err
}

// bind sets the arguments, whose number must be that of the statement's parameters.
func (s *statement) bind(args []any) error {
	if want := int(sqlite3.Xsqlite3_bind_parameter_count(s.tls, s.raw)); len(args) != want {
		return fmt.Errorf("%d arguments for %d parameters", len(args), want)
	}
	if err := s.makeRoom(args); err != nil {
		return err
	}
	at := s.room
	for i, a := range args {
		n := int32(i + 1)
		var rc int32
		switch v := a.(type) {
		case nil:
			rc = sqlite3.Xsqlite3_bind_null(s.tls, s.raw, n)
		case int64:
			rc = sqlite3.Xsqlite3_bind_int64(s.tls, s.raw, n, v)
		case ID:
			rc = sqlite3.Xsqlite3_bind_int64(s.tls, s.raw, n, int64(v))
		case Time:
			rc = sqlite3.Xsqlite3_bind_int64(s.tls, s.raw, n, int64(v))
		case int:
			rc = sqlite3.Xsqlite3_bind_int64(s.tls, s.raw, n, int64(v))
		case bool:
			var b int64
			if v {
				b = 1
			}
			rc = sqlite3.Xsqlite3_bind_int64(s.tls, s.raw, n, b)
		case string:
			rc, at = s.bindText(n, at, v)
		case State:
			rc, at = s.bindText(n, at, string(v))
		case Outcome:
			rc, at = s.bindText(n, at, string(v))
		case []byte:
			rc, at = s.bindBlob(n, at, v)
		default:
			return fmt.Errorf("cannot pass a %s", reflect.TypeOf(a))
		}
		if rc != sqlite3.SQLITE_OK {
			return s.fail(rc)
		}
	}
	return nil
}

// lengthOf is how much room an argument needs.
func lengthOf(a any) int {
	switch v := a.(type) {
	case string:
		return len(v)
	case State:
		return len(v)
	case Outcome:
		return len(v)
	case []byte:
		return len(v)
	}
	return 0
}

// largest is how much room a statement keeps between its runs, in bytes.
const largest = 1 << 16

// makeRoom makes the room fit: never none, since an empty text needs a place too.
func (s *statement) makeRoom(args []any) error {
	need := 1
	for _, a := range args {
		need += lengthOf(a)
	}
	if s.size >= need && (s.size <= largest || need > largest) {
		return nil
	}
	libc.Xfree(s.tls, s.room)
	s.room, s.size = 0, 0
	size := max(need, 128)
	if size > math.MaxInt32 {
		return explain(&fault{sqlite3.SQLITE_TOOBIG, "the arguments are too long"})
	}
	if s.room = libc.Xmalloc(s.tls, types.Size_t(size)); s.room == 0 {
		return explain(&fault{sqlite3.SQLITE_NOMEM, "out of memory"})
	}
	s.size = size
	return nil
}

// bindText binds text, put at a place in the room, and returns the place behind it. SQLite makes no copy.
func (s *statement) bindText(n int32, at uintptr, text string) (int32, uintptr) {
	size := copy(libc.GoBytes(at, len(text)), text)
	return sqlite3.Xsqlite3_bind_text(s.tls, s.raw, n, at, int32(size), sqlite3.SQLITE_STATIC), at + uintptr(size)
}

// bindBlob is bindText for bytes; nil is NULL.
func (s *statement) bindBlob(n int32, at uintptr, blob []byte) (int32, uintptr) {
	if blob == nil {
		return sqlite3.Xsqlite3_bind_null(s.tls, s.raw, n), at
	}
	size := copy(libc.GoBytes(at, len(blob)), blob)
	return sqlite3.Xsqlite3_bind_blob(s.tls, s.raw, n, at, int32(size), sqlite3.SQLITE_STATIC), at + uintptr(size)
}

// step goes on to the next row; false at the end.
func (s *statement) step() (bool, error) {
	rc := sqlite3.Xsqlite3_step(s.tls, s.raw)
	return rc == sqlite3.SQLITE_ROW, s.fail(rc)
}

// run steps to the end. What it has failed with is told once more by reset.
func (s *statement) run() error {
	for {
		if more, err := s.step(); !more || err != nil {
			sqlite3.Xsqlite3_reset(s.tls, s.raw)
			return err
		}
	}
}

// reset makes it ready to run anew.
func (s *statement) reset() {
	s.busy = false
	sqlite3.Xsqlite3_reset(s.tls, s.raw)
}

// text is a column of the current row as bytes, which are SQLite's and change with the next step.
func (s *statement) text(column int32) []byte {
	p := sqlite3.Xsqlite3_column_text(s.tls, s.raw, column)
	return libc.GoBytes(p, int(sqlite3.Xsqlite3_column_bytes(s.tls, s.raw, column)))
}

// blob is text for a column of bytes.
func (s *statement) blob(column int32) []byte {
	p := sqlite3.Xsqlite3_column_blob(s.tls, s.raw, column)
	return libc.GoBytes(p, int(sqlite3.Xsqlite3_column_bytes(s.tls, s.raw, column)))
}

func (s *statement) number(column int32) int64 {
	return sqlite3.Xsqlite3_column_int64(s.tls, s.raw, column)
}

// value is a column as Go has it: an int64, a float64, a string, a []byte or nil.
func (s *statement) value(column int32) any {
	switch sqlite3.Xsqlite3_column_type(s.tls, s.raw, column) {
	case sqlite3.SQLITE_INTEGER:
		return s.number(column)
	case sqlite3.SQLITE_FLOAT:
		return sqlite3.Xsqlite3_column_double(s.tls, s.raw, column)
	case sqlite3.SQLITE_TEXT:
		return string(s.text(column))
	case sqlite3.SQLITE_BLOB:
		return append([]byte{}, s.blob(column)...)
	}
	return nil
}
