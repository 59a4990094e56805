package graph_test

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"

	"cosmosblog/api"
	"cosmosblog/blog"
	"cosmosblog/cosmostest"
	"cosmosblog/graph"
	"cosmosblog/graph/model"
	"cosmosblog/guard/limits"
	"cosmosblog/proof/apitest"
	"cosmosblog/proof/testseed"
	"cosmosblog/resolvers"
	"cosmosblog/store"
	"cosmosblog/store/cosmos"
	"cosmosblog/store/provision"
	"cosmosblog/store/readcache"
	"cosmosblog/store/seed"
)

var documentCount = flag.Int("documents", 150, "number of random documents")

// site is the API on an engine in memory, with the posts of three users. Its resolvers can be
// damaged.
type site struct {
	testing.TB
	handler http.Handler
	reads   *readcache.Cache
	damage  uint64 // seed
}

func newSite(t testing.TB) *site {
	t.Helper()
	engine := cosmostest.New(t, cosmostest.Options{})
	db, err := provision.OpenEmbedded(t.Context(), engine, cosmos.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(db.Close)
	if err := seed.New("test", 1, 3).Write(t.Context(), db, nil); err != nil {
		t.Fatal(err)
	}
	l := limits.Default()
	l.Cost, l.Elements, l.Depth = 0, 1_000_000, 100
	l.Fields, l.Aliases, l.Directives, l.Tokens, l.Definitions = 10_000, 10_000, 10_000, 100_000, 1000
	l.AnswerBytes = 60_000
	logger := slog.New(slog.DiscardHandler)
	reads := readcache.New(16<<20, func(container, partition string) uint64 {
		return engine.Changes(db.Name(), container, partition)
	})
	s := &site{TB: t, reads: reads}
	s.handler = api.New(api.Options{
		Resolvers:   damaged{resolvers.New(store.NewCached(db, reads, nil)), &s.damage},
		Scope:       resolvers.NewScopeExtension(resolvers.ScopeOptions{Diagnostics: true, Limits: l}),
		Errors:      resolvers.NewErrorPresenter(logger),
		Verifier:    apitest.Subjects{},
		Development: true,
		Limits:      l,
		Logger:      logger,
	})
	s.send(`mutation { createUser(input: {username: "Viewer"}) { user { id } } }`)
	return s
}

// answer is what the answers of both paths must have in common.
type answer struct {
	Status     int
	Data       string
	Errors     []string // sorted; none if not all errors fit into the answer
	IsLarge    bool     // for the limit of answers
	Extensions struct {
		Cosmos struct{ Estimate float64 } // charges depend on the order of concurrent reads
	}
}

// send sends a document as a viewer, with the variables of all documents.
func (s *site) send(document string) answer { return s.sendWith(document, variables) }

// sendWith sends a document as a viewer.
func (s *site) sendWith(document string, variables map[string]any) (got answer) {
	s.Helper()
	body, err := json.Marshal(map[string]any{"query": document, "variables": variables})
	if err != nil {
		s.Fatal(err)
	}
	request := httptest.NewRequest(http.MethodPost, "http://127.0.0.1/graphql", bytes.NewReader(body))
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Authorization", "Bearer viewer")
	request.Header.Set("X-Cosmos-Diagnostics", "1")
	recorder := httptest.NewRecorder()
	s.handler.ServeHTTP(recorder, request)
	var response struct {
		Data   json.RawMessage
		Errors []struct {
			Message    string           `json:"message"`
			Path       []any            `json:"path,omitempty"`
			Locations  []map[string]int `json:"locations"`
			Extensions map[string]any   `json:"extensions"`
		}
		Extensions json.RawMessage
	}
	if err := json.Unmarshal(recorder.Body.Bytes(), &response); err != nil {
		s.Fatalf("%s\n%v: %s", document, err, recorder.Body)
	}
	if len(response.Extensions) > 0 {
		if err := json.Unmarshal(response.Extensions, &got.Extensions); err != nil {
			s.Fatal(err)
		}
	}
	got.Status, got.Data = recorder.Code, string(response.Data)
	var data any
	if err := json.Unmarshal(response.Data, &data); len(response.Data) > 0 && err != nil {
		s.Fatal(err)
	}
	for _, e := range response.Errors {
		if parent := nullParent(data, e.Path); parent != nil {
			got.Errors = append(got.Errors, fmt.Sprint("below the null at ", parent))
			continue
		}
		delete(e.Extensions, "errorId") // random
		text, err := json.Marshal(e)
		if err != nil {
			s.Fatal(err)
		}
		got.Errors = append(got.Errors, string(text))
		got.IsLarge = got.IsLarge || e.Extensions["code"] == string(blog.LimitExceeded)
	}
	slices.Sort(got.Errors)
	if len(response.Errors) == limits.MostErrors {
		got.Errors = nil
	}
	got.Errors = slices.Compact(got.Errors)
	return got
}

// nullParent returns the path of the null in data to which an error has made a parent of its field,
// or nil if there is none. Of several errors below one null, some may be missing: a field that is
// not resolved yet may be cancelled (GraphQL specification, September 2025, section 6.4.4).
func nullParent(data any, path []any) []any {
	for i, step := range path {
		if data == nil {
			return path[:i]
		}
		switch step := step.(type) {
		case string:
			object, _ := data.(map[string]any)
			data = object[step]
		case float64:
			list, _ := data.([]any)
			if int(step) >= len(list) {
				return nil // the answer is wrong, as the comparison will show
			}
			data = list[int(step)]
		}
	}
	return nil
}

// ids returns ids of existing objects, by type.
func (s *site) ids() map[string][]string {
	s.Helper()
	got := s.send(`{ feed(first: 20) { nodes { id author { id } comments(first: 1) { nodes { id } } likes(first: 1) { nodes { id } } } } }`)
	type nodes struct{ Nodes []struct{ ID string } }
	var data struct {
		Feed struct {
			Nodes []struct {
				ID              string
				Author          struct{ ID string }
				Comments, Likes nodes
			}
		}
	}
	if err := json.Unmarshal([]byte(got.Data), &data); err != nil {
		s.Fatal(err)
	}
	ids := map[string][]string{}
	for _, post := range data.Feed.Nodes {
		ids["Post"], ids["User"] = append(ids["Post"], post.ID), append(ids["User"], post.Author.ID)
		for _, comment := range post.Comments.Nodes {
			ids["Comment"] = append(ids["Comment"], comment.ID)
		}
		for _, like := range post.Likes.Nodes {
			ids["Like"] = append(ids["Like"], like.ID)
		}
	}
	return ids
}

// TestPlainFields compares the answers to random documents with those of gqlgen alone. Resolvers
// fail, panic, and return objects that the schema forbids.
func TestPlainFields(t *testing.T) {
	first := testseed.Of(t)
	s := newSite(t)
	ids := s.ids()
	var complete, failed, tooLarge int
	for n := range uint64(*documentCount) {
		random := rand.New(rand.NewPCG(first, n))
		document := (&documents{Rand: random, schema: graphSchema, ids: ids}).next()
		s.damage = 0
		undamaged.Clear()
		s.send(document) // a mutation may have an effect the first time
		s.damage = uint64(random.IntN(2)) * random.Uint64()
		appended := s.send(document)
		var resolved answer
		graph.WithoutPlainFields(func() { resolved = s.send(document) })
		got, want := indented(t, appended), indented(t, resolved)
		if got != want {
			t.Fatalf("document %d: %s\nappended: %s\nresolved: %s", n, document, got, want)
		}
		switch {
		case resolved.Status != http.StatusOK || resolved.Extensions.Cosmos.Estimate == 0 && len(resolved.Errors) == 1:
			t.Fatalf("document %d was not executed: %s\n%s", n, document, want)
		case resolved.IsLarge:
			tooLarge++
		case len(resolved.Errors) > 0:
			failed++
		default:
			complete++
		}
	}
	t.Logf("%d without errors, %d with errors, %d too large", complete, failed, tooLarge)
	if n := *documentCount; complete < n/20 || failed < n/20 || tooLarge < n/500 { // 2 in 100 are too large
		t.Error("too few of a kind")
	}
}

// TestPagesInSeveralSelections reads one page by several selections in turn. Answers that share the
// page share its text only if their selections are equal. Random documents rarely read one page
// twice.
func TestPagesInSeveralSelections(t *testing.T) {
	s := newSite(t)
	selections := []string{
		`{ feed(first: 5) { nodes { id } } }`,
		`{ feed(first: 5) { nodes { title } } }`,
		`{ feed(first: 5) { nodes { id content } } }`,
		`{ feed(first: 5) { edges { cursor node { id } } pageInfo { hasNextPage } } }`,
	}
	for round := range 3 { // the first rounds keep the page and its text
		for _, document := range selections {
			appended := s.send(document)
			var resolved answer
			graph.WithoutPlainFields(func() { resolved = s.send(document) })
			if got, want := indented(t, appended), indented(t, resolved); got != want || len(resolved.Errors) > 0 {
				t.Errorf("round %d: %s\nappended: %s\nresolved: %s", round, document, got, want)
			}
		}
	}
}

// TestPagesAfterSeveralCursors reads one page of the feed after cursors that differ in their rank.
// Therefore, the cursors in the answers differ, and whether there is a next page.
func TestPagesAfterSeveralCursors(t *testing.T) {
	s := newSite(t)
	var first struct {
		Feed struct{ PageInfo struct{ EndCursor string } }
	}
	if err := json.Unmarshal([]byte(s.send(`{ feed(first: 1) { pageInfo { endCursor } } }`).Data), &first); err != nil {
		t.Fatal(err)
	}
	position, err := model.FeedList.Position(first.Feed.PageInfo.EndCursor)
	if err != nil {
		t.Fatal(err)
	}
	const document = `query ($after: String) {
		feed(first: 5, after: $after) { edges { cursor } pageInfo { hasNextPage hasPreviousPage startCursor endCursor } } }`
	texts := map[string]bool{}
	for round := range 3 { // the first rounds keep the page and its text
		for _, rank := range []int{1, 2, 94, 95} { // the feed ends after the 100th
			position.Rank = rank
			after := map[string]any{"after": model.FeedList.Cursor(position)}
			appended := s.sendWith(document, after)
			var resolved answer
			graph.WithoutPlainFields(func() { resolved = s.sendWith(document, after) })
			if got, want := indented(t, appended), indented(t, resolved); got != want || len(resolved.Errors) > 0 {
				t.Errorf("round %d, rank %d\nappended: %s\nresolved: %s", round, rank, got, want)
			}
			texts[resolved.Data] = true
		}
	}
	if len(texts) != 4 {
		t.Errorf("%d different answers, want 4", len(texts))
	}
}

// TestSharedTexts answers from one page in several ways. The answers share a text only if they are
// equal.
func TestSharedTexts(t *testing.T) {
	m := newMemory(3, 10)
	page := m.feed(t.Context())
	page.Page.Text = blog.NewPageText(10_000)
	ranked := slices.Clone(page.Page.Positions)
	ranked[0].Rank = 7
	m.feed = func(context.Context) *model.PostConnection { return page }
	m.comments.Page.Text = blog.NewPageText(10_000)
	original, originalComments := *page, *m.comments
	changes := map[string]func(){
		"as it is":    func() {},
		"after":       func() { page.After = true },
		"rank":        func() { page.Page.Positions = ranked },
		"hasNextPage": func() { page.Page.HasNextPage = true },
		"totalCount":  func() { m.comments.Page.Total = 8 },
	}
	const document = `{ feed { edges { cursor } pageInfo { hasNextPage hasPreviousPage startCursor } }
		post(id: "x") { comments { totalCount nodes { id } } } }`
	operation := newOperationWith(t, m, document, graph.NewSelections(100))
	for before, change := range changes {
		for after, changeAgain := range changes {
			for _, change := range []func(){change, changeAgain} {
				*page, *m.comments = original, originalComments
				change()
				appended, resolved := both(func() executed { return operation(t.Context()) })
				if appended != resolved || resolved.errors != "" {
					t.Errorf("%s, then %s\nappended: %v\nresolved: %v", before, after, appended, resolved)
				}
			}
		}
	}
}

func indented(t *testing.T, a answer) string {
	t.Helper()
	text, err := json.MarshalIndent(a, "", "\t")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
