package cosmostest_test

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"cosmosblog/cosmostest"
)

// A follower goes through the same states as its leader, with the same etags and session tokens.
// Close finds a difference.

// endsEqual closes an account, and fails if its follower differs.
func (s *shop) endsEqual() {
	s.Helper()
	if err := s.Close(); err != nil {
		s.Error(err)
	}
}

// TestEqualAfterWrites sends all kinds of writes, also those that are rejected.
func TestEqualAfterWrites(t *testing.T) {
	s, _ := newReplicated(t, cosmostest.Options{Dir: t.TempDir()})
	s.Follower.Lag(4)
	s.put("ada", "1")
	s.put("ada", "1", `"n":1`)
	wantStatus(t, "a conflict", s.add("ada", "1"), http.StatusConflict)
	wantStatus(t, "a missing item", s.remove("ada", "7"), http.StatusNotFound)
	s.expect(http.StatusOK, s.rest("PATCH", docs+"/1", `{"operations":[{"op":"incr","path":"/n","value":1}]}`, of("ada")))
	s.expect(http.StatusPreconditionFailed, s.rest("DELETE", docs+"/1", "", of("ada"), `If-Match: "old"`))
	s.expect(http.StatusBadRequest, s.rest("POST", docs, "{", of("ada")))
	batch := []string{of("ada"), "x-ms-cosmos-is-batch-request: true", "x-ms-cosmos-batch-atomic: true"}
	s.expect(http.StatusOK, s.rest("POST", docs, `[{"operationType":"Create","resourceBody":{"id":"2","customer":"ada"}},{"operationType":"Delete","id":"1"}]`, batch...))
	s.expect(http.StatusMultiStatus, s.rest("POST", docs, `[{"operationType":"Create","resourceBody":{"id":"3","customer":"ada"}},{"operationType":"Delete","id":"1"}]`, batch...))
	s.register("add", addOrders)
	s.expect(http.StatusOK, s.execute("add", "ada", `[["4","5"]]`))
	s.expect(http.StatusBadRequest, s.execute("add", "ada", `[null]`))
	s.expect(http.StatusNoContent, s.rest("DELETE", "dbs/shop", ""))
	s.provision(2)
	s.put("bob", "1")
	s.endsEqual()
}

// TestEqualAfterDecisions executes scripts whose operations are rejected and fail by chance. The
// follower executes them later.
func TestEqualAfterDecisions(t *testing.T) {
	for _, snapshot := range []bool{false, true} {
		random := rand.New(rand.NewPCG(3, 4))
		s, _ := newReplicated(t, cosmostest.Options{Scripts: cosmostest.Scripts{
			Snapshot: snapshot,
			Accept:   func(int) bool { return random.IntN(5) > 0 },
			Fail:     func(int) int { return []int{0, 0, 0, 449}[random.IntN(4)] },
		}})
		s.register("add", addOrders)
		s.register("fail", `function () {
			var c = getContext().getCollection();
			c.createDocument(c.getSelfLink(), {id: 'lost', customer: 'ada'}, function (err) { throw new Error('told') });
		}`)
		s.Follower.Lag(7)
		answers := map[string]int{}
		for i := range 60 {
			got := s.execute("add", "ada", fmt.Sprintf(`[["%[1]da","%[1]db","%[1]dc"]]`, i))
			answers[s.expect(http.StatusOK, got).text]++
			if i%10 == 0 {
				s.execute("fail", "ada", "[]")
			}
		}
		if len(answers) < 5 || answers["[true,true,true]"] == 0 {
			t.Errorf("the decisions had too few outcomes: %v", answers)
		}
		s.endsEqual()
	}
}

// TestEqualAfterExpiry lets time pass between writes that the follower receives later. A write sees
// an item on both, or on none.
func TestEqualAfterExpiry(t *testing.T) {
	clock := cosmostest.NewClock(noon)
	s, _ := newReplicated(t, cosmostest.Options{Now: clock.Now})
	s.register("now", `function () {
		var c = getContext().getCollection();
		c.createDocument(c.getSelfLink(), {id: 'at' + Date.now(), customer: 'ada', ttl: 15, at: new Date().toISOString()});
	}`)
	s.Follower.Hold()
	for range 10 {
		s.put("ada", "brief", `"ttl":15`)
		s.put("ada", "lasting")
		s.expect(http.StatusOK, s.execute("now", "ada", "[]"))
		clock.Advance(10 * time.Second)
		wantStatus(t, "a create of an item that exists", s.add("ada", "brief"), http.StatusConflict)
		clock.Advance(10 * time.Second)
		wantStatus(t, "a create of an expired item", s.add("ada", "brief"), http.StatusOK)
		s.must(s.remove("ada", "brief"))
	}
	s.endsEqual()
}

// TestEqualAfterPurge lets minutes pass, in which an account would remove expired items from its
// storage. That is no write, so leader and follower would do it in different states.
func TestEqualAfterPurge(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, _ := newReplicated(t, cosmostest.Options{})
		s.put("ada", "1", `"ttl":90`)
		s.put("ada", "2", `"ttl":90`)
		s.Follower.Hold()
		time.Sleep(30 * time.Second)
		s.put("ada", "1", `"ttl":9999`) // lasts on the leader only
		time.Sleep(5 * time.Minute)
		if !s.has("ada", "1") {
			t.Error("the writer does not see its write")
		}
		if s.has("ada", "2") || s.seen("ada") != "" {
			t.Error("an expired order is visible")
		}
		s.put("ada", "3")
		if s.ids("ada") != "1 3" {
			t.Errorf("the writer sees %s", s.ids("ada"))
		}
		s.Follower.CatchUp()
		if s.seen("ada") != "1 3" {
			t.Errorf("after CatchUp, a client sees %s", s.seen("ada"))
		}
		s.endsEqual()
	})
}

// TestFeedAfterPurge reads a change feed now from the leader and now from the follower, while
// expired items are removed. Each change arrives.
func TestFeedAfterPurge(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, _ := newReplicated(t, cosmostest.Options{})
		etag, seen := "", ""
		for i := range 20 {
			s.Follower.Hold()
			s.put("ada", fmt.Sprint("brief", i), fmt.Sprintf(`"ttl":%d`, 50+i))
			s.put("ada", fmt.Sprint("lasting", i))
			time.Sleep(45 * time.Second)
			if i%2 == 0 {
				s.Follower.CatchUp()
				s.Follower.Lag(1)
			}
			for {
				page := s.rest("GET", docs, "", "A-IM: Incremental Feed", inRange("0"), "If-None-Match: "+etag)
				etag = page.Header.Get("Etag")
				if page.StatusCode == http.StatusNotModified {
					break
				}
				seen += s.expect(http.StatusOK, page).text
			}
			s.Follower.CatchUp()
		}
		for i := range 19 { // the last ones may be late
			if want := fmt.Sprintf(`"lasting%d"`, i); !strings.Contains(seen, want) {
				t.Errorf("the change feed lacks %s", want)
			}
		}
		s.endsEqual()
	})
}

// TestEqualAfterSplits splits ranges while the follower is behind, and writes to their halves.
func TestEqualAfterSplits(t *testing.T) {
	s, _ := newReplicated(t, cosmostest.Options{})
	customers := []string{"ada", "bob", "cyd", "dan", "eve", "fay"}
	write := func(id string) {
		for _, customer := range customers {
			s.put(customer, id)
		}
	}
	s.Follower.Lag(5)
	for id := range 3 {
		write(fmt.Sprint(id))
		s.must(s.Split("shop", "orders", fmt.Sprint(id)))
		for _, customer := range customers {
			if got := s.seen(customer); !strings.HasPrefix("0 1 2", got) {
				t.Errorf("a client sees %q", got)
			}
		}
	}
	s.Follower.Hold()
	write("3")
	for _, customer := range customers {
		if s.put(customer, "4"); s.ids(customer) != "0 1 2 3 4" {
			t.Errorf("the writer sees %q", s.ids(customer))
		}
		if got := s.seen(customer); got != "0 1 2" {
			t.Errorf("while the follower is held, a client sees %q", got)
		}
	}
	s.endsEqual()
}

// TestEqualAfterThrottling throttles the leader. The follower receives what the leader executed,
// and nothing that it refused.
func TestEqualAfterThrottling(t *testing.T) {
	clock := cosmostest.NewClock(noon)
	s, _ := newReplicated(t, cosmostest.Options{Now: clock.Now, Throughput: 20})
	s.register("add", addOrders)
	s.Follower.Lag(3)
	refused := 0
	for i := range 100 {
		err := s.tryPut("ada", fmt.Sprint(i))
		got := s.execute("add", "bob", fmt.Sprintf(`[["%d"]]`, i)) // not bob's: it fails
		for _, status := range []int{statusOf(err), got.StatusCode} {
			if status == http.StatusTooManyRequests {
				refused++
			}
		}
		clock.Advance(300 * time.Millisecond)
	}
	if refused == 0 || refused > 180 {
		t.Errorf("%d of 200 requests were refused", refused)
	}
	for statusOf(s.tryPut("ada", "more")) != http.StatusTooManyRequests { // nothing is left at the end
	}
	s.endsEqual()
}
