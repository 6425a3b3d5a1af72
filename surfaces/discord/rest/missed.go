package rest

import (
	"context"
	"iter"
)

// missedPages of 100 messages are read of one channel.
const missedPages = 10

// Missed reads what was said since an id in the channels and threads of guilds and in channels of
// direct messages, each oldest first; what is learned of channels is noted. What may not be read is
// passed over; any other error is yielded and ends it.
func (k *Channels) Missed(ctx context.Context, guilds []Guild, dms []string, since string) iter.Seq2[Message, error] {
	return func(yield func(Message, error) bool) {
		for _, g := range guilds {
			list, err := k.client.InGuild(ctx, g.ID)
			if err != nil && !Refused(err) {
				yield(Message{}, err)
				return
			}
			k.Learn(g.ID, list...)
			for _, c := range list {
				if Later(c.Last, since) && !k.missedIn(ctx, g.ID, c.ID, since, yield) {
					return
				}
			}
		}
		for _, id := range dms {
			if !k.missedIn(ctx, "", id, since, yield) {
				return
			}
		}
	}
}

// missedIn yields those of one channel; false if that must be the end.
func (k *Channels) missedIn(ctx context.Context, guild, channel, since string, yield func(Message, error) bool) bool {
	for m, err := range k.client.Since(ctx, channel, since, missedPages) {
		if Refused(err) {
			return true
		}
		m.Guild = guild
		if !yield(m, err) || err != nil {
			return false
		}
	}
	return true
}
