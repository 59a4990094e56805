package httpapi_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"cosmosblog/internal/blog"
	"cosmosblog/internal/httpapi"
	"cosmosblog/internal/limits"
	"cosmosblog/resolvers"
	"cosmosblog/store"
	"cosmosblog/store/embedded"
)

// site is the API as it is deployed, on a loopback address: the real resolvers on a store in memory. Only tokens are
// believed without more ado, and nothing follows the change feed.
type site struct {
	testing.TB
	handler http.Handler
	url     string
	store   *store.Store
	log     *lockedLog
	// between is asked by every request to the database, where it is not nil; true where it has answered.
	between func(w http.ResponseWriter, r *http.Request) bool

	ann, bob          blog.User
	post, comment     string // Ann's, with Bob's like
	gone, goneComment string // Ann's, deleted, and Bob's comment on it
	like              string // Bob's, of post
}

// lockedLog is what the server logs.
type lockedLog struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *lockedLog) Write(line []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(line)
}

func (l *lockedLog) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// subjects believes that a token is who it says.
type subjects struct{}

func (subjects) Verify(_ context.Context, token string) (blog.Account, error) {
	if strings.HasPrefix(token, "bad") {
		return blog.Account{}, blog.Errorf(blog.Unauthenticated, "That token does not verify.")
	}
	return blog.Account{Issuer: "test", Subject: token}, nil
}

func newSite(t testing.TB, development bool, change ...func(*limits.Limits)) *site {
	t.Helper()
	engine, err := embedded.Open(embedded.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { engine.Close() })
	s := &site{TB: t, log: new(lockedLog)}
	database := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if s.between == nil || !s.between(w, r) {
			engine.ServeHTTP(w, r)
		}
	})
	s.store, err = store.OpenEmbedded(t.Context(), engine, store.Options{Transport: store.InProcess(database)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.store.Close)
	granted := limits.Default()
	for _, c := range change {
		c(&granted)
	}
	logger := slog.New(slog.NewJSONHandler(s.log, nil))
	s.handler = httpapi.New(httpapi.Options{
		Resolvers:   resolvers.New(s.store),
		Scope:       resolvers.NewScopeExtension(resolvers.ScopeOptions{Diagnostics: development, Limits: granted}),
		Errors:      resolvers.NewErrorPresenter(logger),
		Verifier:    subjects{},
		Development: development,
		Limits:      granted,
		Logger:      logger,
	})
	server := httptest.NewServer(s.handler)
	t.Cleanup(server.Close)
	s.url = server.URL
	s.settle()
	return s
}

// settle makes the users and what they wrote.
func (s *site) settle() {
	s.Helper()
	for _, name := range []string{"Ann", "Bob"} {
		s.must(name, `mutation($n:String!){createUser(input:{username:$n}){user{id}}}`, "n", name)
	}
	const createPost = `mutation($t:String!){createPost(input:{title:$t,content:"Text"}){post{id}}}`
	const createComment = `mutation($p:ID!){createComment(input:{postId:$p,content:"Hm"}){comment{id}}}`
	s.post = s.must("Ann", createPost, "t", "Here")
	s.gone = s.must("Ann", createPost, "t", "Gone")
	s.comment = s.must("Ann", createComment, "p", s.post)
	s.goneComment = s.must("Bob", createComment, "p", s.gone)
	s.like = s.must("Bob", `mutation($p:ID!){likePost(input:{postId:$p}){like{id}}}`, "p", s.post)
	s.must("Ann", `mutation($p:ID!){deletePost(input:{id:$p}){post{id}}}`, "p", s.gone)
}

// must sends what must succeed, and gives the first id of the answer.
func (s *site) must(subject, query string, variables ...string) string {
	s.Helper()
	r := s.ask(subject, query, variables...)
	if len(r.Errors) > 0 {
		s.Fatalf("%s: %s", query, r.Body)
	}
	_, rest, _ := strings.Cut(string(r.Data), `"id":"`)
	id, _, _ := strings.Cut(rest, `"`)
	return id
}

// ask sends a query on behalf of a subject, of nobody where it is empty, with variables by name and value in turns.
func (s *site) ask(subject, query string, variables ...string) reply {
	s.Helper()
	values := map[string]string{}
	for i := 0; i < len(variables); i += 2 {
		values[variables[i]] = variables[i+1]
	}
	body, err := json.Marshal(map[string]any{"query": query, "variables": values})
	if err != nil {
		s.Fatal(err)
	}
	headers := []string{"Content-Type", "application/json", "Accept", newerType}
	if subject != "" {
		headers = append(headers, "Authorization", "Bearer "+subject)
	}
	return s.send("POST", "/graphql", string(body), headers...)
}

// send sends a request through the network. headers are names and values by turns.
func (s *site) send(method, target, body string, headers ...string) reply {
	s.Helper()
	request, err := http.NewRequestWithContext(s.Context(), method, s.url+target, strings.NewReader(body))
	if err != nil {
		s.Fatal(err)
	}
	for i := 0; i < len(headers); i += 2 {
		request.Header.Add(headers[i], headers[i+1])
	}
	response, err := http.DefaultTransport.RoundTrip(request)
	if err != nil {
		s.Fatal(err)
	}
	defer response.Body.Close()
	return s.read(response)
}

// read reads an answer, which is JSON where it says so.
func (s *site) read(response *http.Response) reply {
	s.Helper()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		s.Fatal(err)
	}
	recorder := httptest.NewRecorder()
	recorder.Code, recorder.Body = response.StatusCode, bytes.NewBuffer(text)
	for name, values := range response.Header {
		recorder.Header()[name] = values
	}
	r := reply{ResponseRecorder: recorder}
	if strings.Contains(response.Header.Get("Content-Type"), "json") && len(text) > 0 {
		if err := json.Unmarshal(text, &r); err != nil {
			s.Fatalf("no JSON: %v: %.1000s", err, text)
		}
	}
	return r
}
