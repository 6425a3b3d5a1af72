package rest

import (
	"context"
	"fmt"

	"holdfast/surfaces/discord/gateway"
)

// permissions are View Channels, Send Messages, Read Message History, Send Messages in Threads.
const permissions = 1<<10 | 1<<11 | 1<<16 | 1<<38

// Invite is where a bot is let into a server.
func Invite(app string) string {
	return fmt.Sprintf("https://discord.com/oauth2/authorize?client_id=%s&scope=bot+applications.commands&permissions=%d", app, int64(permissions))
}

// Check asks whether everything is as a bot with these intents needs it, which must see these channels
// and guilds, and returns what is not, with what to do and where to click; nil if all is well.
func (c *Client) Check(ctx context.Context, intents int, places []string) (problems []string) {
	g, err := c.Gateway(ctx)
	if BadToken(err) {
		return []string{gateway.ForGood(gateway.BadToken).Error()}
	} else if err != nil {
		return []string{fmt.Sprintf("Discord cannot be reached at %s: %v; look at the network, or at [[discord]] api_url", c.base, err)}
	}
	if g.Limit.Remaining < 20 && g.Limit.ResetAfter > 0 {
		problems = append(problems, fmt.Sprintf("only %d new sessions may begin today; something restarts the bot again and again", g.Limit.Remaining))
	}
	app, err := c.App(ctx)
	switch {
	case err != nil:
		problems = append(problems, fmt.Sprintf("the bot's application cannot be read: %v", err))
	case intents&gateway.MessageContent != 0 && !app.MayReadContent():
		problems = append(problems, gateway.ForGood(gateway.NoContent).Error())
	}
	for _, id := range places {
		if _, err := c.Channel(ctx, id); err != nil && c.Guild(ctx, id) != nil {
			problems = append(problems, fmt.Sprintf("allow_channels: the bot cannot see %s (%v); invite it to that server (%s) and let it view the channel", id, err, Invite(app.ID)))
		}
	}
	return problems
}
