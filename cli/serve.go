package cli

import (
	"cmp"
	"context"
	"net"
	"strings"
	"time"

	"cosmosblog/cli/config"
	"cosmosblog/cli/datafolder"
	"cosmosblog/cli/monitor"
	"cosmosblog/guard/auth"
	"cosmosblog/guard/budget"
	"cosmosblog/guard/httpserver"
	"cosmosblog/guard/limits"
	"cosmosblog/internal/lifecycle"
	"cosmosblog/internal/telemetry"
	"cosmosblog/projector"
	"cosmosblog/store"
	"cosmosblog/store/readcache"
	"cosmosblog/store/schema"
	"cosmosblog/store/sessions"
	"cosmosblog/store/tail"
	"cosmosblog/web"
)

var serveText = text{
	short: "Serves the GraphQL API (the default command)",
	long: `Serves the GraphQL API, with the projector in the same process. It uses the embedded
engine of a data folder or, with COSMOS_ENDPOINT, an account of Cosmos DB.
`,
}

// StartTelemetry returns the task with its Traffic set. Until r closes, the Traffic logs the
// requests to the API and sends traces.
func StartTelemetry(r *lifecycle.Runner, task Task) (Task, error) {
	var err error
	version := versionText(version, buildInfo())
	task.Traffic, err = monitor.StartTraffic(r, task.Config.TracesEndpoint, version, task.Logger)
	return task, err
}

// StartVerifier returns the verifier of tokens. With an issuer, it accepts the issuer's tokens,
// whose keys it reads until r closes. In development it accepts tokens of the data folder's local
// key, and otherwise none.
func StartVerifier(r *lifecycle.Runner, task Task) (auth.Verifier, error) {
	c := task.Config
	switch {
	case c.Issuer != "":
		issuer := auth.NewIssuer(auth.IssuerOptions{
			Issuer:   c.Issuer,
			Audience: c.Audience,
			Logger:   task.Logger,
		})
		r.Go("reader of the issuer's keys", issuer.Run)
		return issuer, nil
	case c.Development():
		return auth.OpenLocalKey(c.Data)
	}
	return auth.NoIssuer{}, nil
}

// PagesIssuer returns how people sign in on the blog's pages; nil if no issuer signs them in. The
// pages send the token that is made for the audience: their own identity token, or one of access.
func PagesIssuer(c config.Config) *web.Issuer {
	if c.PagesClient == "" {
		return nil
	}
	token := "access_token"
	if c.PagesClient == c.Audience {
		token = "id_token"
	}
	return &web.Issuer{URL: c.Issuer, Client: c.PagesClient, Scope: c.PagesScope, Token: token}
}

// Reads are the cache of a server's reads, the tail that counts changes for it, and the sessions of
// its clients.
type Reads struct {
	Cache    *readcache.Cache // nil if it is turned off
	Tail     *tail.Tail       // nil if the engine in this process counts, or nothing is kept
	Watcher  *tail.Tail       // tells subscriptions of changes; Tail, or another one
	Sessions *sessions.Sessions
}

// StartReads returns the cache of the server's reads, and its sessions. If no engine in this
// process counts changes, a tail does until r closes.
func StartReads(r *lifecycle.Runner, task Task, database *datafolder.Database) Reads {
	c := task.Config
	reads := Reads{Sessions: sessions.New(database.DB, readInterval(database))}
	options := tail.Options{
		DB:         database.DB,
		Containers: []string{schema.Posts, schema.Feed}, // which are watched
		Staleness:  cmp.Or(c.Staleness, watchStaleness),
		Logger:     task.Logger,
	}
	if database.IsFolder() {
		options.Wake = database.Watch
	}
	counts := c.CacheBytes > 0 && !database.OwnsEngine() && c.Staleness > 0
	if counts {
		options.Containers = []string{schema.Users, schema.Posts, schema.Feed, schema.Lists, schema.Usernames}
	}
	reads.Watcher = tail.New(options)
	r.Go("tail of the change feeds", reads.Watcher.Run)
	switch {
	case counts:
		reads.Tail = reads.Watcher
		reads.Cache = readcache.New(int64(c.CacheBytes), reads.Tail.Changes)
	case c.CacheBytes > 0:
		reads.Cache = readcache.New(int64(c.CacheBytes), database.Changes())
	}
	return reads
}

// watchStaleness is the staleness of a tail that only tells of changes.
const watchStaleness = time.Second

// readInterval returns the least time between two reads of the checkpoints.
func readInterval(database *datafolder.Database) time.Duration {
	if database.IsFolder() {
		return 5 * time.Millisecond
	}
	return 50 * time.Millisecond // a read costs about 3 RU
}

// Store returns the store of the server's queries and commands.
func (r Reads) Store(database *datafolder.Database) *store.Store {
	if r.Tail == nil {
		return store.NewCached(database.DB, r.Cache, nil).Watched(r.Watcher)
	}
	return store.NewCached(database.DB, r.Cache, r.Tail).Watched(r.Watcher)
}

// NewBooks returns the budgets of the server's clients.
func NewBooks(task Task) *budget.Books {
	account, address := task.Config.Budgets()
	return budget.New(budget.Options{Account: account, Address: address})
}

// StartProjector runs the projector in the server's process until it closes. It returns nil if
// the projector is turned off.
func StartProjector(r *lifecycle.Runner, task Task, database *datafolder.Database) (*projector.Projector, error) {
	if !task.Config.Projector {
		return nil, nil
	}
	p, err := projector.New(projectorOptions(database, task))
	if err != nil {
		return nil, err
	}
	r.Go("projector", p.Run)
	return p, nil
}

// StartObserver returns the checks and metrics of a server. If --metrics-addr is set, it serves
// them there until r closes.
func StartObserver(
	r *lifecycle.Runner, task Task, database *datafolder.Database, reads Reads, books *budget.Books, p *projector.Projector,
) (telemetry.Observer, error) {
	options := monitorOptions(task, database, p)
	options.Reads, options.Tail, options.Sessions, options.Books = reads.Cache, reads.Tail, reads.Sessions, books
	observer := monitor.Server(r.Context(), options)
	if task.Config.MetricsAddr == "" {
		return observer, nil
	}
	listener, err := httpserver.Listen(r, "--metrics-addr", task.Config.MetricsAddr, limits.Default())
	if err != nil {
		return observer, err
	}
	task.Printf("Metrics and readiness are at http://%s/metrics and /readyz\n", listener.Addr())
	server := httpserver.Server{
		Handler:   httpserver.ProgramsOnly(listener.Addr(), observer.Handler()),
		Limits:    limits.Default(),
		Logger:    task.Logger,
		DrainTime: observerDrainTime,
	}
	r.Go("server of metrics and readiness", func(ctx context.Context) error { return server.Serve(ctx, listener) })
	return observer, nil
}

// observerDrainTime is short, because clients poll metrics and readiness again anyway, and the
// process must close other parts too.
const observerDrainTime = 200 * time.Millisecond

// Announce prints where the API and its data are, and how to sign in. In development, the address
// of the blog is first.
func Announce(task Task, addr net.Addr, database *datafolder.Database) {
	c := task.Config
	if c.Development() {
		task.Printf("The blog is at http://%s\n", addr)
	}
	task.Printf("The GraphQL API is at http://%s/graphql\n", addr)
	task.Printf("Its data is in %s\n", database.Place)
	switch {
	case c.Issuer != "":
		task.Printf("Reading needs no sign-in. To write, send a token of the issuer %s for the audience %s\n",
			c.Issuer, c.Audience)
		task.Printf("Production mode: no web pages and no local tokens\n")
	case c.Development():
		task.Printf("The Playground is at http://%s/playground\n", addr)
		if len(c.Origins()) > 0 {
			task.Printf("Web pages of these other origins may call it: %s\n", strings.Join(c.Origins(), ", "))
		} else {
			task.Printf("Web pages of other origins may not call it. To allow one: --cors-origins http://localhost:5173\n")
		}
		task.Printf("Reading needs no sign-in. To write, print a token for any name: %s\n",
			tokenCommand("anna", c.Data))
	default:
		task.Printf("Production mode: no web pages. " +
			"The API is read-only, because no issuer of tokens is configured (--issuer)\n")
	}
}
