package resolvers_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"cosmosblog/internal/blog"
)

// asked is a query with one argument, and the values of that.
type asked struct {
	name, kind, query string // the query has the variable $v of the kind, and %s in the place of the argument's value
	values
}

// both gives the two ways in which the value is sent.
func (q asked) both(by *client, value literal) map[string]reply {
	escape := strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`)
	return map[string]reply{
		"in a variable": by.sendBody(fmt.Sprintf(`{"query":"query($v:%s){%s}","variables":{"v":%s}}`,
			q.kind, escape.Replace(fmt.Sprintf(q.query, "$v")), value)),
		"in the query": by.sendBody(fmt.Sprintf(`{"query":"{%s}"}`, escape.Replace(fmt.Sprintf(q.query, value)))),
	}
}

// pages are the values of first.
var pages = values{
	good: []literal{`1`, `20`, `100`, `null`},
	bad:  []literal{`0`, `-1`, `101`, `2147483647`, `2147483648`, `-9223372036854775808`, `99999999999999999999`, `1.5`, `"5"`, `true`, `[]`, `{}`, `"\ud83d"`},
}

// cursorsOf are the values of after. others are cursors of other lists.
func cursorsOf(good string, others ...string) values {
	v := values{
		good: []literal{`null`, text(good)},
		bad: slices.Concat(notText, nothing, controls, scripts, []literal{text("x"), text(good[:len(good)-1]), text(good[:len(good)/2]), text(good[1:]), text(good + "="),
			text(good + "A"), text(" " + good), text(good + emoji), repeated("A", 5000), text(noPost), encoded("v1"), encoded("v2/feed/2026-01-02T03:04:05.000006Z/p_a/1"),
			encoded("v1/feed/2026-01-02/p_a/1"), encoded("v1/feed/2026-01-02T03:04:05.000006Z/p_a/1000"), encoded("v1/feed/2026-01-02T03:04:05.000006Z/" + emoji + "/1"),
			encoded("v1/////"), encoded("\xff/\xff/\xff/\xff/\xff")}),
	}
	for _, other := range others {
		v.bad = append(v.bad, text(other))
	}
	return v
}

func (s *scene) queries() []asked {
	cursor := func(query, path string) string {
		return s.anonymous().ask("{" + query + "}").text(path + ".pageInfo.endCursor")
	}
	user, post := fmt.Sprintf(`user(id:%q)`, s.ann.id), fmt.Sprintf(`post(id:%q)`, s.post)
	feed := cursor(`feed{pageInfo{endCursor}}`, "feed")
	posts := cursor(user+`{posts{pageInfo{endCursor}}}`, "user.posts")
	comments := cursor(post+`{comments{pageInfo{endCursor}}}`, "post.comments")
	likes := cursor(post+`{likes{pageInfo{endCursor}}}`, "post.likes")
	otherComments := cursor(fmt.Sprintf(`post(id:%q){comments{pageInfo{endCursor}}}`, s.other), "post.comments")

	unknownIsNull := func(v values) values { v.good = append(v.good, text(noPost)); v.other = nil; return v }
	node := idsOf(s.post, noPost)
	node.good = append(node.good, text(s.ann.id), text(s.comment), text(s.like), text(s.orphan), text(noLike))
	node.other = nil
	nodes := values{
		good: []literal{"[" + text(s.post) + "]", text(s.post), "[" + text(noPost) + "," + text(s.post) + "," + text(s.post) + "]",
			"[" + strings.Repeat(text(s.post)+",", 99) + text(s.ann.id) + "]"},
		bad: []literal{`null`, `[]`, `[null]`, `[5]`, `["x"]`, `[[]]`, `{}`, `["\ud83d"]`, "[" + text(emoji) + "]",
			"[" + text(s.post) + "," + text(s.post[1:]) + "]", "[" + strings.Repeat(text(s.post)+",", 100) + text(s.post) + "]"},
	}
	ofUser := idsOf(s.ann.id, noUser, s.post, s.comment, s.like)
	ofUser.good, ofUser.other = append(ofUser.good, text(noUser)), nil
	names := usernames.required()
	return []asked{
		{"user", "ID!", `user(id:%s){id}`, ofUser},
		{"userByUsername", "String!", `userByUsername(username:%s){id}`, names},
		{"post", "ID!", `post(id:%s){id}`, unknownIsNull(idsOf(s.post, noPost, s.ann.id, s.comment, s.like))},
		{"node", "ID!", `node(id:%s){id}`, node},
		{"nodes", "[ID!]!", `nodes(ids:%s){id}`, nodes},
		{"feed first", "Int", `feed(first:%s){nodes{id}}`, pages},
		{"feed after", "String", `feed(after:%s){nodes{id}}`, cursorsOf(feed, posts, comments, likes)},
		{"User.posts first", "Int", user + `{posts(first:%s){nodes{id}}}`, pages},
		{"User.posts after", "String", user + `{posts(after:%s){nodes{id}}}`, cursorsOf(posts, feed, comments, likes)},
		{"Post.comments first", "Int", post + `{comments(first:%s){nodes{id}}}`, pages},
		{"Post.comments after", "String", post + `{comments(after:%s){nodes{id}}}`, cursorsOf(comments, feed, posts, likes, otherComments)},
		{"Post.likes first", "Int", post + `{likes(first:%s){nodes{id}}}`, pages},
		{"Post.likes after", "String", post + `{likes(after:%s){nodes{id}}}`, cursorsOf(likes, feed, posts, comments)},
	}
}

// TestBadInputOfQueries does for queries what TestBadInputOfMutations does for mutations, and sends what is allowed, too.
func TestBadInputOfQueries(t *testing.T) {
	s := newScene(t)
	before := itemsOf(t, s.engine)
	for _, q := range s.queries() {
		t.Run(q.name, func(t *testing.T) {
			for _, value := range q.bad {
				for how, r := range q.both(s.ann, value) {
					helpful(t, q.name+" "+how+" "+shortened(value), r, blog.BadUserInput)
				}
			}
			for _, value := range q.good {
				for how, r := range q.both(s.ann, value) {
					if len(r.Errors) > 0 {
						t.Errorf("%s %s %s: %v", q.name, how, shortened(value), r.Errors)
					}
				}
			}
		})
	}
	unchanged(t, s, before)
}
