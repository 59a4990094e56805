package command

import (
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"cosmosblog/internal/blog"
	"cosmosblog/internal/config"
	"cosmosblog/internal/telemetry"
	"cosmosblog/projector"
	"cosmosblog/store"
)

// watched is a process as its operator sees it, over HTTP and by a clock that the test moves.
type watched struct {
	*testing.T
	database *Database
	server   *httptest.Server
	traffic  *telemetry.Traffic
	log      *strings.Builder

	mu  sync.Mutex
	now time.Time
}

// watch serves what a process tells. concerns says which lags are its concern.
func watch(t *testing.T, database *Database, p *projector.Projector, concerns func(projector.Lag) bool) *watched {
	t.Helper()
	w := &watched{T: t, database: database, log: &strings.Builder{}, now: time.Now()}
	w.traffic = telemetry.NewTraffic(telemetry.TrafficOptions{})
	task := Task{Config: config.Default(config.Serve), Logger: slog.New(slog.NewTextHandler(w.log, nil)), Traffic: w.traffic}
	w.server = httptest.NewServer(newSight(t.Context(), database, p, w.clock).observer(task, concerns).Handler())
	t.Cleanup(w.server.Close)
	return w
}

func all(projector.Lag) bool { return true }

func (w *watched) clock() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.now
}

func (w *watched) pass(d time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.now = w.now.Add(d)
}

// readiness is the answer of /readyz.
type readiness struct {
	Status    string       `json:"status"`
	Waiting   []string     `json:"waiting"`
	Lag       []feedReport `json:"lag"`
	Letters   int          `json:"deadLetters"`
	Projector *workReport  `json:"projector"`
}

func (w *watched) readyz() (int, readiness) {
	w.Helper()
	response, err := http.Get(w.server.URL + "/readyz")
	if err != nil {
		w.Fatal(err)
	}
	defer response.Body.Close()
	var answer readiness
	if err := json.NewDecoder(response.Body).Decode(&answer); err != nil {
		w.Fatal(err)
	}
	return response.StatusCode, answer
}

// is holds /readyz to a status, to how many changes of posts are left, and to the age of the oldest of them at least.
func (w *watched) is(status int, changes int64, age time.Duration) {
	w.Helper()
	w.pass(latestAge) // an answer is kept for so long
	got, answer := w.readyz()
	for _, lag := range answer.Lag {
		if lag.Container != store.PostsContainer {
			continue
		}
		ageIsRight := lag.Seconds >= age.Seconds()-1 && (lag.Seconds == 0) == (changes == 0)
		if got != status || lag.Changes != changes || !ageIsRight {
			w.Errorf("%d %+v, want %d and %d changes of %v", got, answer, status, changes, age)
		}
		return
	}
	w.Errorf("%d %+v tells nothing of posts", got, answer)
}

// metrics reads /metrics as Prometheus does.
func (w *watched) metrics() map[string]*dto.MetricFamily {
	w.Helper()
	response, err := http.Get(w.server.URL + "/metrics")
	if err != nil {
		w.Fatal(err)
	}
	defer response.Body.Close()
	parser := expfmt.NewTextParser(model.LegacyValidation)
	families, err := parser.TextToMetricFamilies(response.Body)
	if err != nil || response.StatusCode != http.StatusOK {
		w.Fatal(response.Status, err)
	}
	return families
}

// value gives a metric's value for labels, "name=value" each.
func (w *watched) value(families map[string]*dto.MetricFamily, name string, labels ...string) float64 {
	w.Helper()
	for _, metric := range families[name].GetMetric() {
		matches := len(metric.GetLabel()) == len(labels)
		for i, label := range metric.GetLabel() {
			matches = matches && labels[i] == label.GetName()+"="+label.GetValue()
		}
		if matches {
			return metric.GetGauge().GetValue() + metric.GetCounter().GetValue()
		}
	}
	w.Errorf("there is no %s%v in %v", name, labels, families[name])
	return -1
}

func (w *watched) post(author *blog.User) {
	w.Helper()
	if _, err := w.database.Store.CreatePost(w.Context(), author, blog.PostInput{Title: "A title", Content: "Some content."}); err != nil {
		w.Fatal(err)
	}
}

// until waits until something holds, and lets the test's time pass meanwhile.
func (w *watched) until(holds func() bool) {
	w.Helper()
	look := time.NewTicker(5 * time.Millisecond)
	defer look.Stop()
	late := time.After(time.Minute)
	for !holds() {
		w.pass(latestAge)
		select {
		case <-look.C:
		case <-late:
			w.Fatal("it does not come about")
		}
	}
}

func (w *watched) project(p *projector.Projector) (stop func()) {
	_, end := Start(w.Context(), "projector", p.Run)
	return func() {
		w.Helper()
		if err := end(); err != nil {
			w.Error(err)
		}
	}
}

func aProjector(t *testing.T, database *Database) *projector.Projector {
	t.Helper()
	c := config.Default(config.Serve)
	c.LeaseRenew = 100 * time.Millisecond // so often the checkpoint is written, at least
	p, err := NewProjector(database, Task{Config: c, Logger: discard})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// While nobody projects, the lag grows, and above the bound the process is not ready; with a projector it falls to nothing.
func TestReadinessFollowsTheLag(t *testing.T) {
	database := openInMemory(t)
	p := aProjector(t, database)
	w := watch(t, database, p, all)
	w.is(200, 0, 0)
	ada := aUser(t, database.Store, "Ada")
	w.post(ada)
	w.pass(10 * time.Second)
	w.is(200, 1, 10*time.Second)
	w.post(ada)
	w.pass(55 * time.Second)
	w.is(503, 2, 65*time.Second)
	if _, answer := w.readyz(); answer.Status != "not ready" || len(answer.Waiting) != 1 || answer.Waiting[0] != "lag" {
		t.Errorf("got %+v", answer)
	}
	stop := w.project(p)
	w.until(func() bool { // the chores' leases may be taken last
		status, answer := w.readyz()
		return status == 200 && answer.Projector != nil && answer.Projector.Leases == 5
	})
	w.is(200, 0, 0)
	if _, answer := w.readyz(); !answer.Lag[0].Held || !answer.Lag[1].Held {
		t.Errorf("got %+v", answer)
	}
	stop()
	w.post(ada)
	w.pass(2 * time.Minute)
	w.is(503, 1, 2*time.Minute)
	stop = w.project(p)
	w.until(func() bool { status, _ := w.readyz(); return status == 200 })
	stop()
}

// A server without a projector tells what the leases do.
func TestLagsThatOthersHave(t *testing.T) {
	database := openInMemory(t)
	other := aProjector(t, database)
	server := watch(t, database, nil, all)
	idle := watch(t, database, aProjector(t, database), func(lag projector.Lag) bool { return lag.Held })
	server.post(aUser(t, database.Store, "Ada"))
	server.pass(2 * time.Minute)
	idle.pass(2 * time.Minute)
	server.is(503, 1, 2*time.Minute)
	idle.is(200, 1, 2*time.Minute) // it is others' lag
	stop := server.project(other)
	server.until(func() bool { status, _ := server.readyz(); return status == 200 })
	stop()
	server.is(200, 0, 0)
	if _, answer := server.readyz(); answer.Projector != nil || answer.Lag[0].Held {
		t.Errorf("without a projector: %+v", answer)
	}
}

func TestMetricsOfAProjector(t *testing.T) {
	database := openInMemory(t)
	p := aProjector(t, database)
	w := watch(t, database, p, all)
	ada := aUser(t, database.Store, "Ada")
	w.post(ada)
	w.post(ada)
	before := w.metrics()
	if n := w.value(before, "cosmosblog_projector_lag_changes", "container=posts", "range=-FF"); n != 2 {
		t.Errorf("%v changes before it began", n)
	}
	stop := w.project(p)
	w.until(func() bool {
		_, answer := w.readyz()
		return answer.Projector.Leases == 5 && answer.Lag[0].Changes+answer.Lag[1].Changes == 0 // copies are changes of users
	})
	w.pass(latestAge)
	w.exchange()
	during := w.metrics()
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
		if got := w.value(during, words[0], words[1:]...); got != want {
			t.Errorf("%s is %v, want %v", name, got, want)
		}
	}
	w.areTold(during)
}

// What is set aside is told by every process, also after the one that set it aside has ended.
func TestDeadLettersAreTold(t *testing.T) {
	database := openInMemory(t)
	for _, id := range []string{"p_1", "p_2"} {
		letter := store.DeadLetter{Projection: "feed", Container: store.PostsContainer, PartitionKey: id, ItemID: id, Reason: "no", Attempts: 5}
		if err := database.Store.SetAside(t.Context(), letter); err != nil {
			t.Fatal(err)
		}
	}
	w := watch(t, database, nil, all)
	if status, answer := w.readyz(); status != 200 || answer.Letters != 2 {
		t.Errorf("%d %+v", status, answer)
	}
	if n := w.value(w.metrics(), "cosmosblog_projector_dead_letters"); n != 2 {
		t.Errorf("the metric is %v", n)
	}
}

// exchange has all metrics of a traffic have a value.
func (w *watched) exchange() {
	handler := w.traffic.Exchanges(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		w.traffic.Sent(r.Context(), telemetry.Sent{Container: "posts", Operation: "read", Status: 200, Charge: 1, Retry: true})
	}), func(*http.Request) string { return "" })
	handler.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("GET", "/graphql", nil))
}

// toldMetric is a row of the table of metrics, its name and its labels.
var toldMetric = regexp.MustCompile("(?m)^\\| `(cosmosblog_[a-z_]+)` \\|([^|]*)\\|")

// areTold holds the table of docs/operations.md to what there is, where all of it is there.
func (w *watched) areTold(families map[string]*dto.MetricFamily) {
	w.Helper()
	text, err := os.ReadFile("../../docs/operations.md")
	if err != nil {
		w.Fatal(err)
	}
	told := map[string]string{}
	for _, row := range toldMetric.FindAllStringSubmatch(string(text), -1) {
		told[row[1]] = strings.Trim(row[2], " ")
		if families[row[1]] == nil {
			w.Errorf("docs/operations.md tells of %s, and there is none", row[1])
		}
	}
	for name, family := range families {
		var labels []string
		for _, label := range family.GetMetric()[0].GetLabel() {
			labels = append(labels, "`"+label.GetName()+"`")
		}
		if got, ok := told[name]; strings.HasPrefix(name, "cosmosblog_") && (!ok || got != strings.Join(labels, ", ")) {
			w.Errorf("docs/operations.md tells of %s with the labels %q, not %v", name, got, labels)
		}
	}
}

// severable is a transport that can be cut.
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

// Where the database cannot be used nothing is ready, and why is for the log.
func TestWithoutItsDatabaseNothingIsReady(t *testing.T) {
	database := openInMemory(t)
	wire := &severable{next: store.InProcess(database.Engine)}
	opened, err := store.OpenEmbedded(t.Context(), database.Engine, store.Options{Transport: wire})
	if err != nil {
		t.Fatal(err)
	}
	defer opened.Close()
	w := watch(t, &Database{Store: opened}, nil, all)
	w.is(200, 0, 0)
	wire.cut.Store(true)
	w.pass(latestAge)
	response, err := http.Get(w.server.URL + "/readyz")
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if response.StatusCode != 503 || string(text) != `{"lag":[],"status":"not ready","waiting":["database","lag","deadLetters"]}` {
		t.Errorf("%s %s %v", response.Status, text, err)
	}
	if families := w.metrics(); len(families) == 0 || families["cosmosblog_projector_lag_seconds"] != nil {
		t.Errorf("a lag that is not known is told: %v", families["cosmosblog_projector_lag_seconds"])
	}
	if log := w.log.String(); !strings.Contains(log, "S3CRET") {
		t.Errorf("the log does not tell why: %s", log)
	}
	wire.cut.Store(false)
	w.is(200, 0, 0)
}
