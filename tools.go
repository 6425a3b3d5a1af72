package main

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"time"

	"holdfast/engine/tool"
	"holdfast/engine/tool/mcp"
)

// toolServers are the [[mcp]] sections that a list of tools names.
type toolServers []*mcp.Server

// toolServers makes them; nothing is started yet.
func (l *loaded) toolServers(log *slog.Logger) (all toolServers) {
	used := slices.Clone(l.Web.PublicTools)
	for _, b := range l.Bots {
		used = append(used, b.Tools...)
	}
	for _, c := range l.MCP {
		if slices.Contains(used, c.Name) {
			all = append(all, mcp.New(c, mcp.Options{Log: log, Version: version}))
		}
	}
	return slices.Clip(all)
}

// tools are the servers and the built-in tools that need nothing of the engine, by the names that bots
// call them.
func (l *loaded) tools(servers toolServers) map[string]tool.Set {
	dirs := map[string]string{}
	for _, b := range l.Bots {
		dirs[b.Name] = b.FilesDir
	}
	sets := map[string]tool.Set{
		"fetch": tool.NewFetch(version),
		"files": tool.NewFiles(func(bot string) string { return dirs[bot] }),
		"time":  tool.NewClock(time.Now, l.location()),
	}
	for _, one := range servers {
		sets[one.Name()] = one
	}
	return sets
}

// run keeps the lines to them alive until ctx ends, and returns when their programs have ended.
func (s toolServers) run(ctx context.Context) {
	var lines sync.WaitGroup
	for _, one := range s {
		lines.Go(func() { _ = one.Run(ctx) }) // nil, whatever happens: a server that is down is tried again
	}
	lines.Wait()
}
