package api_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"cosmosblog/api"
	"cosmosblog/blog"
	"cosmosblog/graph"
	"cosmosblog/graph/model"
	"cosmosblog/graph/stream"
	"cosmosblog/guard/auth"
	"cosmosblog/guard/request"
	"cosmosblog/resolvers"
)

// stub is the real resolvers without a store. Tests replace two queries and a mutation, because
// they test HTTP only.
type stub struct {
	*resolvers.Resolver
	query stubQuery
}

func (s stub) Query() graph.QueryResolver { return s.query }

func (s stub) Mutation() graph.MutationResolver { return stubMutation{query: s.query} }

func (s stub) Subscription() graph.SubscriptionResolver { return stubSubscription{} }

// stubSubscription has a stream of one state of a post, which then waits.
type stubSubscription struct{ graph.SubscriptionResolver }

func (stubSubscription) PostChanged(ctx context.Context, _ blog.Ref) (<-chan *blog.Post, error) {
	stream.Open(ctx, new(stubStream))
	return nil, nil
}

type stubStream struct{ sent bool }

func (s *stubStream) Next(ctx context.Context) (stream.Event, error) {
	if s.sent {
		<-ctx.Done()
		return stream.Event{}, ctx.Err()
	}
	s.sent = true
	return stream.Event{Value: &blog.Post{PostHead: blog.PostHead{Title: "A title"}}, IsState: true}, nil
}

func (*stubStream) Follow(ctx context.Context) context.Context { return ctx }

func (*stubStream) Close() {}

type stubMutation struct {
	graph.MutationResolver
	query stubQuery
}

func (m stubMutation) DeletePost(ctx context.Context, _ blog.DeletePostInput) (*model.DeletePostPayload, error) {
	return m.query.deletePost(ctx)
}

type stubQuery struct {
	graph.QueryResolver
	viewer         func(ctx context.Context) (*blog.User, error)
	userByUsername func(ctx context.Context, username string) (*blog.User, error)

	deletePost func(ctx context.Context) (*model.DeletePostPayload, error)
}

func (q stubQuery) Viewer(ctx context.Context) (*blog.User, error) { return q.viewer(ctx) }

func (q stubQuery) UserByUsername(ctx context.Context, username string) (*blog.User, error) {
	if q.userByUsername == nil {
		return nil, nil
	}
	return q.userByUsername(ctx, username)
}

// stubVerifier accepts one token.
type stubVerifier struct{}

const goodToken = "good"

func (stubVerifier) Verify(_ context.Context, token string) (blog.Account, error) {
	switch token {
	case goodToken:
		return blog.Account{Issuer: "test", Subject: "ann"}, nil
	case "panic":
		panic("S3CRET")
	case "unreachable":
		return blog.Account{}, io.ErrUnexpectedEOF
	default:
		return blog.Account{}, blog.Errorf(blog.Unauthenticated, "The token is not valid.")
	}
}

var _ auth.Verifier = stubVerifier{}

// server is an API on a stub.
type server struct {
	testing.TB
	handler http.Handler
	log     *bytes.Buffer
}

// viewerByToken returns a viewer whose username is the token's subject.
func viewerByToken(ctx context.Context) (*blog.User, error) {
	account := request.Of(ctx).Account
	if account == nil {
		return nil, nil
	}
	return &blog.User{ID: account.UserID(), Username: account.Subject}, nil
}

func newServer(t testing.TB, change func(*api.Options, *stubQuery)) *server {
	t.Helper()
	log := new(bytes.Buffer)
	query := stubQuery{viewer: viewerByToken}
	options := api.Options{Verifier: stubVerifier{}}
	if change != nil {
		change(&options, &query)
	}
	logger := slog.New(slog.NewJSONHandler(log, nil))
	options.Logger = logger
	query.QueryResolver = resolvers.New(nil).Query()
	options.Resolvers = stub{resolvers.New(nil), query}
	options.Scope = resolvers.NewScopeExtension(resolvers.ScopeOptions{})
	options.Errors = resolvers.NewErrorPresenter(logger)
	return &server{t, api.New(options), log}
}

func inDevelopment(o *api.Options, _ *stubQuery) { o.Development = true }

// reply is a received response.
type reply struct {
	*httptest.ResponseRecorder
	Data   json.RawMessage
	Errors []struct {
		Message    string
		Path       []any
		Locations  []map[string]int
		Extensions map[string]any
	}
}

// isNull reports whether the data is missing, or each root field is null or a list of nulls.
func (r reply) isNull() bool {
	var data map[string]any
	if len(r.Data) > 0 && json.Unmarshal(r.Data, &data) != nil {
		return false
	}
	for _, value := range data {
		list, isList := value.([]any)
		if value != nil && (!isList || slices.ContainsFunc(list, func(element any) bool { return element != nil })) {
			return false
		}
	}
	return true
}

// isInvalid reports whether all errors say that the request is invalid, or above a limit.
func (r reply) isInvalid() bool {
	for _, code := range strings.Fields(r.codes()) {
		switch code {
		case "BAD_USER_INPUT", "GRAPHQL_PARSE_FAILED", "GRAPHQL_VALIDATION_FAILED", "LIMIT_EXCEEDED", "COST_LIMIT_EXCEEDED":
		default:
			return false
		}
	}
	return true
}

// codes returns the codes of the errors, separated by spaces.
func (r reply) codes() string {
	var codes []string
	for _, e := range r.Errors {
		code, _ := e.Extensions["code"].(string)
		codes = append(codes, code)
	}
	return strings.Join(codes, " ")
}

// do sends a request. headers are alternating names and values.
func (s *server) do(method, target, body string, headers ...string) reply {
	s.Helper()
	return s.send("127.0.0.1:8080", method, target, body, headers...)
}

// doAs sends a query to a host name.
func (s *server) doAs(host string, headers ...string) reply {
	s.Helper()
	return s.send(host, "POST", "/graphql", `{"query":"{__typename}"}`, headers...)
}

func (s *server) send(host, method, target, body string, headers ...string) reply {
	s.Helper()
	request := httptest.NewRequest(method, target, strings.NewReader(body))
	request.Host = host
	for i := 0; i < len(headers); i += 2 {
		request.Header.Add(headers[i], headers[i+1])
	}
	recorder := httptest.NewRecorder()
	s.handler.ServeHTTP(recorder, request)
	r := reply{ResponseRecorder: recorder}
	if strings.Contains(recorder.Header().Get("Content-Type"), "json") && recorder.Header().Get("Content-Encoding") == "" {
		if err := json.Unmarshal(recorder.Body.Bytes(), &r); err != nil {
			s.Fatalf("%s %s responds with invalid JSON: %v: %s", method, target, err, recorder.Body)
		}
	}
	return r
}

// post sends a JSON body to /graphql.
func (s *server) post(body string, headers ...string) reply {
	s.Helper()
	return s.do("POST", "/graphql", body, append([]string{"Content-Type", "application/json"}, headers...)...)
}

// query sends a query without variables.
func (s *server) query(query string, headers ...string) reply {
	s.Helper()
	body, err := json.Marshal(map[string]string{"query": query})
	if err != nil {
		s.Fatal(err)
	}
	return s.post(string(body), headers...)
}
