package slack

import (
	"cmp"
	"context"
	"strings"

	"holdfast/engine"
	"holdfast/store"
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
		if own := m.User == me.User || m.Bot != "" && m.Bot == me.Bot; own || !m.Said() {
			continue
		}
		text := api.Words(m.Text, me.User, func(id string) string { return s.names.Person(ctx, id) })
		for _, f := range m.Files {
			text = strings.TrimSpace(text + " [file: " + cmp.Or(f.Name, f.Title, "without a name") + "]")
		}
		if text != "" {
			said = append(said, engine.Said{Key: keyOf(me, m.Channel, m.TS), Name: s.names.Person(ctx, m.From()), Text: text, At: store.At(api.Moment(m.TS))})
		}
	}
	return said, nil
}
