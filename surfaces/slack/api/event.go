package api

import (
	"cmp"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/slack-go/slack"
)

// Event is what Slack tells of a message.
type Event struct {
	Type        string `json:"type"` // "message" | "app_mention"
	SubType     string `json:"subtype"`
	Channel     string `json:"channel"`
	ChannelType string `json:"channel_type"` // "im" | "mpim" | "channel" | "group"; not in an app_mention
	User        string `json:"user"`
	Bot         string `json:"bot_id"`
	Text        string `json:"text"`
	TS          string `json:"ts"`
	Thread      string `json:"thread_ts"`
	Sent        string `json:"client_msg_id"`
	Team        string `json:"team"` // its sender's; and so are the next two
	UserTeam    string `json:"user_team"`
	SourceTeam  string `json:"source_team"`
	Files       []File `json:"files"`
	Message     *Event `json:"message"`    // message_changed: as it is now
	Deleted     string `json:"deleted_ts"` // message_deleted
}

// File is one that came along.
type File struct{ Name, Title string }

// Press is what Slack tells of a button.
type Press struct {
	Type    string // "block_actions"
	User    struct{ ID string }
	Channel struct{ ID string }
	Message struct {
		Thread string `json:"thread_ts"`
	}
	Actions []struct {
		Action string `json:"action_id"`
		Value  string
	}
}

// eventOf is a message of a history as the event that it was.
func eventOf(channel string, m slack.Message) Event {
	e := Event{
		Type: "message", SubType: m.SubType, Channel: channel, User: m.User, Bot: m.BotID, Text: m.Text, TS: m.Timestamp,
		Thread: m.ThreadTimestamp, Sent: m.ClientMsgID, Team: m.Team,
	}
	for _, f := range m.Files {
		e.Files = append(e.Files, File{f.Name, f.Title})
	}
	return e
}

// Direct tells whether it is between one person and the bot alone.
func (e Event) Direct() bool { return e.ChannelType == "im" || strings.HasPrefix(e.Channel, "D") }

// Root is where an answer goes: in channels always to the root of the thread, in a direct message
// only into a thread that the person has opened.
func (e Event) Root() string {
	if e.Thread != "" || e.Direct() {
		return e.Thread
	}
	return e.TS
}

// From is who has sent it: a person, or a bot that is no person.
func (e Event) From() string { return cmp.Or(e.User, e.Bot) }

// Said tells whether somebody has said something: no joining, renaming and the like.
func (e Event) Said() bool {
	switch e.SubType {
	case "", "file_share", "thread_broadcast", "me_message", "bot_message":
		return true
	}
	return false
}

// FileNames names what came along and cannot be read.
func (e Event) FileNames() (names []string) {
	for _, f := range e.Files {
		names = append(names, cmp.Or(f.Name, f.Title, "a file"))
	}
	return names
}

// Mentions tells whether a person, or with "" anybody, is mentioned.
func (e Event) Mentions(user string) bool {
	if user == "" {
		return anybody.MatchString(e.Text)
	}
	return strings.Contains(e.Text, "<@"+user+">") || strings.Contains(e.Text, "<@"+user+"|")
}

var (
	anybody = regexp.MustCompile(`<@[UW][A-Z0-9]+[|>]`)
	token   = regexp.MustCompile(`<([@#!]?)([^<>|]*)(?:\|([^<>]*))?>`)
)

// ownName stands for the bot's mention until it is clear where it stands; no message has it.
const ownName = "\x00me\x00"

// words are a text as people read it, without a mention of me around it. name says how others are
// called.
func words(text, me string, name func(id string) string) string {
	text = token.ReplaceAllStringFunc(text, func(t string) string {
		m := token.FindStringSubmatch(t)
		id, label := m[2], m[3]
		switch m[1] {
		case "@":
			if id == me {
				return ownName
			}
			return "@" + name(id)
		case "#":
			return "#" + cmp.Or(label, id)
		case "!":
			id, _, _ = strings.Cut(id, "^")
			return "@" + strings.TrimPrefix(cmp.Or(label, id), "@")
		}
		id = strings.TrimPrefix(id, "mailto:")
		if strings.HasSuffix(id, label) { // Slack has made a link of it
			return id
		}
		return label + " (" + id + ")"
	})
	text = strings.TrimSpace(text)
	for strings.HasPrefix(text, ownName) {
		text = strings.TrimLeft(strings.TrimPrefix(text, ownName), " ,:\n\t")
	}
	for strings.HasSuffix(text, ownName) {
		text = strings.TrimSpace(strings.TrimSuffix(text, ownName))
	}
	return strings.NewReplacer(ownName, "@you", "&lt;", "<", "&gt;", ">", "&amp;", "&").Replace(text)
}

// Stamp is a moment as Slack's message ids have it; they sort by time.
func Stamp(t time.Time) string { return fmt.Sprintf("%d.%06d", t.Unix(), t.Nanosecond()/1000) }

// Clock is a token that every reader sees as his own local time, with the date if it is not soon. It
// is rounded up to a second.
func Clock(t time.Time) string {
	at := t.Add(time.Second - 1).Truncate(time.Second)
	if time.Until(at) > 20*time.Hour {
		return fmt.Sprintf("<!date^%d^{date_short_pretty} {time}|%s>", at.Unix(), at.UTC().Format("2 Jan 15:04 UTC"))
	}
	return fmt.Sprintf("<!date^%d^{time}|%s>", at.Unix(), at.UTC().Format("15:04 UTC"))
}

// Moment is when a message was sent; zero if that is no id.
func Moment(ts string) time.Time {
	f, err := strconv.ParseFloat(ts, 64)
	if err != nil {
		return time.Time{}
	}
	return time.UnixMilli(int64(f * 1000))
}
