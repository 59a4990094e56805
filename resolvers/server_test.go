package resolvers_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	"cosmosblog/api"
	"cosmosblog/blog"
	"cosmosblog/cosmostest"
	"cosmosblog/guard/limits"
	"cosmosblog/internal/inprocess"
	"cosmosblog/proof/apitest"
	"cosmosblog/proof/testseed"
	"cosmosblog/resolvers"
	"cosmosblog/store"
	"cosmosblog/store/cosmos"
	"cosmosblog/store/provision"
	"cosmosblog/store/readcache"
	"cosmosblog/store/views"
)

// server is the API on an in-memory engine, without a projector. Tests write the views themselves
// with project, so they need not wait for a projector.
type server struct {
	*testing.T
	db       *cosmos.DB
	engine   *cosmostest.Account
	injector *faultInjector
	reads    *readcache.Cache // nil if every read is sent
	handler  http.Handler
	log      *bytes.Buffer
	ctx      context.Context // of the requests; nil stands for httptest's default
}

func newServer(t *testing.T) *server {
	t.Helper()
	engine := newEngine(t)
	// With faults, there is no cache: the tests count on requests that fail, and the engine does not
	// count what a replica lacks.
	return startServer(t, engine, newInjector(t, engine, engine), *faultsFlag == "")
}

// newServerVia returns a server whose store reaches its engine through another handler. It has no
// cache of reads.
func newServerVia(t *testing.T, wrap func(engine http.Handler) http.Handler) *server {
	t.Helper()
	engine := newEngine(t)
	return startServer(t, engine, newInjector(t, engine, inprocess.To(wrap(engine))), false)
}

// newFaultyServer returns a server with its own fault profile. It sleeps between retries, as in
// production.
func newFaultyServer(t *testing.T, p faultProfile, chance float64, random *rand.Rand) *server {
	t.Helper()
	engine := cosmostest.New(t, p.accountOptions(rand.New(rand.NewPCG(random.Uint64(), 0))))
	injector := newInjectorFor(t, p, chance, random, engine, engine)
	injector.sleep = nil
	return startServer(t, engine, injector, false)
}

func newEngine(t *testing.T) *cosmostest.Account {
	t.Helper()
	return cosmostest.New(t, faultProfiles[*faultsFlag].accountOptions(rand.New(rand.NewPCG(testseed.Of(t), 0))))
}

// startServer returns a server that reads through a cache if cached is true.
func startServer(t *testing.T, engine *cosmostest.Account, injector *faultInjector, cached bool) *server {
	t.Helper()
	db, err := provision.OpenEmbedded(t.Context(), engine, cosmos.Options{Transport: injector, Sleep: injector.sleep})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(db.Close)
	log := new(bytes.Buffer)
	logger := slog.New(slog.NewTextHandler(io.MultiWriter(log, t.Output()), nil))
	server := &server{T: t, db: db, engine: engine, injector: injector, log: log}
	if cached {
		server.reads = readcache.New(1<<20, func(container, partition string) uint64 {
			return engine.Changes(db.Name(), container, partition)
		})
	}
	server.handler = server.newHandler(limits.Default(), logger)
	return server
}

// newHandler returns the API with limits.
func (s *server) newHandler(l limits.Limits, logger *slog.Logger) http.Handler {
	return api.New(api.Options{
		Resolvers:   resolvers.New(store.NewCached(s.db, s.reads, nil)),
		Scope:       resolvers.NewScopeExtension(resolvers.ScopeOptions{Diagnostics: true, Limits: l}),
		Errors:      resolvers.NewErrorPresenter(logger),
		Verifier:    apitest.Subjects{},
		Development: true,
		Limits:      l,
	})
}

func (s *server) setLimits(l limits.Limits) {
	s.handler = s.newHandler(l, slog.New(slog.NewTextHandler(s.Output(), nil)))
}

// client sends requests for one account, or anonymously.
type client struct {
	*server
	subject string
	id      string // global id of the account's user
}

func (s *server) anonymous() *client { return &client{server: s} }

// account returns a client that is signed in and has no user.
func (s *server) account(subject string) *client { return &client{server: s, subject: subject} }

// user returns a client that is signed in and has a user of the same name.
func (s *server) user(name string) *client {
	s.Helper()
	c := s.account(name)
	c.id = c.ask(`mutation($n:String!){createUser(input:{username:$n}){user{id}}}`, "n", name).text("createUser.user.id")
	return c
}

// reply is a GraphQL response.
type reply struct {
	t      *testing.T
	Data   map[string]any
	Errors []struct {
		Message    string
		Path       []any
		Locations  []struct{ Line, Column int }
		Extensions map[string]any
	}
	Extensions struct {
		Cosmos struct {
			Estimate      float64
			RequestCharge float64
			Requests      []request
		}
	}
}

// request is one request in extensions.cosmos.
type request struct {
	Path                 []any
	Container, Operation string
	PartitionKey         any
	RequestCharge        float64
	Status               int
	Cached               bool
	SavedCharge          float64
}

// send sends a query. The variables alternate between names and values.
func (c *client) send(query string, variables ...any) reply {
	c.Helper()
	values := map[string]any{}
	for i := 0; i < len(variables); i += 2 {
		values[variables[i].(string)] = variables[i+1]
	}
	body, err := json.Marshal(map[string]any{"query": query, "variables": values})
	if err != nil {
		c.Fatal(err)
	}
	return c.sendBody(string(body))
}

// sendBody sends a request body unchanged. It need not be valid JSON.
func (c *client) sendBody(body string) reply {
	c.Helper()
	r := httptest.NewRequest("POST", "http://127.0.0.1/graphql", strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("X-Cosmos-Diagnostics", "1")
	if c.subject != "" {
		r.Header.Set("Authorization", "Bearer "+c.subject)
	}
	if c.ctx != nil {
		r = r.WithContext(c.ctx)
	}
	recorder := httptest.NewRecorder()
	c.injector.during(body, func() { c.handler.ServeHTTP(recorder, r) })
	answer := reply{t: c.T}
	if err := json.Unmarshal(recorder.Body.Bytes(), &answer); err != nil {
		c.Fatalf("the response is not JSON: %v: %s", err, recorder.Body)
	}
	if nulls := unexplainedNulls(body, answer); len(nulls) > 0 {
		c.Errorf("%s: null without an error at %v", body, nulls)
	}
	c.injector.removeInjected(&answer)
	return answer
}

// ask sends a query that must succeed.
func (c *client) ask(query string, variables ...any) reply {
	c.Helper()
	r := c.send(query, variables...)
	if len(r.Errors) > 0 {
		c.Fatalf("%s\n%v: %v", query, variables, r.Errors)
	}
	return r
}

// rejected sends a query that must fail with one error of the given code. It returns the message.
func (c *client) rejected(code blog.Code, query string, variables ...any) string {
	c.Helper()
	r := c.send(query, variables...)
	if len(r.Errors) != 1 || r.Errors[0].Extensions["code"] != string(code) {
		c.Errorf("%s\n%v: want %s, got %v with %v", query, variables, code, r.Errors, r.Data)
		return ""
	}
	return r.Errors[0].Message
}

// at returns the value at a path such as "feed.nodes.0.title". "#" stands for the length of a
// list.
func (r reply) at(path string) any {
	r.t.Helper()
	var value any = r.Data
	for step := range strings.SplitSeq(path, ".") {
		switch v := value.(type) {
		case map[string]any:
			value = v[step]
		case []any:
			if step == "#" {
				return len(v)
			}
			i, err := strconv.Atoi(step)
			if err != nil || i >= len(v) {
				r.t.Fatalf("%s: no %s in %v", path, step, v)
			}
			value = v[i]
		default:
			r.t.Fatalf("%s: no %s in %v", path, step, value)
		}
	}
	return value
}

// text returns the string at a path.
func (r reply) text(path string) string {
	r.t.Helper()
	text, ok := r.at(path).(string)
	if !ok {
		r.t.Fatalf("%s is %v, want a string, in %v", path, r.at(path), r.Data)
	}
	return text
}

// is compares the value at a path, as fmt prints it, with the wanted value.
func (r reply) is(path string, want any) {
	r.t.Helper()
	if got := r.at(path); fmt.Sprint(got) != fmt.Sprint(want) {
		r.t.Errorf("%s is %v, want %v", path, got, want)
	}
}

// sent compares the database requests of a reply, each as "path: container operation status". It
// does nothing if the fault profile adds requests: repeated writes, and reads after a stale one.
func (r reply) sent(want ...string) {
	r.t.Helper()
	if p := faultProfiles[*faultsFlag]; p.repeatsWrites() || p.behind {
		return
	}
	var got []string
	for _, q := range r.Extensions.Cosmos.Requests {
		path := strings.Trim(strings.ReplaceAll(fmt.Sprint(q.Path), " ", "."), "[]")
		got = append(got, fmt.Sprintf("%s: %s %s %d", path, q.Container, q.Operation, q.Status))
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		r.t.Errorf("requests:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// post creates a post and writes its copies in the views. It returns the global id.
func (c *client) post(title, content string) string {
	c.Helper()
	id := c.ask(`mutation($t:String!,$c:String!){createPost(input:{title:$t,content:$c}){post{id}}}`, "t", title, "c", content).text("createPost.post.id")
	c.project(id)
	return id
}

// comment creates a comment and returns its global id.
func (c *client) comment(postID, content string) string {
	c.Helper()
	return c.ask(`mutation($p:ID!,$c:String!){createComment(input:{postId:$p,content:$c}){comment{id}}}`, "p", postID, "c", content).text("createComment.comment.id")
}

// like likes a post and returns the like's global id.
func (c *client) like(postID string) string {
	c.Helper()
	return c.ask(`mutation($p:ID!){likePost(input:{postId:$p}){like{id}}}`, "p", postID).text("likePost.like.id")
}

// project writes the copies of a post, as the projector does.
func (s *server) project(globalID string) {
	s.Helper()
	post, err := store.New(s.db).Post(s.Context(), rawID(s.T, globalID))
	if err != nil {
		s.Fatal(err)
	}
	if _, err := views.New(s.db).UserPostView(post.Author.ID).Project(s.Context(), post); err != nil {
		s.Fatal(err)
	}
	if _, err := views.New(s.db).FeedView().Project(s.Context(), post); err != nil {
		s.Fatal(err)
	}
}
