package llm

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net/http"
	"time"
)

const (
	maxBody   = 1 << 20          // what is read of a failed answer, for Classify and to use the connection again
	maxWhole  = 16 << 20         // the longest answer that is not streamed
	maxText   = 4 << 20          // text of a streamed answer: no model's longest is a tenth of it
	maxRest   = 64 << 20         // events of a streamed answer without text: calls, reasoning
	maxTail   = 256 << 10        // raw lines kept for Classify; an error is seen when it comes, so the tail is enough
	failedFor = 30 * time.Second // the body of a failed answer may take so long
	lingerFor = 10 * time.Second // after the terminal event: for its usage and [DONE]
	drainFor  = 250 * time.Millisecond
)

// errSilent ends a request whose provider sent nothing for too long.
var errSilent = errors.New("no byte in time")

// Progress says where an answer stands.
type Progress int

const (
	More     Progress = iota // the terminal event has not come
	Complete                 // it has come; what belongs to it may follow
	Done                     // nothing follows
	Failed                   // this is no answer: Classify reads what came
)

// Parser reads one answer in the words of one wire. It sees neither errors, nor comments, nor
// events without data: those are the same on every wire and are read by the exchange.
type Parser interface {
	// Event reads one event of the stream.
	Event(name, data string) ([]Event, Progress)
	// Whole reads an answer that was not streamed.
	Whole(body []byte) ([]Event, Progress)
	// End gives what is left when the answer is complete: its calls and its Finish.
	End() []Event
}

// exchange is one request and its answer.
type exchange struct {
	*Client
	parser Parser
	yield  func(Event, error) bool
	left   bool // the range was broken off
	parent context.Context
	ctx    context.Context
	cancel context.CancelCauseFunc
	watch  *time.Timer // ends the request when nothing comes
	res    *http.Response
	limit  time.Duration // no byte for so long ends it; the client's idle limit, shorter once the answer is complete
	lines  []string      // the last raw lines
	size   int           // of lines
	fields bool          // a line of the stream had SSE's form
	text   int           // bytes of text that have come in a stream
	rest   int           // … and of events without any
}

func newExchange(ctx context.Context, c *Client, p Parser, yield func(Event, error) bool) *exchange {
	x := &exchange{Client: c, parser: p, yield: yield, parent: ctx, limit: c.idle}
	x.ctx, x.cancel = context.WithCancelCause(ctx)
	x.watch = time.AfterFunc(time.Hour, func() { x.cancel(errSilent) })
	x.watch.Stop()
	return x
}

// end leaves nothing behind: the timer is stopped and the connection either idle or closed.
func (x *exchange) end() {
	x.watch.Stop()
	x.cancel(context.Canceled)
	if x.res != nil {
		_ = x.res.Body.Close()
	}
}

// run sends the request and hands on its answer; nil means that the answer was complete or that
// nobody listens any more.
func (x *exchange) run(path string, body []byte) *Failure {
	req, err := x.request(x.ctx, path, body)
	if err != nil {
		return x.broken(err)
	}
	x.watch.Reset(x.first)
	x.res, err = x.http.Do(req)
	x.watch.Stop()
	if err != nil {
		return x.broken(err)
	}
	x.res.Body = unzipped(x.res)
	if x.res.StatusCode != http.StatusOK {
		return x.failed()
	}
	if !x.emit(Event{Head: &Head{Status: x.res.StatusCode, RequestID: requestID(x.res.Header)}}) {
		return nil
	}
	src := bufio.NewReader(&watched{x})
	if whole, err := startsWhole(src); err != nil {
		return x.cut(err)
	} else if whole {
		return x.whole(src)
	}
	return x.stream(newLineReader(src))
}

// emit hands events to the listener; false when it has left.
func (x *exchange) emit(events ...Event) bool {
	for _, e := range events {
		if !x.yield(e, nil) {
			x.left = true
			return false
		}
	}
	return true
}

// stream reads events up to the terminal one.
func (x *exchange) stream(lines *lineReader) *Failure {
	var events sseAssembler
	at := More
	for {
		line, partial, err := lines.next()
		if err != nil {
			return x.ended(events, at, err)
		}
		x.keep(line)
		kind, _, value := cutField(line)
		if kind == sseError || kind == sseBare && !partial && errorObject(value) {
			return x.read("eof")
		}
		e, whole := events.take(line)
		if !whole {
			continue
		}
		now, f := x.event(e)
		if f != nil || x.left {
			return f
		}
		if at = max(at, now); at == Done {
			return x.complete()
		}
		if at == Complete {
			x.limit = min(x.limit, lingerFor)
		}
	}
}

// ended is a stream that ended with err. An event that only lacks its empty line counts.
func (x *exchange) ended(events sseAssembler, at Progress, err error) *Failure {
	if e, whole := events.flush(); whole && (at == More || errorObject(e.data)) {
		now, f := x.event(e)
		if f != nil && !errors.Is(err, io.EOF) {
			return x.cut(err)
		}
		if f != nil || x.left {
			return f
		}
		at = max(at, now)
	}
	if at == Complete || at == Done {
		return x.complete()
	}
	return x.cut(err)
}

// event reads one event, or several that came as one, and hands on what is in it.
func (x *exchange) event(e sseEvent) (Progress, *Failure) {
	all := e.parts()
	if all == nil {
		return x.part(e)
	}
	at := More
	for _, part := range all {
		now, f := x.part(part)
		if at = max(at, now); f != nil || x.left {
			return at, f
		}
	}
	return at, nil
}

func (x *exchange) part(e sseEvent) (Progress, *Failure) {
	if e.name == "error" || errorObject(e.data) {
		return Failed, x.read("eof")
	}
	events, at := x.parser.Event(e.name, e.data)
	if x.endless(e.data, events) {
		return Failed, x.seen(&Failure{Class: Server, Transient: true, Text: "the answer has no end: it is longer than any that a model gives"})
	}
	if !x.emit(events...) {
		return at, nil
	}
	if at == Failed {
		return at, x.empty(x.read("eof"))
	}
	return at, nil
}

// endless counts an event of a stream and reports one that is longer than memory should have to hold.
func (x *exchange) endless(data string, events []Event) bool {
	before := x.text
	for _, e := range events {
		x.text += len(e.Text)
	}
	if x.text == before {
		x.rest += len(data)
	}
	return x.text > maxText || x.rest > maxRest
}

// whole reads an answer that is one JSON document (or a page that is none).
func (x *exchange) whole(src io.Reader) *Failure {
	body, err := io.ReadAll(io.LimitReader(src, maxWhole))
	if err != nil {
		return x.cut(err)
	}
	if !errorObject(string(body)) {
		events, at := x.parser.Whole(body)
		if !x.emit(events...) {
			return nil
		}
		if at == Complete || at == Done {
			return x.complete()
		}
	}
	f := x.seen(x.failure(Answer{Status: x.res.StatusCode, Header: x.res.Header, Body: body}))
	if isHollow(body) {
		f = x.empty(f)
	}
	return f
}

// complete hands on the end of a complete answer. The few bytes that may follow are read, so that
// the connection can be used again.
func (x *exchange) complete() *Failure {
	if x.emit(x.parser.End()...) {
		x.limit = min(x.limit, drainFor)
		_, _ = io.CopyN(io.Discard, &watched{x}, 64<<10)
	}
	return nil
}

// keep remembers a raw line, the last maxTail bytes of them.
func (x *exchange) keep(line string) {
	if kind, _, _ := cutField(line); kind != sseBare && kind != sseEnd {
		x.fields = true
	}
	x.lines = append(x.lines, line)
	x.size += len(line) + 1
	for x.size > maxTail && len(x.lines) > 1 {
		x.size -= len(x.lines[0]) + 1
		x.lines = x.lines[1:]
	}
}

// watched reads the body under the idle limit. The limit runs only while a read waits, so a slow
// listener does not make a provider look silent; every byte counts, a comment's too.
type watched struct{ x *exchange }

func (w *watched) Read(p []byte) (int, error) {
	w.x.watch.Reset(w.x.limit)
	defer w.x.watch.Stop()
	return w.x.res.Body.Read(p)
}

// startsWhole looks at the first byte that is no white space: a JSON document or a page is an
// answer in one piece, whatever its content type says.
func startsWhole(src *bufio.Reader) (bool, error) {
	for {
		b, err := src.Peek(1)
		if errors.Is(err, io.EOF) {
			return false, nil // an empty stream
		}
		if err != nil {
			return false, err
		}
		switch b[0] {
		case ' ', '\t', '\r', '\n':
			_, _ = src.Discard(1)
		case '{', '[', '<':
			return true, nil
		default:
			return false, nil
		}
	}
}
