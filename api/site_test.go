package api_test

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
	"time"

	"cosmosblog/api"
	"cosmosblog/blog"
	"cosmosblog/cosmostest"
	"cosmosblog/guard/budget"
	"cosmosblog/guard/limits"
	"cosmosblog/internal/inprocess"
	"cosmosblog/resolvers"
	"cosmosblog/store"
	"cosmosblog/store/cosmos"
	"cosmosblog/store/provision"
)

// site is the API as it is deployed, on a loopback address, with the real resolvers on an
// in-memory store. Tokens are not verified, and no projector runs.
type site struct {
	testing.TB
	handler     http.Handler
	url         string
	development bool
	db          *cosmos.DB
	store       *store.Store
	log         *lockedLog
	// publicMaxAge is the server's PublicMaxAge, from the next call of serve on.
	publicMaxAge time.Duration
	// books and pages are those of the server, from the next call of serve on.
	books *budget.Books
	pages string // the PagesOrigin
	// intercept, if not nil, is called for each request to the database. It returns true if it has
	// responded.
	intercept func(w http.ResponseWriter, r *http.Request) bool

	ann, bob                     blog.User
	post, comment                string // Ann's, liked by Bob
	deletedPost, orphanedComment string // Ann's deleted post, and Bob's comment on it
	like                         string // Bob's like of post
}

// lockedLog collects the server's log.
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

// trustingVerifier accepts any token that does not start with "bad", as the subject.
type trustingVerifier struct{}

func (trustingVerifier) Verify(_ context.Context, token string) (blog.Account, error) {
	if strings.HasPrefix(token, "bad") {
		return blog.Account{}, blog.Errorf(blog.Unauthenticated, "The token is not valid.")
	}
	return blog.Account{Issuer: "test", Subject: token}, nil
}

// newSite starts a site with its fixtures.
func newSite(t testing.TB, development bool) *site {
	t.Helper()
	engine := cosmostest.New(t, cosmostest.Options{})
	s := &site{TB: t, development: development, log: new(lockedLog)}
	database := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if s.intercept == nil || !s.intercept(w, r) {
			engine.ServeHTTP(w, r)
		}
	})
	db, err := provision.OpenEmbedded(t.Context(), engine, cosmos.Options{Transport: inprocess.To(database)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(db.Close)
	s.db, s.store = db, store.New(db)
	s.serve(limits.Default())
	s.createFixtures()
	return s
}

// serve replaces the site's server with one that has other limits.
func (s *site) serve(l limits.Limits) {
	logger := slog.New(slog.NewJSONHandler(s.log, nil))
	s.handler = api.New(api.Options{
		Resolvers:    resolvers.New(s.store),
		Scope:        resolvers.NewScopeExtension(resolvers.ScopeOptions{Diagnostics: s.development, Limits: l}),
		Errors:       resolvers.NewErrorPresenter(logger),
		Verifier:     trustingVerifier{},
		Development:  s.development,
		PublicMaxAge: s.publicMaxAge,
		Books:        s.books,
		PagesOrigin:  s.pages,
		Limits:       l,
		Logger:       logger,
	})
	server := httptest.NewServer(s.handler)
	s.Cleanup(server.Close)
	s.url = server.URL
}

// createFixtures creates the users and their items.
func (s *site) createFixtures() {
	s.Helper()
	for _, name := range []string{"Ann", "Bob"} {
		s.must(name, `mutation($n:String!){createUser(input:{username:$n}){user{id}}}`, "n", name)
	}
	const createPost = `mutation($t:String!){createPost(input:{title:$t,content:"Text"}){post{id}}}`
	const createComment = `mutation($p:ID!){createComment(input:{postId:$p,content:"Hm"}){comment{id}}}`
	s.post = s.must("Ann", createPost, "t", "Here")
	s.deletedPost = s.must("Ann", createPost, "t", "Gone")
	s.comment = s.must("Ann", createComment, "p", s.post)
	s.orphanedComment = s.must("Bob", createComment, "p", s.deletedPost)
	s.like = s.must("Bob", `mutation($p:ID!){likePost(input:{postId:$p}){like{id}}}`, "p", s.post)
	s.must("Ann", `mutation($p:ID!){deletePost(input:{id:$p}){post{id}}}`, "p", s.deletedPost)
}

// must sends a query that has to succeed, and returns the first id in its response.
func (s *site) must(subject, query string, variables ...string) string {
	s.Helper()
	r := s.queryAs(subject, query, variables...)
	if len(r.Errors) > 0 {
		s.Fatalf("%s: %s", query, r.Body)
	}
	_, rest, _ := strings.Cut(string(r.Data), `"id":"`)
	id, _, _ := strings.Cut(rest, `"`)
	return id
}

// queryAs sends a query as a subject, or anonymously if it is empty. variables are alternating
// names and values.
func (s *site) queryAs(subject, query string, variables ...string) reply {
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

// send sends a request through the network. headers are alternating names and values.
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

// read reads a response, and decodes it if its Content-Type is JSON.
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
			s.Fatalf("the response is not JSON: %v: %.1000s", err, text)
		}
	}
	return r
}
