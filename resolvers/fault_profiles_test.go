package resolvers_test

import (
	"context"
	"flag"
	"maps"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"cosmosblog/internal/engine"
	"cosmosblog/internal/proof/faultstest"
	"cosmosblog/internal/proof/testseed"
	"cosmosblog/store/cosmos"
)

var (
	faultsFlag = flag.String("faults", "",
		"run all tests with this fault profile: throttled, conflicts, timeouts, unavailable, broken, cut, stale, behind, snapshots or all")
	everyProfileFlag = flag.Bool("every-fault-profile", false,
		"TestSuiteUnderFaults runs the tests with each fault profile; by default, only with the profile all")
)

// faultProfile is a set of faults that the server must hide from clients: each response is the
// same as without faults. Reads fail only if the client may retry them at once.
type faultProfile struct {
	faults []faultstest.Fault
	stale  bool // a replica, some writes behind, serves the reads
	// snapshots: scripts run under snapshot isolation, with pauses, and conflict.
	snapshots bool
	// behind makes the replica lag between GraphQL requests too. It serves the reads of mutations,
	// and lacks all writes of the mutation before. Queries read the latest state.
	behind bool
}

// repeatsWrites reports whether the server may send a write again that the database has executed.
func (p faultProfile) repeatsWrites() bool {
	return slices.ContainsFunc(p.faults, func(f faultstest.Fault) bool { return f.Done })
}

var (
	throttled   = []faultstest.Fault{{Status: http.StatusTooManyRequests, RetryAfter: time.Millisecond, Reads: true}}
	conflicts   = []faultstest.Fault{{Status: 449}}
	timeouts    = []faultstest.Fault{{Status: http.StatusRequestTimeout}, {Status: http.StatusRequestTimeout, Done: true}}
	unavailable = []faultstest.Fault{{Status: http.StatusServiceUnavailable}, {Status: http.StatusServiceUnavailable, Done: true}}
	broken      = []faultstest.Fault{{Status: http.StatusInternalServerError}, {Status: http.StatusInternalServerError, Done: true}}
	cut         = []faultstest.Fault{{}, {Done: true}} // closed connections
)

var faultProfiles = map[string]faultProfile{
	"throttled":   {faults: throttled},
	"conflicts":   {faults: conflicts},
	"timeouts":    {faults: timeouts},
	"unavailable": {faults: unavailable},
	"broken":      {faults: broken},
	"cut":         {faults: cut},
	"stale":       {stale: true},
	"behind":      {behind: true},
	"snapshots":   {faults: conflicts, snapshots: true},
	"all": {faults: slices.Concat(throttled, conflicts, timeouts, unavailable, broken, cut), stale: true,
		snapshots: true},
}

const (
	// faultsPerRequest is the number of database requests that fail during one GraphQL request.
	faultsPerRequest = 2
	// replicaLag is the number of writes that the replica may lag behind during one GraphQL request.
	// The replica catches up after the request, unless the profile is behind.
	replicaLag = 3
)

// TestSuiteUnderFaults runs all tests of the package again with fault profiles, each in its own
// process. The profile "all" combines the others except behind; -every-fault-profile also runs each
// one alone.
func TestSuiteUnderFaults(t *testing.T) {
	if *faultsFlag != "" {
		t.Skip("this run already has a fault profile")
	}
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	profiles := []string{"all", "behind"}
	if *everyProfileFlag {
		profiles = slices.Sorted(maps.Keys(faultProfiles))
	}
	seed := testseed.Of(t)
	for _, profile := range profiles {
		t.Run(profile, func(t *testing.T) {
			output, err := exec.CommandContext(t.Context(), program, "-faults", profile,
				"-test.run", "^Test", "-test.timeout", "5m").CombinedOutput()
			if err != nil {
				t.Errorf("repeat with %s=%d and -faults %s: %v\n%s", testseed.Variable, seed, profile, err, output)
			}
		})
	}
}

// skipUnderFaults skips a test that injects its own faults.
func skipUnderFaults(t *testing.T) {
	t.Helper()
	if *faultsFlag != "" {
		t.Skip("this test injects its own faults")
	}
}

// faultInjector injects a profile's faults between one server and its engine.
type faultInjector struct {
	transport *faultstest.Transport
	replica   *faultstest.Replica // nil unless reads are stale
	behind    bool                // the replica lags between requests too
	sleep     func(context.Context, time.Duration) error
	requests  atomic.Int64 // GraphQL requests in progress
}

// engineOptions returns the options of the profile's engines.
func (p faultProfile) engineOptions() engine.Options {
	options := engine.Options{SnapshotScripts: p.snapshots}
	if p.snapshots {
		options.Script.Before = func(int) { runtime.Gosched() }
	}
	return options
}

// retriesConflicts reports whether clients must retry commands that change one post at the same
// time: under snapshot isolation, they conflict more often than the server retries.
func retriesConflicts() bool { return faultProfiles[*faultsFlag].snapshots }

// newInjector returns the injector of the profile in -faults. It injects faults during GraphQL
// requests only.
func newInjector(t *testing.T, engine *engine.Engine, database http.Handler) *faultInjector {
	t.Helper()
	if *faultsFlag == "" {
		return &faultInjector{transport: &faultstest.Transport{Next: cosmos.InProcess(database)}}
	}
	profile, ok := faultProfiles[*faultsFlag]
	if !ok {
		t.Fatalf("there is no fault profile %q", *faultsFlag)
	}
	return newInjectorFor(t, profile, 0.5, testseed.Rand(t), engine, database)
}

// newInjectorFor returns an injector that makes a request fail with the given chance. Its sleep
// returns at once.
func newInjectorFor(t *testing.T, p faultProfile, chance float64, random *rand.Rand, leader *engine.Engine, database http.Handler) *faultInjector {
	t.Helper()
	i := &faultInjector{sleep: func(ctx context.Context, _ time.Duration) error { return ctx.Err() }}
	if p.stale || p.behind {
		options := p.engineOptions()
		options.Key = leader.Key()
		follower, err := engine.Open(options)
		if err != nil {
			t.Fatal(err)
		}
		i.replica = faultstest.NewReplica(database, follower, rand.New(rand.NewPCG(random.Uint64(), 0)))
		t.Cleanup(func() {
			i.checkReplica(t, leader, follower)
			if err := follower.Close(); err != nil {
				t.Error(err)
			}
		})
		database, i.behind = i.replica, p.behind
	}
	i.transport = &faultstest.Transport{Next: cosmos.InProcess(database), Faults: p.faults, Chance: chance, Random: random}
	return i
}

// during injects faults while a GraphQL request runs. Concurrent requests share the allowed
// faults.
func (i *faultInjector) during(body string, request func()) {
	if i.requests.Add(1) == 1 {
		i.start(strings.Contains(body, "mutation"))
	}
	request()
	if i.requests.Add(-1) == 0 {
		i.stop()
	}
}

func (i *faultInjector) start(mutation bool) {
	switch {
	case i.behind && mutation:
		i.replica.FallBehind()
	case i.replica != nil && !i.behind:
		i.replica.Lag(replicaLag)
	}
	i.transport.Allow(faultsPerRequest)
}

func (i *faultInjector) stop() {
	i.transport.Allow(0)
	switch {
	case i.behind:
		i.replica.Lead()
	case i.replica != nil:
		i.replica.Lag(0)
	}
}

// removeInjected removes the requests that the injector made fail from a reply's diagnostics.
func (i *faultInjector) removeInjected(r *reply) {
	requests := &r.Extensions.Cosmos.Requests
	*requests = slices.DeleteFunc(*requests, func(q request) bool {
		return slices.ContainsFunc(i.transport.Faults, func(f faultstest.Fault) bool { return f.Status == q.Status })
	})
}

// checkReplica checks that the replica, once it has caught up, has the same items and etags as
// the engine.
func (i *faultInjector) checkReplica(t *testing.T, engine, follower *engine.Engine) {
	i.replica.CatchUp()
	if diverged := i.replica.Diverged(); diverged != "" {
		t.Error(diverged)
	}
	want, got := itemsOf(t, engine), itemsOf(t, follower)
	if !slices.Equal(got, want) {
		t.Errorf("the replica has\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}
