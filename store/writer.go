package store

import (
	"cmp"
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"slices"
	"sync"
	"sync/atomic"
)

// writer is the one connection that writes, with group commit:
//
//	caller ─ alone ───────────────── leads: BEGIN · its fact · COMMIT ──────────────── returns
//	caller ─ among others ─ queues ┬ as the leader: BEGIN · every queued fact · COMMIT ─ returns
//	                               └ woken when the commit with its fact is over ─────── returns
//
// So concurrent facts share one fsync, a lone one pays for nothing else, and each caller leads at most
// once. A fact that fails is undone alone and only its caller hears of it. Most fail before they have
// written anything, and there is nothing to be undone; after one that has, the transaction is rolled back and the
// others run once more, each in a SAVEPOINT of its own, which is too dear to be made for all of them
// always. When the COMMIT fails every caller of the batch hears of it, and none of its facts is stored.
type writer struct {
	conn *conn
	ids  *ids
	news *news

	ran, commits atomic.Int64 // statements, and commits of one fact or several

	rehearse func(*entry) // for tests: called before a fact runs; nil = nothing

	mu      sync.Mutex
	idle    sync.Cond // leading has become false
	leading bool
	closed  bool
	queue   []*entry

	// These belong to the leader.
	batch []*entry // of the transaction under way, its own first
	head  int64    // newest change
}

// good reports a fact that has not failed so far.
func (e *entry) good() bool { return e.err == nil && e.panicked == nil }

// entry is a caller's fact on its way.
type entry struct {
	at       Time
	do       func(*fact) error
	err      error
	panicked any
	lead     chan bool // receives true: lead; closed: it is over
}

func newWriter(c *conn, ids *ids, news *news) *writer {
	w := &writer{conn: c, ids: ids, news: news, head: news.Head()}
	w.idle.L = &w.mu
	c.ran = &w.ran
	return w
}

// do runs a fact and returns after the commit that holds it, or with the reason why nothing of it
// is stored. at is the moment of its changes. A panic in it comes out here.
func (w *writer) do(at Time, fn func(*fact) error) error {
	e := &entry{at: at, do: fn}
	w.mu.Lock()
	if w.closed {
		w.mu.Unlock()
		return ErrReadOnly
	}
	w.queue = append(w.queue, e)
	leads := !w.leading
	if w.leading = true; !leads {
		e.lead = make(chan bool, 1)
	}
	w.mu.Unlock()
	if leads || <-e.lead {
		w.lead()
	}
	if e.panicked != nil {
		panic(e.panicked)
	}
	return e.err
}

// lead commits what is queued; the leader's own fact is the first of it.
func (w *writer) lead() {
	w.batch = w.batch[:0]
	w.take()
	w.commit()
	for _, e := range w.batch[1:] {
		close(e.lead)
	}
	clear(w.batch)
	w.handOver()
}

// most is how many facts share a commit, so that the first of them is not kept waiting by a stream of others.
const most = 256

// take moves what is queued into the batch; false if that is nothing, or there is no room.
func (w *writer) take() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	n := min(len(w.queue), most-len(w.batch))
	w.batch = append(w.batch, w.queue[:n]...)
	w.queue = slices.Delete(w.queue, 0, n)
	return n > 0
}

// handOver makes the longest waiting caller the leader, or lets the next one that comes be it.
func (w *writer) handOver() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.queue) > 0 {
		w.queue[0].lead <- true
		return
	}
	w.leading = false
	w.idle.Broadcast()
}

// commit runs a batch in one transaction and leaves each entry's outcome in it.
func (w *writer) commit() {
	head := w.head
	err := w.transaction(w.runAmong)
	if errors.Is(err, errHalf) && slices.ContainsFunc(w.batch, (*entry).good) {
		w.rollback(head)
		err = w.transaction(w.runApart)
	}
	if err != nil {
		w.rollback(head)
		for _, e := range w.batch {
			if e.good() {
				e.err = err
			}
		}
		return
	}
	if w.head != head {
		w.news.tell(w.head)
	}
}

// rollback ends the transaction without a trace; SQLite may have done so itself.
func (w *writer) rollback(head int64) {
	w.head = head
	_, _ = w.conn.exec("ROLLBACK")
}

// transaction runs those of the batch that have not failed yet, from BEGIN to COMMIT, and whatever comes
// meanwhile: the callers whose facts have just been committed queue their next ones then, and would otherwise
// form two groups, of which each waits for the other's commit. An error says that nothing is stored.
func (w *writer) transaction(run func(*entry) error) error {
	if _, err := w.conn.exec("BEGIN IMMEDIATE"); err != nil {
		return err
	}
	for i, more := 0, true; more; more = w.take() {
		for ; i < len(w.batch); i++ {
			if e := w.batch[i]; e.good() {
				if err := run(e); err != nil {
					return err
				}
			}
		}
		runtime.Gosched() // lets who is ready to queue do so
	}
	if !slices.ContainsFunc(w.batch, (*entry).good) {
		return errNone
	}
	_, err := w.conn.exec("COMMIT")
	w.commits.Add(1)
	return err
}

var (
	errNone = errors.New("none of the facts is to be stored")
	errHalf = errors.New("a fact has failed half way") // what it has written is to be undone
)

// runAmong runs a fact without a way back of its own: errHalf if one is needed. Any other error says that
// the transaction is lost, as when SQLite has rolled it back by itself on a full disk.
func (w *writer) runAmong(e *entry) error {
	head, written := w.head, w.conn.written()
	switch {
	case w.run(e):
		return nil
	case !w.conn.inTransaction():
		return e.err
	case w.conn.written() != written:
		return errHalf
	}
	w.head = head
	return nil
}

// runApart runs a fact in a savepoint of its own. An error says that the transaction is lost.
func (w *writer) runApart(e *entry) error {
	head := w.head
	if _, err := w.conn.exec("SAVEPOINT fact"); err != nil {
		return err
	}
	if !w.run(e) {
		w.head = head
		if _, err := w.conn.exec("ROLLBACK TO fact"); err != nil {
			return cmp.Or(e.err, err)
		}
	}
	_, err := w.conn.exec("RELEASE fact")
	return err
}

// run calls one fact; false if it is to be rolled back.
func (w *writer) run(e *entry) (good bool) {
	if w.rehearse != nil {
		w.rehearse(e)
	}
	defer func() {
		if p := recover(); p != nil {
			e.panicked = fmt.Sprintf("%v\n%s", p, debug.Stack())
			e.err, good = fmt.Errorf("panic in a fact: %v", p), false
		}
	}()
	e.err = e.do(&fact{conn: w.conn, writer: w, at: e.at})
	return e.err == nil
}

// close waits for the facts under way and empties the write-ahead log into the file; facts that come
// later are refused.
func (w *writer) close() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.closed = true
	for w.leading {
		w.idle.Wait()
	}
	if w.conn.kept == nil {
		_ = w.conn.script("PRAGMA busy_timeout = 200")        // no more patience than this with a reader in another process
		_, _ = w.conn.exec("PRAGMA wal_checkpoint(TRUNCATE)") // closing would do it too, unless such a reader keeps the file open
	}
	return w.conn.leave()
}
