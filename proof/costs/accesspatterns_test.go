//go:build ci

package costs

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/parser"
	"github.com/vektah/gqlparser/v2/validator/core"

	"cosmosblog/graph"
	"cosmosblog/proof/apitest"
)

// request is a kind of request that a field sends.
type request struct{ container, operation string }

var (
	readUser    = request{"users", "read"}
	queryUser   = request{"users", "query"}
	patchUser   = request{"users", "patch"}
	readUsers   = request{"users", "readMany"}
	readPost    = request{"posts", "read"}
	readPosts   = request{"posts", "readMany"}
	queryPost   = request{"posts", "query"}
	patchPost   = request{"posts", "patch"}
	execute     = request{"posts", "execute"}
	queryFeed   = request{"feed", "query"}
	queryList   = request{"lists", "query"}
	readList    = request{"lists", "read"}
	readLists   = request{"lists", "readMany"}
	readName    = request{"usernames", "read"}
	reserveName = request{"usernames", "execute"}
	deleteName  = request{"usernames", "delete"}
	createUser  = request{"users", "create"}
	readLease   = request{"leases", "read"}
)

// pattern is the access pattern of one field: a document and its requests to the database, in
// order.
type pattern struct {
	field    string
	client   *apitest.Client
	document string
	requests []request
}

func (b *blogUnderTest) patterns() []pattern {
	return append(b.queryPatterns(), b.commandPatterns()...)
}

const (
	postFields    = `id title contentLength recentComments { id excerpt creationDate author { username } } excerpt tags { name } commentCount likeCount creationDate updatedDate version author { id username }`
	entryFields   = `id title contentLength excerpt tags { name } creationDate updatedDate version author { id username }`
	commentFields = `id content excerpt creationDate updatedDate author { id username } post { title }`
	likeFields    = `id creationDate user { id username } post { title }`
	pageFields    = `pageInfo { hasNextPage hasPreviousPage startCursor endCursor }`
)

func (b *blogUnderTest) queryPatterns() []pattern {
	user, post := fmt.Sprintf(`user(id: %q)`, b.userID), fmt.Sprintf(`post(id: %q)`, b.postID)
	return []pattern{
		{"`user` (Q1)", b.anonymous, `{ ` + user + ` { id username creationDate postCount } }`, []request{readUser}},
		{"`userByUsername`", b.anonymous, `{ userByUsername(username: "Author") { id username } }`, []request{readName, readUser}},
		{"`viewer`", b.viewer, `{ viewer { id username } }`, []request{readUser}},
		{"`post` (Q2)", b.anonymous, `{ ` + post + ` { content ` + postFields + ` } }`, []request{readPost}},
		{"`User.posts` (Q3)", b.anonymous, `{ ` + user + ` { posts { nodes { ` + postFields + ` } pageInfo { hasNextPage } } } }`, []request{readUser, queryUser}},
		{"`Post.comments` (Q4)", b.anonymous, `{ ` + post + ` { comments { totalCount nodes { ` + commentFields + ` } edges { cursor node { id } } ` + pageFields + ` } } }`, []request{readPost, queryPost}},
		{"`Post.comments`, newest first", b.anonymous, `{ ` + post + ` { comments(order: NEWEST_FIRST) { nodes { ` + commentFields + ` } ` + pageFields + ` } } }`, []request{readPost, queryPost}},
		{"`Post.likes` (Q5)", b.anonymous, `{ ` + post + ` { likes { totalCount nodes { ` + likeFields + ` } edges { cursor node { id } } ` + pageFields + ` } } }`, []request{readPost, queryPost}},
		{"`feed` (Q6)", b.anonymous, `{ feed { nodes { ` + postFields + ` } edges { cursor node { id } } ` + pageFields + ` } }`, []request{queryFeed}},
		{"`feed(first: 100)`", b.anonymous, `{ feed(first: 100) { nodes { ` + postFields + ` } } }`, []request{queryFeed}},
		{"`Tag.posts`", b.anonymous, `{ tag(name: "go") { name posts { nodes { ` + entryFields + ` } edges { cursor node { id } } ` + pageFields + ` } } }`, []request{queryList}},
		{"`Tag.posts` with counts", b.anonymous, `{ tag(name: "go") { posts { nodes { id commentCount likeCount recentComments { excerpt } } } } }`, []request{queryList, readPosts}},
		{"`Tag.postCount`", b.anonymous, `{ tag(name: "go") { postCount } }`, []request{readList}},
		{"`tags`", b.anonymous, `{ tags { name } }`, []request{queryList}},
		{"`Tag.postCount` in a list", b.anonymous, `{ tags { postCount } }`, []request{queryList, readLists}},
		{"`ArchiveMonth.posts`", b.anonymous, `{ archive(month: "` + b.month + `") { month posts { nodes { ` + entryFields + ` } ` + pageFields + ` } } }`, []request{queryList}},
		{"`ArchiveMonth.postCount`", b.anonymous, `{ archive(month: "` + b.month + `") { postCount } }`, []request{readList}},
		{"`archiveMonths`", b.anonymous, `{ archiveMonths(first: 2) { month } }`, []request{queryList}},
		{"`recentComments { content }` in a list", b.anonymous, `{ feed { nodes { recentComments { content } } } }`, []request{queryFeed, readPosts}},
		{"`Post.content` in a list", b.anonymous, `{ feed { nodes { id content } } }`, []request{queryFeed, readPosts}},
		{"`Post.viewerHasLiked`", b.viewer, `{ ` + post + ` { id viewerHasLiked } }`, []request{readPost, readPost}},
		{"`Post.viewerHasLiked` in a list", b.viewer, `{ feed { nodes { id viewerHasLiked } } }`, []request{queryFeed, readPosts}},
		{"`User.postCount`, `creationDate` in a list", b.anonymous, `{ ` + post + ` { likes { nodes { user { postCount creationDate } } } } }`, []request{readPost, queryPost, readUsers}},
		{"`Post.previousByAuthor`", b.anonymous, `{ ` + post + ` { previousByAuthor { ` + postFields + ` } } }`, []request{readPost, queryUser}},
		{"`node` of a comment or like", b.anonymous, fmt.Sprintf(`{ node(id: %q) { id ... on Comment { content } } }`, b.commentID), []request{readPost, readPost}},
		{"`nodes`, 20 comments", b.anonymous, `{ nodes(ids: ["` + strings.Join(b.commentIDs[:20], `", "`) + `"]) { id ... on Comment { content } } }`,
			slices.Repeat([]request{readPost}, 21)},
	}
}

func (b *blogUnderTest) commandPatterns() []pattern {
	mutation := func(format string, arguments ...any) string {
		return `mutation { ` + fmt.Sprintf(format, arguments...) + ` }`
	}
	return []pattern{
		{"`createUser` (C1)", b.newcomer, mutation(`createUser(input: {username: "newcomer"}) { user { id username } }`),
			[]request{readUser, readName, createUser, reserveName, patchUser}},
		{"`updateUser` (C1)", b.newcomer, mutation(`updateUser(input: {username: "well-known"}) { user { id username } }`),
			[]request{readUser, readName, patchUser, reserveName, patchUser, readName, patchUser, readUser, deleteName, readLease}},
		{"`createPost` (C2)", b.viewer, mutation(`createPost(input: {title: "New", content: %q, tags: ["go", "costs"]}) { post { content `+postFields+` } }`, b.content),
			[]request{readUser, execute}},
		{"`updatePost` (C2)", b.viewer, mutation(`updatePost(input: {id: %q, title: "Newer", content: %q, tags: ["go", "newer"]}) { post { `+postFields+` } }`, b.lastPostID, b.content+"!"),
			[]request{readUser, readPost, patchPost}},
		{"`deletePost`", b.viewer, mutation(`deletePost(input: {id: %q}) { post { id } }`, b.lastPostID), []request{readUser, readPost, patchPost}},
		{"`createComment` (C3)", b.viewer, mutation(`createComment(input: {postId: %q, content: "One comment more."}) { comment { id } post { commentCount } }`, b.postID),
			[]request{readUser, execute}},
		{"`updateComment`", b.viewer, mutation(`updateComment(input: {id: %q, content: "Said better."}) { comment { content updatedDate } post { commentCount } }`, b.commentID),
			[]request{readUser, execute}},
		{"`deleteComment`", b.viewer, mutation(`deleteComment(input: {id: %q}) { comment { id } post { commentCount } }`, b.commentID), []request{readUser, execute}},
		{"`unlikePost`", b.viewer, mutation(`unlikePost(input: {postId: %q}) { unlikedLikeId post { likeCount } }`, b.postID), []request{readUser, execute}},
		{"`likePost` (C4)", b.viewer, mutation(`likePost(input: {postId: %q}) { like { id } post { likeCount } }`, b.postID), []request{readUser, execute}},
		{"`deleteUser`", b.newcomer, mutation(`deleteUser(input: {username: "well-known"}) { user { id postCount } }`), []request{readUser, patchUser, readLease}},
	}
}

// TestAccessPatterns compares the requests of every field with its access pattern, the
// diagnostics with the requests that reach the engine, and docs/costs.md with the measured
// charges and prices.
func TestAccessPatterns(t *testing.T) {
	b := newBlog(t)
	var table strings.Builder
	table.WriteString("| Field | Container | Operation | Requests | RU | Price |\n|---|---|---|---|---|---|\n")
	for _, p := range b.patterns() {
		b.recorder.Take()
		reported := p.client.Ask(t, p.document, nil, nil).Extensions.Cosmos
		recorded := b.recorder.Take()
		checkPattern(t, p, reported.Requests)
		checkDiagnostics(t, p.field, reported.Requests, recorded)
		checkPrice(t, p.field, reported.Estimate, reported.RequestCharge)
		writeRows(&table, p.field, reported.Requests, reported.Estimate)
	}
	checkAllFieldsHavePatterns(t, b.patterns())
	compareSection(t, costsPath, "access-patterns", table.String())
}

// checkPattern compares the requests of a field with its access pattern.
func checkPattern(t *testing.T, p pattern, reported []apitest.Request) {
	t.Helper()
	var got []request
	for _, r := range reported {
		got = append(got, request{r.Container, r.Operation})
		isMissing := r.Operation == "read" && r.Status == http.StatusNotFound           // of a new user or username
		advances := r.Operation == "patch" && r.Status == http.StatusPreconditionFailed // cosmos.AdvanceSession
		if r.Status >= 300 && !isMissing && !advances {
			t.Errorf("%s: %s in %s returned %d", p.field, r.Operation, r.Container, r.Status)
		}
	}
	if !slices.Equal(got, p.requests) {
		t.Errorf("%s sent %v, want %v", p.field, got, p.requests)
	}
}

// checkDiagnostics compares the requests that the server reports with those that reached the
// engine.
func checkDiagnostics(t *testing.T, field string, reported []apitest.Request, recorded []apitest.Recorded) {
	t.Helper()
	var got, want []string
	for _, r := range reported {
		partitionKey := ""
		if key, ok := r.PartitionKey.(string); ok {
			text, _ := json.Marshal([]string{key})
			partitionKey = string(text)
		} else if r.Operation != "readMany" {
			t.Errorf("%s: %s names the partitions %v", field, r.Operation, r.PartitionKey)
		}
		got = append(got, fmt.Sprintf("%s %s %s %.2f", r.Operation, r.Container, partitionKey, r.RequestCharge))
	}
	for _, r := range recorded {
		var charge float64
		fmt.Sscan(r.Charge, &charge)
		want = append(want, fmt.Sprintf("%s %s %s %.2f", r.Operation, r.Container, r.PartitionKey, charge))
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("%s: the server reports\n%s\nbut the engine received\n%s", field,
			strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// checkPrice compares the price in the schema with the charge. The price must be at least the
// charge, and at most twice the charge.
func checkPrice(t *testing.T, field string, price, charge float64) {
	t.Helper()
	if price < charge || price > 2*charge {
		t.Errorf("%s has a price of %.2f RU and was charged %.2f RU", field, price, charge)
	}
}

// checkAllFieldsHavePatterns requires that the patterns contain every field of the schema.
func checkAllFieldsHavePatterns(t *testing.T, patterns []pattern) {
	t.Helper()
	schema := graph.NewExecutableSchema(graph.Config{}).Schema()
	found := map[string]bool{}
	var observers core.Events
	observers.OnField(func(_ *core.Walker, field *ast.Field) { found[field.ObjectDefinition.Name+"."+field.Name] = true })
	for _, p := range patterns {
		document, err := parser.ParseQuery(&ast.Source{Input: p.document})
		if err != nil {
			t.Fatal(err)
		}
		core.Walk(schema, document, &observers)
	}
	for _, definition := range schema.Types {
		if definition == schema.Subscription { // whose answers have the patterns of their types
			continue
		}
		for _, field := range definition.Fields {
			if name := definition.Name + "." + field.Name; definition.Kind == ast.Object && !strings.Contains(name, "__") && !found[name] {
				t.Errorf("no pattern contains %s", name)
			}
		}
	}
}

// writeRows writes a row for each kind of request of a field.
func writeRows(table *strings.Builder, field string, reported []apitest.Request, price float64) {
	type kind struct{ container, operation string }
	var kinds []kind
	count, charge := map[kind]int{}, map[kind]float64{}
	for _, r := range reported {
		k := kind{r.Container, r.Operation}
		if count[k] == 0 {
			kinds = append(kinds, k)
		}
		count[k]++
		charge[k] += r.RequestCharge
	}
	priced := fmt.Sprintf("%.2f", price)
	for _, k := range kinds {
		fmt.Fprintf(table, "| %s | `%s` | %s | %d | %.2f | %s |\n", field, k.container, k.operation, count[k], charge[k], priced)
		field, priced = "", ""
	}
}
