package slack

import (
	"context"
	"strings"

	"holdfast/engine"
	"holdfast/store"
	"holdfast/surfaces/door"
	"holdfast/surfaces/slack/api"
)

// Earlier implements engine.Historian: the replies of a thread. In direct messages there is nothing that
// was not said to the bot.
func (s *Surface) Earlier(ctx context.Context, to engine.Place, key string, before store.Time) ([]engine.Said, error) {
	if to.Thread == "" || strings.HasPrefix(to.Channel, "D") {
		return nil, nil
	}
	s.taking.Lock()
	me := s.me
	s.taking.Unlock()
	ts := api.Stamp(before.Go())
	if own, ok := strings.CutPrefix(key, keyOf(me, to.Channel, "")); ok {
		ts = own
	}
	list, err := s.api.Thread(ctx, to.Channel, to.Thread, ts, engine.EarlierMost)
	if err != nil {
		return nil, err
	}
	var said []engine.Said
	for _, m := range list {
		if me.Wrote(m) || !m.Said() {
			continue
		}
		if text := door.WithFiles(s.names.Words(ctx, m, me), m.FileNames()); text != "" {
			said = append(said, engine.Said{Key: keyOf(me, m.Channel, m.TS), Name: s.names.Person(ctx, m.From()), Text: text, At: store.At(api.Moment(m.TS))})
		}
	}
	return said, nil
}
