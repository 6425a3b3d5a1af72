package bot

import (
	"html"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf16"
)

// Words are a message's text without the bot's own name around it.
func (m *Message) Words(me string) string {
	text, own := m.Text, "@"+me
	if text == "" {
		text = m.Caption
	}
	if cmd, rest, _ := strings.Cut(text, " "); strings.HasPrefix(cmd, "/") { // "/stop@bot" is "/stop"
		name, at, _ := strings.Cut(cmd, "@")
		if at == "" || strings.EqualFold(at, me) {
			text = strings.TrimSpace(name + " " + rest)
		}
	}
	for text = strings.TrimSpace(text); len(text) >= len(own) && strings.EqualFold(text[:len(own)], own); {
		text = strings.TrimLeft(text[len(own):], " ,:\n\t")
	}
	for len(text) >= len(own) && strings.EqualFold(text[len(text)-len(own):], own) {
		text = strings.TrimSpace(text[:len(text)-len(own)])
	}
	if strings.EqualFold(text, "/start") { // what Telegram's own button says
		return "!help"
	}
	return text
}

// Mentions lists whom a message names: "@name" in lower case, or a person's id.
func (m *Message) Mentions() (list []string) {
	text, all := utf16.Encode([]rune(m.Text)), m.Entities
	if m.Text == "" {
		text, all = utf16.Encode([]rune(m.Caption)), m.InCap
	}
	for _, e := range all {
		if e.Offset < 0 || e.Length < 0 || e.Offset+e.Length > len(text) {
			continue
		}
		part := strings.ToLower(string(utf16.Decode(text[e.Offset : e.Offset+e.Length])))
		switch {
		case e.Type == "mention":
			list = append(list, part)
		case e.Type == "bot_command" && strings.Contains(part, "@"):
			list = append(list, part[strings.Index(part, "@"):])
		case e.Type == "text_mention" && e.User != nil:
			list = append(list, ID(e.User.ID))
		}
	}
	return list
}

// IsCommand tells whether it is one for whatever bot is there.
func (m *Message) IsCommand() bool {
	return len(m.Entities) > 0 && m.Entities[0].Type == "bot_command" && m.Entities[0].Offset == 0
}

// Files names what came along and cannot be read (S10).
func (m *Message) Files() (names []string) {
	for _, f := range []*File{m.Document, m.Audio, m.Video} {
		if f != nil {
			names = append(names, strings.TrimSpace("file "+f.Name))
		}
	}
	for what, is := range map[string]bool{
		"photo": len(m.Photo) > 0, "voice message": m.Voice != nil, "video message": m.Round != nil, "sticker": m.Sticker != nil,
		"location": m.Location != nil, "contact": m.Contact != nil, "poll": m.Poll != nil,
	} {
		if is {
			names = append(names, what)
		}
	}
	return names
}

// Mention names a person, who is told.
func Mention(id, name string) string {
	return `<a href="tg://user?id=` + html.EscapeString(id) + `">` + html.EscapeString(name) + `</a>`
}

// Topic is the forum topic of a message; "" for none.
func (m *Message) Topic() string {
	if !m.InTopic || m.TopicID == 0 {
		return ""
	}
	return ID(m.TopicID)
}

// ID is a number of Telegram's as text.
func ID(n int64) string { return strconv.FormatInt(n, 10) }

// tag is one of HTML, as far as Telegram knows it.
var tag = regexp.MustCompile(`</?[a-z][^<>]*>`)

// plain is a text without its markup.
func plain(text string) string { return html.UnescapeString(tag.ReplaceAllString(text, "")) }
