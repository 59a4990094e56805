package monitor

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"cosmosblog/blog"
	"cosmosblog/guard/budget"
	"cosmosblog/internal/telemetry"
	"cosmosblog/projector"
	"cosmosblog/store"
	"cosmosblog/store/changefeed"
	"cosmosblog/store/cosmos"
	"cosmosblog/store/readcache"
	"cosmosblog/store/schema"
	"cosmosblog/store/sessions"
	"cosmosblog/store/tail"
)

// Options describe the process to monitor.
type Options struct {
	DB        *cosmos.DB
	Projector *projector.Projector // of this process; nil if it runs none
	Traffic   *telemetry.Traffic   // of this process; nil if it is not counted
	Reads     *readcache.Cache     // of this process; nil if it has none
	Tail      *tail.Tail           // that counts changes for Reads; nil if there is none
	Sessions  *sessions.Sessions   // of the clients of this process; nil if it has none
	Books     *budget.Books        // of the clients of this process; nil if it has none
	Logger    *slog.Logger

	Now func() time.Time // time.Now if nil
}

// Server returns the metrics and checks of a server until ctx ends.
func Server(ctx context.Context, o Options) telemetry.Observer {
	return newMonitor(ctx, o).observer(true)
}

// Projector returns the metrics and checks of a process that only runs a projector, until ctx
// ends.
func Projector(ctx context.Context, o Options) telemetry.Observer {
	return newMonitor(ctx, o).observer(false)
}

// monitor holds the lookups that checks and metrics share.
type monitor struct {
	Options
	life  context.Context // of the process, until it shuts down
	feeds *changefeed.Feeds

	reads   cached[any] // fails if the database does not answer
	scripts cached[any] // fails if a container or script is missing or of another version, or the format is another
	lags    cached[[]projector.Lag]
	stalls  stalls // used by one lookup at a time
	letters cached[int]

	accountMu     sync.Mutex // guards the next field
	saidOfAccount string     // by the last check; empty if the account was usable

	hadScripts    bool   // all scripts were registered; used by one lookup at a time, as saidOfScripts
	saidOfScripts string // logged by the last lookup; empty if all scripts were there
}

// The times after which what was found is looked up again, however often a probe asks: a lookup
// costs RU, for nobody who reads. What failed is looked up after cachedAge.
const (
	readsAge   = 5 * time.Second
	lagsAge    = 10 * time.Second
	lettersAge = time.Minute
	scriptsAge = 5 * time.Minute // a lookup executes each script
)

func newMonitor(ctx context.Context, o Options) *monitor {
	if o.Now == nil {
		o.Now = time.Now
	}
	m := &monitor{Options: o, life: ctx, feeds: changefeed.New(o.DB), stalls: stalls{}}
	m.reads = cached[any]{life: ctx, look: m.tryRead, now: o.Now, age: readsAge}
	m.scripts = cached[any]{life: ctx, look: m.checkScripts, now: o.Now, age: scriptsAge}
	m.lags = cached[[]projector.Lag]{life: ctx, look: m.lookUpLags, now: o.Now, age: lagsAge}
	m.letters = cached[int]{life: ctx, look: m.feeds.CountDeadLetters, now: o.Now, age: lettersAge}
	return m
}

// readTimeout is the maximum response time of a ready database.
const readTimeout = 2 * time.Second

// tryRead reads a user that cannot exist.
func (m *monitor) tryRead(ctx context.Context) (any, error) {
	ctx, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	_, err := store.New(m.DB).User(ctx, "nobody")
	if blog.CodeOf(err) == blog.NotFound {
		return nil, nil
	}
	return nil, err
}

// databaseNow returns the time by the database's clock, which dates its changes.
func (m *monitor) databaseNow() time.Time { return m.Now().Add(m.DB.ClockOffset()) }

// checkScripts reports the scripts that are blocked, and those that were registered before and are
// missing: provision may be about to register them again. Their own operations fail, but the
// process is ready for all others. One lookup runs at a time.
func (m *monitor) checkScripts(ctx context.Context) (any, error) {
	blocked, err := schema.Check(ctx, m.DB)
	report := map[string]any{}
	if missing, ok := errors.AsType[*schema.MissingError](err); ok && m.hadScripts && len(missing.Containers) == 0 {
		report["missing"], err = missing.Scripts, nil
	}
	m.hadScripts = m.hadScripts || err == nil
	if len(blocked) > 0 {
		report["blocked"] = blocked
	}
	if said := fmt.Sprint(report); said != m.saidOfScripts && len(report) > 0 {
		m.Logger.Error("scripts are missing, or blocked because they took too long several times; run provision, or provision --scripts recreate", "scripts", report)
		m.saidOfScripts = said
	}
	if len(report) == 0 {
		m.saidOfScripts = ""
		return nil, err
	}
	return report, err
}

func (m *monitor) lookUpLags(ctx context.Context) ([]projector.Lag, error) {
	var held []changefeed.Lease
	var lags []projector.Lag
	var err error
	if m.Projector != nil {
		held, lags = m.Projector.Feeds(), m.Projector.CaughtUp()
	}
	if lags == nil {
		lags, err = projector.Lags(ctx, m.feeds, held...)
	}
	m.stalls.note(lags, m.databaseNow())
	return lags, err
}

// observer returns the metrics and checks. isServer reports whether the process answers queries.
func (m *monitor) observer(isServer bool) telemetry.Observer {
	observer := telemetry.Observer{Metrics: telemetry.NewMetrics(), Logger: m.Logger}
	observer.Metrics.Add(m.feedMetrics()...)
	observer.Metrics.Add(m.clockMetric(), m.accountMetric())
	if m.Reads != nil {
		observer.Metrics.Add(readMetrics(m.Reads)...)
	}
	if m.Tail != nil {
		observer.Metrics.Add(tailMetrics(m.Tail)...)
	}
	if m.Sessions != nil {
		observer.Metrics.Add(sessionMetrics(m.Sessions)...)
	}
	if m.Books != nil {
		observer.Metrics.Add(budgetMetrics(m.Books)...)
		observer.Top = func(n int) any { return m.Books.Top(n) }
	}
	if m.Traffic != nil {
		observer.Metrics.AddTraffic(m.Traffic)
	}
	observer.Checks = []telemetry.Check{
		{Name: "process", Ready: m.processReport},
		{Name: "database", Ready: m.reads.get},
		{Name: "account", Ready: m.checkAccount},
		{Name: "scripts", Ready: m.scripts.get},
		{Name: "lag", Ready: func(ctx context.Context) (any, error) { return m.lagReport(ctx), nil }},
		{Name: "deadLetters", Ready: m.letterReport},
	}
	if m.Projector != nil {
		observer.Metrics.Add(projectorMetrics(m.Projector)...)
		observer.Checks = append(observer.Checks, telemetry.Check{
			Name:  "projector",
			Ready: func(context.Context) (any, error) { return workOf(m.Projector, isServer) },
		})
	}
	return observer
}
