//go:build unix

package mcp

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// The test's binary is its own tool server: with peerVar set it plays one instead of running tests.
const (
	peerVar = "HOLDFAST_TEST_PEER" // "server", "raw", "strict", "orphan", "mute" or "dies"
	dirVar  = "HOLDFAST_TEST_DIR"  // where a server writes down what is done
)

func TestMain(m *testing.M) {
	switch os.Getenv(peerVar) {
	case "":
		os.Exit(m.Run())
	case "server":
		fmt.Fprintln(os.Stderr, "serving with", os.Getenv("SECRET"))
		if err := newPeer(os.Getenv(dirVar), func() { os.Exit(3) }).Run(context.Background(), &sdk.StdioTransport{}); err != nil {
			os.Exit(1)
		}
	case "raw":
		rawPeer(false)
	case "strict":
		rawPeer(true)
	case "orphan": // ends by nothing but a kill
		signal.Ignore(syscall.SIGTERM, syscall.SIGHUP)
		select {}
	case "mute": // reads, and never says anything
		signal.Ignore(syscall.SIGTERM)
		fmt.Fprintln(os.Stderr, "still loading")
		for in := bufio.NewReader(os.Stdin); ; {
			if _, err := in.ReadByte(); err != nil {
				select {}
			}
		}
	case "dies":
		fmt.Fprintln(os.Stderr, "no licence for", os.Getenv("SECRET"))
		os.Exit(7)
	}
}

// note adds a line to a file of the directory.
func note(dir, file, line string) {
	f, err := os.OpenFile(filepath.Join(dir, file), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		panic(err)
	}
	defer f.Close()
	fmt.Fprintln(f, line)
}

// text is a result of one text.
func text(t string) *sdk.CallToolResult {
	return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: t}}}
}

// newPeer is a server whose every call is a line in the directory's file calls.
func newPeer(dir string, die func()) *sdk.Server {
	s := sdk.NewServer(&sdk.Implementation{Name: "peer", Version: "1"}, &sdk.ServerOptions{PageSize: 3})
	add := func(name string, a *sdk.ToolAnnotations, do func(context.Context, *sdk.CallToolRequest) *sdk.CallToolResult) {
		s.AddTool(&sdk.Tool{Name: name, Description: "Does " + name + ".", Annotations: a, InputSchema: map[string]any{"type": "object"}},
			func(ctx context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
				note(dir, "calls", name+" "+string(r.Params.Arguments))
				return do(ctx, r), nil
			})
	}
	no := false
	cancelled := make(chan struct{})
	add("look", &sdk.ToolAnnotations{ReadOnlyHint: true, Title: "Look at it"}, func(context.Context, *sdk.CallToolRequest) *sdk.CallToolResult { return text("seen") })
	add("set", &sdk.ToolAnnotations{IdempotentHint: true, DestructiveHint: &no}, func(context.Context, *sdk.CallToolRequest) *sdk.CallToolResult { return text("set") })
	add("write", nil, func(_ context.Context, r *sdk.CallToolRequest) *sdk.CallToolResult {
		return text(fmt.Sprint(r.Params.Meta[keyOfCall]))
	})
	add("slow", nil, func(ctx context.Context, r *sdk.CallToolRequest) *sdk.CallToolResult {
		_ = r.Session.NotifyProgress(ctx, &sdk.ProgressNotificationParams{ProgressToken: r.Params.GetProgressToken(), Progress: 3, Total: 10, Message: "reading\x1b[2J"})
		<-ctx.Done()
		close(cancelled)
		return text("too late")
	})
	add("was_cancelled", nil, func(ctx context.Context, _ *sdk.CallToolRequest) *sdk.CallToolResult {
		select {
		case <-cancelled:
			return text("yes")
		case <-ctx.Done():
			return text("no")
		}
	})
	add("crash", nil, func(context.Context, *sdk.CallToolRequest) *sdk.CallToolResult { die(); return text("alive") })
	add("grow", nil, func(context.Context, *sdk.CallToolRequest) *sdk.CallToolResult {
		add("more", nil, func(context.Context, *sdk.CallToolRequest) *sdk.CallToolResult { return text("more") })
		return text("grown")
	})
	add("fail", nil, func(context.Context, *sdk.CallToolRequest) *sdk.CallToolResult {
		r := text("no such note")
		r.IsError = true
		return r
	})
	add("orphan", nil, func(context.Context, *sdk.CallToolRequest) *sdk.CallToolResult {
		c := exec.Command(os.Args[0])
		c.Env = append(os.Environ(), peerVar+"=orphan")
		c.Stdout = os.Stderr
		if err := c.Start(); err != nil {
			return text(err.Error())
		}
		return text(fmt.Sprint(os.Getpid(), " ", c.Process.Pid))
	})
	return s
}

// rawPeer speaks the older protocol by hand: it greets people first, and in a call it asks its client
// for everything that clients can be asked. A strict one ends at a first message that is not initialize.
func rawPeer(strict bool) {
	fmt.Println("Welcome to the raw peer!")
	say := func(id any, what string, value any) {
		line, _ := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": id, what: value})
		fmt.Println(string(line))
	}
	asks := []string{"roots/list", "sampling/createMessage", "elicitation/create", "ping"}
	var call any
	var answers []string
	for in := bufio.NewScanner(os.Stdin); in.Scan(); {
		var m struct {
			ID     any            `json:"id"`
			Method string         `json:"method"`
			Error  map[string]any `json:"error"`
		}
		if json.Unmarshal(in.Bytes(), &m) != nil {
			continue
		}
		if strict && m.Method != "initialize" {
			fmt.Fprintln(os.Stderr, "expected initialize")
			os.Exit(1)
		}
		strict = false
		switch m.Method {
		case "initialize":
			say(m.ID, "result", map[string]any{"protocolVersion": "2025-06-18", "capabilities": map[string]any{"tools": map[string]any{}}, "serverInfo": map[string]any{"name": "raw", "version": "1"}})
		case "tools/list":
			say(m.ID, "result", map[string]any{"tools": []any{map[string]any{"name": "ask", "inputSchema": map[string]any{"type": "object"}}}})
		case "tools/call":
			call = m.ID
			fmt.Println("debug: asking")
			for _, a := range asks {
				line, _ := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": "ask " + a, "method": a, "params": map[string]any{"messages": []any{}, "maxTokens": 1, "message": "?"}})
				fmt.Println(string(line))
			}
		case "":
			answers = append(answers, fmt.Sprint(strings.TrimPrefix(fmt.Sprint(m.ID), "ask "), "=", m.Error["code"]))
			if len(answers) == len(asks) {
				say(call, "result", map[string]any{"content": []any{map[string]any{"type": "text", "text": strings.Join(answers, " ")}}})
			}
		case "notifications/initialized", "notifications/cancelled":
		default:
			line, _ := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": m.ID, "error": map[string]any{"code": -32601, "message": "no " + m.Method}})
			fmt.Println(string(line))
		}
	}
}
