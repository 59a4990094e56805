package cli

import (
	"flag"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"cosmosblog/blog"
	"cosmosblog/cli/datafolder"
	"cosmosblog/cosmostest"
	"cosmosblog/internal/inprocess"
	"cosmosblog/internal/lifecycle"
	"cosmosblog/proof/docsection"
	"cosmosblog/proof/storetest"
	"cosmosblog/store"
	"cosmosblog/store/cosmos"
	"cosmosblog/store/provision"
)

var updateIdle = flag.Bool("update-idle", false, "TestIdle writes the section idle of docs/azure.md")

const (
	// maxIdleCharge is the largest charge of an idle server with its projector and its probes, in
	// RU/s, if an empty page of a change feed costs 1 RU.
	maxIdleCharge = 4.0

	// maxIdleMetadata is the largest number of requests for metadata in five minutes. An account
	// answers 500 of all servers (learn.microsoft.com/azure/cosmos-db/concepts-limits, "Control
	// plane").
	maxIdleMetadata = 60
)

// TestIdle serves an empty database of an account, while /readyz is read each second and /metrics
// every 15. Time is that of the bubble, so the figures are exact.
func TestIdle(t *testing.T) {
	const minutes = 30
	var c *idleCounter
	synctest.Test(t, func(t *testing.T) {
		var db *cosmos.DB
		c, db = openCounted(t, 1)
		err := lifecycle.Run(t.Context(), func(r *lifecycle.Runner) error {
			server, err := startIdle(r, db)
			if err != nil {
				return err
			}
			for second := range 60 * (minutes + 1) {
				if second == 60 { // the start is over
					c.reset()
				}
				time.Sleep(time.Second)
				server.probe(t, "/readyz")
				if second%15 == 0 {
					server.probe(t, "/metrics")
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	})
	charge, polls := c.charge/60/minutes, c.polls/60/minutes
	if charge > maxIdleCharge || c.metadata*5/minutes > maxIdleMetadata {
		t.Errorf("%.2f RU/s, and %d requests for metadata in five minutes", charge, c.metadata*5/minutes)
	}
	var table strings.Builder
	fmt.Fprintf(&table, "| An idle server, with its projector and a probe each second | |\n|---|---|\n")
	fmt.Fprintf(&table, "| if an empty page of a change feed costs 1 RU | %.1f RU/s |\n", charge)
	fmt.Fprintf(&table, "| if it costs 2 RU † | %.1f RU/s |\n", charge+polls)
	fmt.Fprintf(&table, "| of that, in `leases` | %.1f RU/s |\n", c.ofLeases/60/minutes)
	fmt.Fprintf(&table, "| requests for metadata in five minutes | %d |\n", c.metadata*5/minutes)
	compareIdle(t, table.String())
}

// TestMetadataOfReaders serves readers from the cache, whose tail reads the change feeds all the
// time. It needs no more metadata for that than an idle server.
func TestMetadataOfReaders(t *testing.T) {
	for _, ranges := range []int{1, 4} {
		synctest.Test(t, func(t *testing.T) {
			c, db := openCounted(t, ranges)
			err := lifecycle.Run(t.Context(), func(r *lifecycle.Runner) error {
				server, err := startIdle(r, db)
				if err != nil {
					return err
				}
				for second := range 6 * 60 {
					if second == 60 {
						c.reset()
					}
					time.Sleep(time.Second)
					if _, err := server.store.Feed(cosmos.WithSession(t.Context()), blog.PageRequest{First: 20}); err != nil {
						t.Error(err)
					}
				}
				return nil
			})
			if err != nil || c.metadata > maxIdleMetadata || c.polls < 600 {
				t.Errorf("%d ranges: %d requests for metadata, %.0f polls, %v", ranges, c.metadata, c.polls, err)
			}
		})
	}
}

// TestMetadataThrottled serves an account that answers no more requests for metadata. All else goes
// on: posts are created and projected, and the process is ready.
func TestMetadataThrottled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, db := openCounted(t, 1)
		err := lifecycle.Run(t.Context(), func(r *lifecycle.Runner) error {
			server, err := startIdle(r, db)
			if err != nil {
				return err
			}
			s := storetest.Open(db)
			ada := createUser(t, s, "Ada")
			time.Sleep(time.Minute)
			server.probe(t, "/readyz")
			c.refuses.Store(true)
			c.reset()
			for minute := range 10 {
				if _, err := s.CreatePost(t.Context(), ada, blog.CreatePostInput{Title: "A title", Content: "A text."}); err != nil {
					t.Error(err)
				}
				time.Sleep(time.Minute)
				server.probe(t, "/readyz")
				if feed, err := s.Feed(t.Context(), blog.PageRequest{First: 20}); err != nil || len(feed.Items) != minute+1 {
					t.Errorf("after %d posts, the feed is %+v, %v", minute+1, feed, err)
				}
			}
			if count, _ := db.Throttles(); count > 0 || c.metadata == 0 || c.metadata > 2*maxIdleMetadata {
				t.Errorf("%d throttled requests to items, %d for metadata in ten minutes", count, c.metadata)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	})
}

// compareIdle compares the section idle of docs/azure.md, or writes it.
func compareIdle(t *testing.T, want string) {
	t.Helper()
	const path, name = "../docs/azure.md", "idle"
	if *updateIdle {
		if err := docsection.Write(path, name, want); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := docsection.Read(path, name); err != nil || !isNear(t, got, want) {
		t.Errorf("the section %s of %s is out of date (%v): run this test with -update-idle\n%s", name, path, err, want)
	}
}

var charges = regexp.MustCompile(`[0-9]+\.[0-9] RU/s`)

// isNear reports whether two sections differ by a tenth of a RU/s at most: a request more or less
// in ten minutes may change what a charge is rounded to.
func isNear(t *testing.T, a, b string) bool {
	t.Helper()
	inA, inB := charges.FindAllString(a, -1), charges.FindAllString(b, -1)
	for i := range min(len(inA), len(inB)) {
		var chargeA, chargeB float64
		if _, err := fmt.Sscan(inA[i], &chargeA); err != nil {
			t.Fatal(err)
		}
		if _, err := fmt.Sscan(inB[i], &chargeB); err != nil {
			t.Fatal(err)
		}
		if math.Abs(chargeA-chargeB) > 0.11 {
			return false
		}
	}
	return charges.ReplaceAllString(a, "") == charges.ReplaceAllString(b, "")
}

// openCounted opens the database of an account, whose containers have a number of feed ranges, and
// counts the requests from then on.
func openCounted(t *testing.T, ranges int) (*idleCounter, *cosmos.DB) {
	t.Helper()
	account := cosmostest.New(t, cosmostest.Options{})
	c := &idleCounter{account: account}
	db, err := provision.OpenEmbedded(t.Context(), account, cosmos.Options{Transport: storetest.Divided(inprocess.To(c), ranges)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(db.Close)
	c.reset()
	return c, db
}

// idleServer are the parts of a server that send requests by themselves.
type idleServer struct {
	store   *store.Store
	handler http.Handler // of readiness and metrics
}

func startIdle(r *lifecycle.Runner, db *cosmos.DB) (*idleServer, error) {
	task, database := quiet(io.Discard), &datafolder.Database{DB: db}
	task.Config.Projector, task.Config.CacheBytes, task.Config.Staleness = true, 1<<20, time.Second
	p, err := StartProjector(r, task, database)
	if err != nil {
		return nil, err
	}
	reads := StartReads(r, task, database)
	observer, err := StartObserver(r, task, database, reads, NewBooks(task), p)
	return &idleServer{reads.Store(database), observer.Handler()}, err
}

// probe reads the readiness or the metrics.
func (s *idleServer) probe(t *testing.T, path string) {
	t.Helper()
	w := httptest.NewRecorder()
	s.handler.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, nil))
	if w.Code != http.StatusOK {
		t.Errorf("%s: %d %s", path, w.Code, w.Body)
	}
}

// idleCounter counts the requests to an account, and their charges in RU.
type idleCounter struct {
	account http.Handler
	refuses atomic.Bool // reads of definitions

	mu               sync.Mutex // guards the fields below
	charge, ofLeases float64
	polls            float64 // reads of change feeds
	metadata         int     // reads of definitions
}

func (c *idleCounter) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	target, ofItems := cosmos.TargetOf(r)
	if !ofItems && c.refuses.Load() {
		w.Header().Set("X-Ms-Retry-After-Ms", "60000")
		w.WriteHeader(http.StatusTooManyRequests)
	} else {
		c.account.ServeHTTP(w, r)
	}
	charge, _ := strconv.ParseFloat(w.Header().Get("X-Ms-Request-Charge"), 64)
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case !ofItems && r.Method == http.MethodGet:
		c.metadata++
	case target.Operation == "changeFeed":
		c.polls++
	case target.Container == "leases":
		c.ofLeases += charge
	}
	c.charge += charge
}

func (c *idleCounter) reset() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.charge, c.ofLeases, c.polls, c.metadata = 0, 0, 0, 0
}
