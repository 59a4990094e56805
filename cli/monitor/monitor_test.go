package monitor

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"cosmosblog/guard/budget"
	"cosmosblog/internal/inprocess"
	"cosmosblog/internal/telemetry"
	"cosmosblog/projector"
	"cosmosblog/proof/storetest"
	"cosmosblog/store/changefeed"
	"cosmosblog/store/cosmos"
	"cosmosblog/store/provision"
	"cosmosblog/store/readcache"
	"cosmosblog/store/schema"
	"cosmosblog/store/sessions"
	"cosmosblog/store/tail"
)

// observed is a monitored process, read over HTTP. The test moves its clock.
type observed struct {
	*testBlog
	server  *httptest.Server
	traffic *telemetry.Traffic
	log     *strings.Builder
	tail    *tail.Tail

	mu  sync.Mutex
	now time.Time
}

// observe serves the checks and metrics of a server.
func observe(t *testing.T, b *testBlog, p *projector.Projector) *observed {
	t.Helper()
	return observeAs(t, b, p, true)
}

// observeAs is observe for a server, or for a process that only runs a projector.
func observeAs(t *testing.T, b *testBlog, p *projector.Projector, isServer bool) *observed {
	t.Helper()
	o := &observed{testBlog: b, log: &strings.Builder{}, now: time.Now()}
	o.traffic = telemetry.NewTraffic(nil, nil)
	o.tail = tail.New(tail.Options{DB: b.store.DB, Containers: []string{schema.Posts}, Staleness: time.Second, Logger: discard})
	books := budget.New(budget.Options{})
	payment, err := books.Begin("u_1", netip.Addr{}, true, 1)
	if err != nil {
		t.Fatal(err)
	}
	payment.End("Like", budget.Spending{Spent: 1, Caused: map[string]float64{"projection": 1}})
	m := newMonitor(t.Context(), Options{
		DB:        b.store.DB,
		Tail:      o.tail,
		Sessions:  sessions.New(b.store.DB, 5*time.Millisecond),
		Projector: p,
		Books:     books,
		Traffic:   o.traffic,
		Reads:     readcache.New(1<<20, func(string, string) uint64 { return 0 }),
		Logger:    slog.New(slog.NewTextHandler(o.log, nil)),
		Now:       o.clock,
	})
	o.server = httptest.NewServer(m.observer(isServer).Handler())
	t.Cleanup(o.server.Close)
	return o
}

// follow runs the tail until the test ends, and waits until it follows posts.
func (o *observed) follow() {
	ctx, cancel := context.WithCancel(o.Context())
	ended := make(chan struct{})
	go func() { defer close(ended); _ = o.tail.Run(ctx) }()
	o.Cleanup(func() { cancel(); <-ended })
	o.until(func() bool {
		o.tail.Changes(schema.Posts, "")
		_, ok := o.tail.Lag(schema.Posts)
		return ok
	})
}

func (o *observed) clock() time.Time {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.now
}

func (o *observed) pass(d time.Duration) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.now = o.now.Add(d)
}

// readiness is the response of /readyz.
type readiness struct {
	Status  string   `json:"status"`
	Waiting []string `json:"waiting"`
	Scripts struct {
		Missing, Blocked []string
	} `json:"scripts"`
	Lag       []feedReport `json:"lag"`
	Letters   int          `json:"deadLetters"`
	Projector *workReport  `json:"projector"`
}

func (o *observed) readyz() (int, readiness) {
	o.Helper()
	response, err := http.Get(o.server.URL + "/readyz")
	if err != nil {
		o.Fatal(err)
	}
	defer response.Body.Close()
	var answer readiness
	if err := json.NewDecoder(response.Body).Decode(&answer); err != nil {
		o.Fatal(err)
	}
	return response.StatusCode, answer
}

// expect compares /readyz with a status, the number of pending changes of posts, and the minimum
// age of the oldest.
func (o *observed) expect(status int, changes int64, age time.Duration) {
	o.Helper()
	o.pass(cachedAge)
	got, answer := o.readyz()
	for _, lag := range answer.Lag {
		if lag.Container != schema.Posts {
			continue
		}
		ageIsRight := lag.Seconds >= age.Seconds()-1 && (lag.Seconds == 0) == (changes == 0)
		if got != status || lag.Changes != changes || !ageIsRight {
			o.Errorf("%d %+v, want %d and %d changes of %v", got, answer, status, changes, age)
		}
		return
	}
	o.Errorf("%d %+v has no lag of posts", got, answer)
}

// metrics reads /metrics as Prometheus does.
func (o *observed) metrics() map[string]*dto.MetricFamily {
	o.Helper()
	response, err := http.Get(o.server.URL + "/metrics")
	if err != nil {
		o.Fatal(err)
	}
	defer response.Body.Close()
	parser := expfmt.NewTextParser(model.LegacyValidation)
	families, err := parser.TextToMetricFamilies(response.Body)
	if err != nil || response.StatusCode != http.StatusOK {
		o.Fatal(response.Status, err)
	}
	return families
}

// value returns a metric's value for labels, each "name=value".
func (o *observed) value(families map[string]*dto.MetricFamily, name string, labels ...string) float64 {
	o.Helper()
	for _, metric := range families[name].GetMetric() {
		matches := len(metric.GetLabel()) == len(labels)
		for i, label := range metric.GetLabel() {
			matches = matches && labels[i] == label.GetName()+"="+label.GetValue()
		}
		if matches {
			return metric.GetGauge().GetValue() + metric.GetCounter().GetValue()
		}
	}
	o.Errorf("there is no %s%v in %v", name, labels, families[name])
	return -1
}

// until waits until a condition holds. The process's clock moves meanwhile.
func (o *observed) until(holds func() bool) {
	o.Helper()
	ticker := time.NewTicker(2 * time.Millisecond)
	defer ticker.Stop()
	late := time.After(time.Minute)
	for !holds() {
		o.pass(cachedAge)
		select {
		case <-ticker.C:
		case <-late:
			o.Fatal("the condition does not hold after a minute")
		}
	}
}

// project runs a projector until stop is called.
func (o *observed) project(p *projector.Projector) (stop func()) {
	ctx, cancel := context.WithCancel(o.Context())
	stopped := make(chan error, 1)
	go func() { stopped <- p.Run(ctx) }()
	return func() {
		o.Helper()
		cancel()
		if err := <-stopped; err != nil && !errors.Is(err, context.Canceled) {
			o.Error(err)
		}
	}
}

// The lag grows while no projector runs, until one has caught up. The process stays ready, because
// it can answer.
func TestReadinessReportsTheLag(t *testing.T) {
	t.Parallel()
	b := openBlog(t)
	p := newProjector(t, b.store, b.engine)
	o := observe(t, b, p)
	o.expect(200, 0, 0)
	ada := o.createUser("Ada")
	o.createPost(ada)
	o.pass(10 * time.Second)
	o.expect(200, 1, 10*time.Second)
	o.createPost(ada)
	o.pass(time.Hour)
	o.expect(200, 2, time.Hour)
	stop := o.project(p)
	o.until(func() bool { // the projector may take the leases of the chores last
		_, answer := o.readyz()
		isBehind := slices.ContainsFunc(answer.Lag, func(lag feedReport) bool { return lag.Changes > 0 || !lag.Held })
		return !isBehind && answer.Projector != nil && answer.Projector.Leases == 5
	})
	o.expect(200, 0, 0)
	stop()
	o.createPost(ada)
	o.pass(2 * time.Minute)
	o.expect(200, 1, 2*time.Minute)
}

// A server without a projector derives the lag from the checkpoints.
func TestLagOfOtherProcesses(t *testing.T) {
	t.Parallel()
	b := openBlog(t)
	other := newProjector(t, b.store, b.engine)
	server := observe(t, b, nil)
	server.createPost(server.createUser("Ada"))
	server.pass(2 * time.Minute)
	server.expect(200, 1, 2*time.Minute)
	stop := server.project(other)
	server.until(func() bool {
		_, answer := server.readyz()
		return !slices.ContainsFunc(answer.Lag, func(lag feedReport) bool { return lag.Changes > 0 })
	})
	stop()
	server.expect(200, 0, 0)
	if _, answer := server.readyz(); answer.Projector != nil || answer.Lag[0].Held {
		t.Errorf("without a projector: %+v", answer)
	}
}

func TestMetricsOfAProjector(t *testing.T) {
	t.Parallel()
	b := openBlog(t)
	p := newProjector(t, b.store, b.engine)
	o := observe(t, b, p)
	ada := o.createUser("Ada")
	o.createPost(ada)
	o.createPost(ada)
	before := o.metrics()
	if n := o.value(before, "cosmosblog_projector_lag_changes", "container=posts", "range=-FF"); n != 2 {
		t.Errorf("%v changes before the projector runs", n)
	}
	stop := o.project(p)
	o.until(func() bool {
		_, answer := o.readyz()
		// The copies are changes of users.
		return answer.Projector.Leases == 5 && answer.Lag[0].Changes+answer.Lag[1].Changes == 0
	})
	o.pass(cachedAge)
	o.exchange()
	o.follow()
	during := o.metrics()
	stop()
	for name, want := range map[string]float64{
		"cosmosblog_projector_lag_changes container=posts range=-FF":                 0,
		"cosmosblog_projector_lag_seconds container=posts range=-FF":                 0,
		"cosmosblog_projector_lag_seconds container=users range=-FF":                 0,
		"cosmosblog_projector_leases_held":                                           5,
		"cosmosblog_projector_leases_lost_total":                                     0,
		"cosmosblog_projector_changes_total container=posts projection=feed":         2,
		"cosmosblog_projector_views_written_total container=posts projection=feed":   2,
		"cosmosblog_projector_views_unchanged_total container=posts projection=feed": 0,
		"cosmosblog_projector_retries_total container=posts projection=userPosts":    0,
		"cosmosblog_projector_set_aside_total container=users projection=usernames":  0,
		"cosmosblog_projector_sweep_passes_total":                                    0,
		"cosmosblog_projector_deletion_passes_total":                                 0,
		"cosmosblog_projector_purges_total":                                          0,
	} {
		words := strings.Fields(name)
		if got := o.value(during, words[0], words[1:]...); got != want {
			t.Errorf("%s is %v, want %v", name, got, want)
		}
	}
	o.areDocumented(during)
}

// Every process reports the dead letters, even after the process that wrote them has ended.
func TestDeadLettersAreReported(t *testing.T) {
	t.Parallel()
	b := openBlog(t)
	for _, id := range []string{"p_1", "p_2"} {
		letter := changefeed.DeadLetter{
			Projection: "feed", Container: schema.Posts, PartitionKey: id, ItemID: id, Reason: "no", Attempts: 5,
		}
		if err := b.store.WriteDeadLetter(t.Context(), letter); err != nil {
			t.Fatal(err)
		}
	}
	o := observe(t, b, nil)
	if status, answer := o.readyz(); status != 200 || answer.Letters != 2 {
		t.Errorf("%d %+v", status, answer)
	}
	if n := o.value(o.metrics(), "cosmosblog_projector_dead_letters"); n != 2 {
		t.Errorf("the metric is %v", n)
	}
}

// exchange answers a request to the API, so that all metrics of the traffic have a value.
func (o *observed) exchange() {
	_, r, end := o.traffic.Begin(httptest.NewRecorder(), httptest.NewRequest("GET", "/graphql", nil), "")
	defer end()
	o.traffic.Sent(r.Context(), telemetry.Sent{Container: "posts", Operation: "read", Status: 200, Charge: 1, Retry: true})
}

// documentedMetrics is a row of the table of metrics: labels, and the names that have these.
var documentedMetrics = regexp.MustCompile("(?m)^\\| ((?:`[a-z]+`(?:, )?)*) ?\\| (`[a-z_]+`(?:, `[a-z_]+`)*) \\|$")

// areDocumented compares all metrics with the table in docs/operations.md.
func (o *observed) areDocumented(families map[string]*dto.MetricFamily) {
	o.Helper()
	text, err := os.ReadFile("../../docs/operations.md")
	if err != nil {
		o.Fatal(err)
	}
	_, section, _ := strings.Cut(string(text), "\n### Metrics\n")
	section, _, _ = strings.Cut(section, "\n### ")
	documented := map[string]string{}
	for _, row := range documentedMetrics.FindAllStringSubmatch(section, -1) {
		for _, quoted := range strings.Split(row[2], ", ") {
			name := "cosmosblog_" + strings.Trim(quoted, "`")
			documented[name] = row[1]
			if families[name] == nil {
				o.Errorf("docs/operations.md lists %s, which does not exist", name)
			}
		}
	}
	for name, family := range families {
		var labels []string
		for _, label := range family.GetMetric()[0].GetLabel() {
			labels = append(labels, "`"+label.GetName()+"`")
		}
		got, ok := documented[name]
		if strings.HasPrefix(name, "cosmosblog_") && (!ok || got != strings.Join(labels, ", ")) {
			o.Errorf("docs/operations.md lists %s with the labels %q, not %v", name, got, labels)
		}
	}
}

// severable is a transport whose requests can be made to fail.
type severable struct {
	next policy.Transporter
	cut  atomic.Bool
}

func (s *severable) Do(request *http.Request) (*http.Response, error) {
	if s.cut.Load() {
		return nil, errors.New("S3CRET")
	}
	return s.next.Do(request)
}

// If the database does not answer, the response names the checks and the log has the cause.
func TestProcessWithoutADatabaseIsNotReady(t *testing.T) {
	t.Parallel()
	b := openBlog(t)
	wire := &severable{next: inprocess.To(b.engine)}
	db, err := provision.OpenEmbedded(t.Context(), b.engine, cosmos.Options{Transport: wire})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	o := observe(t, &testBlog{t, storetest.Open(db), b.engine}, nil)
	o.expect(200, 0, 0)
	wire.cut.Store(true)
	o.pass(lettersAge)
	response, err := http.Get(o.server.URL + "/readyz")
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	const want = `{"lag":[],"status":"not ready","waiting":["database","deadLetters"]}`
	if response.StatusCode != 503 || string(text) != want {
		t.Errorf("%s %s %v", response.Status, text, err)
	}
	if families := o.metrics(); len(families) == 0 || families["cosmosblog_projector_lag_seconds"] != nil {
		t.Errorf("a lag was published without a database: %v", families["cosmosblog_projector_lag_seconds"])
	}
	if log := o.log.String(); !strings.Contains(log, "S3CRET") {
		t.Errorf("the cause is not in the log: %s", log)
	}
	wire.cut.Store(false)
	o.expect(200, 0, 0)
}
