package resolvers_test

import (
	"context"
	"flag"
	"math/rand/v2"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"

	"cosmosblog/cosmostest"
	"cosmosblog/proof/storetest"
	"cosmosblog/proof/testseed"
	"cosmosblog/store/cosmos"
)

var faultsFlag = flag.String("faults", "",
	"run all tests with this fault profile: throttled, conflicts, timeouts, unavailable, broken, cut, stale, behind, snapshots or all")

// faultProfile is a set of faults that the server must hide from clients: each response is the
// same as without faults. Reads fail only if the client may retry them at once.
type faultProfile struct {
	faults []profileFault
	stale  bool // a replica, some writes behind, serves the reads
	// snapshots: scripts run under snapshot isolation, with pauses, and conflict.
	snapshots bool
	// behind makes the replica lag between GraphQL requests too. It serves the reads of mutations,
	// and lacks all writes of the mutation before. Queries read the latest state.
	behind bool
}

// profileFault is a fault of a profile.
type profileFault struct {
	fault    cosmostest.Fault
	status   int  // that it returns; 0 if it closes the connection
	executes bool // the request is executed before its response is lost
	reads    bool // it applies to reads too
}

// before and after return the faults that reject a request with a status: before it is executed,
// and after.
func before(status int, headers ...string) profileFault {
	return profileFault{fault: cosmostest.Refuse(status, headers...), status: status}
}

func after(status int) profileFault {
	return profileFault{fault: cosmostest.Executed(cosmostest.Refuse(status)), status: status, executes: true}
}

// onReads returns a fault that applies to reads too.
func (f profileFault) onReads() profileFault {
	f.reads = true
	return f
}

// repeatsWrites reports whether the server may send a write again that the database has executed.
func (p faultProfile) repeatsWrites() bool {
	return slices.ContainsFunc(p.faults, func(f profileFault) bool { return f.executes })
}

var (
	throttled   = []profileFault{before(http.StatusTooManyRequests, "X-Ms-Retry-After-Ms: 1").onReads()}
	conflicts   = []profileFault{before(449)}
	timeouts    = []profileFault{before(http.StatusRequestTimeout), after(http.StatusRequestTimeout)}
	unavailable = []profileFault{before(http.StatusServiceUnavailable), after(http.StatusServiceUnavailable)}
	broken      = []profileFault{before(http.StatusInternalServerError), after(http.StatusInternalServerError)}
	cut         = []profileFault{{fault: storetest.CutBefore}, {fault: storetest.CutAfter, executes: true}}
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

// skipUnderFaults skips a test that injects its own faults.
func skipUnderFaults(t *testing.T) {
	t.Helper()
	if *faultsFlag != "" {
		t.Skip("this test injects its own faults")
	}
}

// faultInjector injects a profile's faults between one server and its account.
type faultInjector struct {
	next     policy.Transporter
	faults   []profileFault
	replica  *cosmostest.Replica // nil unless reads are stale
	behind   bool                // the replica lags between requests too
	sleep    func(context.Context, time.Duration) error
	requests atomic.Int64 // GraphQL requests in progress

	mu      sync.Mutex
	chance  float64    // probability that a request fails, from 0 to 1
	random  *rand.Rand // nil without faults
	allowed int        // number of requests that may still fail
}

// Do sends a request, or makes it fail.
func (i *faultInjector) Do(request *http.Request) (*http.Response, error) {
	if fault := i.draw(request); fault != nil {
		return fault(0, request, i.next)
	}
	return i.next.Do(request)
}

// draw returns the fault of a request, or nil. Requests of definitions never fail.
func (i *faultInjector) draw(request *http.Request) cosmostest.Fault {
	i.mu.Lock()
	defer i.mu.Unlock()
	if _, ok := cosmos.TargetOf(request); !ok || len(i.faults) == 0 || i.allowed == 0 || i.random.Float64() >= i.chance {
		return nil
	}
	fault := i.faults[i.random.IntN(len(i.faults))]
	isRead := request.Method == http.MethodGet || request.Header.Get("X-Ms-Documentdb-Query") != ""
	if isRead && !fault.reads {
		return nil
	}
	if i.allowed--; fault.status == http.StatusRequestTimeout {
		i.allowed = 0 // a script that ran out of time is executed only once more
	}
	return fault.fault
}

// allow sets the number of requests that may still fail.
func (i *faultInjector) allow(n int) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.allowed = n
}

// setChance changes the probability of a failure.
func (i *faultInjector) setChance(chance float64) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.chance = chance
}

// accountOptions returns the options of the profile's accounts. random decides how far a replica
// lags.
func (p faultProfile) accountOptions(random *rand.Rand) cosmostest.Options {
	options := cosmostest.Options{Follower: p.stale || p.behind, Random: random}
	if options.Scripts.Snapshot = p.snapshots; p.snapshots {
		options.Scripts.Before = func(int) { runtime.Gosched() }
	}
	return options
}

// retriesConflicts reports whether clients must retry commands that change one post at the same
// time: under snapshot isolation, they conflict more often than the server retries.
func retriesConflicts() bool { return faultProfiles[*faultsFlag].snapshots }

// newInjector returns the injector of the profile in -faults. It injects faults during GraphQL
// requests only.
func newInjector(t *testing.T, engine *cosmostest.Account, next policy.Transporter) *faultInjector {
	t.Helper()
	if *faultsFlag == "" {
		return &faultInjector{next: next}
	}
	profile, ok := faultProfiles[*faultsFlag]
	if !ok {
		t.Fatalf("there is no fault profile %q", *faultsFlag)
	}
	return newInjectorFor(t, profile, 0.5, testseed.Rand(t), engine, next)
}

// newInjectorFor returns an injector that makes a request fail with the given chance. Its sleep
// returns at once.
func newInjectorFor(t *testing.T, p faultProfile, chance float64, random *rand.Rand, engine *cosmostest.Account, next policy.Transporter) *faultInjector {
	t.Helper()
	return &faultInjector{
		next:    next,
		faults:  p.faults,
		replica: engine.Follower,
		behind:  p.behind,
		sleep:   func(ctx context.Context, _ time.Duration) error { return ctx.Err() },
		chance:  chance,
		random:  random,
	}
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
	i.allow(faultsPerRequest)
}

func (i *faultInjector) stop() {
	i.allow(0)
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
		return slices.ContainsFunc(i.faults, func(f profileFault) bool { return f.status == q.Status })
	})
}
