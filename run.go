package main

import (
	"cmp"
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
	"holdfast/surfaces/discord"
	"holdfast/surfaces/door"
	"holdfast/surfaces/slack"
	"holdfast/surfaces/telegram"
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
	engine.TuneRuntime()
	ctx, cancel := untilSignal()
	defer cancel()
	tail := newLog(c.err, l.Log)
	log := slog.New(tail)
	found := l.detectIfNeeded(ctx, c.place)

	st, err := store.Open(l.Store, log)
	if err != nil {
		return err
	}
	defer closed(log, "store", st.Close)

	at, err := listen(l.Web.Listen)
	if err != nil {
		return err
	}
	defer at.Close() // a second time, if the page was served: that is no error worth telling
	defer os.Remove(addressFile(l.Store.Dir))
	if err := os.WriteFile(addressFile(l.Store.Dir), []byte(at.Addr().String()+"\n"), 0o600); err != nil {
		return fmt.Errorf("note the page's address: %w", err)
	}

	services, err := openProviders(l, log)
	if err != nil {
		return err
	}
	defer closed(log, "providers", services.close)

	servers := l.toolServers(log)
	eng, site, err := l.build(st, services.byName, servers, web.Parts{Listen: at, Demo: found == demoModel, Tail: tail, Login: c.loginLine()}, c.crash, log)
	if err != nil {
		return err
	}
	return runAll(ctx, eng, site, servers, func(ctx context.Context) {
		c.greet(l, site, found)
		if found == demoModel {
			lookAgain(ctx, c.place, l, eng, services, log)
		}
	})
}

// build makes the engine and the page over it; of page it needs what is not known here.
func (l *loaded) build(st *store.Store, services map[string]engine.Provider, servers toolServers, page web.Parts, crash func(string), log *slog.Logger) (*engine.Engine, *web.Server, error) {
	live := web.NewLive()
	eng, err := engine.New(engine.Parts{
		Config: l.Engine, Retry: l.Retry, Alerts: l.Alerts, Bots: l.Bots, Providers: services, Tools: l.tools(servers), PublicTools: l.Web.PublicTools,
		Surfaces: l.surfaces(live, log), Schedules: l.Schedules, Store: st, Log: log, Location: l.location(), Crash: crash, Keep: l.Store.Keep, PublicURL: cmp.Or(l.Web.PublicURL, "http://"+page.Listen.Addr().String()),
	})
	if err != nil {
		return nil, nil, err
	}
	page.Store, page.Engine, page.Live, page.Log, page.Version, page.Bots = st, eng, live, log, version, pageBots(l.Bots)
	page.Dir, page.Location, page.Currency, page.Prices = l.Store.Dir, l.location(), l.Currency, l.Prices
	site, err := web.New(l.Web, page)
	return eng, site, err
}

// surfaces are the places where people talk.
func (l *loaded) surfaces(live *web.Live, log *slog.Logger) []engine.Surface {
	all := []engine.Surface{webchat.New(live)}
	parts := func(bot string) door.Parts { return door.Parts{Reply: l.reply(bot), Log: log} }
	for _, c := range l.Slack {
		all = append(all, slack.New(c, parts(c.Bot)))
	}
	for _, c := range l.Discord {
		all = append(all, discord.New(c, parts(c.Bot)))
	}
	for _, c := range l.Telegram {
		all = append(all, telegram.New(c, parts(c.Bot)))
	}
	return all
}

// reply is when a bot answers in shared channels, as its section says.
func (l *loaded) reply(bot string) string {
	for _, b := range l.Bots {
		if b.Name == bot {
			return b.Reply
		}
	}
	return ""
}

// pageBots are the bots as the page names them.
func pageBots(bots []engine.Bot) []web.Bot {
	return column(bots, func(b engine.Bot) web.Bot { return web.Bot{Name: b.Name, Models: b.Models} })
}

// runAll runs engine, page and tool servers until ctx ends or one of the first two does, then stops the
// page before the engine, and the tools behind it. up is called once they run and is waited for.
func runAll(ctx context.Context, eng *engine.Engine, site *web.Server, servers toolServers, up func(context.Context)) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	engCtx, stopEngine := context.WithCancel(context.WithoutCancel(ctx))
	defer stopEngine()
	toolCtx, stopTools := context.WithCancel(context.WithoutCancel(ctx))
	defer stopTools()
	var engErr, siteErr error
	var engEnded, others, tools sync.WaitGroup
	tools.Go(func() { servers.run(toolCtx) })
	engEnded.Go(func() { defer cancel(); engErr = eng.Run(engCtx) })
	others.Go(func() { defer cancel(); siteErr = site.Run(ctx) })
	others.Go(func() { up(ctx) })
	others.Wait()
	stopEngine()
	engEnded.Wait()
	stopTools()
	tools.Wait()
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

// closed ends a part and logs what goes wrong, since nothing can be done about it.
func closed(log *slog.Logger, part string, end func() error) {
	if err := end(); err != nil {
		log.Error("could not be closed", "part", part, "err", err)
	}
}
