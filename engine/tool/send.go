package tool

import (
	"context"
	"encoding/json"
)

// Send is the built-in set "send": a bot says something in another conversation.
type Send struct {
	Places func() []string // what may be said for to, if that is the same for all bots; else none
	// Say says it there, once per Call.Key. It returns a Mistake for a place that the bot may not use.
	Say func(ctx context.Context, c Call, to, text string) error
}

// Tools are send_message.
func (s Send) Tools(context.Context) ([]Tool, error) {
	to := map[string]any{"type": "string", "description": "where: one of the places that you may use; any other is answered with their list"}
	if places := s.Places(); len(places) > 0 {
		to["enum"], to["description"] = places, "where"
	}
	schema, err := json.Marshal(map[string]any{
		"type": "object", "properties": map[string]any{"to": to, "text": map[string]any{"type": "string", "description": "Markdown"}}, "required": []string{"to", "text"},
	})
	if err != nil {
		return nil, err
	}
	return []Tool{act{Spec{
		Name: "send_message", Title: "Send a message", Schema: schema, Idempotent: true, // by the call's key
		Description: "Say something in another conversation than this one. It is posted there as yours, once; nobody there can see this conversation.",
	}, doing(s.send)}}, nil
}

func (s Send) send(ctx context.Context, c Call, a struct{ To, Text string }) (string, error) {
	if err := s.Say(ctx, c, a.To, a.Text); err != nil {
		return "", err
	}
	return "sent to " + a.To, nil
}
