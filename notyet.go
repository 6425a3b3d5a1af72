package main

import (
	"fmt"
	"slices"
	"strings"

	"holdfast/internal/config"
)

// notBuilt are the keys whose part of the house is not built: they are read and judged, and check
// says that they do nothing. The list gets shorter as parts land; * stands for any name.
var notBuilt = []string{
	"schedule",
}

// notYet lists the keys of the document that are not used yet, each once per line.
func notYet(doc *config.Document) (list []config.Problem) {
	seen := map[string]bool{}
	for _, path := range doc.Keys() {
		key, line := config.Shown(path), doc.Line(path)
		at := fmt.Sprintf("%s:%d", key, line)
		if seen[at] || !slices.ContainsFunc(notBuilt, func(pattern string) bool { return matches(pattern, key) }) {
			continue
		}
		seen[at] = true
		list = append(list, doc.About(path, "is not used yet"))
	}
	return list
}

// matches compares a key with a pattern, part by part.
func matches(pattern, key string) bool {
	p, k := strings.Split(pattern, "."), strings.Split(key, ".")
	return slices.EqualFunc(p, k, func(p, k string) bool { return p == "*" || p == k })
}
