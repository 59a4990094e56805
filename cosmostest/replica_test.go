package cosmostest_test

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"cosmosblog/cosmostest"
)

// newReplicated is a shop with a follower, and a client without session tokens, because it never
// writes.
func newReplicated(t testing.TB, options cosmostest.Options) (s *shop, reader *client) {
	t.Helper()
	options.Follower = true
	s = newShop(t, options)
	return s, newClient(t, s.NewTransport())
}

// seen returns the ids that a new client sees: one without a session token.
func (s *shop) seen(customer string) string {
	s.Helper()
	return newClient(s, s.NewTransport()).ids(customer)
}

// TestFollowerIsUpToDate checks that nothing is late until a test makes it so.
func TestFollowerIsUpToDate(t *testing.T) {
	s, reader := newReplicated(t, cosmostest.Options{})
	for i := range 10 {
		s.put("ada", fmt.Sprint(i))
		if !reader.has("ada", fmt.Sprint(i)) {
			t.Errorf("order %d is late", i)
		}
	}
	if s.Follower.Stale() != 0 {
		t.Errorf("%d reads were stale", s.Follower.Stale())
	}
	if plain := newShop(t, cosmostest.Options{}); plain.Account.Follower != nil {
		t.Error("an account without a follower has one")
	}
}

// TestHold checks who sees an old state: a client without a session token, and not the writer.
func TestHold(t *testing.T) {
	s, reader := newReplicated(t, cosmostest.Options{})
	s.put("ada", "1", `"n":1`)
	s.Follower.Hold()
	s.put("ada", "1", `"n":2`)
	s.put("ada", "2")
	s.must(s.remove("ada", "1"))
	if s.has("ada", "1") || !s.has("ada", "2") || s.ids("ada") != "2" {
		t.Error("the writer does not see its writes")
	}
	for range 2 { // the state stays
		if got := s.seen("ada"); got != "1" {
			t.Errorf("a new client sees %q", got)
		}
		if n := newClient(t, s.NewTransport()).property("ada", "1", "n"); n != 1.0 {
			t.Errorf("a new client sees the order in state %v", n)
		}
	}
	if s.Follower.Stale() != 4 {
		t.Errorf("%d reads were stale, want 4", s.Follower.Stale())
	}
	s.Follower.CatchUp()
	if reader.ids("ada") != "2" || s.Follower.Stale() != 4 {
		t.Errorf("after CatchUp: %q, %d stale reads", reader.ids("ada"), s.Follower.Stale())
	}
	s.put("ada", "3")
	if got := s.seen("ada"); got != "2 3" {
		t.Errorf("CatchUp did not end Hold: %q", got)
	}
}

// TestHoldOfSession checks that a client that has read a new state sees no older one.
func TestHoldOfSession(t *testing.T) {
	s, reader := newReplicated(t, cosmostest.Options{})
	s.put("ada", "1")
	s.put("ada", "2")
	if !reader.has("ada", "2") {
		t.Fatal("the follower is late")
	}
	s.Follower.Hold()
	s.put("ada", "3")
	if got := reader.ids("ada"); got != "1 2" {
		t.Errorf("a client that knows the follower's state sees %q", got)
	}
	// The rejection of a write tells the client the new state.
	wantStatus(t, "a create", reader.add("ada", "3"), http.StatusConflict)
	if got := reader.ids("ada"); got != "1 2 3" {
		t.Errorf("after the conflict, it sees %q", got)
	}
}

// TestLeadAndLatest checks the two ways to read the latest state while the follower is behind.
func TestLeadAndLatest(t *testing.T) {
	s, reader := newReplicated(t, cosmostest.Options{})
	latest := newClient(t, s.Latest())
	s.Follower.Hold()
	s.put("ada", "1")
	if reader.has("ada", "1") || !latest.has("ada", "1") {
		t.Error("Hold: wrong order")
	}
	latest.put("ada", "2") // a write of Latest reaches the follower like any other
	s.Follower.Lead()
	if got := s.seen("ada"); got != "1 2" {
		t.Errorf("Lead: a new client sees %q", got)
	}
	s.Follower.Hold()
	if got := s.seen("ada"); got != "" {
		t.Errorf("Hold after Lead: a new client sees %q", got)
	}
	s.Follower.CatchUp()
	if got := s.seen("ada"); got != "1 2" {
		t.Errorf("CatchUp: a new client sees %q", got)
	}
	latest.transport.Inject(cosmostest.Refuse(http.StatusBadRequest))
	wantStatus(t, "a read of Latest with a fault", latest.tryGet("ada", "1"), http.StatusBadRequest)
	plain := newShop(t, cosmostest.Options{})
	plain.put("ada", "1")
	if !newClient(t, plain.Latest()).has("ada", "1") {
		t.Error("Latest without a follower reads nothing")
	}
}

// states returns the states that new clients see in some reads, while the orders 0, 1, … are
// written: the number of orders.
func states(s *shop, writes int) (seen []int) {
	s.Helper()
	for i := range writes {
		s.put("ada", fmt.Sprint(i))
		seen = append(seen, len(strings.Fields(s.seen("ada"))))
	}
	return seen
}

// TestLag checks that the follower lacks at most a number of writes, and sometimes some.
func TestLag(t *testing.T) {
	const most = 3
	s, _ := newReplicated(t, cosmostest.Options{})
	s.Follower.Lag(most)
	late := 0
	for i, n := range states(s, 50) {
		if n < i+1-most || n > i+1 {
			t.Errorf("after %d writes, a client sees %d", i+1, n)
		}
		late = max(late, i+1-n)
	}
	if late < 2 || s.Follower.Stale() == 0 {
		t.Errorf("at most %d late, %d stale reads", late, s.Follower.Stale())
	}
	s.put("ada", "last")
	s.Follower.Lag(0)
	if n := len(strings.Fields(s.seen("ada"))); n != 51 {
		t.Errorf("after Lag(0), a client sees %d of 51", n)
	}
}

// TestRandom checks that the same seed lags in the same way in each run, and another one does not.
func TestRandom(t *testing.T) {
	run := func(random *rand.Rand) []int {
		s, _ := newReplicated(t, cosmostest.Options{Random: random})
		s.Follower.Lag(5)
		return states(s, 30)
	}
	first, again, other := run(nil), run(nil), run(rand.New(rand.NewPCG(7, 7)))
	if !slices.Equal(first, again) {
		t.Errorf("two runs differ: %v, %v", first, again)
	}
	if slices.Equal(first, other) {
		t.Error("another seed changes nothing")
	}
}

// TestFallBehind checks that the follower lacks at least the writes since the previous call, and at
// most those that it lacked before. A call without a write since the previous one counts the writes
// before that.
func TestFallBehind(t *testing.T) {
	s, _ := newReplicated(t, cosmostest.Options{})
	s.put("ada", "0")
	s.Follower.Hold()
	written, recent, least, lacked := 1, 0, 1, 0
	for round, writes := range []int{4, 3, 0, 0, 2, 5, 0, 0, 0, 1} {
		for range writes {
			s.put("ada", fmt.Sprint(written))
			written++
		}
		if writes > 0 {
			recent = writes
		}
		s.Follower.FallBehind()
		for range 2 { // the state stays
			n := len(strings.Fields(s.seen("ada")))
			if n > written-recent || n < least {
				t.Errorf("round %d: a client sees %d of %d, %d of them recent, and saw %d before", round, n, written, recent, least)
			}
			least, lacked = n, max(lacked, written-n)
		}
	}
	if least < 2 || lacked < 3 {
		t.Errorf("the follower went up to state %d, and lacked at most %d", least, lacked)
	}
	s.Follower.CatchUp()
	if n := len(strings.Fields(s.seen("ada"))); n != written {
		t.Errorf("after CatchUp, a client sees %d of %d", n, written)
	}
}

// TestTrail checks that the follower lags by some time, and at most by the maximum.
func TestTrail(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, _ := newReplicated(t, cosmostest.Options{})
		const most, gap = 10 * time.Second, time.Second
		s.Follower.Trail(most)
		counts := map[int]int{} // of reads, by the number of writes that are missing
		for i := range 100 {
			s.put("ada", fmt.Sprint(i))
			n := len(strings.Fields(s.seen("ada")))
			if counts[i+1-n]++; n < i+1-int(most/gap)-1 {
				t.Errorf("after %d writes, a client sees %d", i+1, n)
			}
			time.Sleep(gap)
		}
		if counts[0] == 0 || len(counts) < 4 || s.Follower.Stale() == 0 {
			t.Errorf("reads by the number of missing writes: %v, %d stale", counts, s.Follower.Stale())
		}
		time.Sleep(most)
		if n := len(strings.Fields(s.seen("ada"))); n != 100 {
			t.Errorf("after the longest lag, a client sees %d of 100", n)
		}
		s.put("ada", "last")
		s.Follower.CatchUp()
		s.put("ada", "after")
		if n := len(strings.Fields(s.seen("ada"))); n != 102 {
			t.Errorf("after CatchUp, a client sees %d of 102", n)
		}
	})
}

// TestTrailOfNothing checks that a maximum of 0 lets the follower keep up.
func TestTrailOfNothing(t *testing.T) {
	clock := cosmostest.NewClock(noon)
	s, _ := newReplicated(t, cosmostest.Options{Now: clock.Now})
	s.Follower.Trail(0)
	s.put("ada", "1")
	clock.Advance(time.Nanosecond)
	if got := s.seen("ada"); got != "1" {
		t.Errorf("a client sees %q", got)
	}
}

// TestFollowerAnswersEverything checks that queries and change feeds are late, too, and that
// definitions are not.
func TestFollowerAnswersEverything(t *testing.T) {
	s, reader := newReplicated(t, cosmostest.Options{})
	s.put("ada", "1")
	s.Follower.Hold()
	s.put("ada", "2")
	s.register("nothing", "function () {}")
	isQuery := "Content-Type: application/query+json"
	for what, got := range map[string]answer{
		"a query":       reader.rest("POST", docs, `{"query":"SELECT * FROM c"}`, of("ada"), isQuery),
		"a list":        reader.rest("GET", docs, ""),
		"a change feed": reader.rest("GET", docs, "", "A-IM: Incremental Feed", inRange("0")),
	} {
		if reader.expect(http.StatusOK, got); !strings.Contains(got.text, `"id":"1"`) || strings.Contains(got.text, `"id":"2"`) {
			t.Errorf("%s: %s", what, got.text)
		}
	}
	reader.expect(http.StatusOK, reader.rest("GET", sprocs+"/nothing", ""))
	reader.expect(http.StatusOK, reader.execute("nothing", "ada", "[]"))
}
