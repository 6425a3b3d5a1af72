package llm

import (
	"context"
	"errors"
	"io"
	"strings"
	"time"
)

// failed reads an answer that is none: its body up to maxBody, what follows only if it is short.
func (x *exchange) failed() *Failure {
	end := time.AfterFunc(failedFor, func() { x.cancel(errSilent) })
	defer end.Stop()
	x.limit = min(x.limit, failedFor)
	body, _ := io.ReadAll(io.LimitReader(&watched{x}, maxBody))
	if x.parent.Err() != nil {
		return x.broken(x.parent.Err())
	}
	f := x.failure(Answer{Status: x.res.StatusCode, Header: x.res.Header, Body: body})
	f.RequestID = requestID(x.res.Header)
	return f
}

// cut is a stream that ended with err before its terminal event.
func (x *exchange) cut(err error) *Failure {
	switch {
	case x.parent.Err() != nil:
		return x.seen(x.broken(x.parent.Err()))
	case x.silent():
		f := x.read("idle")
		f.Silent = f.Class == Timeout
		if f.Text == "" {
			f.Text = "no byte for " + x.limit.String()
		}
		return f
	case !errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF):
		f := x.read("reset")
		if f.Text == "" {
			f.Text = oneLine(x.secrets.remove(err.Error()))
		}
		return f
	case !x.fields && len(x.lines) > 0:
		body := strings.Join(x.lines, "\n")
		return x.seen(x.failure(Answer{Status: x.res.StatusCode, Header: x.res.Header, Body: []byte(body)}))
	}
	return x.read("eof")
}

// read classifies the stream as far as it has come.
func (x *exchange) read(end string) *Failure {
	return x.seen(x.failure(Answer{Status: x.res.StatusCode, Header: x.res.Header, Stream: x.lines, End: end}))
}

// empty is an answer that came to its end without anything in it: it has the form of the API, so
// asking again is worth it.
func (x *exchange) empty(f *Failure) *Failure {
	if f.Class == Unclassified {
		f.Class, f.Transient, f.Text = Network, !f.NoRetry, "the answer was empty or garbled"
	}
	return f
}

// seen marks a failure after the headers of a 200.
func (x *exchange) seen(f *Failure) *Failure {
	f.Begun, f.Status = true, x.res.StatusCode
	f.RequestID = requestID(x.res.Header)
	return f
}

// broken is a request without an answer.
func (x *exchange) broken(err error) *Failure {
	switch {
	case x.parent.Err() != nil:
		return x.failure(Answer{Err: context.Canceled})
	case x.silent():
		f := x.failure(Answer{Err: context.DeadlineExceeded})
		f.Silent = true
		f.Text = "no answer within " + x.first.String()
		return f
	}
	return x.failure(Answer{Err: err})
}

// silent reports whether our own limit ended the request.
func (x *exchange) silent() bool { return errors.Is(context.Cause(x.ctx), errSilent) }
