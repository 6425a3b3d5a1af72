package config

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// Path names a key: strings are keys, ints are places in a list. bot[0].models is Path("bot", 0, "models").
func Path(parts ...any) string {
	path := ""
	for _, part := range parts {
		switch part := part.(type) {
		case int:
			path += fmt.Sprintf("[%d]", part)
		case string:
			path = join(path, quoted(part))
		}
	}
	return path
}

// join puts a key that is quoted already behind a path.
func join(path, key string) string {
	if path == "" || key == "" {
		return path + key
	}
	return path + "." + key
}

// quoted writes a key as TOML wants it: bare if it can be.
func quoted(key string) string {
	bare := strings.IndexFunc(key, func(r rune) bool {
		return !(r == '-' || r == '_' || '0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z')
	})
	if key != "" && bare < 0 {
		return key
	}
	return strconv.Quote(key)
}

// place is the index that a list adds to a path; a quoted key may hold one of its own.
var place = regexp.MustCompile(`"(?:[^"\\]|\\.)*"|\[\d+\]`)

// Shown is a path as people read it: without places in lists, which the line tells.
func Shown(path string) string {
	return place.ReplaceAllStringFunc(path, func(s string) string {
		if s[0] == '[' {
			return ""
		}
		return s
	})
}

// parent is the path of the section around a key.
func parent(path string) string {
	inQuotes := false
	for i := len(path) - 1; i >= 0; i-- {
		switch c := path[i]; {
		case c == '"' && (i == 0 || path[i-1] != '\\'):
			inQuotes = !inQuotes
		case !inQuotes && (c == '.' || c == '['):
			return path[:i]
		}
	}
	return ""
}
