package main

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"syscall"
	"time"

	"holdfast/web"
)

// client speaks to the daemon that runs on this config.
type client struct {
	base  string
	token string
	http  http.Client
}

// errDown says that no daemon listens.
var errDown = errors.New("no daemon runs")

// apiError is the daemon's refusal.
type apiError struct {
	Status  int
	Code    string
	Message string
	Turn    *turn // 409: as it is now
}

func (e *apiError) Error() string { return e.Message }

// client makes one for an address; it does not look whether a daemon is there.
func (l *loaded) client(address string) (*client, error) {
	token := l.Web.Token
	if token == "" {
		var err error
		if token, err = web.TokenFile(l.Store.Dir); err != nil {
			return nil, err
		}
	}
	return &client{base: "http://" + dialable(address), token: token, http: http.Client{Timeout: 30 * time.Second}}, nil
}

// dialable is an address to call for one to listen on: "all addresses" is this machine.
func dialable(listen string) string {
	host, port, err := net.SplitHostPort(listen)
	if err != nil {
		return listen
	}
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
		host = "127.0.0.1"
	}
	return net.JoinHostPort(host, port)
}

// get reads path into v.
func (c *client) get(path string, query url.Values, v any) error {
	if len(query) > 0 {
		path += "?" + query.Encode()
	}
	return c.do(http.MethodGet, path, nil, v)
}

// order is a command of POST /api/v1/commands.
type order struct {
	ID     string `json:"id"`
	Cmd    string `json:"cmd"`
	Target string `json:"target,omitempty"`
	Args   any    `json:"args,omitempty"`
}

// post carries out a command, under an id of its own.
func (c *client) post(o order, v any) error {
	o.ID = rand.Text()
	return c.do(http.MethodPost, "/api/v1/commands", o, v)
}

// do makes one request. errDown if nobody listens; an *apiError if the daemon refuses.
func (c *client) do(method, path string, body, v any) error {
	var sent io.Reader
	if body != nil {
		b, err := json.Marshal(body)
		if err != nil {
			return fmt.Errorf("write a request: %w", err)
		}
		sent = bytes.NewReader(b)
	}
	req, err := http.NewRequest(method, c.base+path, sent)
	if err != nil {
		return fmt.Errorf("make a request: %w", err)
	}
	req.Header.Set("Authorization", "Bearer "+c.token)
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	resp, err := c.http.Do(req)
	if refused(err) {
		return errDown
	} else if err != nil {
		return fmt.Errorf("ask the daemon at %s: %w", c.base, err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(io.LimitReader(resp.Body, 64<<20))
	if err != nil {
		return fmt.Errorf("read the daemon's answer: %w", err)
	}
	if resp.StatusCode != http.StatusOK {
		return c.refusal(resp.StatusCode, text)
	}
	if err := json.Unmarshal(text, v); err != nil {
		return fmt.Errorf("what answers at %s is no holdfast of this version: %w", c.base, err)
	}
	return nil
}

// refused tells a connection that nobody takes from other failures.
func refused(err error) bool {
	return errors.Is(err, syscall.ECONNREFUSED) || errors.Is(err, syscall.Errno(10061)) // WSAECONNREFUSED
}

// taken tells an address that somebody else listens on from other failures.
func taken(err error) bool {
	return errors.Is(err, syscall.EADDRINUSE) || errors.Is(err, syscall.Errno(10048)) // WSAEADDRINUSE
}

// refusal reads an error answer.
func (c *client) refusal(status int, text []byte) error {
	var body struct {
		Error struct{ Code, Message string }
		Turn  *turn
	}
	switch err := json.Unmarshal(text, &body); {
	case status == http.StatusUnauthorized:
		return fmt.Errorf("what listens at %s does not take this config's token; is it the daemon of another config?", c.base)
	case err != nil || body.Error.Message == "":
		return fmt.Errorf("what listens at %s is no holdfast (status %d); stop it, or write another address: [web] listen", c.base, status)
	}
	return &apiError{Status: status, Code: body.Error.Code, Message: body.Error.Message, Turn: body.Turn}
}
