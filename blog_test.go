package main

import (
	"context"
	"fmt"
	"net/http/httptest"
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
			err = p.SettleForTests(patient(t))
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
