package slack

import (
	"context"
	"encoding/json"
	"time"

	"holdfast/engine"
	"holdfast/store"
	"holdfast/surfaces/slack/api"
)

// buttons are those below a post.
func buttons(p store.Post) (list []api.Button) {
	for _, b := range engine.Buttons(p) {
		list = append(list, api.Button{Action: b.Do, Value: b.Key(p), Label: b.Label, Primary: b.Primary, Danger: b.Danger})
	}
	return list
}

// pressed carries a button out and, beside the line, tells who pressed what came of it.
func (s *Surface) pressed(ctx context.Context, payload []byte) {
	var p api.Press
	if err := json.Unmarshal(payload, &p); err != nil || p.Type != "block_actions" {
		return
	}
	for _, a := range p.Actions {
		text := s.door.Press(ctx, a.Value, p.User.ID)
		s.door.Aside(ctx, 10*time.Second, func(ctx context.Context) error {
			return s.api.Tell(ctx, p.Channel.ID, p.Message.Thread, p.User.ID, text)
		})
	}
}
