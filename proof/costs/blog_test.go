//go:build ci

package costs

import (
	"context"
	"flag"
	"fmt"
	"log/slog"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"cosmosblog/api"
	"cosmosblog/blog"
	"cosmosblog/cosmostest"
	"cosmosblog/guard/auth"
	"cosmosblog/projector"
	"cosmosblog/proof/apitest"
	"cosmosblog/proof/docsection"
	"cosmosblog/resolvers"
	"cosmosblog/store"
	"cosmosblog/store/cosmos"
	"cosmosblog/store/provision"
	"cosmosblog/store/schema"
)

var update = flag.Bool("update", false, "write the tables of docs/costs.md and docs/azure.md")

const (
	costsPath = "../../docs/costs.md"
	azurePath = "../../docs/azure.md"
)

// compareSection compares a section of a document with the measured text. With -update, it
// writes the section first.
func compareSection(t *testing.T, path, name, want string) {
	t.Helper()
	if *update {
		if err := docsection.Write(path, name, want); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := docsection.Read(path, name); err != nil || got != want {
		t.Errorf("the section %s of %s is out of date (%v): run go test -tags ci ./proof/costs -run '^%s$' -update\n%s",
			name, path, err, t.Name(), want)
	}
}

// blogUnderTest is a server on a recorded engine, with the data set that docs/costs.md describes.
type blogUnderTest struct {
	recorder  *apitest.Recorder
	anonymous *apitest.Client
	viewer    *apitest.Client // author of all posts
	newcomer  *apitest.Client // account without a user

	content    string   // of all posts: 1 KB
	commentIDs []string // global ids

	settle func()        // projects all changes
	later  time.Duration // added to the time of settle

	userID, postID, commentID, lastPostID string // global ids; the post postID has the comments and likes

	month string // of the posts
}

const (
	seededUsers    = 25
	seededPosts    = 130
	seededComments = 30
)

// newBlog writes the data set through the API, so that its items are exactly those that the API
// writes.
func newBlog(t *testing.T) *blogUnderTest {
	t.Helper()
	engine := cosmostest.New(t, cosmostest.Options{})
	b := &blogUnderTest{recorder: &apitest.Recorder{Engine: engine}}
	endpoint := httptest.NewServer(b.recorder)
	t.Cleanup(endpoint.Close)
	options := cosmos.Options{Endpoint: endpoint.URL, Key: engine.Key()}
	db, err := cosmos.New(options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(db.Close)
	if _, err := provision.Run(deadline(t), db, provision.Options{}); err != nil {
		t.Fatal(err)
	}
	b.openProjector(t, options)
	key, err := auth.OpenLocalKey(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	b.anonymous = serve(t, options, key)
	b.seed(t, func(name string) *apitest.Client {
		token, err := key.Token(name, time.Now(), time.Hour)
		if err != nil {
			t.Fatal(err)
		}
		return b.anonymous.WithToken(token)
	})
	return b
}

// open opens a database for the duration of the test.
func open(t *testing.T, options cosmos.Options) *cosmos.DB {
	t.Helper()
	db, err := cosmos.New(options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(db.Close)
	if _, err := schema.Check(deadline(t), db); err != nil {
		t.Fatal(err)
	}
	return db
}

// serve serves the API in development, with diagnostics.
func serve(t *testing.T, options cosmos.Options, verifier auth.Verifier) *apitest.Client {
	t.Helper()
	logger := slog.New(slog.DiscardHandler)
	handler := api.New(api.Options{
		Resolvers:   resolvers.New(store.New(open(t, options))),
		Scope:       resolvers.NewScopeExtension(resolvers.ScopeOptions{Diagnostics: true}),
		Errors:      resolvers.NewErrorPresenter(logger),
		Verifier:    verifier,
		Development: true,
		Logger:      logger,
	})
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	return &apitest.Client{URL: server.URL}
}

func (b *blogUnderTest) openProjector(t *testing.T, options cosmos.Options) {
	t.Helper()
	db := open(t, options)
	b.settle = func() {
		t.Helper()
		later := func() time.Time { return time.Now().Add(b.later) }
		p, err := projector.New(projector.Options{DB: db, Owner: "test", Now: later})
		if err == nil {
			err = p.SettleForTests(deadline(t))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

func (b *blogUnderTest) seed(t *testing.T, as func(name string) *apitest.Client) {
	t.Helper()
	b.content = strings.Repeat("All reads are one request to one partition, and that is the point of it. ", 15)[:1024]
	b.viewer, b.newcomer = as("author"), as("newcomer")
	b.userID = b.viewer.CreateUser(t, "author")
	b.postID = b.viewer.CreatePost(t, "A post with comments and likes", b.content, "go", "data-modelling", "partitions", "日記", "costs")
	for i := range seededPosts - 1 {
		b.lastPostID = b.viewer.CreatePost(t, fmt.Sprintf("Post number %03d", i), b.content, "go", fmt.Sprintf("subject-%02d", i%25))
		for n := range blog.MaxRecentComments {
			b.viewer.CreateComment(t, b.lastPostID, comment(n))
		}
	}
	for i := range seededUsers - 1 {
		other := as(fmt.Sprintf("reader-%02d", i))
		other.CreateUser(t, fmt.Sprintf("reader-%02d", i))
		other.LikePost(t, b.postID)
	}
	b.viewer.LikePost(t, b.postID)
	for i := range seededComments {
		b.commentID = b.viewer.CreateComment(t, b.postID, comment(i))
		b.commentIDs = append(b.commentIDs, b.commentID)
	}
	b.settle()
	var got struct{ ArchiveMonths []struct{ Month string } }
	b.anonymous.Ask(t, `{ archiveMonths { month } }`, nil, &got)
	b.month = got.ArchiveMonths[0].Month
}

func comment(n int) string { return fmt.Sprintf("Comment number %02d: well said, and quite so.", n) }

// deadline returns a context for operations that should be fast.
func deadline(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	t.Cleanup(cancel)
	return ctx
}
