package rest

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"
)

// me stands for the reader's own mention until it is clear where it stands; no message has it.
const me = "\x00me\x00"

// Mentioned tells whether somebody is among the mentions, which replies have too.
func (m *Message) Mentioned(user string) bool {
	return slices.ContainsFunc(m.Mentions, func(u User) bool { return u.ID == user })
}

// Written tells what somebody has written from what Discord itself says.
func (m *Message) Written() bool { return m.Type == TypeDefault || m.Type == TypeReply }

// Automatic tells what bots and webhooks write.
func (m *Message) Automatic() bool { return m.Author.Bot || m.Webhook != "" }

// Words is the text as self reads it: without its own mention around it, others by name.
func (m *Message) Words(self string) string {
	text := m.Content
	for _, u := range m.Mentions {
		by := "@" + u.Shown()
		if u.ID == self {
			by = me
		}
		text = strings.NewReplacer("<@"+u.ID+">", by, "<@!"+u.ID+">", by).Replace(text)
	}
	text = strings.TrimSpace(text)
	for strings.HasPrefix(text, me) {
		text = strings.TrimLeft(strings.TrimPrefix(text, me), " ,:\n\t")
	}
	for strings.HasSuffix(text, me) {
		text = strings.TrimSpace(strings.TrimSuffix(text, me))
	}
	return strings.ReplaceAll(text, me, "@you")
}

// Writer is its writer's name as people see it there.
func (m *Message) Writer() string {
	if m.Member != nil && m.Member.Nick != "" {
		return m.Member.Nick
	}
	return m.Author.Shown()
}

// Files names what came along and is no text.
func (m *Message) Files() (names []string) {
	for _, f := range m.Attachments {
		names = append(names, f.Name)
	}
	for _, x := range m.Stickers {
		names = append(names, "sticker "+x.Name)
	}
	return names
}

// Clock is a token that every reader sees as his own local time, with the date if it is not soon. It
// is rounded up to a second.
func Clock(t time.Time) string {
	form := "t"
	if time.Until(t) > 20*time.Hour {
		form = "f"
	}
	return fmt.Sprintf("<t:%d:%s>", t.Add(time.Second-1).Unix(), form)
}

// userMention is how a text mentions somebody.
var userMention = regexp.MustCompile(`<@!?(\d+)>`)

// MentionedIn are the users that a text mentions, each once, at most the 100 that Discord lets one notify.
func MentionedIn(text string) (ids []string) {
	for _, m := range userMention.FindAllStringSubmatch(text, 100) {
		if !slices.Contains(ids, m[1]) {
			ids = append(ids, m[1])
		}
	}
	return ids
}
