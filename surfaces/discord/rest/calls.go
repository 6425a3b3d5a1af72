package rest

import (
	"context"
	"iter"
	"net/url"
	"slices"
	"strconv"
	"time"

	"holdfast/surfaces/discord/gateway"
)

// Create makes a message. It returns *Limited at once and is never repeated here.
func (c *Client) Create(ctx context.Context, channel string, o Outgoing) (m Message, err error) {
	o.Enforce = o.Nonce != ""
	k := inChannel("make a message", "POST", channel, "/messages", o)
	err = c.do(ctx, k, &m)
	return m, err
}

// Edit gives a message of ours new content. It returns *Limited at once.
func (c *Client) Edit(ctx context.Context, channel, id string, o Outgoing) (m Message, err error) {
	o.ReplyTo, o.Nonce, o.Enforce = nil, "", false
	k := inChannel("edit a message", "PATCH", channel, "/messages/{id}", o)
	k.path = "/channels/" + esc(channel) + "/messages/" + esc(id)
	err = c.do(ctx, k, &m)
	return m, err
}

// Delete takes a message of ours away. It returns *Limited at once.
func (c *Client) Delete(ctx context.Context, channel, id string) error {
	k := inChannel("delete a message", "DELETE", channel, "/messages/{id}", nil)
	k.path = "/channels/" + esc(channel) + "/messages/" + esc(id)
	return c.do(ctx, k, nil)
}

// Messages reads a channel's messages, newest first: the first limit (at most 100) after that id,
// or the newest with after "".
func (c *Client) Messages(ctx context.Context, channel, after string, limit int) (list []Message, err error) {
	k := inChannel("read messages", "GET", channel, "/messages", nil)
	q := url.Values{"limit": {strconv.Itoa(limit)}}
	if after != "" {
		q.Set("after", after)
	}
	k.path, k.patient = k.path+"?"+q.Encode(), true
	err = c.do(ctx, k, &list)
	return list, err
}

// Before reads a channel's messages before an id, newest first, at most limit (up to 100).
func (c *Client) Before(ctx context.Context, channel, id string, limit int) (list []Message, err error) {
	k := inChannel("read messages", "GET", channel, "/messages", nil)
	k.path, k.patient = k.path+"?"+url.Values{"limit": {strconv.Itoa(limit)}, "before": {id}}.Encode(), true
	err = c.do(ctx, k, &list)
	return list, err
}

// Message reads one.
func (c *Client) Message(ctx context.Context, channel, id string) (m Message, err error) {
	k := inChannel("read a message", "GET", channel, "/messages/{id}", nil)
	k.path, k.patient = "/channels/"+esc(channel)+"/messages/"+esc(id), true
	err = c.do(ctx, k, &m)
	return m, err
}

// Since reads a channel's messages after an id, oldest first, until they end or at most pages of 100.
func (c *Client) Since(ctx context.Context, channel, after string, pages int) iter.Seq2[Message, error] {
	return func(yield func(Message, error) bool) {
		for range pages {
			list, err := c.Messages(ctx, channel, after, 100)
			if err != nil {
				yield(Message{}, err)
				return
			}
			for _, m := range slices.Backward(list) {
				if !yield(m, nil) {
					return
				}
			}
			if len(list) < 100 {
				return
			}
			after = list[0].ID
		}
	}
}

// Typing shows for 10 s that the bot is typing. It returns *Limited at once.
func (c *Client) Typing(ctx context.Context, channel string) error {
	return c.do(ctx, inChannel("show typing", "POST", channel, "/typing", nil), nil)
}

// Channel looks one up.
func (c *Client) Channel(ctx context.Context, id string) (x Channel, err error) {
	k := inChannel("look up a channel", "GET", id, "", nil)
	k.patient = true
	err = c.do(ctx, k, &x)
	return x, err
}

// InGuild reads a guild's channels and its open threads.
func (c *Client) InGuild(ctx context.Context, id string) (list []Channel, err error) {
	k := call{name: "read a server's channels", method: "GET", route: "/guilds/{id}/channels", major: id, path: "/guilds/" + esc(id) + "/channels", patient: true}
	if err := c.do(ctx, k, &list); err != nil {
		return nil, err
	}
	var open struct{ Threads []Channel }
	k.name, k.route, k.path = "read a server's threads", "/guilds/{id}/threads/active", "/guilds/"+esc(id)+"/threads/active"
	if err := c.do(ctx, k, &open); err != nil && !Refused(err) {
		return nil, err
	}
	return append(list, open.Threads...), nil
}

// Guild returns nil if the bot is in a guild.
func (c *Client) Guild(ctx context.Context, id string) error {
	return c.do(ctx, call{name: "look up a server", method: "GET", route: "/guilds/{id}", major: id, path: "/guilds/" + esc(id), patient: true}, nil)
}

// DM finds the channel of the direct messages with a user, or makes it; that shows nobody anything.
func (c *Client) DM(ctx context.Context, user string) (x Channel, err error) {
	body := map[string]string{"recipient_id": user}
	err = c.do(ctx, call{name: "look up direct messages", method: "POST", route: "/users/@me/channels", path: "/users/@me/channels", body: body, patient: true}, &x)
	return x, err
}

// Answer answers an interaction with a line that only its person sees. Once, within 3 s.
func (c *Client) Answer(ctx context.Context, i Interaction, text string) error {
	type data struct {
		Content  string   `json:"content"`
		Flags    int      `json:"flags"`
		Mentions Mentions `json:"allowed_mentions"`
	}
	body := struct {
		Type int  `json:"type"`
		Data data `json:"data"`
	}{4, data{text, 1 << 6, Notify()}} // 4: a message; 1<<6: seen by one person only
	return c.do(ctx, call{
		name: "answer an interaction", method: "POST", route: "/interactions/{id}/{token}/callback",
		path: "/interactions/" + esc(i.ID) + "/" + esc(i.Token) + "/callback", body: body, free: true,
	}, nil)
}

// DMs finds those with several users, as far as they can be found.
func (c *Client) DMs(ctx context.Context, users []string) (channels []string) {
	for _, user := range users {
		if x, err := c.DM(ctx, user); err == nil {
			channels = append(channels, x.ID)
		}
	}
	return channels
}

// open opens an archived thread again; that needs no more than the right to write there.
func (c *Client) open(ctx context.Context, thread string) error {
	return c.do(ctx, inChannel("open a thread", "PATCH", thread, "", map[string]bool{"archived": false}), nil)
}

// Locate asks where the gateway is, for it.
func (c *Client) Locate(ctx context.Context) (gateway.Place, error) {
	g, err := c.Gateway(ctx)
	if BadToken(err) {
		return gateway.Place{}, gateway.ForGood(gateway.BadToken)
	}
	return gateway.Place{URL: g.URL, Remaining: g.Limit.Remaining, ResetAfter: time.Duration(g.Limit.ResetAfter) * time.Millisecond}, err
}

// Gateway asks where the gateway is.
func (c *Client) Gateway(ctx context.Context) (g Gate, err error) {
	err = c.do(ctx, call{name: "ask for the gateway", method: "GET", route: "/gateway/bot", path: "/gateway/bot", patient: true}, &g)
	return g, err
}

// App reads the bot's own application.
func (c *Client) App(ctx context.Context) (a App, err error) {
	err = c.do(ctx, call{name: "read the application", method: "GET", route: "/applications/@me", path: "/applications/@me", patient: true}, &a)
	return a, err
}

// Commands makes these the application's slash commands, everywhere.
func (c *Client) Commands(ctx context.Context, app string, list []Command) error {
	return c.do(ctx, call{
		name: "register slash commands", method: "PUT", route: "/applications/{id}/commands", path: "/applications/" + esc(app) + "/commands", body: list, patient: true,
	}, nil)
}

// inChannel is a call on a channel, which has buckets of its own.
func inChannel(name, method, channel, rest string, body any) call {
	return call{name: name, method: method, route: "/channels/{channel}" + rest, major: channel, path: "/channels/" + esc(channel) + rest, body: body}
}

func esc(s string) string { return url.PathEscape(s) }
