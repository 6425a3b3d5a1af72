package slack

import (
	"context"
	"regexp"
	"strings"
	"time"

	slackapi "github.com/slack-go/slack"
)

const (
	lookUpWithin = time.Second // an event must be acknowledged within three
	namesKept    = 10000
)

var (
	mentionsSomebody = regexp.MustCompile(`<@[UW][A-Z0-9]+[|>]`)
	token            = regexp.MustCompile(`<([@#!]?)([^<>|]*)(?:\|([^<>]*))?>`)
)

// words are a message's text as people read it, without the bot's own mention around it.
func (s *Surface) words(ctx context.Context, text string) string {
	text = token.ReplaceAllStringFunc(text, func(t string) string {
		m := token.FindStringSubmatch(t)
		kind, id, label := m[1], m[2], m[3]
		switch kind {
		case "@":
			if id == s.me.user {
				return ownName
			}
			return "@" + s.name(ctx, id)
		case "#":
			if label == "" {
				label = id
			}
			return "#" + label
		case "!":
			if label == "" {
				label, _, _ = strings.Cut(id, "^")
			}
			return "@" + strings.TrimPrefix(label, "@")
		}
		id = strings.TrimPrefix(id, "mailto:")
		if label == "" || strings.HasSuffix(id, label) { // Slack has made a link of it
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

// ownName stands for the bot's mention until it is clear where it stands; no message has it.
const ownName = "\x00me\x00"

// name is how a person is called there; the id if that cannot be known soon.
func (s *Surface) name(ctx context.Context, id string) string {
	return s.lookUp(ctx, id, func(ctx context.Context) (string, error) {
		u, err := s.api.GetUserInfoContext(ctx, id)
		if err != nil {
			return "", err
		}
		for _, name := range []string{u.Profile.DisplayName, u.RealName, u.Name} {
			if name != "" {
				return name, nil
			}
		}
		return id, nil
	})
}

// title is what a new conversation is called.
func (s *Surface) title(ctx context.Context, m event) string {
	if m.direct() {
		return "Direct messages"
	}
	return "#" + s.lookUp(ctx, m.Channel, func(ctx context.Context) (string, error) {
		c, err := s.api.GetConversationInfoContext(ctx, &slackapi.GetConversationInfoInput{ChannelID: m.Channel})
		if err != nil {
			return "", err
		}
		return c.Name, nil
	})
}

// lookUp asks once; what it is not told is called by its id. The lock of events is held.
func (s *Surface) lookUp(ctx context.Context, id string, ask func(context.Context) (string, error)) string {
	if name, known := s.names[id]; known {
		return name
	}
	ctx, cancel := context.WithTimeout(ctx, lookUpWithin)
	defer cancel()
	name, err := ask(ctx)
	if err != nil || name == "" {
		s.Log.Debug("a name could not be looked up", "surface", s.Name(), "id", id, "err", err)
		name = id
	}
	if len(s.names) >= namesKept {
		clear(s.names)
	}
	s.names[id] = name
	return name
}
