// Package api is as much of Slack's Web API as a surface needs, over slack-go, which makes each
// request once: nobody but the outbox repeats what may have been done.
//
// It keeps Slack's limits before they are met (see pace) and tells what an error means (see Verdict).
package api

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/slack-go/slack"
)

// Config is what a client needs.
type Config struct {
	URL      string
	AppToken string
	BotToken string
	Dial     func(ctx context.Context, network, addr string) (net.Conn, error) // nil = the system's
}

// Client speaks for one bot. All methods may be called from any goroutine.
type Client struct {
	slack *slack.Client
	http  *http.Client
	pace  pace

	refused refusals
}

const answerWithin = 30 * time.Second

// New makes one; nothing is sent yet.
func New(c Config) *Client {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	if c.Dial != nil {
		transport.DialContext = c.Dial
	}
	client := &http.Client{
		Transport: transport, Timeout: answerWithin,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return &Client{
		slack: slack.New(c.BotToken, slack.OptionAppLevelToken(c.AppToken), slack.OptionHTTPClient(client), slack.OptionAPIURL(strings.TrimSuffix(c.URL, "/")+"/")),
		http:  client, pace: newPace(),
		refused: refusals{all: map[string]bool{}},
	}
}

// Close lets go of idle connections.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// Self is who the bot is.
type Self struct {
	User, Bot, Team string
	Scopes          string // of its token, as Slack lists them; "" = not told
}

// Self asks Slack.
func (c *Client) Self(ctx context.Context) (Self, error) {
	r, err := c.slack.AuthTestContext(ctx)
	if err != nil {
		return Self{}, err
	}
	return Self{r.UserID, r.BotID, r.TeamID, r.Header.Get("X-OAuth-Scopes")}, nil
}

// Wrote tells whether a message is the bot's own.
func (s Self) Wrote(e Event) bool { return e.User == s.User || e.Bot != "" && e.Bot == s.Bot }

// Foreign tells whether a message is from another workspace, as far as Slack tells.
func (s Self) Foreign(e Event) bool {
	return slices.ContainsFunc([]string{e.Team, e.UserTeam, e.SourceTeam}, func(team string) bool {
		return team != "" && s.Team != "" && team != s.Team
	})
}

// Socket asks for the address of a new Socket Mode connection, good for one.
func (c *Client) Socket(ctx context.Context) (string, error) {
	_, url, err := c.slack.StartSocketModeContext(ctx)
	return url, err
}

// Message is one to be made, or what one must become.
type Message struct {
	Channel  string
	Thread   string // its root; "" = in the channel
	Markdown string // either this, which is then the whole message,
	Text     string // or Slack's own markup,
	Buttons  []Button
	Turn     string // what it is of, kept with it as metadata
	Part     int
	Post     string // names it: see Once and pace
}

// Button is one below a text; pressing it sends Action, of which there is one in a message, and Value.
type Button struct {
	Action, Value, Label string
	Primary, Danger      bool // how it stands out
}

// block is the button as Slack shows it.
func (b Button) block() *slack.ButtonBlockElement {
	e := slack.NewButtonBlockElement(b.Action, b.Value, slack.NewTextBlockObject(slack.PlainTextType, b.Label, false, false))
	switch {
	case b.Danger:
		e.Style = slack.StyleDanger
	case b.Primary:
		e.Style = slack.StylePrimary
	}
	return e
}

const (
	turnEvent   = "holdfast_turn"
	sectionMost = 3000 // characters of a section
)

// post makes a message, in its thread or, where the root takes no replies, beside it. No link in it
// is loaded.
func (c *Client) post(ctx context.Context, m Message) (ts string, err error) {
	if err := c.pace.turn(methodPost, m.Channel, m.Post, postGap, 0); err != nil {
		return "", err
	}
	options := append(m.content(), slack.MsgOptionDisableLinkUnfurl(), slack.MsgOptionDisableMediaUnfurl(),
		slack.MsgOptionMetadata(slack.SlackMetadata{EventType: turnEvent, EventPayload: map[string]any{"turn": m.Turn, "part": m.Part, "post": m.Post}}))
	in := []slack.MsgOption{slack.MsgOptionCompose(options...)}
	if m.Thread != "" {
		in = append(in, slack.MsgOptionTS(m.Thread))
	}
	_, ts, err = c.slack.PostMessageContext(ctx, m.Channel, in...)
	if reason(err) == "cannot_reply_to_message" {
		_, ts, err = c.slack.PostMessageContext(ctx, m.Channel, options...)
	}
	return ts, c.pace.met(methodPost, err)
}

// Update gives a message of the bot's another text.
func (c *Client) Update(ctx context.Context, ts string, m Message) error {
	if err := c.pace.turn(methodUpdate, "", m.Post, updateGap, updateBurst); err != nil {
		return err
	}
	_, _, _, err := c.slack.UpdateMessageContext(ctx, m.Channel, ts, m.content()...)
	return c.pace.met(methodUpdate, err)
}

// content is what a message says. Slack takes none without a text.
func (m Message) content() []slack.MsgOption {
	switch {
	case strings.TrimSpace(m.Markdown) != "":
		return []slack.MsgOption{slack.MsgOptionMarkdownText(m.Markdown)}
	case strings.TrimSpace(m.Text) == "":
		return []slack.MsgOption{slack.MsgOptionText("…", false)}
	case len(m.Buttons) == 0:
		return []slack.MsgOption{slack.MsgOptionText(m.Text, false)}
	}
	shown := []rune(m.Text)
	section := slack.NewTextBlockObject(slack.MarkdownType, string(shown[:min(len(shown), sectionMost)]), false, false)
	var buttons []slack.BlockElement
	for _, b := range m.Buttons {
		buttons = append(buttons, b.block())
	}
	return []slack.MsgOption{
		slack.MsgOptionText(m.Text, false),
		slack.MsgOptionBlocks(slack.NewSectionBlock(section, nil, nil), slack.NewActionBlock("", buttons...)),
	}
}

// Tell says something that only one person sees.
func (c *Client) Tell(ctx context.Context, channel, thread, user, text string) error {
	options := []slack.MsgOption{slack.MsgOptionText(text, false)}
	if thread != "" {
		options = append(options, slack.MsgOptionTS(thread))
	}
	_, err := c.slack.PostEphemeralContext(ctx, channel, user, options...)
	return err
}

// reached reports whether the bot can read and write in a channel; what to do if not.
func (c *Client) reached(ctx context.Context, id string) string {
	ch, err := c.slack.GetConversationInfoContext(ctx, &slack.GetConversationInfoInput{ChannelID: id})
	switch {
	case reason(err) == "channel_not_found":
		return fmt.Sprintf("allow_channels: the bot cannot see %s; write there: /invite @bot", id)
	case err == nil && !ch.IsMember && !ch.IsIM:
		return fmt.Sprintf("allow_channels: the bot is not in #%s (%s); write there: /invite @bot", ch.Name, id)
	}
	return ""
}

// reason is Slack's own word for an error; "" if it is none of Slack's.
func reason(err error) string {
	if r, ok := errors.AsType[slack.SlackErrorResponse](err); ok {
		return r.Err
	}
	return ""
}
