package door

import (
	"net/url"
	"strings"
)

// Mention makes the short post that tells people of an answer that came by an edit (Traits.Mention):
// before each of the platform's people stands what calls him, then what there is to say.
func (d *Door) Mention(call func(id string) string, say string) func(persons []string) string {
	return func(persons []string) (text string) {
		for _, p := range persons {
			if id, ok := strings.CutPrefix(p, d.platform+":"); ok {
				text += call(id)
			}
		}
		return text + say
	}
}

// WithFiles is a text with the names of what came along; "" if there is neither.
func WithFiles(text string, files []string) string {
	for _, name := range files {
		text += " [file: " + name + "]"
	}
	return strings.TrimSpace(text)
}

// CheckURL reports the address of a platform's API that is none; usual is the one to write.
func CheckURL(address, usual string, problem func(key, what string)) {
	if u, err := url.Parse(address); err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		problem("api_url", `is no address; write "`+usual+`"`)
	}
}
