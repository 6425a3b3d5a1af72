package markup

import (
	"regexp"
	"strings"

	"github.com/rivo/uniseg"
	extast "github.com/yuin/goldmark/extension/ast"
)

var lineBreak = regexp.MustCompile(`(?i)<br\s*/?>`) // models write it into cells

// table lays a table out in columns, as lines of code.
func table(t *extast.Table, source []byte) []string {
	var rows [][]string
	var widths []int
	for r := t.FirstChild(); r != nil; r = r.NextSibling() {
		var row []string
		for c := r.FirstChild(); c != nil; c = c.NextSibling() {
			text := lineBreak.ReplaceAllString(plainText(c, source), " ")
			text = strings.Join(strings.Fields(text), " ")
			if len(widths) == len(row) {
				widths = append(widths, 1)
			}
			widths[len(row)] = max(widths[len(row)], uniseg.StringWidth(text))
			row = append(row, text)
		}
		rows = append(rows, row)
	}
	var out []string
	for i, row := range rows {
		out = append(out, tableRow(row, widths, t.Alignments))
		if i == 0 {
			out = append(out, tableRule(widths))
		}
	}
	return out
}

func tableRow(row []string, widths []int, sides []extast.Alignment) string {
	var b strings.Builder
	for i, wide := range widths {
		if i > 0 {
			b.WriteString(" | ")
		}
		text := ""
		if i < len(row) {
			text = row[i]
		}
		left, right := 0, max(0, wide-uniseg.StringWidth(text))
		if i < len(sides) {
			switch sides[i] {
			case extast.AlignRight:
				left, right = right, 0
			case extast.AlignCenter:
				left, right = right/2, right-right/2
			}
		}
		b.WriteString(strings.Repeat(" ", left) + text + strings.Repeat(" ", right))
	}
	return strings.TrimRight(b.String(), " ")
}

func tableRule(widths []int) string {
	var parts []string
	for _, wide := range widths {
		parts = append(parts, strings.Repeat("-", wide))
	}
	return strings.Join(parts, "-|-")
}
