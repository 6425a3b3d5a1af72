// Package rest is what a bot asks of Discord over HTTP: a dozen calls, no more.
//
// Discord counts calls in buckets, which it names in the headers of its answers: one per route and
// channel, and one for all. The client keeps the count and does not send what would be refused. What
// may be repeated (reads, and writes that come to the same) waits for its bucket as long as its
// context allows; making and editing messages returns *Limited at once, so that whoever keeps them
// can wait without holding up others. No message is ever sent twice by this package: an answer that
// got lost is the caller's to look into, with the same nonce.
package rest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"
)

const (
	callTimeout = 15 * time.Second // of one request
	mostBytes   = 8 << 20          // of an answer
	patience    = 4                // tries of a call that may be repeated
	userAgent   = "DiscordBot (holdfast, 1)"
)

// Config is what a client needs.
type Config struct {
	URL   string // of the API with its version: "https://discord.com/api/v10/"
	Token string
	Dial  func(ctx context.Context, network, addr string) (net.Conn, error) // nil = the system's
}

// Client makes calls; it is safe for concurrent use.
type Client struct {
	base, token string
	http        *http.Client
	limits      limits
	tries       tries
}

// New makes a client; nothing is sent yet.
func New(c Config) *Client {
	t := http.DefaultTransport.(*http.Transport).Clone()
	if c.Dial != nil {
		t.DialContext, t.Proxy = c.Dial, nil
	}
	return &Client{
		base: strings.TrimSuffix(c.URL, "/"), token: c.Token, limits: newLimits(), tries: newTries(),
		http: &http.Client{Transport: t, Timeout: callTimeout, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }},
	}
}

// Close drops idle connections.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// call is one request as its route names it.
type call struct {
	name    string // what was tried, for errors
	method  string
	route   string // the path as a pattern, without major ids: the bucket goes by it
	major   string // the id that has a bucket of its own: the channel's
	path    string
	body    any
	patient bool // may wait for its bucket and be repeated
	free    bool // not counted by the global limit, and without the token
}

// do makes the call and decodes its answer into out, unless that is nil.
func (c *Client) do(ctx context.Context, k call, out any) error {
	for try := 1; ; try++ {
		err := c.once(ctx, k, out)
		if err == nil || !k.patient || try == patience || ctx.Err() != nil {
			return err
		}
		wait := time.Duration(try) * time.Second
		if l, ok := errors.AsType[*Limited](err); ok {
			wait = l.After
		} else if e, ok := errors.AsType[*Error](err); ok && e.Status < 500 {
			return err
		}
		if !sleep(ctx, wait) {
			return err
		}
	}
}

// once sends one request, unless its bucket is empty.
func (c *Client) once(ctx context.Context, k call, out any) error {
	if wait, why := c.limits.take(k, time.Now()); wait > 0 {
		return &Limited{Call: k.name, After: wait, Scope: why}
	}
	resp, body, err := c.send(ctx, k)
	if err != nil {
		c.limits.lost(k)
		return fmt.Errorf("%s: %w", k.name, err)
	}
	err = answered(k, resp, body)
	limited, _ := errors.AsType[*Limited](err)
	c.limits.learn(k, resp.Header, limited, time.Now())
	if err == nil && out != nil {
		if err := json.Unmarshal(body, out); err != nil {
			return fmt.Errorf("%s: read the answer: %w", k.name, err)
		}
	}
	return err
}

func (c *Client) send(ctx context.Context, k call) (*http.Response, []byte, error) {
	var body io.Reader
	if k.body != nil {
		data, err := json.Marshal(k.body)
		if err != nil {
			return nil, nil, err
		}
		body = bytes.NewReader(data)
	}
	req, err := http.NewRequestWithContext(ctx, k.method, c.base+k.path, body)
	if err != nil {
		return nil, nil, bare(err)
	}
	req.Header.Set("User-Agent", userAgent)
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if !k.free {
		req.Header.Set("Authorization", "Bot "+c.token)
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return nil, nil, bare(err)
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(io.LimitReader(resp.Body, mostBytes))
	return resp, data, err
}

// bare takes the URL out of an error: that of an interaction holds a secret.
func bare(err error) error {
	if u, ok := errors.AsType[*url.Error](err); ok {
		return u.Err
	}
	return err
}

// sleep waits; false if ctx ends first, or would: then it does not wait at all.
func sleep(ctx context.Context, d time.Duration) bool {
	if end, ok := ctx.Deadline(); ok && time.Until(end) < d {
		return false
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}
