package main

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

func TestMCPTest(t *testing.T) {
	peer := sdk.NewServer(&sdk.Implementation{Name: "notes", Version: "1"}, nil)
	no := false
	for name, a := range map[string]*sdk.ToolAnnotations{
		"read": {ReadOnlyHint: true}, "set": {IdempotentHint: true, DestructiveHint: &no}, "purge.all": nil,
	} {
		peer.AddTool(&sdk.Tool{Name: name, Description: "\nDoes " + name + ".\x1b[2J\nIn detail.", Annotations: a, InputSchema: map[string]any{"type": "object"}},
			func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) { return nil, nil })
	}
	server := httptest.NewServer(sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return peer }, nil))
	defer server.Close()
	defer server.CloseClientConnections()
	h := newHome(t)
	h.write(fmt.Sprintf("[[bot]]\nmodels = [\"demo/demo\"]\n[[mcp]]\nname = \"notes\"\nurl = \"%s/?key=open-sesame\"\n"+
		"[[mcp]]\nname = \"gone\"\nurl = \"http://127.0.0.1:1/KEYPATH333/mcp?key=open-sesame\"\n[[mcp]]\nname = \"dead\"\ncommand = [\"sh\", \"-c\", \"echo no licence >&2; exit 4\"]\n"+
		"[[mcp]]\nname = \"missing\"\ncommand = [\"no-such-program\"]\n", server.URL))
	want := strings.ReplaceAll(`notes: streamable HTTP at HOST, approve = "writes"
It has answered after TIME with 3 tools.
notes_purge_all  writes, may destroy      needs approval  Does purge.all.[2J
notes_read       reads only               no approval     Does read.[2J
notes_set        writes, may be repeated  needs approval  Does set.[2J
`, "HOST", strings.TrimPrefix(server.URL, "http://"))
	if out := regexp.MustCompile(`after .* with`).ReplaceAllString(h.want("mcp", "test", "notes"), "after TIME with"); out != want {
		t.Errorf("got\n%swant\n%s", out, want)
	}
	for name, want := range map[string]string{
		"gone":    "holdfast: the tool server gone cannot be used: ",
		"dead":    "holdfast: the tool server dead cannot be used: the program has ended with exit status 4 after it wrote \"no licence\"\n",
		"missing": "holdfast: the tool server missing cannot be used: the program no-such-program is not found; install it, or write its whole path in command\n",
		"note":    "holdfast: no [[mcp]] section is named \"note\"; did you mean notes?\n",
		"zzzzzzz": "holdfast: no [[mcp]] section is named \"zzzzzzz\"; there are: notes, gone, dead, missing\n",
	} {
		code, out, errOut := h.run("mcp", "test", name)
		if code != 1 || !strings.HasPrefix(errOut, want) || strings.Contains(out+errOut, "open-sesame") || strings.Contains(out+errOut, "KEYPATH333") {
			t.Errorf("%s: %d\n%s%s", name, code, out, errOut)
		}
		if name == "gone" && !strings.Contains(errOut, "connection refused") {
			t.Errorf("%s: %s", name, errOut)
		}
	}
	h.write("[[bot]]\nmodels = [\"demo/demo\"]\n")
	if code, _, errOut := h.run("mcp", "test", "notes"); code != 1 || errOut != "holdfast: there is no [[mcp]] section in the config; write one first\n" {
		t.Errorf("%d %q", code, errOut)
	}
}
