package main

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"holdfast/store"
	"holdfast/web"
)

// access is what a command needs of the file when no daemon runs.
type access bool

const (
	reading access = false
	writing access = true
)

// running is a client of the daemon; errDown if none runs.
func (c *call) running() (*client, error) {
	l, err := c.valid()
	if err != nil {
		return nil, err
	}
	return l.running()
}

// running looks where the daemon has said it listens, then where the config says.
func (l *loaded) running() (*client, error) {
	if _, err := os.Stat(filepath.Join(l.Store.Dir, "holdfast.db")); err != nil {
		return nil, errDown // and do not make a token for a store that is not there
	}
	err := errDown
	for _, address := range []string{readAddress(l.Store.Dir), l.Web.Listen} {
		if address == "" {
			continue
		}
		var house *client
		if house, err = l.client(address); err != nil {
			return nil, err
		}
		var state json.RawMessage
		if err = house.get("/api/v1/state", nil, &state); err == nil {
			return house, nil
		}
	}
	return nil, err
}

// addressFile is where a daemon notes its address, for one that lets the system choose the port.
func addressFile(dir string) string { return filepath.Join(dir, "web.addr") }

// readAddress is what a daemon has noted; "" if none has.
func readAddress(dir string) string {
	b, err := os.ReadFile(addressFile(dir))
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(b))
}

// ask reads path from the daemon, or from the file if none runs.
func (c *call) ask(path string, query url.Values, v any) error {
	return c.withHouse(reading, func(house *client) error { return house.get(path, query, v) })
}

// withHouse calls do with the daemon. If none runs, the house is opened on the file for as long as
// do takes: its own handlers answer, but no turn runs.
func (c *call) withHouse(need access, do func(*client) error) error {
	l, err := c.valid()
	if err != nil {
		return err
	}
	house, err := l.running()
	if !errors.Is(err, errDown) {
		if err != nil {
			return err
		}
		return do(house)
	}
	if _, err := os.Stat(filepath.Join(l.Store.Dir, "holdfast.db")); err != nil {
		return fmt.Errorf("there is no store in %s yet; start the daemon first: %s", l.Store.Dir, c.line("run"))
	}
	return l.onFile(need, do)
}

// onFile serves the API on a loopback port under a token that nobody else knows.
func (l *loaded) onFile(need access, do func(*client) error) error {
	log := quiet()
	st, err := l.openFile(need, log)
	if err != nil {
		return err
	}
	defer st.Close()
	at, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return fmt.Errorf("open the store's API: %w", err)
	}
	defer at.Close()
	token := rand.Text()
	l.Web = web.Config{Listen: at.Addr().String(), Token: token}
	_, site, err := l.build(st, nil, nil, web.Parts{Listen: at}, nil, log)
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- site.Run(ctx) }()
	err = do(&client{base: "http://" + at.Addr().String(), token: token, http: http.Client{Timeout: time.Minute}})
	stop()
	return errors.Join(err, <-ended)
}

// openFile opens the store without a daemon.
func (l *loaded) openFile(need access, log *slog.Logger) (*store.Store, error) {
	if need == reading {
		return store.OpenReader(l.Store)
	}
	st, err := store.Open(l.Store, log)
	if errors.Is(err, store.ErrLocked) {
		return nil, fmt.Errorf("a daemon runs on %s, but none answers at %s; is this its config?", l.Store.Dir, l.Web.Listen)
	}
	return st, err
}

// loginCmd prints a fresh link.
type loginCmd struct{}

func (loginCmd) Run(c *call) error {
	house, err := c.running()
	if errors.Is(err, errDown) {
		return c.noPage()
	} else if err != nil {
		return err
	}
	var link struct{ URL string }
	if err := house.do(http.MethodPost, "/api/v1/login-link", nil, &link); err != nil {
		return err
	}
	fmt.Fprintln(c.out, link.URL)
	return nil
}

// noPage says that there is no daemon to log in to. Who tries the demo types the command that the README
// tells, so that one is looked for too.
func (c *call) noPage() error {
	err := c.down("no daemon runs, so there is no page to log in to")
	if c.demo {
		return err
	}
	if _, other := c.place.demo().running(); other == nil {
		return fmt.Errorf("%w; the demo runs, and its link is printed by: holdfast login --demo", err)
	}
	return err
}
