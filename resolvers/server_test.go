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

	"cosmosblog/internal/blog"
	"cosmosblog/internal/httpapi"
	"cosmosblog/resolvers"
	"cosmosblog/store"
	"cosmosblog/store/embedded"
)

// server is the whole API but for the projector, on an engine in memory. Tests write the views themselves (see project),
// so that they need not wait.
type server struct {
	*testing.T
	store   *store.Store
	engine  *embedded.Engine
	weather *weather
	handler http.Handler
	log     *bytes.Buffer
	ctx     context.Context // of the requests; the test's own where nil
}

// subjects is a verifier that takes a token for the subject it speaks for.
type subjects struct{}

func (subjects) Verify(_ context.Context, token string) (blog.Account, error) {
	return blog.Account{Issuer: "test", Subject: token}, nil
}

func newServer(t *testing.T) *server {
	t.Helper()
	return newServerOver(t, func(engine http.Handler) http.Handler { return engine })
}

// newServerOver is newServer with something between the store and its engine.
func newServerOver(t *testing.T, between func(engine http.Handler) http.Handler) *server {
	t.Helper()
	engine := newEngine(t)
	return newServerWith(t, engine, forecast(t, engine, between(engine)))
}

// newServerIn is newServer in weather of its own.
func newServerIn(t *testing.T, c climate, chance float64, random *rand.Rand) *server {
	t.Helper()
	engine := newEngine(t)
	weather := newWeather(t, c, chance, random, engine, engine)
	weather.sleep = nil // as it is in earnest
	return newServerWith(t, engine, weather)
}

func newEngine(t *testing.T) *embedded.Engine {
	t.Helper()
	engine, err := embedded.Open(embedded.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := engine.Check(); err != nil {
			t.Error(err)
		}
		if err := engine.Close(); err != nil {
			t.Error(err)
		}
	})
	return engine
}

func newServerWith(t *testing.T, engine *embedded.Engine, weather *weather) *server {
	t.Helper()
	s, err := store.OpenEmbedded(t.Context(), engine, store.Options{Transport: weather.transport, Sleep: weather.sleep})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	log := new(bytes.Buffer)
	logger := slog.New(slog.NewTextHandler(io.MultiWriter(log, t.Output()), nil))
	return &server{T: t, store: s, engine: engine, weather: weather, log: log, handler: httpapi.New(httpapi.Options{
		Resolvers:   resolvers.New(s, resolvers.Options{Logger: logger, Diagnostics: true}),
		Verifier:    subjects{},
		Development: true,
	})}
}

// client asks on behalf of one account, or of nobody.
type client struct {
	*server
	subject string
	id      string // the global id of the account's user
}

func (s *server) anonymous() *client { return &client{server: s} }

// account is signed in and has no user.
func (s *server) account(subject string) *client { return &client{server: s, subject: subject} }

// user is signed in and has a user of the same name.
func (s *server) user(name string) *client {
	s.Helper()
	c := s.account(name)
	c.id = c.ask(`mutation($n:String!){createUser(input:{username:$n}){user{id}}}`, "n", name).text("createUser.user.id")
	return c
}

// reply is an answer.
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

// request is one of extensions.cosmos.
type request struct {
	Path                 []any
	Container, Operation string
	PartitionKey         any
	RequestCharge        float64
	Status               int
}

// send asks, with variables by name and value in turns.
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

// sendBody sends a request as it is, JSON or not.
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
	c.weather.during(func() { c.handler.ServeHTTP(recorder, r) })
	answer := reply{t: c.T}
	if err := json.Unmarshal(recorder.Body.Bytes(), &answer); err != nil {
		c.Fatalf("no JSON: %v: %s", err, recorder.Body)
	}
	c.weather.forget(&answer)
	return answer
}

// ask sends what must succeed.
func (c *client) ask(query string, variables ...any) reply {
	c.Helper()
	r := c.send(query, variables...)
	if len(r.Errors) > 0 {
		c.Fatalf("%s\n%v: %v", query, variables, r.Errors)
	}
	return r
}

// refused sends what must fail with one error of a code, and gives its message.
func (c *client) refused(code blog.Code, query string, variables ...any) string {
	c.Helper()
	r := c.send(query, variables...)
	if len(r.Errors) != 1 || r.Errors[0].Extensions["code"] != string(code) {
		c.Errorf("%s\n%v: want %s, got %v with %v", query, variables, code, r.Errors, r.Data)
		return ""
	}
	return r.Errors[0].Message
}

// at gives the value at a path such as "feed.nodes.0.title"; "#" is the length of a list.
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

func (r reply) text(path string) string {
	r.t.Helper()
	text, ok := r.at(path).(string)
	if !ok {
		r.t.Fatalf("%s is %v, no text, in %v", path, r.at(path), r.Data)
	}
	return text
}

// is compares what is at a path, as fmt prints it.
func (r reply) is(path string, want any) {
	r.t.Helper()
	if got := r.at(path); fmt.Sprint(got) != fmt.Sprint(want) {
		r.t.Errorf("%s is %v, want %v", path, got, want)
	}
}

// sent compares the requests of an answer, each as "path: container operation status". Where writes are
// repeated that were done, there are others.
func (r reply) sent(want ...string) {
	r.t.Helper()
	if climates[*faultsFlag].repeats() {
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

// post publishes and gives the id; the views are written.
func (c *client) post(title, content string) string {
	c.Helper()
	id := c.ask(`mutation($t:String!,$c:String!){createPost(input:{title:$t,content:$c}){post{id}}}`, "t", title, "c", content).text("createPost.post.id")
	c.project(id)
	return id
}

// comment says something to a post and gives the comment's id.
func (c *client) comment(postID, content string) string {
	c.Helper()
	return c.ask(`mutation($p:ID!,$c:String!){createComment(input:{postId:$p,content:$c}){comment{id}}}`, "p", postID, "c", content).text("createComment.comment.id")
}

func (c *client) like(postID string) string {
	c.Helper()
	return c.ask(`mutation($p:ID!){likePost(input:{postId:$p}){like{id}}}`, "p", postID).text("likePost.like.id")
}

// project writes the copies of a post as the projector does.
func (s *server) project(globalID string) {
	s.Helper()
	post, err := s.store.Post(s.Context(), rawID(s.T, globalID))
	if err != nil {
		s.Fatal(err)
	}
	if _, err := s.store.ProjectUserPost(s.Context(), post); err != nil {
		s.Fatal(err)
	}
	if _, err := s.store.ProjectFeedPost(s.Context(), post); err != nil {
		s.Fatal(err)
	}
}
