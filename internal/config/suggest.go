package config

import (
	"fmt"
	"strings"
)

// unknown refuses a key and names the nearest one known in its section.
func (d *Document) unknown(path, key, kind string, known []string) {
	at, what := join(path, quoted(key)), "key"
	if strings.Contains(kind, "section") {
		what = "section"
	}
	near := Nearest(key, known)
	switch {
	case near != "":
		d.fail(at, fmt.Sprintf("is no known %s; did you mean %s?", what, near))
	case len(known) > 0:
		d.fail(at, fmt.Sprintf("is no known %s; known here: %s", what, strings.Join(known, ", ")))
	default:
		d.fail(at, fmt.Sprintf("is no known %s; take it out", what))
	}
}

// Nearest is the candidate that a typing mistake may have meant; "" if none is near.
func Nearest(word string, candidates []string) string {
	best, least := "", max(2, len(word)/3)+1
	for _, c := range candidates {
		if d := distance(strings.ToLower(word), c); d < least && d < max(len(word), len(c)) {
			best, least = c, d
		}
	}
	return best
}

// distance is how many letters must be put in, taken out, changed or swapped with their neighbour
// to make b of a.
func distance(a, b string) int {
	var before []int
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		next := make([]int, len(b)+1)
		next[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			next[j+1] = min(row[j]+cost, row[j+1]+1, next[j]+1)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				next[j+1] = min(next[j+1], before[j-1]+1)
			}
		}
		before, row = row, next
	}
	return row[len(b)]
}
