package cli

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
)

// maxCellLength is the maximum number of characters of a text in a cell.
const maxCellLength = 30

// cell formats a text for a table: on one line, short, and never empty.
func cell(text string) string {
	if text == "" {
		return "-"
	}
	quoted := []rune(fmt.Sprintf("%q", text))
	if quoted = quoted[1 : len(quoted)-1]; len(quoted) > maxCellLength {
		quoted = append(quoted[:maxCellLength-1], '…')
	}
	return string(quoted)
}

// maxLineLength is the maximum number of characters of a text at the end of a row.
const maxLineLength = 300

// oneLine formats a text for the end of a row. It drops the horizontal rules in azcore's errors.
func oneLine(text string) string {
	words := slices.DeleteFunc(strings.Fields(text), func(word string) bool { return strings.Trim(word, "-") == "" })
	line := []rune(strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return -1
		}
		return r
	}, strings.Join(words, " ")))
	if len(line) > maxLineLength {
		line = append(line[:maxLineLength-1], '…')
	}
	return string(line)
}
