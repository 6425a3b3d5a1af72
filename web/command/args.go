package command

import (
	"encoding/json"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// Filter chooses turns for a command on many, as the command line's flags do.
type Filter struct {
	Waiting   bool
	State     string // one state's name, or ""
	Bot       string
	Model     string        // PROVIDER/MODEL
	OlderThan time.Duration // 0 = any age
	DryRun    bool          // nothing is done, only counted
}

// args reads what belongs to the command; anything else in it is refused.
func (c *Command) args(raw json.RawMessage) error {
	if len(raw) == 0 || string(raw) == "null" {
		raw = json.RawMessage("{}")
	}
	switch c.Name {
	case Send:
		return c.sendArgs(raw)
	case Edit:
		return c.editArgs(raw)
	case Resume, Cancel:
		return c.filterArgs(raw)
	case Rename:
		return c.renameArgs(raw)
	case Decide:
		return c.decideArgs(raw)
	case PauseSchedule:
		return c.pauseArgs(raw)
	case Stop, Again, Release, Ack, Delete, RunSchedule, DeleteSchedule, Forget:
		if c.Target == "" {
			return bad(`%s needs a "target"`, c.Name)
		}
	}
	return c.decode(raw, &struct{}{})
}

func (c *Command) decode(raw json.RawMessage, into any) error {
	if err := strict(raw, into); err != nil {
		return bad(`the "args" of %s are not understood: %s`, c.Name, plain(err))
	}
	return nil
}

func (c *Command) sendArgs(raw json.RawMessage) error {
	var a struct {
		Bot  string `json:"bot"`
		Chat string `json:"chat"`
		Text string `json:"text"`
	}
	if err := c.decode(raw, &a); err != nil {
		return err
	}
	if err := validText(a.Text); err != nil {
		return err
	}
	switch {
	case a.Chat != "" && !ValidID(a.Chat):
		return bad(`"chat" must be 1 to 64 of A-Z a-z 0-9 _ - , or left out for a new one`)
	case c.Target != "":
		return bad(`message.send has no "target"; name the chat in "args"`)
	}
	c.Message = Message{Bot: a.Bot, Chat: a.Chat, Text: a.Text}
	return nil
}

func validText(text string) error {
	switch {
	case strings.TrimSpace(text) == "":
		return bad(`"text" is empty; write what the bot should read`)
	case len(text) > MaxText:
		return bad(`"text" is longer than %d bytes`, MaxText)
	}
	return nil
}

func (c *Command) editArgs(raw json.RawMessage) error {
	var a struct {
		Text string `json:"text"`
	}
	if err := c.decode(raw, &a); err != nil {
		return err
	}
	if c.Target == "" {
		return bad(`%s needs a "target": the turn that the message made`, c.Name)
	}
	c.Text = a.Text
	return validText(a.Text)
}

func (c *Command) filterArgs(raw json.RawMessage) error {
	var a struct {
		Waiting   bool   `json:"waiting"`
		State     string `json:"state"`
		Bot       string `json:"bot"`
		Model     string `json:"model"`
		OlderThan string `json:"older_than"`
		DryRun    bool   `json:"dry_run"`
		Say       string `json:"say"`
	}
	if err := c.decode(raw, &a); err != nil {
		return err
	}
	if a.Say != "" && c.Name != Cancel {
		return bad(`"say" belongs to turn.cancel`)
	}
	f := Filter{Waiting: a.Waiting, State: a.State, Bot: a.Bot, Model: a.Model, DryRun: a.DryRun}
	if a.OlderThan != "" {
		age, err := Age(a.OlderThan)
		if err != nil {
			return bad(`"older_than": %s`, err)
		}
		f.OlderThan = age
	}
	c.Say = a.Say
	switch {
	case c.Target != "" && f != (Filter{}):
		return bad(`%s takes a "target" or a filter in "args", not both`, c.Name)
	case c.Target == "" && f == (Filter{DryRun: f.DryRun}):
		return bad(`%s needs a "target", or a filter in "args" such as {"waiting":true}`, c.Name)
	case c.Target == "":
		c.Filter = &f
	}
	return nil
}

func (c *Command) pauseArgs(raw json.RawMessage) error {
	a := struct {
		Paused bool `json:"paused"`
	}{true}
	if err := c.decode(raw, &a); err != nil {
		return err
	}
	if c.Target == "" {
		return bad(`%s needs a "target": the name of a schedule`, c.Name)
	}
	c.Paused = a.Paused
	return nil
}

func (c *Command) renameArgs(raw json.RawMessage) error {
	var a struct {
		Title string `json:"title"`
	}
	if err := c.decode(raw, &a); err != nil {
		return err
	}
	title := strings.Join(strings.Fields(a.Title), " ")
	if c.Target == "" || title == "" || utf8.RuneCountInString(title) > maxName {
		return bad(`chat.rename needs a "target" and a "title" of 1 to %d characters`, maxName)
	}
	c.Title = title
	return nil
}

func (c *Command) decideArgs(raw json.RawMessage) error {
	var a struct {
		Allow *bool `json:"allow"`
	}
	if err := c.decode(raw, &a); err != nil {
		return err
	}
	if c.Target == "" || a.Allow == nil {
		return bad(`approval.decide needs a "target", the approval, and {"allow": true} or false in "args"`)
	}
	c.Allow = *a.Allow
	return nil
}

// Age reads a length of time as the config writes it: Go's form, with d for days in front ("90m",
// "1h30m", "2d", "1d12h"). It is above 0.
func Age(s string) (time.Duration, error) {
	rest, days := s, 0
	if before, after, ok := strings.Cut(s, "d"); ok {
		n, err := strconv.Atoi(before)
		if err != nil || n < 0 || n > 36500 {
			return 0, notAge(s)
		}
		rest, days = after, n
	}
	age := time.Duration(days) * 24 * time.Hour
	if rest != "" {
		d, err := time.ParseDuration(rest)
		if err != nil || d < 0 {
			return 0, notAge(s)
		}
		age += d
	}
	if age <= 0 {
		return 0, notAge(s)
	}
	return age, nil
}

type ageError string

func (e ageError) Error() string {
	return strconv.Quote(cut(string(e))) + ` is not a length of time; write for example "90m", "2h" or "1d"`
}

func notAge(s string) error { return ageError(s) }
