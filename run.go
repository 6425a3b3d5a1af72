package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net"
	"os"
	"sync"
	"time"

	"holdfast/engine"
	"holdfast/store"
	"holdfast/surfaces/webchat"
	"holdfast/web"
)

// runCmd is the daemon.
type runCmd struct{}

func (runCmd) Run(c *call) error {
	l, err := c.valid()
	if err != nil {
		return err
	}
	return c.serve(l)
}

// serve is the whole life of a daemon: the parts are built in reading order, run, and stopped in
// reverse.
func (c *call) serve(l *loaded) error {
	ctx, cancel := untilSignal()
	defer cancel()
	log := newLog(c.err, l.Log)
	found := l.detectIfNeeded(ctx, c.place)

	st, err := store.Open(l.Store, log)
	if err != nil {
		return explainStore(err, l.Store.Dir)
	}
	defer closed(log, "store", st.Close)

	at, err := listen(l.Web.Listen)
	if err != nil {
		return err
	}
	defer os.Remove(addressFile(l.Store.Dir))
	if err := os.WriteFile(addressFile(l.Store.Dir), []byte(at.Addr().String()+"\n"), 0o600); err != nil {
		return errors.Join(fmt.Errorf("note the page's address: %w", err), at.Close())
	}
	services, err := openProviders(l, log)
	if err != nil {
		return errors.Join(err, at.Close())
	}
	defer closed(log, "providers", services.close)

	live := web.NewLive()
	eng, err := engine.New(engine.Parts{
		Config: l.Engine, Retry: l.Retry, Alerts: l.Alerts, Bots: l.Bots, Providers: services.byName,
		Surfaces: surfaces(live), Store: st, Log: log, Location: l.location(),
	})
	if err != nil {
		return errors.Join(err, at.Close())
	}
	site, err := web.New(l.Web, web.Parts{
		Store: st, Engine: eng, Live: live, Log: log, Version: version, Bots: pageBots(l.Bots), Demo: found == demoModel, Dir: l.Store.Dir, Listen: at,
	})
	if err != nil {
		return errors.Join(err, at.Close())
	}
	return runAll(ctx, eng, site, func(ctx context.Context) {
		c.greet(l, site, found)
		if found == demoModel {
			lookAgain(ctx, c.place, l, eng, services, log)
		}
	})
}

// surfaces are the places where people talk.
func surfaces(live *web.Live) []engine.Surface {
	return []engine.Surface{webchat.New(live)}
}

// pageBots are the bots as the page names them.
func pageBots(bots []engine.Bot) []web.Bot {
	return column(bots, func(b engine.Bot) web.Bot { return web.Bot{Name: b.Name, Models: b.Models} })
}

// runAll runs engine and page until ctx ends or one of them does, then stops the page before the
// engine. up is called once they run and is waited for.
func runAll(ctx context.Context, eng *engine.Engine, site *web.Server, up func(context.Context)) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	engCtx, stopEngine := context.WithCancel(context.WithoutCancel(ctx))
	defer stopEngine()
	var engErr, siteErr error
	var engEnded, others sync.WaitGroup
	engEnded.Go(func() { defer cancel(); engErr = eng.Run(engCtx) })
	others.Go(func() { defer cancel(); siteErr = site.Run(ctx) })
	others.Go(func() { up(ctx) })
	others.Wait()
	stopEngine()
	engEnded.Wait()
	return errors.Join(engErr, siteErr)
}

// lookAgain waits for a model to appear in place of the demo, and then lets it answer.
func lookAgain(ctx context.Context, p place, l *loaded, eng *engine.Engine, services *providers, log *slog.Logger) {
	every := time.NewTicker(10 * time.Second)
	defer every.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-every.C:
		}
		now := &loaded{Config: l.Config}
		now.Bots, now.Providers = nil, maps.Clone(l.Providers)
		found := now.detectIfNeeded(ctx, p)
		if found == demoModel {
			continue
		}
		name := now.usedProviders()[0]
		if err := services.open(name, now.Providers[name]); err != nil {
			log.Warn("a model was found but cannot be used", "model", found, "err", err)
			continue
		}
		eng.SetProvider(name, services.byName[name])
		eng.SetBots(now.Bots)
		log.Info("a model was found and answers from now on", "model", found)
		return
	}
}

// listen takes the page's address.
func listen(address string) (net.Listener, error) {
	at, err := net.Listen("tcp", address)
	if taken(err) {
		return nil, fmt.Errorf("%s is taken by another program, maybe another holdfast: stop that one, or write another address into the config: [web] listen = \"127.0.0.1:8421\"", address)
	} else if err != nil {
		return nil, fmt.Errorf("listen at %s ([web] listen): %w", address, err)
	}
	return at, nil
}

// explainStore adds what to do about a store that cannot be opened.
func explainStore(err error, dir string) error {
	if errors.Is(err, store.ErrLocked) {
		return fmt.Errorf("%w; the store in %s serves one daemon at a time: stop the other, or write another directory into the config: [store] dir", err, dir)
	}
	return err
}

// closed ends a part and logs what goes wrong, since nothing can be done about it.
func closed(log *slog.Logger, part string, end func() error) {
	if err := end(); err != nil {
		log.Error("could not be closed", "part", part, "err", err)
	}
}
