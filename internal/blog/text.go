package blog

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// The sizes of texts, in characters (Unicode code points) where not said otherwise.
const (
	MaxTitleLength          = 200
	MaxContentBytes         = 256 << 10
	MaxCommentLength        = 10_000
	MaxIdempotencyKeyLength = 200
	ExcerptLength           = 200
	MinUsernameLength       = 3
	MaxUsernameLength       = 30
)

// CheckTitle, CheckContent, CheckComment, CheckUsername and CheckIdempotencyKey hold a text to its rule.
// Error: BAD_USER_INPUT with a sentence that says the rule.
//
// A title is one line that is shown beside other texts, so nothing in it may break the line or turn the text around it:
// what sets a direction for the characters after it (Unicode Bidirectional Algorithm, UAX #9, section 2) is refused.
// Marks of direction, and letters that are written from right to left, do no harm and are taken.
func CheckTitle(title string) error {
	if err := checkText("A title", title, utf8.RuneCountInString(title), MaxTitleLength, "characters"); err != nil {
		return err
	}
	if strings.ContainsFunc(title, breaksLine) {
		return Errorf(BadUserInput, "A title is one line: it must not contain line breaks or tabs.")
	}
	if strings.ContainsFunc(title, setsDirection) {
		return Errorf(BadUserInput, "A title must not contain characters that set the direction of text (U+202A to U+202E, U+2066 to U+2069).")
	}
	return nil
}

func CheckContent(content string) error {
	return checkText("A post's content", content, len(content), MaxContentBytes, "bytes of UTF-8")
}

func CheckComment(content string) error {
	return checkText("A comment", content, utf8.RuneCountInString(content), MaxCommentLength, "characters")
}

func checkText(what, text string, size, limit int, unit string) error {
	switch {
	case !utf8.ValidString(text):
		return Errorf(BadUserInput, "%s must be UTF-8.", what)
	case strings.TrimFunc(text, isBlank) == "":
		return Errorf(BadUserInput, "%s must not be empty; white space alone is nothing.", what)
	case size > limit:
		return Errorf(BadUserInput, "%s has at most %d %s.", what, limit, unit)
	case strings.ContainsFunc(text, isControl):
		return Errorf(BadUserInput, "%s must not contain control characters other than tabs and line breaks.", what)
	case strings.ContainsFunc(text, overridesDirection):
		return Errorf(BadUserInput, "%s must not contain characters that override the direction of text (U+202D, U+202E).", what)
	}
	return nil
}

// isControl holds for control characters that no text needs: all but those that begin a line or a column.
func isControl(r rune) bool { return unicode.IsControl(r) && r != '\t' && r != '\n' && r != '\r' }

// breaksLine holds for what ends a line, or leaves a gap in it.
func breaksLine(r rune) bool { return unicode.IsControl(r) || r == '\u2028' || r == '\u2029' }

// overridesDirection holds for what makes letters be shown in another order than their own, so that a text reads as what
// it is not. Text of both directions needs embeddings and isolates, never these.
func overridesDirection(r rune) bool { return r == '\u202D' || r == '\u202E' }

// setsDirection holds for embeddings, overrides and isolates, and what ends them.
func setsDirection(r rune) bool {
	return r >= '\u202A' && r <= '\u202E' || r >= '\u2066' && r <= '\u2069'
}

// isBlank holds for what shows as nothing: white space, controls and invisible format characters.
func isBlank(r rune) bool { return unicode.IsSpace(r) || unicode.In(r, unicode.Cc, unicode.Cf) }

// CheckUsername takes [A-Za-z0-9][A-Za-z0-9_.-]{2,29}.
func CheckUsername(username string) error {
	ok := len(username) >= MinUsernameLength && len(username) <= MaxUsernameLength
	for i := 0; ok && i < len(username); i++ {
		ok = isIDByte(username[i]) && (i > 0 || username[i] != '_' && username[i] != '.' && username[i] != '-')
	}
	if !ok {
		return Errorf(BadUserInput, "A username has %d to %d characters: letters, digits, '_', '.' and '-', the first a letter or a digit.",
			MinUsernameLength, MaxUsernameLength)
	}
	return nil
}

func CheckIdempotencyKey(key string) error {
	if !utf8.ValidString(key) || strings.TrimSpace(key) == "" || utf8.RuneCountInString(key) > MaxIdempotencyKeyLength {
		return Errorf(BadUserInput, "An idempotencyKey has 1 to %d characters, and not white space alone.", MaxIdempotencyKeyLength)
	}
	return nil
}

// NormalizeUsername gives the form in which usernames are unique: they are the same whatever the case.
func NormalizeUsername(username string) string { return strings.ToLower(username) }

// Excerpt gives the beginning of a content: its first 200 characters, white space folded, cut at a word where there is
// one in the last 40, with an ellipsis where something was left out. It is at most 201 characters long and never empty
// for a content that CheckContent takes.
func Excerpt(content string) string {
	// Twice as many characters as needed are folded, so that a content of 256 KiB costs no more than a short one; where
	// the beginning is nearly all white space, the whole is folded.
	head, cut := headRunes(content, 4*ExcerptLength)
	folded := strings.Join(strings.Fields(head), " ")
	if cut && utf8.RuneCountInString(folded) <= ExcerptLength {
		folded = strings.Join(strings.Fields(content), " ")
		cut = false
	}
	excerpt, more := headRunes(folded, ExcerptLength)
	if !more && !cut {
		return excerpt
	}
	if i := strings.LastIndexByte(excerpt, ' '); i > 0 && utf8.RuneCountInString(excerpt[i:]) <= 40 {
		excerpt = excerpt[:i]
	}
	return excerpt + "…"
}

// headRunes gives the first n characters of s, and whether there are more.
func headRunes(s string, n int) (string, bool) {
	count := 0
	for i := range s {
		if count == n {
			return s[:i], true
		}
		count++
	}
	return s, false
}
