package rest

import (
	"encoding/json"
	"strings"
)

// Message is a message as Discord tells of it.
type Message struct {
	ID          string          `json:"id"`
	Channel     string          `json:"channel_id"`
	Guild       string          `json:"guild_id"` // in events only; "" = a direct message
	Type        int             `json:"type"`
	Author      User            `json:"author"`
	Member      *Member         `json:"member"` // in events only
	Content     string          `json:"content"`
	Edited      string          `json:"edited_timestamp"`
	Webhook     string          `json:"webhook_id"`
	Mentions    []User          `json:"mentions"`
	Attachments []File          `json:"attachments"`
	Stickers    []Sticker       `json:"sticker_items"`
	Reference   *Reference      `json:"message_reference"`
	Referenced  *Message        `json:"referenced_message"` // TypeStarter: the one that the thread was made of
	Nonce       json.RawMessage `json:"nonce"`              // text or number; told to its author
}

// Types of messages that people write.
const (
	TypeDefault = 0
	TypeReply   = 19
	TypeStarter = 21 // stands at the beginning of a thread for the message that it was made of
)

// HasNonce reports whether it was made with that nonce, as far as Discord tells.
func (m *Message) HasNonce(nonce string) bool { return strings.Trim(string(m.Nonce), `"`) == nonce }

// User is who wrote it.
type User struct {
	ID     string `json:"id"`
	Name   string `json:"username"`
	Global string `json:"global_name"` // the name shown; "" = Name
	Bot    bool   `json:"bot"`
}

// Shown is the name people see.
func (u User) Shown() string {
	if u.Global != "" {
		return u.Global
	}
	return u.Name
}

// Member is a user in a guild.
type Member struct {
	User *User  `json:"user"`
	Nick string `json:"nick"`
}

// File is an attachment.
type File struct {
	Name string `json:"filename"`
}

// Sticker is one in a message.
type Sticker struct {
	Name string `json:"name"`
}

// Reference makes a message an answer to another.
type Reference struct {
	Message string `json:"message_id"`
	Strict  bool   `json:"fail_if_not_exists"`
}

// Is tells whether two messages answer the same one.
func (r *Reference) Is(other *Reference) bool {
	return r != nil && other != nil && r.Message == other.Message
}

// Channel is a place for messages; a thread and the direct messages with somebody are channels too.
type Channel struct {
	ID     string `json:"id"`
	Type   int    `json:"type"`
	Guild  string `json:"guild_id"`
	Parent string `json:"parent_id"` // of a thread: its channel
	Name   string `json:"name"`
	Last   string `json:"last_message_id"`
}

// IsThread tells threads from channels.
func (c Channel) IsThread() bool { return c.Type >= 10 && c.Type <= 12 }

// Guild is a server, as the event that tells of it gives it.
type Guild struct {
	ID       string    `json:"id"`
	Channels []Channel `json:"channels"`
	Threads  []Channel `json:"threads"`
}

// Ready is the event that begins a session.
type Ready struct {
	User   User    `json:"user"`
	App    App     `json:"application"`
	Guilds []Guild `json:"guilds"` // their ids alone
}

// Outgoing is the wanted state of a message of ours.
type Outgoing struct {
	Content  string     `json:"content"`
	Mentions Mentions   `json:"allowed_mentions"`
	Rows     []Row      `json:"components"`
	ReplyTo  *Reference `json:"message_reference,omitempty"` // create only
	Nonce    string     `json:"nonce,omitempty"`             // create only, at most 25 characters: a second message of the same nonce is not made, the first is returned
	Enforce  bool       `json:"enforce_nonce,omitempty"`
}

// Mentions says whom a message may notify; nothing in its text does otherwise.
type Mentions struct {
	Parse   []string `json:"parse"`
	Users   []string `json:"users,omitempty"`
	Replied bool     `json:"replied_user"`
}

// Notify is nobody but these users.
func Notify(users ...string) Mentions { return Mentions{Parse: []string{}, Users: users} }

// Row is a row of buttons.
type Row struct {
	Type    int      `json:"type"` // 1
	Buttons []Button `json:"components"`
}

// Button is one that tells the bot its ID when it is pressed.
type Button struct {
	Type  int    `json:"type"`  // 2
	Style int    `json:"style"` // 1 blue, 2 grey, 4 red
	Label string `json:"label"`
	ID    string `json:"custom_id"`
}

// Press makes one: grey, or the color of what most people want, or of what refuses something.
func Press(label, id string, primary, danger bool) Button {
	b := Button{Type: 2, Style: 2, Label: label, ID: id}
	switch {
	case danger:
		b.Style = 4
	case primary:
		b.Style = 1
	}
	return b
}

// Buttons is a row of them; without any it takes away those of a message that had some.
func Buttons(list ...Button) []Row {
	if len(list) == 0 {
		return []Row{}
	}
	return []Row{{Type: 1, Buttons: list}}
}

// Interaction is a pressed button or a slash command. It must be answered within 3 s.
type Interaction struct {
	ID      string  `json:"id"`
	App     string  `json:"application_id"`
	Type    int     `json:"type"`
	Token   string  `json:"token"`
	Guild   string  `json:"guild_id"`
	Channel string  `json:"channel_id"`
	Member  *Member `json:"member"` // in a guild
	User    *User   `json:"user"`   // in direct messages
	Data    struct {
		Name   string `json:"name"`      // of a command
		Custom string `json:"custom_id"` // of a button
	} `json:"data"`
}

// Types of interactions.
const (
	IsCommand = 2
	IsPress   = 3
)

// Who is the user behind it.
func (i *Interaction) Who() User {
	if i.Member != nil && i.Member.User != nil {
		u := *i.Member.User
		if i.Member.Nick != "" {
			u.Global = i.Member.Nick
		}
		return u
	}
	if i.User != nil {
		return *i.User
	}
	return User{}
}

// Command is a slash command.
type Command struct {
	Name        string `json:"name"`
	Type        int    `json:"type"` // 1
	Description string `json:"description"`
}

// Gate is where the gateway is, and how often a session may still be begun.
type Gate struct {
	URL   string `json:"url"`
	Limit struct {
		Remaining  int   `json:"remaining"`
		ResetAfter int64 `json:"reset_after"` // ms
	} `json:"session_start_limit"`
}

// App is the application that the bot belongs to.
type App struct {
	ID     string `json:"id"`
	Flags  int    `json:"flags"`
	Guilds int    `json:"approximate_guild_count"`
}

// MayReadContent tells whether the Message Content intent is turned on.
func (a App) MayReadContent() bool { return a.Flags&(1<<18|1<<19) != 0 }
