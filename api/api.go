// Package api serves the API over HTTP. It implements the routes, GraphQL over HTTP,
// server-sent events and WebSockets for subscriptions, the authentication of requests, the limits
// of a request, and the features that are on in development only.
//
// All responses are JSON, except for event streams, the files of web pages, redirects and metrics.
// Every error has a code. The protocol follows the GraphQL-over-HTTP draft,
// https://graphql.github.io/graphql-over-http/draft/.
//
// This folder is not for other modules: it may change in any version.
package api

import (
	"context"
	"log/slog"
	"net/http"
	"runtime"
	"time"

	"github.com/99designs/gqlgen/graphql"
	"github.com/99designs/gqlgen/graphql/executor"
	"github.com/99designs/gqlgen/graphql/handler/extension"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"cosmosblog/api/documents"
	"cosmosblog/graph"
	"cosmosblog/guard/auth"
	"cosmosblog/guard/budget"
	"cosmosblog/guard/limits"
	"cosmosblog/guard/memorypool"
	"cosmosblog/guard/proxy"
	"cosmosblog/internal/telemetry"
	"cosmosblog/store/sessions"
	"cosmosblog/web"
)

// ErrorPresenter turns errors and panics into the errors of a response. It must be safe for
// concurrent use.
type ErrorPresenter interface {
	// Present returns the error that clients see instead of err, always with a code. It may return
	// nil if the operation already has many errors.
	Present(ctx context.Context, err error) *gqlerror.Error
	// Recover turns a recovered panic into an error.
	Recover(ctx context.Context, recovered any) error
}

// Options configure New. Resolvers, Scope, Errors and Verifier are required.
type Options struct {
	// Resolvers resolve the fields of the schema.
	Resolvers graph.ResolverRoot
	// Scope prepares each operation for the resolvers.
	Scope interface {
		graphql.HandlerExtension
		graphql.ResponseInterceptor
	}
	// Errors presents the errors of resolvers and of this package.
	Errors   ErrorPresenter
	Verifier auth.Verifier
	// Books have the budgets of clients; none if nil.
	Books *budget.Books
	// Processor divides the processor time of subscriptions among the clients. If it is nil, that is
	// the time of all processors that the program uses.
	Processor *budget.Processor
	// Sessions lets clients read what they have written. If it is nil, there are no session tokens.
	Sessions *sessions.Sessions
	// PagesOrigin is where browsers reach the blog's pages, such as https://blog.example.com. If it
	// is empty, there are pages in development only.
	PagesOrigin string
	// PagesIssuer signs people in on the pages. If it is nil, they do so by name in development,
	// and otherwise not at all.
	PagesIssuer *web.Issuer
	// Development enables the blog's pages, GraphiQL, introspection, automatic persisted queries,
	// suggestions in errors and /metrics. It rejects requests that are not addressed to this
	// machine. If Verifier is an auth.LocalKey, /development/token returns tokens.
	Development bool
	// PublishSchema serves the schema at /schema.graphql. In development, it is always served.
	PublishSchema bool
	// Origins are the allowed origins of pages (CORS), in the form that browsers send:
	// https://blog.example.com.
	Origins []string
	// Proxies are the networks of the trusted proxies. Only they may set X-Forwarded-For and
	// X-Forwarded-Host.
	Proxies proxy.Trusted
	// PublicMaxAge is how long caches may share the answer to a GET that depends on no viewer and
	// no session, in whole seconds. If it is 0, only clients may keep answers.
	PublicMaxAge time.Duration
	// Documents may have a manifest of documents (documents.Load). If it is nil, there is none.
	Documents *documents.Documents
	// Limits are the limits of requests; if zero, the defaults.
	Limits limits.Limits
	// Ready are the checks that /readyz runs.
	Ready []telemetry.Check
	// Metrics serves /metrics in development. If it is nil, /metrics does not exist.
	Metrics http.Handler
	// Top serves /top in development. If it is nil, /top does not exist.
	Top http.Handler
	// Logger logs why a readiness check failed, and which origins are refused; slog's default if
	// nil.
	Logger *slog.Logger
	// Traffic records every request to /graphql. If it is nil, nothing is recorded.
	Traffic *telemetry.Traffic
	// Now returns the time, for slow transfers and repeated log lines; time.Now if nil.
	Now func() time.Time
}

const (
	graphQLPath = "/graphql"
	healthPath  = "/healthz"
	readyPath   = "/readyz"
)

// New returns the handler of all routes: /graphql, /healthz and /readyz, /schema.graphql if it is
// published, the blog at / in development or with PagesOrigin, and in development GraphiQL at
// /playground, /development/token, /metrics and /top.
func New(options Options) http.Handler {
	options.Limits = options.Limits.OrDefault()
	if options.Logger == nil {
		options.Logger = slog.Default()
	}
	if options.Traffic == nil {
		options.Traffic = telemetry.NewTraffic(nil, nil)
	}
	if options.Now == nil {
		options.Now = time.Now
	}
	if options.Books == nil {
		options.Books = budget.New(budget.Options{})
	}
	if options.Processor == nil {
		options.Processor = budget.NewProcessor(float64(runtime.GOMAXPROCS(0)), options.Limits.ClientStreams > 0, options.Now)
	}
	if options.Documents == nil {
		options.Documents = documents.New(options.Limits, options.Development)
	}
	a := &api{
		Options:    options,
		documents:  options.Documents,
		persisted:  newPersistedQueries(options.Development),
		places:     make(chan struct{}, options.Limits.InFlight),
		bodies:     memorypool.New(options.Limits.AllBodiesBytes, options.Now),
		answers:    memorypool.New(options.Limits.AllAnswersBytes, options.Now),
		compressor: newCompressor(),
		routes:     http.NewServeMux(),
	}
	mux := a.routes
	graphQL := a.graphQL()
	for _, path := range []string{graphQLPath, graphQLPath + "/{$}"} {
		mux.Handle(path, graphQL)
	}
	mux.Handle(healthPath, a.readOnly(http.HandlerFunc(healthz)))
	mux.Handle(readyPath, a.readOnly(http.HandlerFunc(a.readyz)))
	if options.Development || options.PublishSchema {
		mux.Handle(schemaPath, a.readOnly(a.schemaFile()))
	}
	if options.Development || options.PagesOrigin != "" {
		a.handlePages(mux, graphQL)
	} else {
		mux.HandleFunc("/", a.notFound)
	}
	if options.Development {
		a.handleGraphiQL(mux)
		if signer, ok := options.Verifier.(tokenSigner); ok {
			mux.Handle(localTokenPath, a.localToken(signer))
		}
		if options.Metrics != nil {
			mux.Handle("/metrics", a.readOnly(options.Metrics))
		}
		if options.Top != nil {
			mux.Handle("/top", a.readOnly(options.Top))
		}
	}
	return a
}

// api is the state that the handlers of one New share. It may be used concurrently.
type api struct {
	Options
	documents  *documents.Documents
	refused    recentNames // origins
	unknown    recentNames // proxies that are not trusted
	persisted  persistedQueries
	places     chan struct{}    // one element for each operation in flight
	bodies     *memorypool.Pool // of all request bodies
	answers    *memorypool.Pool // of all large answers
	compressor *compressor
	routes     *http.ServeMux
	clients    proxy.Counter // behind trusted proxies
	waiting    proxy.Counter // for views
}

// graphQL returns the GraphQL server: this package's transport and limits, and gqlgen's executor.
func (a *api) graphQL() transport {
	schema := graph.NewExecutableSchema(graph.Config{Resolvers: a.Resolvers})
	exec := executor.New(schema)
	exec.SetQueryCache(contextDocument{})
	exec.SetErrorPresenter(a.present)
	exec.SetRecoverFunc(a.Errors.Recover)
	exec.Use(newExecution()) // first, so that the work of the other extensions counts
	exec.Use(a.Scope)
	if a.Development {
		exec.Use(extension.Introspection{})
	}
	t := transport{api: a, schema: schema, exec: exec}
	t.subscriptions = t.newSubscriptions()
	t.sockets = t.webSockets()
	return t
}
