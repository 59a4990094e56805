package resolvers_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"cosmosblog/blog"
)

// queryTest lists values for one argument of a query.
type queryTest struct {
	name         string
	variableType string
	query        string // with %s for the argument's value
	argumentValues
}

// sendBoth sends a value in both forms: in the variable $v and as a literal in the query.
func (q queryTest) sendBoth(by *client, value literal) map[string]reply {
	escape := strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`)
	return map[string]reply{
		"in a variable": by.sendBody(fmt.Sprintf(`{"query":"query($v:%s){%s}","variables":{"v":%s}}`,
			q.variableType, escape.Replace(fmt.Sprintf(q.query, "$v")), value)),
		"in the query": by.sendBody(fmt.Sprintf(`{"query":"{%s}"}`, escape.Replace(fmt.Sprintf(q.query, value)))),
	}
}

// pageSizes are values for `first`.
var pageSizes = argumentValues{
	valid:   []literal{`0`, `1`, `20`, fmt.Sprint(blog.MaxPageSize), `null`},
	invalid: []literal{`-1`, fmt.Sprint(blog.MaxPageSize + 1), `2147483647`, `2147483648`, `-9223372036854775808`, `99999999999999999999`, `1.5`, `"5"`, `true`, `[]`, `{}`, `"\ud83d"`},
}

// cursorsOf returns values for `after`. The parameters are a cursor of the list, and cursors of
// other lists.
func cursorsOf(cursor string, others ...string) argumentValues {
	v := argumentValues{
		valid: []literal{`null`, text(cursor)},
		invalid: slices.Concat(notAString, blank, controls, scripts, []literal{text("x"), text(cursor[:len(cursor)-1]), text(cursor[:len(cursor)/2]), text(cursor[1:]), text(cursor + "="),
			text(cursor + "A"), text(" " + cursor), text(cursor + emoji), repeated("A", 5000), text(noPost), encoded("v1"), encoded(strings.Repeat("\x00", 24)), encoded(strings.Repeat("\x00", 27)), encoded(strings.Repeat("\xf0", 24)), encoded("v2/feed/2026-01-02T03:04:05.000006Z/p_a/1"),
			encoded("v1/feed/2026-01-02/p_a/1"), encoded("v1/feed/2026-01-02T03:04:05.000006Z/p_a/1000"), encoded("v1/feed/2026-01-02T03:04:05.000006Z/" + emoji + "/1"),
			encoded("v1/////"), encoded("\xff/\xff/\xff/\xff/\xff")}),
	}
	for _, other := range others {
		v.invalid = append(v.invalid, text(other))
	}
	return v
}

// queries returns the tests of all arguments of queries.
func (f *fixture) queries() []queryTest {
	cursor := func(query, path string) string {
		return f.anonymous().ask("{" + query + "}").text(path + ".pageInfo.endCursor")
	}
	user, post := fmt.Sprintf(`user(id:%q)`, f.ann.id), fmt.Sprintf(`post(id:%q)`, f.post)
	feed := cursor(`feed{pageInfo{endCursor}}`, "feed")
	posts := cursor(user+`{posts{pageInfo{endCursor}}}`, "user.posts")
	comments := cursor(post+`{comments{pageInfo{endCursor}}}`, "post.comments")
	likes := cursor(post+`{likes{pageInfo{endCursor}}}`, "post.likes")
	otherComments := cursor(fmt.Sprintf(`post(id:%q){comments{pageInfo{endCursor}}}`, f.other), "post.comments")

	unknownIsNull := func(v argumentValues) argumentValues {
		v.valid = append(v.valid, text(noPost))
		v.otherCodes = nil
		return v
	}
	node := idsOf(f.post, noPost)
	node.valid = append(node.valid, text(f.ann.id), text(f.comment), text(f.like), text(f.orphan), text(noLike))
	node.otherCodes = nil
	nodes := argumentValues{
		valid: []literal{"[" + text(f.post) + "]", text(f.post), "[" + text(noPost) + "," + text(f.post) + "," + text(f.post) + "]",
			"[" + strings.Repeat(text(f.post)+",", 99) + text(f.ann.id) + "]"},
		invalid: []literal{`null`, `[]`, `[null]`, `[5]`, `["x"]`, `[[]]`, `{}`, `["\ud83d"]`, "[" + text(emoji) + "]",
			"[" + text(f.post) + "," + text(f.post[1:]) + "]", "[" + strings.Repeat(text(f.post)+",", 100) + text(f.post) + "]"},
	}
	ofUser := idsOf(f.ann.id, noUser, f.post, f.comment, f.like)
	ofUser.valid, ofUser.otherCodes = append(ofUser.valid, text(noUser)), nil
	names := usernames.required()
	return []queryTest{
		{"user", "ID!", `user(id:%s){id}`, ofUser},
		{"userByUsername", "String!", `userByUsername(username:%s){id}`, names},
		{"post", "ID!", `post(id:%s){id}`, unknownIsNull(idsOf(f.post, noPost, f.ann.id, f.comment, f.like))},
		{"node", "ID!", `node(id:%s){id}`, node},
		{"nodes", "[ID!]!", `nodes(ids:%s){id}`, nodes},
		{"feed first", "Int", `feed(first:%s){nodes{id}}`, pageSizes},
		{"feed after", "String", `feed(after:%s){nodes{id}}`, cursorsOf(feed, posts, comments, likes)},
		{"User.posts first", "Int", user + `{posts(first:%s){nodes{id}}}`, pageSizes},
		{"User.posts after", "String", user + `{posts(after:%s){nodes{id}}}`, cursorsOf(posts, feed, comments, likes)},
		{"Post.comments first", "Int", post + `{comments(first:%s){nodes{id}}}`, pageSizes},
		{"Post.comments after", "String", post + `{comments(after:%s){nodes{id}}}`, cursorsOf(comments, feed, posts, likes, otherComments)},
		{"Post.comments order", "CommentOrder", post + `{comments(order:%s){nodes{id}}}`,
			argumentValues{valid: []literal{`null`}, invalid: []literal{`5`, `"x"`, `"newest_first"`, `true`, `[]`, `{}`, text(emoji)}}},
		{"Post.likes first", "Int", post + `{likes(first:%s){nodes{id}}}`, pageSizes},
		{"Post.likes after", "String", post + `{likes(after:%s){nodes{id}}}`, cursorsOf(likes, feed, posts, comments)},
	}
}

// TestQueryInput sends each query every valid and invalid value of its argument. The server must
// reject the invalid ones with a code and a helpful message, and must not write anything.
func TestQueryInput(t *testing.T) {
	f := newFixture(t)
	before := itemsOf(t, f.engine)
	for _, q := range f.queries() {
		t.Run(q.name, func(t *testing.T) {
			for _, value := range q.invalid {
				for form, r := range q.sendBoth(f.ann, value) {
					checkErrors(t, q.name+" "+form+" "+abbreviate(value), r, blog.BadUserInput)
				}
			}
			for _, value := range q.valid {
				for form, r := range q.sendBoth(f.ann, value) {
					if len(r.Errors) > 0 {
						t.Errorf("%s %s %s: %v", q.name, form, abbreviate(value), r.Errors)
					}
				}
			}
		})
	}
	checkUnchanged(t, f, before)
}
