package web

import (
	"regexp"
	"strings"
)

// The marks of Markdown, as the program's marks.ts leaves them out of excerpts. Each has its
// replacement.
var marks = []struct {
	mark        *regexp.Regexp
	replacement string
}{
	{regexp.MustCompile(`!?\[([^\]]*)\](?:\((?:[^()]|\([^()]*(?:\)|$))*(?:\)|$)|\[[^\]]*(?:\]|$))?`), "$1"}, // links and images
	{regexp.MustCompile(`<(https?:[^>\s]*)>`), "$1"},
	{regexp.MustCompile("(^|\\s)(?:#{1,6}|```\\w*|~~~\\w*|-{3,}|\\*{3,}|_{3,}|={3,})(\\s|$)"), "$1$2"}, // of lines
	{regexp.MustCompile(`(^|[.:!?…]\s+)(?:(?:>|[-+*])\s+)+`), "$1"},                                    // of lists and quotes
	{regexp.MustCompile(`\*\*(\S(?:.*?\S)?)\*\*`), "$1"},                                               // of words
	{regexp.MustCompile(`__(\S(?:.*?\S)?)__`), "$1"},
	{regexp.MustCompile(`\*(\S(?:.*?\S)?)\*`), "$1"},
	{regexp.MustCompile("`+([^`]+)`+"), "$1"},
	{regexp.MustCompile(`(^|\s)_(\S(?:.*?\S)?)_(\s|[.,;:!?)]|$)`), "$1$2$3"},
	{regexp.MustCompile("(^|\\s)(?:\\*\\*|__|[*_`]|!?\\[)([^\\s*_`]*)$"), "$1$2"}, // a mark that is cut
	{regexp.MustCompile("\\\\([!-/:-@[-`{-~])"), "$1"},
}

// withoutMarks returns the words of an excerpt: the beginning of a text in Markdown, without its
// line breaks. It may end within a mark.
func withoutMarks(text string) string {
	for _, m := range marks {
		text = m.mark.ReplaceAllString(text, m.replacement)
	}
	return strings.Join(strings.Fields(text), " ")
}
