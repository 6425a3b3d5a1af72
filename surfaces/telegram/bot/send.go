package bot

import (
	"context"
	"encoding/json"
	"strings"
	"time"
)

// Outgoing is a message to be made, or the wanted state of one.
type Outgoing struct {
	Chat     string    `json:"chat_id"`
	Topic    string    `json:"message_thread_id,omitempty"` // make only
	ID       string    `json:"message_id,omitempty"`        // edit only
	Text     string    `json:"text"`
	Mode     string    `json:"parse_mode,omitempty"`       // "HTML"; "" = as it is
	ReplyTo  *Reply    `json:"reply_parameters,omitempty"` // make only
	Keyboard *Keyboard `json:"reply_markup,omitempty"`
	Preview  Preview   `json:"link_preview_options"`
}

// Reply makes a message an answer to another.
type Reply struct {
	ID     int64 `json:"message_id"`
	Anyway bool  `json:"allow_sending_without_reply"`
}

// Preview says whether links are shown with what is behind them.
type Preview struct {
	Off bool `json:"is_disabled"`
}

// Keyboard is the rows of buttons below a message.
type Keyboard struct {
	Rows [][]Button `json:"inline_keyboard"`
}

// Button tells the bot its data, up to 64 bytes, when it is pressed.
type Button struct {
	Text string `json:"text"`
	Data string `json:"callback_data"`
}

// Make makes a message and returns its id.
func (c *Client) Make(ctx context.Context, o Outgoing) (id string, err error) {
	var m Message
	if err = c.send(ctx, "sendMessage", o, &m); err != nil {
		return "", err
	}
	return ID(m.ID), nil
}

// Edit gives the message o.ID what it must have now; that it has it already is no error.
func (c *Client) Edit(ctx context.Context, o Outgoing) error {
	o.Topic, o.ReplyTo = "", nil
	err := c.send(ctx, "editMessageText", o, nil)
	if r := Refusal(err); r != nil && strings.Contains(r.What, "message is not modified") {
		return nil
	}
	return err
}

// send sends a message if its chat may have one now: as plain text if Telegram cannot read its
// markup, and to where a group has moved.
func (c *Client) send(ctx context.Context, method string, o Outgoing, out any) error {
	c.mu.Lock()
	if to, ok := c.moved[o.Chat]; ok {
		o.Chat = to
	}
	c.mu.Unlock()
	if wait := c.pace.take(o.Chat, time.Now()); wait > 0 {
		return &Error{Method: method, What: "our own count", RetryAfter: wait}
	}
	err := c.call(ctx, method, o, out)
	switch r := Refusal(err); {
	case r == nil:
		return err
	case r.Migrated != 0:
		c.mu.Lock()
		c.moved[o.Chat] = ID(r.Migrated)
		c.mu.Unlock()
		o.Chat = ID(r.Migrated)
	case o.Mode != "" && strings.Contains(r.What, "can't parse entities"):
		o.Text, o.Mode = plain(o.Text), ""
	default:
		if r.RetryAfter > 0 {
			c.pace.hold(o.Chat, time.Now().Add(r.RetryAfter))
		}
		return err
	}
	return c.call(ctx, method, o, out)
}

// Updates asks for what has happened from an offset on, which tells Telegram that all before it has
// been stored. It waits for news as long as Telegram lets it, or with wait false not at all.
func (c *Client) Updates(ctx context.Context, offset int64, wait bool) ([]json.RawMessage, error) {
	args := map[string]any{"offset": offset, "timeout": 0, "allowed_updates": []string{"message", "edited_message", "callback_query"}}
	if wait {
		args["timeout"] = int(pollFor.Seconds())
	}
	var list []json.RawMessage
	err := c.call(ctx, "getUpdates", args, &list)
	return list, err
}

// Me is the bot itself.
func (c *Client) Me(ctx context.Context) (me User, err error) {
	err = c.call(ctx, "getMe", struct{}{}, &me)
	return me, err
}

// Answer tells who has pressed a button something that only he sees, up to 200 characters.
func (c *Client) Answer(ctx context.Context, press, text string) error {
	return c.call(ctx, "answerCallbackQuery", map[string]string{"callback_query_id": press, "text": text}, nil)
}

// Command is one that Telegram lists for people.
type Command struct {
	Name string `json:"command"`
	What string `json:"description"`
}

// Commands makes these the bot's.
func (c *Client) Commands(ctx context.Context, list []Command) error {
	return c.call(ctx, "setMyCommands", map[string]any{"commands": list}, nil)
}

// typing shows for 5 s that the bot is typing.
func (c *Client) typing(ctx context.Context, to Where) error {
	args := map[string]string{"chat_id": to.Chat, "action": "typing"}
	if to.Topic != "" {
		args["message_thread_id"] = to.Topic
	}
	return c.call(ctx, "sendChatAction", args, nil)
}
