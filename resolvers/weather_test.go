package resolvers_test

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"cosmosblog/internal/faultstest"
	"cosmosblog/store"
	"cosmosblog/store/embedded"
)

var (
	faultsFlag = flag.String("faults", "", "what fails under all tests of the API: throttled, conflicts, timeouts, unavailable, broken, cut, stale or all")
	seedFlag   = flag.Uint64("seed", 0, "the seed of what is random; another each time where 0")
)

// climate is what goes wrong, in ways that a server must get over by itself, so that each answer is the one that it is
// without faults. Reads are refused only where the client may try them again at once.
type climate struct {
	faults []faultstest.Fault
	stale  bool // reads are answered by a replica that is some writes behind
}

// repeats tells whether a write may be done that is then sent again.
func (c climate) repeats() bool {
	return slices.ContainsFunc(c.faults, func(f faultstest.Fault) bool { return f.Done })
}

var (
	throttled   = []faultstest.Fault{{Status: http.StatusTooManyRequests, RetryAfter: time.Millisecond, Reads: true}}
	conflicts   = []faultstest.Fault{{Status: 449}}
	timeouts    = []faultstest.Fault{{Status: http.StatusRequestTimeout}, {Status: http.StatusRequestTimeout, Done: true}}
	unavailable = []faultstest.Fault{{Status: http.StatusServiceUnavailable}, {Status: http.StatusServiceUnavailable, Done: true}}
	broken      = []faultstest.Fault{{Status: http.StatusInternalServerError}, {Status: http.StatusInternalServerError, Done: true}}
	cut         = []faultstest.Fault{{}, {Done: true}}
)

var climates = map[string]climate{
	"throttled":   {faults: throttled},
	"conflicts":   {faults: conflicts},
	"timeouts":    {faults: timeouts},
	"unavailable": {faults: unavailable},
	"broken":      {faults: broken},
	"cut":         {faults: cut},
	"stale":       {stale: true},
	"all":         {faults: slices.Concat(throttled, conflicts, timeouts, unavailable, broken, cut), stale: true},
}

// faultsOfARequest is how many requests to the database fail within one request to the API, and staleWrites how many
// writes its reads may be behind. Each GraphQL request is a session of its own: after it the replica catches up.
const (
	faultsOfARequest = 2
	staleWrites      = 3
)

// TestSuiteUnderFaults runs all tests of the API again, in each climate in a process of its own.
func TestSuiteUnderFaults(t *testing.T) {
	if *faultsFlag != "" {
		t.Skip("this is such a run")
	}
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	seed := seed(t)
	for name := range climates {
		t.Run(name, func(t *testing.T) {
			output, err := exec.CommandContext(t.Context(), program, "-faults", name, "-seed", fmt.Sprint(seed),
				"-test.run", "^Test", "-test.timeout", "1m").CombinedOutput()
			if err != nil {
				t.Errorf("repeat with -faults %s -seed %d: %v\n%s", name, seed, err, output)
			}
		})
	}
}

func seed(t *testing.T) uint64 {
	seed := *seedFlag
	if seed == 0 {
		seed = rand.Uint64()
	}
	t.Logf("repeat with -seed %d", seed)
	return seed
}

// weather is what one server's requests go through.
type weather struct {
	transport *faultstest.Transport
	replica   *faultstest.Replica // nil where reads are never stale
	sleep     func(context.Context, time.Duration) error
	underWay  atomic.Int64 // requests to the API
}

// forecast gives the weather of the climate that the tests run in. It is fair but during requests to the API.
func forecast(t *testing.T, engine *embedded.Engine, database http.Handler) *weather {
	t.Helper()
	if *faultsFlag == "" {
		return &weather{transport: &faultstest.Transport{Next: store.InProcess(database)}}
	}
	climate, ok := climates[*faultsFlag]
	if !ok {
		t.Fatalf("there are no faults %q", *faultsFlag)
	}
	return newWeather(t, climate, 0.5, rand.New(rand.NewPCG(*seedFlag, uint64(len(t.Name())))), engine, database)
}

// newWeather makes weather in which requests fail by chance.
func newWeather(t *testing.T, c climate, chance float64, random *rand.Rand, engine *embedded.Engine, database http.Handler) *weather {
	t.Helper()
	w := &weather{sleep: func(ctx context.Context, _ time.Duration) error { return ctx.Err() }}
	if c.stale {
		follower, err := embedded.Open(embedded.Options{Key: engine.Key()})
		if err != nil {
			t.Fatal(err)
		}
		w.replica = faultstest.NewReplica(database, follower, rand.New(rand.NewPCG(random.Uint64(), 0)))
		t.Cleanup(func() {
			w.holds(t, engine, follower)
			if err := follower.Close(); err != nil {
				t.Error(err)
			}
		})
		database = w.replica
	}
	w.transport = &faultstest.Transport{Next: store.InProcess(database), Faults: c.faults, Chance: chance, Random: random}
	return w
}

// during lets a request to the API meet the climate. Those that overlap share what may fail.
func (w *weather) during(request func()) {
	if w.underWay.Add(1) == 1 {
		w.begin()
	}
	request()
	if w.underWay.Add(-1) == 0 {
		w.end()
	}
}

func (w *weather) begin() {
	if w.replica != nil {
		w.replica.Lag(staleWrites)
	}
	w.transport.Allow(faultsOfARequest)
}

func (w *weather) end() {
	w.transport.Allow(0)
	if w.replica != nil {
		w.replica.Lag(0)
	}
}

// forget takes the requests that were made to fail out of an answer's diagnostics.
func (w *weather) forget(r *reply) {
	requests := &r.Extensions.Cosmos.Requests
	*requests = slices.DeleteFunc(*requests, func(q request) bool {
		return slices.ContainsFunc(w.transport.Faults, func(f faultstest.Fault) bool { return f.Status == q.Status })
	})
}

// holds holds the replica to its word: in the end it has the items of the database, their etags included.
func (w *weather) holds(t *testing.T, engine, follower *embedded.Engine) {
	w.replica.CatchUp()
	leads, follows := itemsOf(t, engine), itemsOf(t, follower)
	if !slices.Equal(leads, follows) {
		t.Errorf("the replica has\n%s\nnot\n%s", strings.Join(follows, "\n"), strings.Join(leads, "\n"))
	}
}
