package main

import (
	"cmp"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"holdfast/engine/tool"
	"holdfast/engine/tool/mcp"
	"holdfast/internal/config"
)

// mcpCmd is what can be done with tool servers.
type mcpCmd struct {
	Test mcpTestCmd `cmd:"" help:"Start a tool server and list its tools."`
}

// mcpTestCmd reaches one server as the daemon would, and ends it again.
type mcpTestCmd struct {
	Name string `arg:"" help:"The name of an [[mcp]] section."`
}

// Run prints the server and a line for each of its tools.
func (m *mcpTestCmd) Run(c *call) error {
	l, err := c.valid()
	if err != nil {
		return err
	}
	server, err := l.server(m.Name)
	if err != nil {
		return err
	}
	ctx, stop := untilSignal()
	defer stop()
	fmt.Fprintf(c.out, "%s: %s, approve = %q\n", server.Name, transport(server), server.Approve)
	began := time.Now()
	tools, err := mcp.New(server, mcp.Options{Log: quiet(), Version: version}).Probe(ctx)
	if err != nil {
		return fmt.Errorf("the tool server %s cannot be used: %w", server.Name, err)
	}
	fmt.Fprintf(c.out, "It has answered after %s with %s.\n", length(time.Since(began).Milliseconds()), counted(len(tools), "tool"))
	table(c.out, column(tools, func(t tool.Tool) []string { return toolRow(t.Spec()) }))
	return nil
}

// server is the section of that name.
func (l *loaded) server(name string) (tool.Config, error) {
	i := slices.IndexFunc(l.MCP, func(c tool.Config) bool { return c.Name == name })
	if i >= 0 {
		return l.MCP[i], nil
	}
	names := column(l.MCP, func(c tool.Config) string { return c.Name })
	switch near := config.Nearest(name, names); {
	case len(names) == 0:
		return tool.Config{}, errors.New("there is no [[mcp]] section in the config; write one first")
	case near != "":
		return tool.Config{}, fmt.Errorf("no [[mcp]] section is named %q; did you mean %s?", name, near)
	}
	return tool.Config{}, fmt.Errorf("no [[mcp]] section is named %q; there are: %s", name, strings.Join(names, ", "))
}

// transport is how a server is reached, without what may be secret in it.
func transport(c tool.Config) string {
	if len(c.Command) > 0 {
		return "stdio, the program " + filepath.Base(c.Command[0])
	}
	if u, err := url.Parse(c.URL); err == nil {
		return "streamable HTTP at " + u.Host
	}
	return "streamable HTTP"
}

// toolRow is a tool as the command line lists it.
func toolRow(s tool.Spec) []string {
	does := "writes"
	switch {
	case s.ReadOnly:
		does = "reads only"
	case s.Destructive:
		does = "writes, may destroy"
	}
	if s.Idempotent {
		does += ", may be repeated"
	}
	approval := "no approval"
	if s.NeedsApproval() {
		approval = "needs approval"
	}
	return []string{s.Name, does, approval, cmp.Or(tool.FirstLine(s.Description, 100), tool.OneLine(s.Title, 100))}
}
