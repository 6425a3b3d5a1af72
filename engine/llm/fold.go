package llm

import "strings"

// lowerASCII is strings.ToLower for ASCII alone: the text keeps its length.
func lowerASCII(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'A' && r <= 'Z' {
			return r + 'a' - 'A'
		}
		return r
	}, strings.ToValidUTF8(s, "?"))
}

// hyphenated is a member's name as a header would be written.
func hyphenated(name string) string {
	return strings.ReplaceAll(strings.ToLower(name), "_", "-")
}

// lowerHeader is a header with names in small letters, whatever case they came in.
func lowerHeader(h map[string][]string) map[string][]string {
	low := make(map[string][]string, len(h))
	for name, values := range h {
		low[strings.ToLower(name)] = append(low[strings.ToLower(name)], values...)
	}
	return low
}

func first(values []string) string {
	if len(values) == 0 {
		return ""
	}
	return values[0]
}
