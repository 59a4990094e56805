package seed

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// topic is the topic of a post: words for the gaps of the templates.
type topic struct {
	name   string   // a noun phrase
	things []string // with their articles, or plural
	doings []string // gerunds
	places []string // with their prepositions
}

func title(r stream, t topic) string { return fill(r, one(r, titles), t) }

// One in longShare posts is several times as long as the others.
const longShare = 40

// content returns the text of a post: an opening, some paragraphs and a closing.
func content(r stream, t topic) string {
	var b strings.Builder
	b.WriteString(fill(r, one(r, openings), t))
	paragraphs := r.from(2, 8)
	if r.IntN(longShare) == 0 {
		paragraphs = r.from(40, 80)
	}
	for range paragraphs {
		for sentence := range r.from(3, 6) {
			if sentence == 0 {
				b.WriteString("\n\n")
			} else {
				b.WriteByte(' ')
			}
			b.WriteString(fill(r, one(r, sentences), t))
		}
	}
	b.WriteString("\n\n")
	b.WriteString(fill(r, one(r, closings), t))
	return b.String()
}

// comment returns the text of a comment: one to three sentences.
func comment(r stream, t topic) string {
	parts := make([]string, r.from(1, 3))
	for i := range parts {
		parts[i] = fill(r, one(r, replies), t)
	}
	return strings.Join(parts, " ")
}

// fill returns a template with words in its gaps, such as {thing}, and a capital first letter.
func fill(r stream, template string, t topic) string {
	var b strings.Builder
	for {
		before, rest, found := strings.Cut(template, "{")
		b.WriteString(before)
		if !found {
			return capitalized(b.String())
		}
		gap, after, _ := strings.Cut(rest, "}")
		b.WriteString(word(r, gap, t))
		template = after
	}
}

func capitalized(text string) string {
	first, size := utf8.DecodeRuneInString(text)
	return string(unicode.ToUpper(first)) + text[size:]
}

// word returns a word for a gap. It panics if the kind of gap is unknown.
func word(r stream, gap string, t topic) string {
	switch gap {
	case "topic":
		return t.name
	case "thing":
		return one(r, t.things)
	case "doing":
		return one(r, t.doings)
	case "place":
		return one(r, t.places)
	case "friend":
		return one(r, firstNames)
	case "time":
		return one(r, times)
	case "number":
		return strconv.Itoa(r.from(3, 12))
	}
	panic("seed: unknown gap in a template: " + gap)
}
