package main

import (
	"cmp"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"cosmosblog/internal/command"
	"cosmosblog/store"
	"cosmosblog/store/embedded"
)

// seedUsers is how many users the test of a whole data set seeds: .ci/run asks for more.
var seedUsers = flag.Int("seed-users", 12, "how many users TestSeedIsWhole seeds")

// TestSeedIsWhole seeds a folder, and compares every view and every count with its source.
func TestSeedIsWhole(t *testing.T) {
	data := t.TempDir()
	seedOnce(t, nil, "--users", strconv.Itoa(*seedUsers), "--data", data)
	engine, err := embedded.Open(embedded.Options{Dir: filepath.Join(data, "engine")})
	if err != nil {
		t.Fatal(err)
	}
	defer engine.Close()
	whole(t, engine, *seedUsers)
}

// seedOnce seeds, for as long as that takes.
func seedOnce(t *testing.T, environment map[string]string, args ...string) {
	t.Helper()
	var stdout, stderr safeBuffer
	err := run(t.Context(), append([]string{"seed"}, args...), command.Environment{Stdout: &stdout, Stderr: &stderr,
		LookupEnv: func(name string) (string, bool) { text, ok := environment[name]; return text, ok }})
	if err != nil || !strings.Contains(stdout.String(), " items in all, are in ") {
		t.Fatalf("seed: %v\n%s%s", err, stdout.String(), stderr.String())
	}
}

// TestSeedBesideAServer seeds a folder that a server owns, twice.
func TestSeedBesideAServer(t *testing.T) {
	data := t.TempDir()
	server := serveInProcess(t, nil, "--data", data)
	for range 2 {
		seedOnce(t, nil, "--users", "4", "--data", data)
	}
	var got struct {
		Feed struct {
			Nodes []struct{ Author struct{ Username string } }
		}
	}
	server.ask(t, `{ feed(first: 100) { nodes { author { username } } } }`, nil, &got)
	if n := len(got.Feed.Nodes); n < 20 || got.Feed.Nodes[0].Author.Username == "" {
		t.Errorf("the feed has %d posts", n)
	}
}

// TestSeedOnAnAccountThatIsCutOff seeds an account that throttles, has the process killed, and begins again.
func TestSeedOnAnAccountThatIsCutOff(t *testing.T) {
	const users = 9
	engine, err := embedded.Open(embedded.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer engine.Close()
	s, err := store.OpenEmbedded(t.Context(), engine, store.Options{}) // provisions
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	var requests atomic.Int64
	reached := make(chan struct{})
	account := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n := requests.Add(1)
		if n == 200 {
			close(reached)
		}
		if n%7 == 0 {
			w.Header().Set("x-ms-retry-after-ms", "1")
			w.WriteHeader(http.StatusTooManyRequests)
			return
		}
		engine.ServeHTTP(w, r)
	}))
	defer account.Close()
	environment := []string{"COSMOS_ENDPOINT=" + account.URL, "COSMOS_KEY=" + engine.Key()}
	args := []string{"seed", "--users", strconv.Itoa(users), "--seed", "7"}
	broken := start(t, environment, args...)
	select {
	case <-reached:
	case <-time.After(patience):
		t.Fatal("the account was not asked")
	}
	broken.kill(t)
	again := start(t, environment, args...)
	again.says(t, `items in all, are in database cosmosblog at`)
	if code := again.wait(t, patience); code != 0 {
		t.Errorf("exit code %d", code)
	}
	whole(t, engine, users)
}

// storedItem has what the items of all types have that is compared.
type storedItem struct {
	ID, PostID, UserID, Type string
	Username, UserUsername   string
	Title, Excerpt           string
	CommentCount, LikeCount  int
	PostCount                int
	CreationDate             string
	Version, Revision        int
}

// whole holds what is in a database to itself, item by item: the counts of each post to its comments and likes, all names
// to the users, the copies to the posts, the feed to the newest of them.
func whole(t *testing.T, engine *embedded.Engine, users int) {
	t.Helper()
	names, claimed := map[string]string{}, map[string]string{}
	posts, copies, feed := map[string]storedItem{}, map[string]storedItem{}, map[string]storedItem{}
	comments, likes, written, listed := map[string]int{}, map[string]int{}, map[string]int{}, map[string]int{}
	eachItem(t, engine, "users", func(i storedItem) {
		if i.Type == "user" {
			names[i.UserID], listed[i.UserID] = i.Username, i.PostCount
		} else {
			copies[i.ID] = i
		}
	})
	eachItem(t, engine, "usernames", func(i storedItem) { claimed[i.UserID] = i.ID })
	eachItem(t, engine, "feed", func(i storedItem) { feed[i.ID] = i })
	eachItem(t, engine, "posts", func(i storedItem) {
		switch i.Type {
		case "post":
			posts[i.ID] = i
			written[i.UserID]++
		case "comment":
			comments[i.PostID]++
		case "like":
			likes[i.PostID]++
		}
		if i.UserUsername != names[i.UserID] {
			t.Errorf("%s %s bears the name %s of %s", i.Type, i.ID, i.UserUsername, names[i.UserID])
		}
	})
	if len(names) != users || len(claimed) != users || len(posts) < 5*users {
		t.Errorf("%d users, %d usernames, %d posts", len(names), len(claimed), len(posts))
	}
	for id, name := range names {
		if claimed[id] != strings.ToLower(name) || listed[id] != written[id] {
			t.Errorf("%s holds %s, and counts %d of %d posts", name, claimed[id], listed[id], written[id])
		}
	}
	for id, post := range posts {
		if post.CommentCount != comments[id] || post.LikeCount != likes[id] || post.Revision != 1+comments[id]+likes[id] {
			t.Errorf("%s counts %d comments of %d, %d likes of %d", id, post.CommentCount, comments[id], post.LikeCount, likes[id])
		}
	}
	sameCopies(t, "users", copies, posts)
	sameFeed(t, feed, posts)
}

func sameCopies(t *testing.T, where string, copies, posts map[string]storedItem) {
	t.Helper()
	if len(copies) != len(posts) {
		t.Errorf("%s has %d copies, not %d", where, len(copies), len(posts))
	}
	for id, post := range posts {
		if copies[id] != post {
			t.Errorf("%s has %+v, not %+v", where, copies[id], post)
		}
	}
}

// sameFeed holds the feed to the newest posts, and the horizon to the newest that is not among them.
func sameFeed(t *testing.T, feed, posts map[string]storedItem) {
	t.Helper()
	newest := make([]storedItem, 0, len(posts))
	for _, post := range posts {
		newest = append(newest, post)
	}
	slices.SortFunc(newest, func(a, b storedItem) int {
		return cmp.Or(cmp.Compare(b.CreationDate, a.CreationDate), cmp.Compare(b.ID, a.ID))
	})
	if len(newest) > store.FeedCapacity {
		if next, horizon := newest[store.FeedCapacity], feed["horizon"]; horizon.PostID != next.ID || horizon.CreationDate != next.CreationDate {
			t.Errorf("the horizon is at %+v, not at %s", horizon, next.ID)
		}
		newest = newest[:store.FeedCapacity]
	}
	delete(feed, "horizon")
	want := make(map[string]storedItem, len(newest))
	for _, post := range newest {
		want[post.ID] = post
	}
	sameCopies(t, "feed", feed, want)
}

// eachItem reads all items of a container, past the store.
func eachItem(t *testing.T, engine *embedded.Engine, container string, do func(storedItem)) {
	t.Helper()
	credential, err := azcosmos.NewKeyCredential(engine.Key())
	if err != nil {
		t.Fatal(err)
	}
	client, err := azcosmos.NewClientWithKey(store.LocalEndpoint(), credential, &azcosmos.ClientOptions{
		ClientOptions: azcore.ClientOptions{Transport: store.InProcess(engine)},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	c, err := client.NewContainer(store.DefaultDatabase, container)
	if err != nil {
		t.Fatal(err)
	}
	pager := c.NewQueryItemsPager("SELECT * FROM c", azcosmos.NewPartitionKey(), &azcosmos.QueryOptions{PageSizeHint: 1000})
	for pager.More() {
		page, err := pager.NextPage(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		for _, text := range page.Items {
			var item storedItem
			if err := json.Unmarshal(text, &item); err != nil {
				t.Fatal(fmt.Errorf("%s: %w", text, err))
			}
			do(item)
		}
	}
}
