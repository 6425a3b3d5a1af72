package mcp

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"holdfast/engine/tool"
)

// longestName is what providers take as a tool's name, in characters.
const longestName = 64

// longestDescription bounds what a server can put before the model for one tool, in bytes.
const longestDescription = 8 << 10

// offered are the names under which the model sees a server's tools, in their order: SERVER_TOOL, other
// characters become _. A name that is too long, or that several tools would share, ends with a hash of
// the tool's own name (but for the one tool that is called so), so that it is the same in every process and whatever else the server offers.
func offered(server string, tools []string) []string {
	names, taken := make([]string, len(tools)), map[string]int{}
	for i, t := range tools {
		names[i] = plain(server + "_" + t)
		taken[names[i]]++
	}
	for i, t := range tools {
		if len(names[i]) > longestName || taken[names[i]] > 1 && plain(t) != t {
			sum := sha256.Sum256([]byte(t))
			hash := "_" + hex.EncodeToString(sum[:4])
			names[i] = names[i][:min(len(names[i]), longestName-len(hash))] + hash
		}
	}
	return names
}

// plain replaces everything that a name may not hold, byte by byte of what is not ASCII.
func plain(name string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '_', r == '-', '0' <= r && r <= '9', 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z':
			return r
		}
		return '_'
	}, name)
}

// spec is a server's tool as the engine knows tools. One without annotations is a write that may
// destroy and must not be repeated, as the protocol has it.
func spec(c tool.Config, name string, t *sdk.Tool) tool.Spec {
	s := tool.Spec{
		Name: name, Title: t.Title, Description: tool.Cut(t.Description, longestDescription), Schema: schema(t.InputSchema),
		Destructive: true, Approve: c.Approve,
	}
	if a := t.Annotations; a != nil {
		s.ReadOnly = a.ReadOnlyHint
		s.Idempotent = a.IdempotentHint && !a.ReadOnlyHint
		s.Destructive = !a.ReadOnlyHint && (a.DestructiveHint == nil || *a.DestructiveHint)
		if s.Title == "" {
			s.Title = a.Title
		}
	}
	s.Title = short(s.Title)
	return s
}

// schema is what a server says of the arguments; where it says nothing that is one, any object will do.
// Keys are sorted, so that the same schema is the same text for every request.
func schema(said any) json.RawMessage {
	object, ok := said.(map[string]any)
	if !ok {
		object = map[string]any{}
	}
	if object["type"] != "object" {
		object["type"] = "object"
	}
	if _, ok := object["properties"].(map[string]any); !ok {
		object["properties"] = map[string]any{}
	}
	text, err := json.Marshal(object)
	if err != nil {
		return json.RawMessage(`{"properties":{},"type":"object"}`)
	}
	return text
}
