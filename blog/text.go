package blog

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// The lengths of texts in characters (Unicode code points). MaxContentBytes is in bytes.
const (
	MaxTitleLength          = 200
	MaxContentBytes         = 256 << 10
	MaxCommentLength        = 10_000
	MaxIdempotencyKeyLength = 200
	ExcerptLength           = 200
	CommentExcerptLength    = 100
	MinUsernameLength       = 3
	MaxUsernameLength       = 30
)

// TextSize is the size of a text in bytes and in characters. It is an array, because that is short:
// lists are charged for the sizes of the posts.
type TextSize [2]int

// SizeOf returns the size of a text.
func SizeOf(text string) TextSize { return TextSize{len(text), utf8.RuneCountInString(text)} }

// Bytes returns the number of bytes of UTF-8.
func (s TextSize) Bytes() int { return s[0] }

// Characters returns the number of Unicode code points.
func (s TextSize) Characters() int { return s[1] }

// CheckTitle returns BAD_USER_INPUT with the broken rule if title is not the valid title of a
// post.
//
// A title is displayed on one line among other texts. It must not break the line, or change the
// direction of the text around it. CheckTitle therefore rejects characters that set the
// direction of the following text (Unicode Bidirectional Algorithm, UAX #9, section 2).
// Direction marks and right-to-left letters are harmless and allowed.
func CheckTitle(title string) error {
	if err := checkText("A title", title, utf8.RuneCountInString(title), MaxTitleLength, "characters"); err != nil {
		return err
	}
	if strings.ContainsFunc(title, breaksLine) {
		return Errorf(BadUserInput, "A title must be one line, without line breaks or tabs.")
	}
	if strings.ContainsFunc(title, setsDirection) {
		return Errorf(BadUserInput, "A title must not contain characters that set the direction of text (U+202A to U+202E, U+2066 to U+2069).")
	}
	return nil
}

// CheckContent returns BAD_USER_INPUT with the broken rule if content is not the valid content
// of a post.
func CheckContent(content string) error {
	return checkText("A post's content", content, len(content), MaxContentBytes, "bytes of UTF-8")
}

// CheckComment returns BAD_USER_INPUT with the broken rule if content is not a valid comment.
func CheckComment(content string) error {
	return checkText("A comment", content, utf8.RuneCountInString(content), MaxCommentLength, "characters")
}

func checkText(what, text string, size, limit int, unit string) error {
	switch {
	case !utf8.ValidString(text):
		return Errorf(BadUserInput, "%s must be UTF-8.", what)
	case strings.TrimFunc(text, isBlank) == "":
		return Errorf(BadUserInput, "%s must not be empty or only white space.", what)
	case size > limit:
		return Errorf(BadUserInput, "%s must have at most %d %s.", what, limit, unit)
	case strings.ContainsFunc(text, isControl):
		return Errorf(BadUserInput, "%s must not contain control characters other than tabs and line breaks.", what)
	case strings.ContainsFunc(text, overridesDirection):
		return Errorf(BadUserInput, "%s must not contain characters that override the direction of text (U+202D, U+202E).", what)
	}
	return nil
}

// isControl reports whether r is a control character other than a line break or a tab.
func isControl(r rune) bool { return unicode.IsControl(r) && r != '\t' && r != '\n' && r != '\r' }

// breaksLine reports whether r is a line break, a tab or another control character.
func breaksLine(r rune) bool { return unicode.IsControl(r) || r == '\u2028' || r == '\u2029' }

// overridesDirection reports whether r is an override. Overrides reverse the display order of
// letters, which can disguise a text. Text in both directions needs embeddings and isolates, but
// never overrides.
func overridesDirection(r rune) bool { return r == '\u202D' || r == '\u202E' }

// setsDirection reports whether r begins or ends an embedding, an override or an isolate.
func setsDirection(r rune) bool {
	return r >= '\u202A' && r <= '\u202E' || r >= '\u2066' && r <= '\u2069'
}

// isBlank reports whether r is invisible: white space, a control or a format character.
func isBlank(r rune) bool { return unicode.IsSpace(r) || unicode.In(r, unicode.Cc, unicode.Cf) }

// CheckUsername returns BAD_USER_INPUT with the rule if username does not match
// [A-Za-z0-9][A-Za-z0-9_.-]{2,29}.
func CheckUsername(username string) error {
	ok := len(username) >= MinUsernameLength && len(username) <= MaxUsernameLength
	for i := 0; ok && i < len(username); i++ {
		ok = isUsernameByte(username[i]) && (i > 0 || username[i] != '_' && username[i] != '.' && username[i] != '-')
	}
	if !ok {
		return Errorf(BadUserInput,
			"A username must have %d to %d letters, digits, '_', '.' or '-', and must start with a letter or a digit.",
			MinUsernameLength, MaxUsernameLength)
	}
	return nil
}

func isUsernameByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '.' || c == '-'
}

// CheckIdempotencyKey returns BAD_USER_INPUT with the rule if key is not a valid idempotency key.
func CheckIdempotencyKey(key string) error {
	if !utf8.ValidString(key) || strings.TrimSpace(key) == "" || utf8.RuneCountInString(key) > MaxIdempotencyKeyLength {
		return Errorf(BadUserInput,
			"An idempotencyKey must have 1 to %d characters, not only white space.", MaxIdempotencyKeyLength)
	}
	return nil
}

// NormalizeUsername returns the form in which usernames are unique: lower case.
func NormalizeUsername(username string) string { return strings.ToLower(username) }

// Excerpt returns the beginning of a post's content: its first 200 characters with folded white
// space. If it omits text, it cuts at a word boundary within the last 40 characters and appends an
// ellipsis. The result has at most 201 characters, and is never empty for a valid content.
func Excerpt(content string) string { return excerptOf(content, ExcerptLength) }

// CommentExcerpt is Excerpt for a comment: its first 100 characters.
func CommentExcerpt(content string) string { return excerptOf(content, CommentExcerptLength) }

func excerptOf(content string, length int) string {
	// Folding only four times the needed characters makes long contents as cheap as short ones. If
	// that beginning is mostly white space, the whole content is folded.
	head, cut := headRunes(content, 4*length)
	folded := strings.Join(strings.Fields(head), " ")
	if cut && utf8.RuneCountInString(folded) <= length {
		folded = strings.Join(strings.Fields(content), " ")
		cut = false
	}
	excerpt, more := headRunes(folded, length)
	if !more && !cut {
		return excerpt
	}
	if i := strings.LastIndexByte(excerpt, ' '); i > 0 && utf8.RuneCountInString(excerpt[i:]) <= 40 {
		excerpt = excerpt[:i]
	}
	return excerpt + "…"
}

// headRunes returns the first n characters of s, and reports whether there are more.
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
