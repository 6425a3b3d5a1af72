package store

import (
	"errors"
	"fmt"

	sqlite3 "modernc.org/sqlite/lib"
)

// Errors that callers decide by.
var (
	ErrNotFound      = errors.New("not found")
	ErrSettled       = errors.New("the turn is done")
	ErrMoved         = errors.New("a message has joined the turn")
	ErrOtherBot      = errors.New("the chat belongs to another bot")
	ErrElsewhere     = fmt.Errorf("%w: one of another surface", ErrOtherBot)
	ErrDuplicate     = errors.New("the command was carried out before")
	ErrCommandReused = errors.New("the command id was used with another body")
	ErrBusy          = errors.New("a turn of it is not done")
	ErrTooMany       = errors.New("there are as many as there may be")
	ErrConfigured    = errors.New("it stands in the config")
	ErrBegun         = errors.New("the turn has taken its first step")
	ErrLocked        = errors.New("another holdfast runs on this file")
	ErrReadOnly      = errors.New("closed or read-only")
	ErrFull          = errors.New("the disk is full") // nothing of the fact was stored; it can be tried again
	ErrDamaged       = errors.New("the file is damaged")
	ErrNewer         = errors.New("the file is newer than this holdfast")
)

// explain gives SQLite's codes that an operator can do something about the words for it.
func explain(err error) error {
	e, ok := errors.AsType[*fault](err)
	if !ok {
		return err
	}
	switch e.code & 0xff { // the low byte is the primary code
	case sqlite3.SQLITE_FULL:
		return fmt.Errorf("%w, nothing of this was stored: free some space, it goes on by itself (%w)", ErrFull, err)
	case sqlite3.SQLITE_READONLY:
		return fmt.Errorf("%w: the file or its directory cannot be written, make both writable (%w)", ErrReadOnly, err)
	case sqlite3.SQLITE_CANTOPEN:
		return fmt.Errorf("the file cannot be opened: it and its directory must be readable and writable, also to read it (%w)", err)
	case sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB:
		return fmt.Errorf("%w: stop, keep a copy of it, and go back to a backup (%w)", ErrDamaged, err)
	}
	return err
}
