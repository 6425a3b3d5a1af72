package mcp

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"holdfast/engine/tool"
)

// result is what a server has answered, as the model is told: texts as they are, structured content as
// JSON unless a text says the same, and a line for everything that is not text.
func result(r *sdk.CallToolResult) tool.Result {
	if r.NeedsInput() {
		return tool.Result{Text: "The tool asks a person for input in the middle of a call, which is not possible here.", Failed: true}
	}
	var parts []string
	for _, c := range r.Content {
		if text := content(c); text != "" {
			parts = append(parts, text)
		}
	}
	if r.StructuredContent != nil && !said(parts, r.StructuredContent) {
		if text, err := json.Marshal(r.StructuredContent); err == nil {
			parts = append(parts, string(text))
		}
	}
	text := strings.ToValidUTF8(strings.Join(parts, "\n"), "\uFFFD")
	if text == "" {
		text = "(The tool has answered without a text.)"
	}
	return tool.Result{Text: tool.Cut(text, tool.MaxResult), Failed: r.IsError}
}

// content is one part of a result as text.
func content(c sdk.Content) string {
	switch c := c.(type) {
	case *sdk.TextContent:
		return c.Text
	case *sdk.ImageContent:
		return fmt.Sprintf("[image, %s, %s]", kind(c.MIMEType), size(len(c.Data)))
	case *sdk.AudioContent:
		return fmt.Sprintf("[audio, %s, %s]", kind(c.MIMEType), size(len(c.Data)))
	case *sdk.ResourceLink:
		line := fmt.Sprintf("[resource %s, %s", c.URI, kind(c.MIMEType))
		if c.Size != nil {
			line += ", " + size(int(*c.Size))
		}
		if c.Description != "" {
			line += ": " + short(c.Description)
		}
		return line + "]"
	case *sdk.EmbeddedResource:
		return resource(c.Resource)
	}
	return "[something that cannot be shown]"
}

// resource is one that comes with the result: its text, if it is one, stands below its line.
func resource(r *sdk.ResourceContents) string {
	switch {
	case r == nil:
		return ""
	case r.Text != "":
		return fmt.Sprintf("[resource %s, %s, %s]\n%s", r.URI, kind(r.MIMEType), size(len(r.Text)), r.Text)
	default:
		return fmt.Sprintf("[resource %s, %s, %s]", r.URI, kind(r.MIMEType), size(len(r.Blob)))
	}
}

// kind is a media type as it is shown.
func kind(media string) string {
	if media == "" {
		return "unknown type"
	}
	return short(media)
}

// size is a number of bytes as people read it.
func size(n int) string {
	switch {
	case n >= 1e6:
		return fmt.Sprintf("%.1f MB", float64(n)/1e6)
	case n >= 1e3:
		return fmt.Sprintf("%.1f kB", float64(n)/1e3)
	}
	return fmt.Sprintf("%d bytes", n)
}

// said reports whether one of the texts is the same JSON: servers send structured content twice for
// clients that do not know it.
func said(texts []string, structured any) bool {
	for _, t := range texts {
		var v any
		if json.Unmarshal([]byte(t), &v) == nil && reflect.DeepEqual(v, structured) {
			return true
		}
	}
	return false
}

// longestShort bounds a text that stands in a line beside others, in bytes.
const longestShort = 200

// short makes such a line of a text.
func short(text string) string { return tool.OneLine(text, longestShort) }

// progress is what a server says of a call that goes on; "" if it says nothing.
func progress(p *sdk.ProgressNotificationParams) string {
	text := p.Message
	switch {
	case p.Total > 0 && text == "":
		text = fmt.Sprintf("%g of %g", p.Progress, p.Total)
	case p.Total > 0:
		text += fmt.Sprintf(" (%g of %g)", p.Progress, p.Total)
	case text == "":
		text = fmt.Sprintf("%g", p.Progress)
	}
	return short(text)
}
