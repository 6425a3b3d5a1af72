package engine

import "holdfast/store"

// partsOf is a text as a surface's messages; one that the config has no more (nil) has no limits.
func partsOf(s Surface, text string) []string {
	if s == nil || s.Traits().Split == nil {
		return []string{text}
	}
	return s.Traits().Split(text)
}

// stateOf is how a new post begins: to be delivered, unless on its surface a stored post is a shown one.
func stateOf(s Surface) string {
	if s != nil && s.Traits().Local {
		return "done"
	}
	return "pending"
}

// postOf is a post of a turn, in the place of an old one if there is any.
func (e *Engine) postOf(t *store.Turn, part int, kind, text string, old *store.Post) store.Post {
	surface, _ := e.place(t)
	post := store.Post{Turn: t.ID, Conversation: t.Conversation, Part: part, Kind: kind, Text: text, State: stateOf(surface)}
	if old != nil {
		post.ID, post.Handle = old.ID, old.Handle
	}
	return post
}
