// Package httpapi is the HTTP side of the API: its routes, the GraphQL protocol over HTTP, who is asking, the limits of
// a request, and what is on in development alone. Every answer but the Playground's files and the redirects to them is
// JSON, and every error in it has a code. The protocol is the GraphQL-over-HTTP draft's, https://graphql.github.io/graphql-over-http/draft/.
package httpapi

import (
	"context"
	"log/slog"
	"maps"
	"net/http"
	"net/netip"
	"path"

	"github.com/99designs/gqlgen/graphql"
	"github.com/99designs/gqlgen/graphql/handler"
	"github.com/99designs/gqlgen/graphql/handler/extension"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"
	"golang.org/x/sync/semaphore"

	"cosmosblog/graph"
	"cosmosblog/internal/auth"
	"cosmosblog/internal/limits"
	"cosmosblog/internal/price"
	"cosmosblog/internal/telemetry"
	"cosmosblog/web"
)

// ErrorPresenter turns errors and panics into the errors of a response. It must be safe for
// concurrent use.
type ErrorPresenter interface {
	// Present returns the error that clients see instead of err, always with a code. It may return
	// nil if the operation has already failed many times.
	Present(ctx context.Context, err error) *gqlerror.Error
	// Recover turns a recovered panic into an error.
	Recover(ctx context.Context, recovered any) error
}

// Options say what is served. Resolvers, Scope, Errors and Verifier are required.
type Options struct {
	// Resolvers resolve the fields of the schema.
	Resolvers graph.ResolverRoot
	// Scope prepares each operation for the resolvers.
	Scope graphql.HandlerExtension
	// Errors presents the errors of resolvers and of this package.
	Errors   ErrorPresenter
	Verifier auth.Verifier
	// Development turns on the Playground, introspection and suggestions, and the check that only this machine asks.
	Development bool
	// Origins are those whose pages may use the API from a browser, as browsers write them: https://blog.example.com.
	Origins []string
	// Proxies are the networks of those in front of the server whose word for a client's address is taken.
	Proxies []netip.Prefix
	// Limits are what a client may have; the default ones where none are set.
	Limits limits.Limits
	// Ready are looked at by /readyz.
	Ready []telemetry.Check
	// Metrics answers /metrics in development; elsewhere, or where it is nil, nothing is there.
	Metrics http.Handler
	// Logger is told why a check is not ready; slog's default where nil.
	Logger *slog.Logger
	// Traffic tells of every request to /graphql; nobody is told where it is nil.
	Traffic *telemetry.Traffic
}

const graphQLPath = "/graphql"

// New gives the handler of all routes: /graphql, /healthz and /readyz, and in development /playground and /metrics.
func New(options Options) http.Handler {
	options.Limits = options.Limits.OrDefault()
	if options.Logger == nil {
		options.Logger = slog.Default()
	}
	if options.Traffic == nil {
		options.Traffic = telemetry.NewTraffic(telemetry.TrafficOptions{})
	}
	a := &api{
		Options:   options,
		documents: newDocuments(options.Limits, options.Development),
		places:    make(chan struct{}, options.Limits.InFlight),
		bodies:    semaphore.NewWeighted(int64(options.Limits.AllBodiesBytes)),
	}
	mux := http.NewServeMux()
	mux.Handle(graphQLPath, a.shared(a.authenticated(a.graphQL())))
	mux.Handle("/healthz", a.readOnly(http.HandlerFunc(healthz)))
	mux.Handle("/readyz", a.readOnly(http.HandlerFunc(a.readyz)))
	mux.HandleFunc("/", a.notFound)
	if options.Development {
		playground := a.readOnly(web.Playground(http.HandlerFunc(a.notFound)))
		mux.Handle("/playground", playground)
		mux.Handle("/playground/", playground)
		if options.Metrics != nil {
			mux.Handle("/metrics", a.readOnly(options.Metrics))
		}
		mux.Handle("/{$}", a.readOnly(http.RedirectHandler("/playground", http.StatusFound)))
		return secured(a.located(a.observed(a.recovered(a.local(a.clean(mux))))))
	}
	return secured(a.located(a.observed(a.recovered(a.clean(mux)))))
}

// api is one set of options at work.
type api struct {
	Options
	documents *documents
	places    chan struct{} // for operations that are carried out
	bodies    *semaphore.Weighted
}

// graphQL gives the GraphQL server with the transport and the limits of this package, and none of gqlgen's defaults.
func (a *api) graphQL() http.Handler {
	schema := schema()
	server := handler.New(graph.NewExecutableSchema(graph.Config{Schema: schema, Resolvers: a.Resolvers}))
	server.AddTransport(transport{a})
	server.SetQueryCache(givenDocument{})
	server.SetErrorPresenter(a.present)
	server.SetRecoverFunc(a.Errors.Recover)
	server.Use(operations{}) // before the others, so that what they do is within the operation
	server.Use(price.NewChecker(schema, a.Limits))
	server.Use(a.Scope)
	if a.Development {
		server.Use(extension.Introspection{})
	}
	return server
}

// schema gives the schema without the directive @defer, which gqlgen adds and which one answer in JSON cannot keep.
func schema() *ast.Schema {
	s := *graph.NewExecutableSchema(graph.Config{}).Schema()
	s.Directives = maps.Clone(s.Directives)
	delete(s.Directives, "defer")
	return &s
}

// readOnly lets GET and HEAD pass.
func (a *api) readOnly(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			a.refuse(w, r, errReadOnly)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// clean knows no path that is not written in its shortest form, which the mux would redirect.
func (a *api) clean(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if shortest := path.Clean("/" + r.URL.Path); r.URL.Path != shortest && r.URL.Path != shortest+"/" {
			a.notFound(w, r)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// recovered answers a panic outside of resolvers.
func (a *api) recovered(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer a.recoverInto(w, r)
		next.ServeHTTP(w, r)
	})
}

// recoverInto, deferred, answers a panic.
func (a *api) recoverInto(w http.ResponseWriter, r *http.Request) {
	if recovered := recover(); recovered != nil && recovered != http.ErrAbortHandler {
		a.refuse(w, r, broken(a.Errors.Recover(r.Context(), recovered)))
	}
}

func (a *api) notFound(w http.ResponseWriter, r *http.Request) { a.refuse(w, r, errNothingHere) }

// refuse answers a request without executing it.
func (a *api) refuse(w http.ResponseWriter, r *http.Request, why *refusal) {
	why.describe(w.Header())
	a.answer(w, answerType(r), why.status, answer{errors: gqlerror.List{a.present(r.Context(), why.err)}})
}
