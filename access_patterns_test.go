package main

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
)

// wanted is one kind of request that a field may send.
type wanted struct{ container, operation string }

var (
	readUser      = wanted{"users", "read"}
	queryUser     = wanted{"users", "query"}
	patchUser     = wanted{"users", "patch"}
	readUsers     = wanted{"users", "readMany"}
	readPost      = wanted{"posts", "read"}
	readPosts     = wanted{"posts", "readMany"}
	queryPost     = wanted{"posts", "query"}
	createPost    = wanted{"posts", "create"}
	patchPost     = wanted{"posts", "patch"}
	execute       = wanted{"posts", "execute"}
	queryFeed     = wanted{"feed", "query"}
	readName      = wanted{"usernames", "read"}
	createName    = wanted{"usernames", "create"}
	deleteName    = wanted{"usernames", "delete"}
	createTheUser = wanted{"users", "create"}
)

// pattern is what one field costs: asked by asker, it sends these requests in this order.
type pattern struct {
	field    string
	asker    *api
	document string
	requests []wanted
}

func (b *blogUnderTest) patterns() []pattern {
	return append(b.queryPatterns(), b.commandPatterns()...)
}

const (
	postFields    = `id title excerpt commentCount likeCount creationDate updatedDate version author { id username }`
	commentFields = `id content creationDate updatedDate author { id username } post { title }`
	likeFields    = `id creationDate user { id username } post { title }`
	pageFields    = `pageInfo { hasNextPage hasPreviousPage startCursor endCursor }`
)

func (b *blogUnderTest) queryPatterns() []pattern {
	user, post := fmt.Sprintf(`user(id: %q)`, b.userID), fmt.Sprintf(`post(id: %q)`, b.postID)
	return []pattern{
		{"`user` (Q1)", b.reader, `{ ` + user + ` { id username creationDate postCount } }`, []wanted{readUser}},
		{"`userByUsername`", b.reader, `{ userByUsername(username: "Author") { id username } }`, []wanted{readName, readUser}},
		{"`viewer`", b.viewer, `{ viewer { id username } }`, []wanted{readUser}},
		{"`post` (Q2)", b.reader, `{ ` + post + ` { content ` + postFields + ` } }`, []wanted{readPost}},
		{"`User.posts` (Q3)", b.reader, `{ ` + user + ` { posts { nodes { ` + postFields + ` } pageInfo { hasNextPage } } } }`, []wanted{readUser, queryUser}},
		{"`Post.comments` (Q4)", b.reader, `{ ` + post + ` { comments { nodes { ` + commentFields + ` } edges { cursor node { id } } ` + pageFields + ` } } }`, []wanted{readPost, queryPost}},
		{"`Post.likes` (Q5)", b.reader, `{ ` + post + ` { likes { nodes { ` + likeFields + ` } edges { cursor node { id } } ` + pageFields + ` } } }`, []wanted{readPost, queryPost}},
		{"`feed` (Q6)", b.reader, `{ feed { nodes { ` + postFields + ` } edges { cursor node { id } } ` + pageFields + ` } }`, []wanted{queryFeed}},
		{"`feed(first: 100)`", b.reader, `{ feed(first: 100) { nodes { ` + postFields + ` } } }`, []wanted{queryFeed}},
		{"`Post.content` in a list", b.reader, `{ feed { nodes { id content } } }`, []wanted{queryFeed, readPosts}},
		{"`Post.viewerHasLiked`", b.viewer, `{ ` + post + ` { id viewerHasLiked } }`, []wanted{readPost, readPost}},
		{"`Post.viewerHasLiked` in a list", b.viewer, `{ feed { nodes { id viewerHasLiked } } }`, []wanted{queryFeed, readPosts}},
		{"`User.postCount`, `creationDate` in a list", b.reader, `{ ` + post + ` { likes { nodes { user { postCount creationDate } } } } }`, []wanted{readPost, queryPost, readUsers}},
		{"`node` of a comment or like", b.reader, fmt.Sprintf(`{ node(id: %q) { id ... on Comment { content } } }`, b.commentID), []wanted{readPost, readPost}},
		{"`nodes`, 20 comments", b.reader, `{ nodes(ids: ["` + strings.Join(b.commentIDs[:20], `", "`) + `"]) { id ... on Comment { content } } }`,
			slices.Repeat([]wanted{readPost}, 21)},
	}
}

func (b *blogUnderTest) commandPatterns() []pattern {
	mutation := func(format string, arguments ...any) string {
		return `mutation { ` + fmt.Sprintf(format, arguments...) + ` }`
	}
	return []pattern{
		{"`createUser` (C1)", b.newcomer, mutation(`createUser(input: {username: "newcomer"}) { user { id username } }`),
			[]wanted{readUser, readName, createTheUser, createName, patchUser}},
		{"`updateUser` (C1)", b.newcomer, mutation(`updateUser(input: {username: "well-known"}) { user { id username } }`),
			[]wanted{readUser, readName, patchUser, createName, patchUser, readName, readUser, deleteName}},
		{"`createPost` (C2)", b.viewer, mutation(`createPost(input: {title: "New", content: %q}) { post { content `+postFields+` } }`, b.content),
			[]wanted{readUser, createPost}},
		{"`updatePost` (C2)", b.viewer, mutation(`updatePost(input: {id: %q, title: "Newer", content: %q}) { post { `+postFields+` } }`, b.lastPostID, b.content+"!"),
			[]wanted{readUser, readPost, patchPost}},
		{"`deletePost`", b.viewer, mutation(`deletePost(input: {id: %q}) { post { id } }`, b.lastPostID), []wanted{readUser, readPost, patchPost}},
		{"`createComment` (C3)", b.viewer, mutation(`createComment(input: {postId: %q, content: "One comment more."}) { comment { id } post { commentCount } }`, b.postID),
			[]wanted{readUser, execute}},
		{"`updateComment`", b.viewer, mutation(`updateComment(input: {id: %q, content: "Said better."}) { comment { content updatedDate } post { commentCount } }`, b.commentID),
			[]wanted{readUser, execute}},
		{"`deleteComment`", b.viewer, mutation(`deleteComment(input: {id: %q}) { comment { id } post { commentCount } }`, b.commentID), []wanted{readUser, execute}},
		{"`unlikePost`", b.viewer, mutation(`unlikePost(input: {postId: %q}) { post { likeCount } }`, b.postID), []wanted{readUser, execute}},
		{"`likePost` (C4)", b.viewer, mutation(`likePost(input: {postId: %q}) { like { id } post { likeCount } }`, b.postID), []wanted{readUser, execute}},
		{"`deleteUser`", b.newcomer, mutation(`deleteUser(input: {username: "well-known"}) { user { id postCount } }`), []wanted{readUser, patchUser}},
	}
}

// TestAccessPatterns holds every field to the requests that it is modelled for, as the engine sees them, and the README
// to the truth.
func TestAccessPatterns(t *testing.T) {
	b := newBlog(t)
	var table strings.Builder
	table.WriteString("| Field | Container | Partition key | Operation | Requests | RU | Price |\n|---|---|---|---|---|---|---|\n")
	for _, p := range b.patterns() {
		b.counter.take()
		told := p.asker.ask(t, p.document, nil, nil).Extensions.Cosmos
		arrived := b.counter.take()
		checkPattern(t, p, told.Requests)
		checkTold(t, p.field, told.Requests, arrived)
		checkPrice(t, p.field, told.Estimate, told.RequestCharge)
		writeRows(&table, p.field, told.Requests, told.Estimate)
	}
	checkAllIsAsked(t, b.patterns())
	if got := section(t, "access-patterns", table.String()); got != table.String() {
		t.Errorf("the README's table is not what was measured; go test -run %s -update writes it:\n%s", t.Name(), table.String())
	}
}

// checkPattern holds a field to its requests.
func checkPattern(t *testing.T, p pattern, told []sentRequest) {
	t.Helper()
	var got []wanted
	for _, r := range told {
		got = append(got, wanted{r.Container, r.Operation})
		if free := r.Operation == "read" && r.Status == http.StatusNotFound; r.Status >= 300 && !free { // a name or user not taken yet
			t.Errorf("%s: %s in %s answered %d", p.field, r.Operation, r.Container, r.Status)
		}
	}
	if !slices.Equal(got, p.requests) {
		t.Errorf("%s sent %v, want %v", p.field, got, p.requests)
	}
}

var partitionKeyPath = map[string]string{"users": "/userId", "posts": "/postId", "feed": "/type", "usernames": "/id"}

// checkTold holds what a server tells of its requests to what the engine saw.
func checkTold(t *testing.T, field string, told []sentRequest, arrived []arrived) {
	t.Helper()
	var said, saw []string
	for _, r := range told {
		partitionKey := ""
		if key, ok := r.PartitionKey.(string); ok {
			text, _ := json.Marshal([]string{key})
			partitionKey = string(text)
		} else if r.Operation != "readMany" {
			t.Errorf("%s: %s names the partitions %v", field, r.Operation, r.PartitionKey)
		}
		said = append(said, fmt.Sprintf("%s %s %s %.2f", r.Operation, r.Container, partitionKey, r.RequestCharge))
	}
	for _, r := range arrived {
		var charge float64
		fmt.Sscan(r.charge, &charge)
		saw = append(saw, fmt.Sprintf("%s %s %s %.2f", r.operation, r.container, r.partitionKey, charge))
	}
	slices.Sort(said)
	slices.Sort(saw)
	if !slices.Equal(said, saw) {
		t.Errorf("%s: the server told of\n%s\nbut the engine saw\n%s", field, strings.Join(said, "\n"), strings.Join(saw, "\n"))
	}
}

// checkPrice holds the prices in the schema to what is charged: they are never less, and not more than twice as much.
func checkPrice(t *testing.T, field string, price, charge float64) {
	t.Helper()
	if price < charge || price > 2*charge {
		t.Errorf("%s is priced at %.2f RU and was charged %.2f", field, price, charge)
	}
}

// checkAllIsAsked makes sure that no field of the schema is without a pattern.
func checkAllIsAsked(t *testing.T, patterns []pattern) {
	t.Helper()
	schema := graph.NewExecutableSchema(graph.Config{}).Schema()
	asked := map[string]bool{}
	var observers core.Events
	observers.OnField(func(_ *core.Walker, field *ast.Field) { asked[field.ObjectDefinition.Name+"."+field.Name] = true })
	for _, p := range patterns {
		document, err := parser.ParseQuery(&ast.Source{Input: p.document})
		if err != nil {
			t.Fatal(err)
		}
		core.Walk(schema, document, &observers)
	}
	for _, definition := range schema.Types {
		for _, field := range definition.Fields {
			if name := definition.Name + "." + field.Name; definition.Kind == ast.Object && !strings.Contains(name, "__") && !asked[name] {
				t.Errorf("no pattern asks for %s", name)
			}
		}
	}
}

// writeRows writes a row for each kind of request of a field.
func writeRows(table *strings.Builder, field string, told []sentRequest, price float64) {
	type kind struct{ container, operation string }
	var kinds []kind
	count, charge := map[kind]int{}, map[kind]float64{}
	for _, r := range told {
		k := kind{r.Container, r.Operation}
		if count[k] == 0 {
			kinds = append(kinds, k)
		}
		count[k]++
		charge[k] += r.RequestCharge
	}
	priced := fmt.Sprintf("%.2f", price)
	for _, k := range kinds {
		fmt.Fprintf(table, "| %s | `%s` | `%s` | %s | %d | %.2f | %s |\n", field, k.container, partitionKeyPath[k.container], k.operation, count[k], charge[k], priced)
		field, priced = "", ""
	}
}
