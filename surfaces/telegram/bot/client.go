// Package bot is what a bot asks of Telegram over HTTP: a dozen methods, no more.
//
// No call is ever made twice here, but where Telegram has said that nothing was done. What it lets a bot
// send is counted beforehand; see pace.
package bot

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

const (
	pollFor   = 50 * time.Second // Telegram's end of a poll without news
	callFor   = 15 * time.Second // of any other call
	mostBytes = 16 << 20         // of an answer: 100 updates
)

// Config is what a client needs.
type Config struct {
	URL   string // "https://api.telegram.org"
	Token string
	Dial  func(ctx context.Context, network, addr string) (net.Conn, error) // nil = the system's
}

// Client calls methods; it is safe for concurrent use. The token stands in every URL, so no error
// may hold one.
type Client struct {
	base string
	http *http.Client
	pace pace

	mu    sync.Mutex
	moved map[string]string // groups that have got a new id
}

// New makes a client; nothing is sent yet.
func New(c Config) *Client {
	t := http.DefaultTransport.(*http.Transport).Clone()
	if c.Dial != nil {
		t.DialContext, t.Proxy = c.Dial, nil
	}
	return &Client{base: strings.TrimSuffix(c.URL, "/") + "/bot" + c.Token + "/", http: &http.Client{Transport: t}, pace: newPace(), moved: map[string]string{}}
}

// Close drops idle connections.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// Error is an answer that refuses a call.
type Error struct {
	Method     string
	Code       int // as HTTP's; 0 = our own count, nothing was sent
	What       string
	RetryAfter time.Duration // 429, and our own count
	Migrated   int64         // the group's new id
}

func (e *Error) Error() string {
	return fmt.Sprintf("%s: Telegram answers %d: %s", e.Method, e.Code, e.What)
}

// Refusal is an error's answer, if it is one.
func Refusal(err error) *Error {
	e, _ := errors.AsType[*Error](err)
	return e
}

// BadToken tells whether Telegram does not take the token.
func BadToken(err error) bool {
	r := Refusal(err)
	return r != nil && (r.Code == http.StatusUnauthorized || r.Code == http.StatusNotFound)
}

// Doubt is an error after which a call may have been carried out all the same.
type Doubt struct{ error }

// Unwrap is what went wrong.
func (d Doubt) Unwrap() error { return d.error }

// call makes one request, never a second one, and decodes the result into out, unless that is nil.
// The error is an *Error for whatever Telegram has answered, a Doubt if the request went out and
// nothing came back.
func (c *Client) call(ctx context.Context, method string, args, out any) error {
	limit := callFor
	if method == "getUpdates" {
		limit += pollFor
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	var sent atomic.Bool
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{WroteHeaders: func() { sent.Store(true) }})
	body, err := json.Marshal(args)
	if err != nil {
		return fmt.Errorf("%s: %w", method, err)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.base+method, bytes.NewReader(body))
	if err != nil {
		return fmt.Errorf("%s: the address is not good", method)
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := c.http.Do(req)
	if err == nil {
		defer resp.Body.Close()
		err = answered(method, resp, out)
	}
	if u, ok := errors.AsType[*url.Error](err); ok {
		err = fmt.Errorf("%s: %w", method, u.Err)
	}
	if err != nil && Refusal(err) == nil && sent.Load() {
		return Doubt{err}
	}
	return err
}

// answered reads an answer.
func answered(method string, resp *http.Response, out any) error {
	var said struct {
		OK          bool            `json:"ok"`
		Result      json.RawMessage `json:"result"`
		Code        int             `json:"error_code"`
		Description string          `json:"description"`
		Parameters  struct {
			RetryAfter int64 `json:"retry_after"` // s
			Migrated   int64 `json:"migrate_to_chat_id"`
		} `json:"parameters"`
	}
	err := json.NewDecoder(http.MaxBytesReader(nil, resp.Body, mostBytes)).Decode(&said)
	switch {
	case resp.StatusCode >= 300 || err == nil && !said.OK:
		if said.Code == 0 { // a proxy's answer
			said.Code, said.Description = resp.StatusCode, http.StatusText(resp.StatusCode)
		}
		return &Error{method, said.Code, said.Description, time.Duration(said.Parameters.RetryAfter) * time.Second, said.Parameters.Migrated}
	case err != nil:
		return fmt.Errorf("%s: read the answer: %w", method, err)
	case out == nil:
		return nil
	}
	if err := json.Unmarshal(said.Result, out); err != nil {
		return fmt.Errorf("%s: read the result: %w", method, err)
	}
	return nil
}
