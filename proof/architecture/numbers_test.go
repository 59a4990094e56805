package architecture

import (
	"flag"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"cosmosblog/blog"
	"cosmosblog/guard/limits"
	"cosmosblog/store/schema"
)

var update = flag.Bool("update", false, "write the constants of the program into the texts that name them")

// numbers are the phrases in which a text names a constant of the program, as #.
func numbers() []number {
	const api, clients = "schema.graphqls", "docs/clients.md"
	standard := limits.Default()
	return []number{
		{blog.FeedLength, api, "The # most recent posts of"},
		{blog.FeedLength, clients, "ends after the # most recent posts"},
		{blog.FeedLength, "README.md", "the # most recent posts, posts by tag"},
		{blog.FeedLength, "web/app/src/pages/feed/Feed.tsx", "It has the # most recent posts"},
		{blog.FeedLength, "docs/data-model.md", "in `feed` after the first #, which"},
		{blog.FeedLength, "docs/data-model.md", "; # if there are as many"},
		{blog.FeedLength, "web/e2e/app.test.mjs", "const feedLength = #;"},
		{blog.FeedLength, "proof/chaos/contract/snapshot.go", "const feedLength = #\n"},
		{2 * blog.FeedLength, "store/schema/js/truncateFeed.js", "const keep = #;"},
		{blog.MaxRecentComments, "store/schema/js/prelude.js", "const maxRecent = #;"},
		{blog.MaxRecentComments, api, "The newest # comments"},
		{blog.MaxRecentComments, api, "@price(most: #,"},
		{blog.MaxPageSize, api, "The page size: 0 to #."},
		{blog.MaxPageSize, api, "The number of tags: 0 to #."},
		{blog.MaxPageSize, api, "The number of months: 0 to #."},
		{blog.MaxPageSize, api, "1 to # ids"},
		{blog.MaxPageSize, clients, "`first` is 0 to #,"},
		{blog.DefaultPageSize, api, "first: Int = #"},
		{blog.DefaultPageSize, clients, ", # by default"},
		{blog.MaxTitleLength, api, "The title: 1 to # characters"},
		{blog.MaxTitleLength, api, "1 to # characters on one line"},
		{blog.MaxContentBytes >> 10, api, "1 byte to # KiB of UTF-8"},
		{blog.MaxCommentLength, api, "The whole text: 1 to # characters"},
		{blog.MaxCommentLength, api, "1 to # characters, not only"},
		{blog.MaxIdempotencyKeyLength, api, "A key of 1 to # characters"},
		{blog.MaxIdempotencyKeyLength, api, "1 to # characters. It has no effect"},
		{blog.ExcerptLength, api, "the text of a post: about # characters"},
		{blog.CommentExcerptLength, api, "the text of a comment: about # characters"},
		{blog.MaxUsernameLength, api, " to # letters, digits, `_`"},
		{blog.MinUsernameLength, api, "# to " + strconv.Itoa(blog.MaxUsernameLength) + " letters, digits"},
		{blog.MaxTags, api, "At most # different tags"},
		{blog.MaxTagLength, api, "each of 1 to # letters"},
		{blog.MaxTagLength, api, "The name: 1 to # letters"},
		{standard.Cost, api, "- cost # RU"},
		{standard.Cost, clients, "| Price of an operation | # RU"},
		{standard.Elements, api, "- request # list elements"},
		{standard.Elements, clients, "again within lists | # |"},
		{standard.ContentBytes >> 20, api, "- read # MiB"},
		{standard.ContentBytes >> 20, clients, "that an operation reads | # MiB"},
		{standard.AnswerBytes >> 20, api, "- return # MiB"},
		{standard.AnswerBytes >> 20, clients, "| Data of a response | # MiB"},
		{standard.BodyBytes >> 20, clients, "| Body of a request | # MiB"},
		{standard.QueryBytes >> 10, clients, "belong in variables | # KiB"},
		{standard.Depth, clients, "| Depth of a query | # |"},
		{schema.Format, "docs/operations.md", `{"id": "format", "type": "format", "number": #}`},
		{schema.Format, "CHANGELOG.md", "The format of databases is #:"},
	}
}

// number is a constant in a file.
type number struct {
	value  int
	file   string
	phrase string
}

// TestNumbersInTexts compares the numbers that texts name with the constants. With -update, it
// writes them. It fails if a file lacks the phrase of a number.
func TestNumbersInTexts(t *testing.T) {
	for _, n := range numbers() {
		path := moduleRoot + "/" + n.file
		text := readText(t, path)
		pattern := regexp.MustCompile(strings.Replace(regexp.QuoteMeta(n.phrase), "#", `([\d,]+)`, 1))
		found := pattern.FindAllStringSubmatch(text, -1)
		if len(found) == 0 {
			t.Errorf("%s has no %q", n.file, n.phrase)
		}
		want := grouped(n.value)
		for _, match := range found {
			if match[1] != want && match[1] != strconv.Itoa(n.value) && !*update {
				t.Errorf("%s has %q, and should have %s: run go test ./proof/architecture -run TestNumbersInTexts -update", n.file, match[0], want)
			}
		}
		if *update {
			written := pattern.ReplaceAllLiteralString(text, strings.Replace(n.phrase, "#", want, 1))
			if err := os.WriteFile(path, []byte(written), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// grouped returns a number with commas between groups of three digits, if it has more than four.
func grouped(n int) string {
	digits := strconv.Itoa(n)
	if len(digits) < 5 {
		return digits
	}
	return grouped(n/1000) + "," + digits[len(digits)-3:]
}
