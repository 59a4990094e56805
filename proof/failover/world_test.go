//go:build ci

package failover

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"
	"time"

	"cosmosblog/api"
	"cosmosblog/cosmostest"
	"cosmosblog/guard/limits"
	"cosmosblog/projector"
	"cosmosblog/proof/apitest"
	"cosmosblog/proof/chaos/contract"
	"cosmosblog/resolvers"
	"cosmosblog/store"
	"cosmosblog/store/cosmos"
	"cosmosblog/store/provision"
	"cosmosblog/store/readcache"
	"cosmosblog/store/schema"
	"cosmosblog/store/sessions"
	"cosmosblog/store/tail"
)

// world is an account with two regions, servers, and a projector. It lives in a bubble of synctest.
type world struct {
	*testing.T
	account *cosmostest.Account
	wires   []*cosmostest.Transport // of all processes
	servers []http.Handler
	logger  *slog.Logger
}

// staleness is the bound of what the servers keep (--cache-staleness).
const staleness = time.Second

func newWorld(t *testing.T) *world {
	return &world{T: t, account: cosmostest.New(t, cosmostest.Options{Regions: true}), logger: slog.New(slog.NewTextHandler(io.Discard, nil))}
}

// open returns the database as another process opens it.
func (w *world) open() *cosmos.DB {
	w.Helper()
	wire := w.account.NewTransport()
	w.wires = append(w.wires, wire)
	db, err := provision.OpenEmbedded(w.Context(), w.account, cosmos.Options{Transport: wire})
	if err != nil {
		w.Fatal(err)
	}
	w.Cleanup(db.Close)
	return db
}

func (w *world) startProjector() (stop func()) {
	w.Helper()
	p, err := projector.New(projector.Options{DB: w.open(), Owner: "projector", Logger: w.logger})
	if err != nil {
		w.Fatal(err)
	}
	return apitest.Background(w, p.Run)
}

func (w *world) startServer() (stop func()) {
	w.Helper()
	db := w.open()
	follower := tail.New(tail.Options{
		DB:         db,
		Containers: []string{schema.Users, schema.Posts, schema.Feed, schema.Lists, schema.Usernames},
		Staleness:  staleness,
		Logger:     w.logger,
	})
	w.servers = append(w.servers, api.New(api.Options{
		Resolvers:   resolvers.New(store.NewCached(db, readcache.New(1<<20, follower.Changes), follower)),
		Scope:       resolvers.NewScopeExtension(resolvers.ScopeOptions{}),
		Errors:      resolvers.NewErrorPresenter(w.logger),
		Verifier:    apitest.Subjects{},
		Sessions:    sessions.New(db, 5*time.Millisecond),
		Development: true,
		Limits:      limits.Default(),
		Logger:      w.logger,
	}))
	return apitest.Background(w, follower.Run)
}

// failure is the first error of an answer.
type failure struct {
	Message    string
	Extensions struct {
		Code            string
		RetryAfterMs    int
		MayHaveExecuted *bool
	}
}

// ask sends a request to a server, and decodes the fields of the answer into results by their
// names. hasSession reports whether the answer has a session token.
func (w *world) ask(server int, subject, document string, variables, results map[string]any) (hasSession bool, failed *failure) {
	w.Helper()
	body, err := json.Marshal(map[string]any{"query": document, "variables": variables})
	if err != nil {
		w.Fatal(err)
	}
	request := httptest.NewRequestWithContext(w.Context(), http.MethodPost, "http://localhost/graphql", bytes.NewReader(body))
	request.Header.Set("Content-Type", "application/json")
	if subject != "" {
		request.Header.Set("Authorization", "Bearer "+subject)
	}
	recorder := httptest.NewRecorder()
	w.servers[server].ServeHTTP(recorder, request)
	var answer struct {
		Data   map[string]json.RawMessage
		Errors []failure
	}
	err = json.Unmarshal(recorder.Body.Bytes(), &answer)
	for name, result := range results {
		if field := answer.Data[name]; err == nil && len(field) > 0 {
			err = json.Unmarshal(field, result)
		}
	}
	if err != nil {
		w.Fatalf("%v in %s", err, recorder.Body)
	}
	if len(answer.Errors) > 0 {
		failed = &answer.Errors[0]
	}
	return recorder.Header().Get("Cosmosblog-Session") != "", failed
}

// must is ask for a request that must succeed.
func (w *world) must(document string, variables, results map[string]any) {
	w.Helper()
	if _, failed := w.ask(0, "", document, variables, results); failed != nil {
		w.Fatalf("%s: %+v", document, failed)
	}
}

// Fields of the API's types, as the contract knows them.
const (
	userFields    = ` { id username } `
	recentFields  = ` { id excerpt author` + userFields + `} `
	shortFields   = ` id title contentLength excerpt commentCount recentComments` + recentFields + `likeCount version creationDate updatedDate author` + userFields
	postFields    = ` {` + shortFields + `content } `
	commentFields = ` { id content excerpt creationDate author` + userFields + `} `
)

// snapshot reads the state at the end, also of posts that only lists have. There are fewer than a
// hundred of each.
func (w *world) snapshot(users, names, posts []string) *contract.Snapshot {
	w.Helper()
	s := &contract.Snapshot{Names: map[string]string{}, Lists: map[string][]contract.Post{}}
	var feed struct{ Nodes []contract.Post }
	w.must(`{feed(first:100){nodes{`+shortFields+`}}}`, nil, map[string]any{"feed": &feed})
	s.Feed = feed.Nodes
	for _, id := range users {
		var user struct {
			contract.User
			Posts struct{ Nodes []contract.Post }
		}
		w.must(`query($id:ID!){user(id:$id){id username postCount posts(first:100){nodes{`+shortFields+`}}}}`,
			map[string]any{"id": id}, map[string]any{"user": &user})
		s.Users = append(s.Users, user.User)
		s.Lists[id] = user.Posts.Nodes
	}
	for _, name := range names {
		var user *contract.User
		w.must(`query($n:String!){userByUsername(username:$n){id}}`, map[string]any{"n": name}, map[string]any{"userByUsername": &user})
		if user != nil {
			s.Names[name] = user.ID
		}
	}
	for _, list := range append(slices.Collect(maps.Values(s.Lists)), s.Feed) {
		for _, p := range list {
			posts = append(posts, p.ID)
		}
	}
	posts = slices.Sorted(slices.Values(posts))
	for _, id := range slices.Compact(posts) {
		var post struct {
			contract.Post
			Comments struct{ Nodes []contract.Comment }
			Likes    struct {
				Nodes []struct{ User contract.User }
			}
		}
		w.must(`query($id:ID!){post(id:$id){`+shortFields+`content comments(first:100){nodes`+commentFields+`} likes(first:100){nodes{user`+userFields+`}}}}`,
			map[string]any{"id": id}, map[string]any{"post": &post})
		final := contract.FinalPost{Post: post.Post, Comments: post.Comments.Nodes}
		for _, like := range post.Likes.Nodes {
			final.Likes = append(final.Likes, like.User)
		}
		s.Posts = append(s.Posts, final)
	}
	if len(s.Feed) > 99 {
		w.Fatal(fmt.Sprint("too many posts: ", len(s.Feed)))
	}
	return s
}
