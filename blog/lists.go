package blog

import (
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// List names a list of posts: those with one tag, or of one month. Tag.List and Month.List return
// it. No two lists have the same name.
type List string

const (
	tagPrefix   = "tag:"
	monthPrefix = "month:"
)

// Tag returns the tag whose posts the list has, and whether it is the list of a tag.
func (l List) Tag() (Tag, bool) {
	name, ok := strings.CutPrefix(string(l), tagPrefix)
	return Tag{name}, ok
}

// Month returns the month whose posts the list has, and whether it is the list of a month.
func (l List) Month() (Month, bool) {
	name, ok := strings.CutPrefix(string(l), monthPrefix)
	return Month{name}, ok
}

// Tag is a subject of posts.
type Tag struct{ Name string }

// List returns the list of the posts with the tag.
func (t Tag) List() List { return List(tagPrefix + t.Name) }

// Month is a calendar month in UTC. Posts belong to the month of their creation.
type Month struct{ Name string } // in the form YYYY-MM

const monthLayout = "2006-01"

// Month returns the month of a date.
func (d DateTime) Month() Month { return Month{string(d[:min(len(d), len(monthLayout))])} }

// List returns the list of the posts of the month.
func (m Month) List() List { return List(monthPrefix + m.Name) }

// CheckMonth returns BAD_USER_INPUT if month is not a calendar month in the form YYYY-MM.
func CheckMonth(month string) error {
	if t, err := time.Parse(monthLayout, month); err != nil || t.Format(monthLayout) != month {
		return Errorf(BadUserInput, "A month must have the form YYYY-MM, for example 2026-01.")
	}
	return nil
}

const (
	// MaxTags is the number of tags that a post can have.
	MaxTags = 5
	// MaxTagLength is the length of a tag in characters (Unicode code points).
	MaxTagLength = 30
)

// CheckTag returns BAD_USER_INPUT with the broken rule if name is not a valid tag.
//
// Two tags that look equal must be equal, and every tag must be visible. CheckTag therefore rejects
// texts that are not in NFC (Unicode Standard Annex #15), and characters that are not displayed
// (Default_Ignorable_Code_Point in UAX #44). It rejects capitals instead of lowering them, because
// lowering depends on the language. Letters of different scripts can still look alike.
func CheckTag(name string) error {
	length := utf8.RuneCountInString(name)
	first, _ := utf8.DecodeRuneInString(name)
	switch {
	case length < 1 || length > MaxTagLength || strings.ContainsFunc(name, isNoTagRune) ||
		!unicode.IsLetter(first) && !unicode.IsDigit(first):
		return Errorf(BadUserInput, "A tag must have 1 to %d letters, combining marks, digits or '-', and must start with a letter or a digit.", MaxTagLength)
	case strings.ContainsFunc(name, isCapital):
		return Errorf(BadUserInput, "A tag must not have capitals. Use lower case.")
	case !norm.NFC.IsNormalString(name):
		return Errorf(BadUserInput, "A tag must be in Unicode's Normalization Form C (NFC).")
	}
	return nil
}

// isNoTagRune reports whether a tag must not have a character. An invalid byte of UTF-8 is read as
// U+FFFD, which is none of the allowed characters.
func isNoTagRune(r rune) bool {
	isAllowed := unicode.IsLetter(r) || unicode.IsMark(r) || unicode.IsDigit(r) || r == '-'
	return !isAllowed || unicode.In(r, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point)
}

// isCapital reports whether r is in upper or title case.
func isCapital(r rune) bool { return unicode.IsUpper(r) || unicode.IsTitle(r) }

// checkTags returns one BAD_USER_INPUT for each tag that breaks a rule or repeats another one, or
// one for the list if there are too many.
func checkTags(tags []string) error {
	if len(tags) > MaxTags {
		return Errorf(BadUserInput, "A post must have at most %d tags.", MaxTags)
	}
	errs := make([]error, len(tags))
	for i, name := range tags {
		err := CheckTag(name)
		if err == nil && slices.Contains(tags[:i], name) {
			err = Errorf(BadUserInput, "The post has this tag twice.")
		}
		errs[i] = AtField(err, i)
	}
	return JoinFields(errs...)
}
