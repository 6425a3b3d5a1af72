package bot

import (
	"context"
	"fmt"
	"net/http"
)

// NewToken is what to do about a token that Telegram does not take.
const NewToken = "Telegram does not take the token; ask @BotFather for a new one (/token), write it to [[telegram]] token or TELEGRAM_TOKEN, and start again"

// Conflict is what to do about an error of somebody else having the line; "" for any other error.
func Conflict(err error) string {
	r := Refusal(err)
	if r == nil || r.Code != http.StatusConflict {
		return ""
	}
	return "another program asks for this bot's messages, or a webhook is set: stop that program, call deleteWebhook, or give this bot a token of its own (@BotFather, /newbot). Telegram says: " + r.What
}

// Check asks whether everything is as a bot needs it that must be in these chats, and returns what is
// not, with what to do and where; nil if all is well.
func (c *Client) Check(ctx context.Context, chats []string) (problems []string) {
	me, err := c.Me(ctx)
	if BadToken(err) {
		return []string{NewToken}
	} else if err != nil {
		return []string{fmt.Sprintf("Telegram cannot be reached: %v; look at the network, or at [[telegram]] api_url", err)}
	}
	var hook struct{ URL string }
	if err := c.call(ctx, "getWebhookInfo", struct{}{}, &hook); err == nil && hook.URL != "" {
		problems = append(problems, "a webhook is set, so that Telegram tells the bot nothing here; call deleteWebhook, or give this bot a token of its own (@BotFather, /newbot)")
	}
	if len(chats) > 0 && !me.ReadsAll {
		problems = append(problems, "in groups Telegram shows the bot only commands and replies to it; for mentions tell @BotFather to turn its privacy off (/setprivacy, Disable), then take it out of the group and in again")
	}
	for _, chat := range chats {
		if err := c.call(ctx, "getChat", map[string]string{"chat_id": chat}, nil); err != nil {
			problems = append(problems, fmt.Sprintf("allow_chats: the bot is not in %s (%v); add it to that group", chat, err))
		}
	}
	return problems
}
