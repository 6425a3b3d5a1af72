package bot

import "strings"

// Update is one thing that happened; its id grows.
type Update struct {
	ID       int64    `json:"update_id"`
	Message  *Message `json:"message"`
	Edited   *Message `json:"edited_message"`
	Callback *Press   `json:"callback_query"`
}

// User is a person or a bot.
type User struct {
	ID       int64  `json:"id"`
	Bot      bool   `json:"is_bot"`
	First    string `json:"first_name"`
	Last     string `json:"last_name"`
	Name     string `json:"username"`
	ReadsAll bool   `json:"can_read_all_group_messages"` // of getMe
}

// Shown is the name people see.
func (u User) Shown() string { return strings.TrimSpace(u.First + " " + u.Last) }

// Chat is a place.
type Chat struct {
	ID    int64  `json:"id"`
	Type  string `json:"type"` // "private" | "group" | "supergroup" | "channel"
	Title string `json:"title"`
}

// Entity is a part of a text with a meaning; its place is counted in UTF-16 units.
type Entity struct {
	Type   string `json:"type"`
	Offset int    `json:"offset"`
	Length int    `json:"length"`
	User   *User  `json:"user"`
}

// File is what some kinds of files have.
type File struct {
	Name string `json:"file_name"`
}

// Message is one that somebody has written.
type Message struct {
	ID       int64     `json:"message_id"`
	TopicID  int64     `json:"message_thread_id"`
	InTopic  bool      `json:"is_topic_message"`
	From     *User     `json:"from"`
	Chat     Chat      `json:"chat"`
	Date     int64     `json:"date"` // s since 1970
	EditDate int64     `json:"edit_date"`
	Text     string    `json:"text"`
	Caption  string    `json:"caption"`
	Entities []Entity  `json:"entities"`
	InCap    []Entity  `json:"caption_entities"`
	ReplyTo  *Message  `json:"reply_to_message"`
	Album    string    `json:"media_group_id"`
	Photo    []any     `json:"photo"`
	Document *File     `json:"document"`
	Audio    *File     `json:"audio"`
	Video    *File     `json:"video"`
	Voice    *struct{} `json:"voice"`
	Round    *struct{} `json:"video_note"`
	Sticker  *struct{} `json:"sticker"`
	Location *struct{} `json:"location"`
	Contact  *struct{} `json:"contact"`
	Poll     *struct{} `json:"poll"`
}

// Press is a button that somebody has pressed.
type Press struct {
	ID   string `json:"id"`
	From User   `json:"from"`
	Data string `json:"data"`
}
