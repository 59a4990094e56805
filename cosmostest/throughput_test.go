package cosmostest_test

import (
	"fmt"
	"net/http"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"cosmosblog/cosmostest"
)

// throttled is a shop whose clock stands still.
type throttled struct {
	*shop
	clock *cosmostest.Clock
	left  string // a customer of the first range
	right string // a customer of the last range
}

// newThrottled opens an account with a throughput for each container, and two physical ranges.
func newThrottled(t *testing.T, throughput float64, options cosmostest.Options) *throttled {
	t.Helper()
	twin := newDividedShop(t, cosmostest.Options{}, 2)
	clock := cosmostest.NewClock(noon)
	options.Now, options.Throughput = clock.Now, throughput
	return &throttled{
		shop:  newDividedShop(t, options, 2),
		clock: clock,
		left:  twin.customersOf("0", 1)[0],
		right: twin.customersOf("1", 1)[0],
	}
}

// exhaust writes to a customer's partition until a write is refused. It returns the charge of the
// writes, that of the last one, and the refusal.
func (s *throttled) exhaust(customer string) (all, last float64, refused *http.Response) {
	s.Helper()
	for range 1000 {
		got, err := s.orders.UpsertItem(s.Context(), key(customer), order(customer, "1"), nil)
		if err != nil {
			return all, last, refusal(s, err)
		}
		last = float64(got.RequestCharge)
		all += last
	}
	s.Fatal("no write was refused")
	return 0, 0, nil
}

// refuses reports whether a read in a customer's partition is throttled.
func (s *throttled) refuses(customer string) bool {
	s.Helper()
	got := s.rest("GET", docs+"/1", "", of(customer))
	return got.StatusCode == http.StatusTooManyRequests
}

// TestThroughputPerRange checks that a hot range is refused, with half of the throughput, while
// another one is not.
func TestThroughputPerRange(t *testing.T) {
	s := newThrottled(t, 100, cosmostest.Options{})
	all, last, refused := s.exhaust(s.left)
	if refused.StatusCode != http.StatusTooManyRequests {
		t.Fatalf("refused with %s", refused.Status)
	}
	if all < 50 || all-last >= 50 {
		t.Errorf("a range with 50 RU/s used %v RU, with the last request of %v RU", all, last)
	}
	if s.refuses(s.right) {
		t.Error("another range is refused, too")
	}
	if other := newClient(t, s.NewTransport()); statusOf(other.tryPut(s.left, "1")) != http.StatusTooManyRequests {
		t.Error("another client of the hot range is not refused")
	}
}

// TestFollowerIsThrottled checks that the reads of a follower that lags are paid by the ranges that
// pay for the writes, at each priority and in each bucket.
func TestFollowerIsThrottled(t *testing.T) {
	for name, options := range map[string]cosmostest.Options{
		"a range": {Follower: true}, "a bucket": {Follower: true, Buckets: map[int]float64{1: 10}},
	} {
		s := newThrottled(t, 1000, options)
		s.put(s.left, "1")
		s.clock.Advance(time.Second)
		s.Account.Follower.Hold()
		s.put(s.left, "2") // which the follower lacks
		header := []string{of(s.left)}
		if options.Buckets != nil {
			header = append(header, "x-ms-cosmos-throughput-bucket: 1")
		}
		charge := 0.0
		for n := 0; ; n++ {
			got := s.rest("GET", docs+"/1", "", header...)
			if got.StatusCode == http.StatusTooManyRequests {
				break
			}
			paid, _ := strconv.ParseFloat(got.Header.Get("X-Ms-Request-Charge"), 64)
			if charge += paid; n > 1000 {
				t.Fatalf("%s: the follower refused no read", name)
			}
		}
		most := 501.0
		if options.Buckets != nil {
			most = 51
		}
		if charge > most || s.Account.Follower.Stale() == 0 {
			t.Errorf("%s: the follower answered reads of %v RU, %d from an older state", name, charge, s.Account.Follower.Stale())
		}
		if options.Buckets == nil && statusOf(s.tryPut(s.left, "3")) != http.StatusTooManyRequests {
			t.Errorf("%s: the reads of the follower were not paid by the range", name)
		}
		if s.refuses(s.right) {
			t.Errorf("%s: another range is refused, too", name)
		}
		s.clock.Advance(time.Second)
		if s.refuses(s.left) {
			t.Errorf("%s: refused after the wait", name)
		}
		s.Account.Follower.CatchUp()
	}
}

// TestRefusal checks the answer to a throttled request, and that the request succeeds after the
// time that it names, and not before.
func TestRefusal(t *testing.T) {
	s := newThrottled(t, 20, cosmostest.Options{})
	s.clock.Advance(300 * time.Millisecond)
	s.exhaust(s.left) // at most 17 RU
	refused := refusal(t, s.tryPut(s.left, "2"))
	for name, want := range map[string]string{"X-Ms-Substatus": "3200", "X-Ms-Request-Charge": "0.38", "X-Ms-Retry-After-Ms": "1000"} {
		if got := refused.Header.Get(name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	s.clock.Advance(600 * time.Millisecond)
	wait, err := strconv.Atoi(refusal(t, s.tryPut(s.left, "2")).Header.Get("X-Ms-Retry-After-Ms"))
	if err != nil || wait != 400 {
		t.Errorf("600 ms later, the wait is %d ms, want 400: %v", wait, err)
	}
	s.clock.Advance(399 * time.Millisecond)
	wantStatus(t, "1 ms too early", s.tryPut(s.left, "2"), http.StatusTooManyRequests)
	s.clock.Advance(time.Millisecond)
	if s.has(s.left, "2") {
		t.Error("a refused write was executed")
	}
	wantStatus(t, "after the wait", s.tryPut(s.left, "2"), http.StatusOK)
}

// TestWhatPays checks which ranges pay for a request. With so little throughput, a range that has
// paid for anything refuses for minutes.
func TestWhatPays(t *testing.T) {
	s := newThrottled(t, 0.02, cosmostest.Options{})
	s.register("nothing", "function () {}")
	for _, customer := range []string{s.left, s.right} {
		s.put(customer, "1")
	}
	at := of(s.left)
	const query, isQuery = `{"query":"SELECT * FROM c"}`, "Content-Type: application/query+json"
	const batch = `[{"operationType":"Read","id":"1"}]`
	for _, test := range []struct {
		what        string
		left, right bool // who pays
		method      string
		path, body  string
		headers     []string
	}{
		{"a read", true, false, "GET", docs + "/1", "", []string{at}},
		{"a read of nothing", true, false, "GET", docs + "/none", "", []string{at}},
		{"a create", true, false, "POST", docs, string(order(s.left, "2")), []string{at}},
		{"a conflict", true, false, "POST", docs, string(order(s.left, "1")), []string{at}},
		{"a replace", true, false, "PUT", docs + "/1", string(order(s.left, "1")), []string{at}},
		{"a patch", true, false, "PATCH", docs + "/1", `{"operations":[{"op":"add","path":"/n","value":1}]}`, []string{at}},
		{"a delete", true, false, "DELETE", docs + "/2", "", []string{at}},
		{"a batch", true, false, "POST", docs, batch, []string{at, "x-ms-cosmos-is-batch-request: true", "x-ms-cosmos-batch-atomic: true"}},
		{"a bulk of a range", true, false, "POST", docs, `[{"operationType":"Read","id":"1","partitionKey":"[\"` + s.left + `\"]"}]`,
			[]string{inRange("0"), "x-ms-cosmos-is-batch-request: true", "x-ms-cosmos-batch-atomic: false"}},
		{"an execution", true, false, "POST", sprocs + "/nothing", "[]", []string{at}},
		{"a query of a partition", true, false, "POST", docs, query, []string{at, isQuery}},
		{"a query of a range", false, true, "POST", docs, query, []string{isQuery, inRange("1")}},
		{"a query of part of a range", false, true, "POST", docs, query, []string{isQuery, inRange("1"), "x-ms-start-epk: 3F", "x-ms-end-epk: FF"}},
		{"a query across", true, true, "POST", docs, query, []string{isQuery, "x-ms-documentdb-query-enablecrosspartition: true"}},
		{"a list", true, true, "GET", docs, "", nil},
		{"a change feed", false, true, "GET", docs, "", []string{"A-IM: Incremental Feed", inRange("1")}},
		{"an empty change feed", false, true, "GET", docs, "", []string{"A-IM: Incremental Feed", "If-None-Match: *", inRange("1")}},
		{"a range that is gone", false, false, "GET", docs, "", []string{"A-IM: Incremental Feed", inRange("7")}},
		{"a definition", false, false, "GET", orders, "", nil},
		{"the ranges", false, false, "GET", orders + "/pkranges", "", nil},
		{"an unsigned request", false, false, "GET", docs, "", []string{"Authorization: none"}},
	} {
		s.clock.Advance(24 * time.Hour)
		got := s.rest(test.method, test.path, test.body, test.headers...)
		if got.StatusCode == http.StatusTooManyRequests {
			t.Errorf("%s: throttled", test.what)
		}
		if left, right := s.refuses(s.left), s.refuses(s.right); left != test.left || right != test.right {
			t.Errorf("%s (status %d): the ranges paid: %t %t, want %t %t: %s", test.what, got.StatusCode, left, right, test.left, test.right, got.text)
		}
	}
}

// TestAcrossRangesIsRefusedByOne checks that a query across ranges is refused if one of them has
// nothing left, and that it then costs the others nothing.
func TestAcrossRangesIsRefusedByOne(t *testing.T) {
	s := newThrottled(t, 20, cosmostest.Options{})
	s.exhaust(s.left)
	_, err := s.query(azcosmos.NewPartitionKey(), "SELECT * FROM c")
	wantStatus(t, "a query across", err, http.StatusTooManyRequests)
	if all, last, _ := s.exhaust(s.right); all < 10 || all-last >= 10 {
		t.Errorf("the other range had %v RU, with the last request of %v RU", all, last)
	}
}

// TestDefinitionsAreNotThrottled checks that requests to definitions pass while everything else is
// refused, and pay nothing.
func TestDefinitionsAreNotThrottled(t *testing.T) {
	s := newThrottled(t, 2, cosmostest.Options{})
	for range 20 {
		s.expect(http.StatusOK, s.rest("GET", orders, ""))
	}
	s.put(s.left, "1")
	if !s.refuses(s.left) {
		t.Fatal("a range with 1 RU/s has something left after a write")
	}
	for _, path := range []string{"", "dbs", "dbs/shop", "dbs/shop/colls", orders, orders + "/pkranges", sprocs, "offers"} {
		s.expect(http.StatusOK, s.rest("GET", path, ""))
	}
	s.register("nothing", "function () {}")
	s.expect(http.StatusTooManyRequests, s.execute("nothing", s.left, "[]"))
}

func TestContainersHaveOwnThroughput(t *testing.T) {
	s := newThrottled(t, 2, cosmostest.Options{})
	s.expect(http.StatusCreated, s.rest("POST", "dbs/shop/colls", `{"id":"items","partitionKey":{"paths":["/customer"],"kind":"Hash","version":2}}`))
	s.exhaust(s.left)
	s.expect(http.StatusCreated, s.rest("POST", "dbs/shop/colls/items/docs", string(order(s.left, "1")), of(s.left)))
}

// TestSplitGivesFreshAllowances checks that the halves of a hot range begin with nothing used, and
// that each then has a third of the throughput.
func TestSplitGivesFreshAllowances(t *testing.T) {
	s := newThrottled(t, 60, cosmostest.Options{})
	twin := newDividedShop(t, cosmostest.Options{}, 2)
	s.exhaust(s.left)
	for _, halved := range []*shop{s.shop, twin} {
		s.must(halved.Split("shop", "orders", "0"))
	}
	for _, id := range []string{"2", "3"} {
		if all, last, _ := s.exhaust(twin.customersOf(id, 1)[0]); all < 20 || all-last >= 20 {
			t.Errorf("after a split, range %s used %v RU, with the last request of %v RU", id, all, last)
		}
	}
}

// TestRangesShareCharge checks that the ranges of a query share its charge. The query costs more
// than a range has.
func TestRangesShareCharge(t *testing.T) {
	s := newThrottled(t, 6, cosmostest.Options{})
	got := s.rest("POST", docs, `{"query":"SELECT * FROM c"}`, "Content-Type: application/query+json", "x-ms-documentdb-query-enablecrosspartition: true")
	charge, err := strconv.ParseFloat(got.Header.Get("X-Ms-Request-Charge"), 64)
	if err != nil || charge <= 3 || charge >= 6 {
		t.Fatalf("the query costs %v RU, want 3 to 6: %v", charge, err)
	}
	if s.refuses(s.left) || s.refuses(s.right) {
		t.Error("a range has nothing left")
	}
	if !s.refuses(s.left) || !s.refuses(s.right) {
		t.Error("the query cost nothing")
	}
}

// TestClientsWaitForThroughput checks that an unchanged client of azcosmos waits as long as the
// account tells it, and then succeeds.
func TestClientsWaitForThroughput(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newShop(t, cosmostest.Options{Throughput: 10})
		orders, err := s.Client(nil).NewContainer("shop", "orders")
		s.must(err)
		begun, charged := time.Now(), 0.0
		for i := range 20 {
			got, err := orders.UpsertItem(t.Context(), key("ada"), order("ada", fmt.Sprint(i)), nil)
			s.must(err)
			charged += float64(got.RequestCharge)
		}
		if took := time.Since(begun).Seconds(); took < charged/10-2 || took > charged/10+2 {
			t.Errorf("%v RU with 10 RU/s took %v s", charged, took)
		}
	})
}

// TestBudget checks that the fault bounds the throughput of a client in each container.
func TestBudget(t *testing.T) {
	clock := cosmostest.NewClock(noon)
	s := newShop(t, cosmostest.Options{})
	s.expect(http.StatusCreated, s.rest("POST", "dbs/shop/colls", `{"id":"items","partitionKey":{"paths":["/customer"],"kind":"Hash","version":2}}`))
	s.Inject(cosmostest.Budget(10, clock.Now))
	s.put("ada", "1")
	s.put("ada", "1")
	refused := refusal(t, s.tryPut("ada", "2")) // between 11 and 16 RU are used
	if refused.StatusCode != http.StatusTooManyRequests || refused.Header.Get("X-Ms-Substatus") != "3200" || refused.Header.Get("X-Ms-Retry-After-Ms") != "1000" {
		t.Errorf("%s with %v", refused.Status, refused.Header)
	}
	wantStatus(t, "a read", s.tryGet("ada", "1"), http.StatusTooManyRequests)
	wantStatus(t, "another partition", s.tryPut("bob", "1"), http.StatusTooManyRequests)
	s.expect(http.StatusTooManyRequests, s.rest("POST", sprocs+"/none", "[]", of("ada")))
	s.expect(http.StatusOK, s.rest("GET", orders, ""))
	s.expect(http.StatusCreated, s.rest("POST", "dbs/shop/colls/items/docs", string(order("ada", "1")), of("ada")))
	if other := newClient(t, s.NewTransport()); other.has("ada", "2") {
		t.Error("a refused request was executed")
	}
	clock.Advance(999 * time.Millisecond)
	wantStatus(t, "1 ms too early", s.tryGet("ada", "1"), http.StatusTooManyRequests)
	clock.Advance(time.Millisecond)
	wantStatus(t, "after the wait", s.tryGet("ada", "1"), http.StatusOK)
}
