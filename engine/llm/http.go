package llm

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// Client makes the HTTP requests of one provider, for every wire alike. A Send is one request and
// never two: redirects are not followed, and net/http cannot repeat a request by itself (it does so
// when a kept-alive connection turns out to be dead, but only if the body can be rewound or the
// request carries an Idempotency-Key; ours has neither). Safe for concurrent use.
type Client struct {
	http    *http.Client
	base    string // without a slash at the end
	header  http.Header
	first   time.Duration // no byte of the answer for so long, headers included: timeout
	idle    time.Duration // no byte for so long later: timeout
	secrets secrets
}

// NewClient makes the client of a valid section. auth are the wire's own headers, among them the
// one that carries the key; [provider] headers go before them. transport nil means
// NewTransport(c.Concurrency).
func NewClient(c Config, auth map[string]string, transport *http.Transport) (*Client, error) {
	u, err := url.Parse(c.BaseURL)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, fmt.Errorf("base_url must be an http or https address, not %q", scrub(c.BaseURL))
	}
	if transport == nil {
		transport = NewTransport(c.Concurrency)
	}
	header := make(http.Header)
	for _, set := range []map[string]string{auth, c.Headers} {
		for k, v := range set {
			header.Set(k, v)
		}
	}
	header.Del("Idempotency-Key")
	header.Del("X-Idempotency-Key")
	stop := func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &Client{
		http:    &http.Client{Transport: transport, CheckRedirect: stop},
		base:    strings.TrimRight(c.BaseURL, "/"),
		header:  header,
		first:   c.FirstByteTimeout,
		idle:    c.IdleTimeout,
		secrets: secretsOf(c, header),
	}, nil
}

// NewTransport is a transport of a provider's own: proxies from the environment, HTTP/2 where the
// server has it, as many kept-alive connections as requests run at once.
func NewTransport(concurrency int) *http.Transport {
	dialer := &net.Dialer{Timeout: 30 * time.Second, KeepAlive: 30 * time.Second}
	return &http.Transport{
		Proxy:                  http.ProxyFromEnvironment,
		DialContext:            dialer.DialContext,
		ForceAttemptHTTP2:      true,
		MaxIdleConns:           max(concurrency, 2),
		MaxIdleConnsPerHost:    max(concurrency, 2),
		IdleConnTimeout:        90 * time.Second,
		TLSHandshakeTimeout:    15 * time.Second,
		MaxResponseHeaderBytes: 256 << 10,
		DisableCompression:     true, // a gzip writer would hold back the stream's small pieces
	}
}

// Send makes one POST of body to the base address plus path and yields what comes back, as
// Provider.Stream has it. p reads the answer in the wire's words; it serves this Send alone.
func (c *Client) Send(ctx context.Context, path string, body []byte, p Parser) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		x := newExchange(ctx, c, p, yield)
		defer x.end()
		if f := x.run(path, body); f != nil && !x.left {
			yield(Event{}, f)
		}
	}
}

// request builds the POST. GetBody is taken away, so that nothing can rewind the body.
func (c *Client) request(ctx context.Context, path string, body []byte) (*http.Request, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.base+path, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.GetBody = nil
	req.Header = c.header.Clone()
	if req.Header.Get("Content-Type") == "" {
		req.Header.Set("Content-Type", "application/json")
	}
	if req.Header.Get("Accept") == "" {
		req.Header.Set("Accept", "text/event-stream, application/json")
	}
	if host := req.Header.Get("Host"); host != "" {
		req.Host = host
	}
	return req, nil
}

// failure classifies what came, with every secret of this provider taken out before.
func (c *Client) failure(a Answer) *Failure {
	a.Now = time.Now()
	a.Body = []byte(c.secrets.remove(string(a.Body)))
	for i, line := range a.Stream {
		a.Stream[i] = c.secrets.remove(line)
	}
	if a.Err != nil && !errors.Is(a.Err, context.Canceled) {
		a.Err = cleanError{text: c.secrets.remove(a.Err.Error()), err: a.Err}
	}
	f := Classify(a)
	f.Text = c.secrets.remove(f.Text)
	return f
}

// cleanError is a client's error whose text holds no secret; its kind stays visible.
type cleanError struct {
	text string
	err  error
}

func (e cleanError) Error() string { return e.text }
func (e cleanError) Unwrap() error { return e.err }

// requestID is the name under which the provider knows the request; cf-ray is only the edge's.
func requestID(h http.Header) string {
	names := []string{"X-Request-Id", "Request-Id", "Apim-Request-Id", "X-Amzn-Requestid", "X-Goog-Request-Id",
		"X-Ms-Request-Id", "Openai-Request-Id", "X-Ds-Request-Id", "X-Generation-Id", "Cf-Ray"}
	for _, name := range names {
		if v := strings.TrimSpace(h.Get(name)); v != "" && len(v) <= 200 {
			return v
		}
	}
	return ""
}
