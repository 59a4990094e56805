package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/parser"
	"github.com/vektah/gqlparser/v2/validator/core"

	"cosmosblog/graph"
	"cosmosblog/internal/auth"
	"cosmosblog/internal/command"
	"cosmosblog/projector"
	"cosmosblog/store"
	"cosmosblog/store/embedded"
)

// blogUnderTest is a server on an engine that counts, with the data set that the README describes.
type blogUnderTest struct {
	counter *engineCounter
	reader  *api // nobody
	viewer  *api // the author of all posts

	newcomer *api   // an account without a user
	content  string // of all posts: 1 KB

	commentIDs                            []string // global ids
	settle                                func()
	userID, postID, commentID, lastPostID string // global ids; postID has the comments and likes
}

const (
	seededUsers    = 25
	seededPosts    = 130
	seededComments = 30
)

// newBlog seeds through the API alone, so that the items are those that the API makes.
func newBlog(t *testing.T) *blogUnderTest {
	t.Helper()
	engine, err := embedded.Open(embedded.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { engine.Close() })
	b := &blogUnderTest{counter: &engineCounter{engine: engine}}
	endpoint := httptest.NewServer(b.counter)
	t.Cleanup(endpoint.Close)
	b.provision(t, store.Options{Endpoint: endpoint.URL, Key: engine.Key()})

	data := t.TempDir()
	b.reader = serveInProcess(t, map[string]string{"COSMOS_ENDPOINT": endpoint.URL, "COSMOS_KEY": engine.Key()},
		"--data", data, "--projector=false")
	key, err := auth.OpenLocalKey(data)
	if err != nil {
		t.Fatal(err)
	}
	b.seed(t, func(name string) *api {
		token, err := key.Token(name, time.Now(), time.Hour)
		if err != nil {
			t.Fatal(err)
		}
		return b.reader.as(token)
	})
	return b
}

func (b *blogUnderTest) provision(t *testing.T, options store.Options) {
	t.Helper()
	ctx := patient(t)
	if _, err := store.Provision(ctx, options); err != nil {
		t.Fatal(err)
	}
	opened, err := store.Open(ctx, options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(opened.Close)
	b.settle = func() {
		t.Helper()
		p, err := projector.New(projector.Options{Store: opened, Owner: "test"})
		if err == nil {
			err = p.Settle(patient(t))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

func (b *blogUnderTest) seed(t *testing.T, as func(name string) *api) {
	t.Helper()
	b.content = strings.Repeat("All reads are one request to one partition, and that is the point of it. ", 15)[:1024]
	b.viewer, b.newcomer = as("author"), as("newcomer")
	b.userID = b.viewer.createUser(t, "author")
	b.postID = b.viewer.createPost(t, "A post with comments and likes", b.content)
	for i := range seededPosts - 1 {
		b.lastPostID = b.viewer.createPost(t, fmt.Sprintf("Post number %03d", i), b.content)
	}
	for i := range seededUsers - 1 {
		other := as(fmt.Sprintf("reader-%02d", i))
		other.createUser(t, fmt.Sprintf("reader-%02d", i))
		other.likePost(t, b.postID)
	}
	b.viewer.likePost(t, b.postID)
	for i := range seededComments {
		b.commentID = b.viewer.createComment(t, b.postID, fmt.Sprintf("Comment number %02d: well said, and quite so.", i))
		b.commentIDs = append(b.commentIDs, b.commentID)
	}
	b.settle()
}

// serveInProcess runs the program's own serve and gives its API. It is told to end with the test.
func serveInProcess(t *testing.T, environment map[string]string, args ...string) *api {
	t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	stdout, stderr := newAnnouncement(), &safeBuffer{}
	ended := make(chan error, 1)
	go func() {
		ended <- run(ctx, append([]string{"serve", "--addr", "127.0.0.1:0"}, args...), command.Environment{
			Stdout: stdout, Stderr: stderr,
			LookupEnv: func(name string) (string, bool) { text, ok := environment[name]; return text, ok },
		})
	}()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Errorf("serve: %v\n%s", err, stderr.String())
		}
	})
	select {
	case url := <-stdout.url:
		return &api{url: url}
	case err := <-ended:
		ended <- nil
		t.Fatalf("serve: %v\n%s", err, stderr.String())
	case <-patient(t).Done():
		t.Fatal("serve did not start")
	}
	return nil
}

// announcement is the standard output of a server, from which its address is read.
type announcement struct {
	url  chan string
	said bool
}

func newAnnouncement() *announcement { return &announcement{url: make(chan string, 1)} }

func (a *announcement) Write(line []byte) (int, error) {
	if _, rest, ok := strings.Cut(string(line), " at http://"); ok && !a.said {
		a.said = true
		a.url <- "http://" + strings.TrimSuffix(strings.TrimSpace(rest), "/graphql")
	}
	return len(line), nil
}

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
