package blog

import (
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// List names a list of posts: those with one tag, or of one month. ListKind.List returns it. No two
// lists have the same name.
type List string

// ListKind is a kind of lists of posts. The projector keeps the lists of all kinds, with the number
// of their posts and the names of those that have posts; audits and rebuilds compare them.
type ListKind struct {
	// Name begins the names of the lists, and is the type of the items that name them. Stored items
	// have it, so it never changes.
	Name string
	// Plural is the partition of the items that name the lists.
	Plural string
	// Of returns the names of the lists that have a post, without Name.
	Of func(*Post) []string
	// IsSorted says that the names are listed in their order. Otherwise, those of the longest lists
	// come first.
	IsSorted bool
}

// The kinds of lists.
var (
	Months = ListKind{Name: "month", Plural: "months", IsSorted: true, Of: func(p *Post) []string {
		if p.CreationDate == "" { // damaged
			return nil
		}
		return []string{p.CreationDate.Month().Name}
	}}
	Tags = ListKind{Name: "tag", Plural: "tags", Of: func(p *Post) []string { return p.Tags }}

	ListKinds = []ListKind{Months, Tags}
)

// List returns the list of the kind with a name.
func (k ListKind) List(name string) List { return List(k.Name + ":" + name) }

// Kind returns the kind of the list, and its name in the kind. The kind is zero if there is none.
func (l List) Kind() (ListKind, string) {
	of, name, _ := strings.Cut(string(l), ":")
	for _, kind := range ListKinds {
		if kind.Name == of {
			return kind, name
		}
	}
	return ListKind{}, ""
}

// KindOfPartition returns the kind of lists that a partition names. ok is false if it is the
// partition of a list.
func KindOfPartition(partition string) (kind ListKind, ok bool) {
	for _, kind := range ListKinds {
		if kind.Plural == partition {
			return kind, true
		}
	}
	return ListKind{}, false
}

// Tag is a subject of posts.
type Tag struct{ Name string }

// List returns the list of the posts with the tag.
func (t Tag) List() List { return Tags.List(t.Name) }

// Month is a calendar month in UTC. Posts belong to the month of their creation.
type Month struct{ Name string } // in the form YYYY-MM

const monthLayout = "2006-01"

// Month returns the month of a date.
func (d DateTime) Month() Month { return Month{string(d[:min(len(d), len(monthLayout))])} }

// List returns the list of the posts of the month.
func (m Month) List() List { return Months.List(m.Name) }

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
