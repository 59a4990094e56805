package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

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

	settle                                     func()
	userID, postID, commentID, likeID, ownID   string // global ids; ownID is a post to edit
	otherComment, otherLiked, rawUser, rawPost string
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
	content := strings.Repeat("All reads are one request to one partition, and that is the point of it. ", 15)[:1024]
	b.viewer = as("author")
	b.userID = b.viewer.createUser(t, "author")
	b.postID = b.viewer.createPost(t, "A post with comments and likes", content)
	for i := range seededPosts - 1 {
		b.ownID = b.viewer.createPost(t, fmt.Sprintf("Post number %03d", i), content)
	}
	b.otherLiked = b.ownID
	for i := range seededUsers - 1 {
		other := as(fmt.Sprintf("reader-%02d", i))
		other.createUser(t, fmt.Sprintf("reader-%02d", i))
		b.likeID = other.likePost(t, b.postID)
	}
	b.viewer.likePost(t, b.postID)
	for i := range seededComments {
		b.commentID = b.viewer.createComment(t, b.postID, fmt.Sprintf("Comment number %02d: well said, and quite so.", i))
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

// wanted is one request that a field may send.
type wanted struct{ container, partitionKey, operation string }

// pattern is what one field costs.
type pattern struct {
	field    string
	document string
	signedIn bool
	requests []wanted
}

func (b *blogUnderTest) patterns() []pattern {
	const (
		inUsers, inPosts, inFeed, inUsernames = "/userId", "/postId", "/type", "/id"
		postFields                            = `id title excerpt commentCount likeCount creationDate version author { id username }`
	)
	readUser := wanted{"users", inUsers, "read"}
	readPost := wanted{"posts", inPosts, "read"}
	one := func(requests ...wanted) []wanted { return requests }
	q := func(format string, id string) string { return fmt.Sprintf(format, id) }
	return []pattern{
		{"`user` (Q1)", q(`{ user(id: %q) { id username creationDate } }`, b.userID), false, one(readUser)},
		{"`userByUsername`", `{ userByUsername(username: "Author") { id username } }`, false, one(wanted{"usernames", inUsernames, "read"}, readUser)},
		{"`viewer`", `{ viewer { id username } }`, true, one(readUser)},
		{"`post` (Q2)", q(`{ post(id: %q) { content `+postFields+` } }`, b.postID), false, one(readPost)},
		{"`User.posts` (Q3)", q(`{ user(id: %q) { posts { nodes { `+postFields+` } pageInfo { hasNextPage } } } }`, b.userID), false,
			one(readUser, wanted{"users", inUsers, "query"})},
		{"`Post.comments` (Q4)", q(`{ post(id: %q) { comments { nodes { id content creationDate author { id username } } } } }`, b.postID), false,
			one(readPost, wanted{"posts", inPosts, "query"})},
		{"`Post.likes` (Q5)", q(`{ post(id: %q) { likes { nodes { id creationDate user { id username } } } } }`, b.postID), false,
			one(readPost, wanted{"posts", inPosts, "query"})},
		{"`feed` (Q6)", `{ feed { nodes { ` + postFields + ` } } }`, false, one(wanted{"feed", inFeed, "query"})},
		{"`feed(first: 100)`", `{ feed(first: 100) { nodes { ` + postFields + ` } } }`, false, one(wanted{"feed", inFeed, "query"})},
		{"`Post.content` of a list", `{ feed { nodes { id content } } }`, false,
			one(wanted{"feed", inFeed, "query"}, wanted{"posts", inPosts, "readMany"})},
		{"`Post.viewerHasLiked`", q(`{ post(id: %q) { id viewerHasLiked } }`, b.postID), true, one(readPost, readPost)},
		{"`Post.viewerHasLiked` of a list", `{ feed { nodes { id viewerHasLiked } } }`, true,
			one(wanted{"feed", inFeed, "query"}, wanted{"posts", inPosts, "readMany"})},
		{"`node` of a comment or like", q(`{ node(id: %q) { id ... on Comment { content } } }`, b.commentID), false, one(readPost, readPost)},
		{"`createPost` (C2)", `mutation { createPost(input: {title: "New", content: "New content"}) { post { ` + postFields + ` } } }`, true,
			one(readUser, wanted{"posts", inPosts, "create"})},
		{"`updatePost` (C2)", q(`mutation { updatePost(input: {id: %q, title: "Newer"}) { post { `+postFields+` } } }`, b.ownID), true,
			one(readUser, readPost, wanted{"posts", inPosts, "replace"})},
		{"`createComment` (C3)", q(`mutation { createComment(input: {postId: %q, content: "One comment more."}) { comment { id } post { commentCount } } }`, b.postID), true,
			one(readUser, wanted{"posts", inPosts, "execute"})},
		{"`deleteComment`", q(`mutation { deleteComment(input: {id: %q}) { comment { id } post { commentCount } } }`, b.commentID), true,
			one(readUser, wanted{"posts", inPosts, "execute"})},
		{"`likePost` (C4)", q(`mutation { likePost(input: {postId: %q}) { like { id } post { likeCount } } }`, b.otherLiked), true,
			one(readUser, wanted{"posts", inPosts, "execute"})},
		{"`unlikePost`", q(`mutation { unlikePost(input: {postId: %q}) { post { likeCount } } }`, b.otherLiked), true,
			one(readUser, wanted{"posts", inPosts, "execute"})},
		{"`updateUser` (C1)", `mutation { updateUser(input: {username: "author2"}) { user { id username } } }`, true, nil},
		{"`deletePost`", q(`mutation { deletePost(input: {id: %q}) { post { id } } }`, b.ownID), true, nil},
	}
}

// TestAccessPatterns holds every field to the requests that it is modelled for, as the engine sees them, and the README
// to the truth.
func TestAccessPatterns(t *testing.T) {
	b := newBlog(t)
	var table strings.Builder
	table.WriteString("| Field | Container | Partition key | Operation | Requests | RU |\n|---|---|---|---|---|---|\n")
	for _, p := range b.patterns() {
		b.counter.take()
		asker := b.reader
		if p.signedIn {
			asker = b.viewer
		}
		told := asker.ask(t, p.document, nil, nil).Extensions.Cosmos
		arrived := b.counter.take()
		checkPattern(t, p, told.Requests)
		checkTold(t, p.field, told.Requests, arrived)
		writeRows(&table, p.field, told.Requests)
	}
	if got := section(t, "access-patterns", table.String()); got != table.String() {
		t.Errorf("the README's table is not what was measured; go test -run %s -update writes it:\n%s", t.Name(), table.String())
	}
}

// checkPattern holds a field to its requests.
func checkPattern(t *testing.T, p pattern, told []sentRequest) {
	t.Helper()
	var got []wanted
	for _, r := range told {
		got = append(got, wanted{r.Container, partitionKeyPath[r.Container], r.Operation})
		if r.Status >= 300 {
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

// writeRows writes a row for each kind of request of a field.
func writeRows(table *strings.Builder, field string, told []sentRequest) {
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
	for _, k := range kinds {
		fmt.Fprintf(table, "| %s | `%s` | `%s` | %s | %d | %.2f |\n", field, k.container, partitionKeyPath[k.container], k.operation, count[k], charge[k])
		field = ""
	}
}
