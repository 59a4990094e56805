package cosmostest_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"cosmosblog/cosmostest"
)

// ranges returns the number of a container's physical ranges.
func (c *client) ranges() int {
	c.Helper()
	got := c.expect(http.StatusOK, c.rest("GET", orders+"/pkranges", ""))
	return strings.Count(got.text, `"minInclusive"`)
}

// TestSplit checks that a client goes on after a split, and that requests for the old range are
// told that it is gone.
func TestSplit(t *testing.T) {
	for _, options := range []cosmostest.Options{{}, {Follower: true}, {Dir: t.TempDir()}} {
		s := newShop(t, options)
		for _, customer := range []string{"ada", "bob", "cyd"} {
			s.put(customer, "1")
		}
		if n := s.ranges(); n != 1 {
			t.Fatalf("a new container has %d ranges", n)
		}
		before := s.token
		s.must(s.Split("shop", "orders", "0"))
		if n := s.ranges(); n != 2 {
			t.Errorf("after a split, there are %d ranges", n)
		}
		gone := s.expect(http.StatusGone, s.rest("GET", docs, "", inRange("0")))
		if gone.Header.Get("X-Ms-Substatus") != "1002" {
			t.Errorf("substatus %s", gone.Header.Get("X-Ms-Substatus"))
		}
		for _, customer := range []string{"ada", "bob", "cyd"} {
			s.token = before // it stays valid
			if s.put(customer, "2"); s.ids(customer) != "1 2" {
				t.Errorf("%s has %q", customer, s.ids(customer))
			}
		}
		all, err := s.query(azcosmos.NewPartitionKey(), "SELECT * FROM c")
		if err != nil || len(all) != 6 {
			t.Errorf("a query across the ranges finds %v: %v", all, err)
		}
		lower := s.expect(http.StatusOK, s.rest("GET", docs, "", inRange("1")))
		upper := s.expect(http.StatusOK, s.rest("GET", docs, "", inRange("2")))
		if n := strings.Count(lower.text, `"id"`) + strings.Count(upper.text, `"id"`); n != 6 {
			t.Errorf("the halves have %d orders: %s %s", n, lower.text, upper.text)
		}
	}
}

// TestMergeRanges merges the parts of a range that was split. A client goes on, and its session
// tokens and those of the parts stay valid.
func TestMergeRanges(t *testing.T) {
	for _, options := range []cosmostest.Options{{}, {Follower: true}, {Dir: t.TempDir()}} {
		s := newShop(t, options)
		s.must(s.Split("shop", "orders", "0"))
		for _, customer := range []string{"ada", "bob", "cyd"} {
			s.put(customer, "1")
		}
		s.must(s.MergeRanges("shop", "orders", "1"))
		if n := s.ranges(); n != 1 {
			t.Errorf("after the merge, there are %d ranges", n)
		}
		s.expect(http.StatusGone, s.rest("GET", docs, "", inRange("2")))
		for _, customer := range []string{"ada", "bob", "cyd"} {
			if s.put(customer, "2"); s.ids(customer) != "1 2" {
				t.Errorf("%s has %q", customer, s.ids(customer))
			}
		}
		if all := s.expect(http.StatusOK, s.rest("GET", docs, "", inRange("3"))); strings.Count(all.text, `"id"`) != 6 {
			t.Errorf("the merged range has %s", all.text)
		}
		for _, id := range []string{"1", "3", "none"} {
			if err := s.MergeRanges("shop", "orders", id); err == nil {
				t.Errorf("the range %s was merged", id)
			}
		}
	}
}

func TestSplitErrors(t *testing.T) {
	for _, follower := range []bool{false, true} {
		s := newShop(t, cosmostest.Options{Follower: follower})
		s.must(s.Split("shop", "orders", "0"))
		for _, names := range [][3]string{{"shop", "orders", "0"}, {"shop", "orders", "7"}, {"shop", "orders", ""}, {"shop", "none", "1"}, {"none", "orders", "1"}} {
			if err := s.Split(names[0], names[1], names[2]); err == nil {
				t.Errorf("follower %t: a split of %v succeeded", follower, names)
			}
		}
		if n := s.ranges(); n != 2 {
			t.Errorf("after failed splits, there are %d ranges", n)
		}
	}
}

// TestSplitOfHeldFollower checks that the follower is in the state of the split, and stays there.
func TestSplitOfHeldFollower(t *testing.T) {
	s, _ := newReplicated(t, cosmostest.Options{})
	s.Follower.Hold()
	s.put("ada", "1")
	s.must(s.Split("shop", "orders", "0"))
	s.put("ada", "2")
	if got := s.seen("ada"); got != "1" {
		t.Errorf("a new client sees %q", got)
	}
	// A list of the new ranges is answered from the old state, too.
	text := ""
	for _, id := range []string{"1", "2"} {
		text += s.expect(http.StatusOK, s.rest("GET", docs, "", inRange(id))).text
	}
	if !strings.Contains(text, `"id":"1"`) || strings.Contains(text, `"id":"2"`) {
		t.Errorf("the ranges have %s", text)
	}
}

// TestSplitOfLeader checks that a split of an account with a leader splits the follower in the
// leader's state.
func TestSplitOfLeader(t *testing.T) {
	p := newPair(t, cosmostest.Options{}, cosmostest.Options{}, itself)
	p.Follower.Hold()
	p.put("ada", "1")
	p.must(p.Split("shop", "orders", "0"))
	if got := p.seen("ada"); got != "1" {
		t.Errorf("after the split of the follower, a new client sees %q", got)
	}
	p.must(p.leads.Split("shop", "orders", "0"))
	p.put("ada", "2")
	if p.ids("ada") != "1 2" || p.seen("ada") != "1" {
		t.Errorf("the writer sees %q, a new client %q", p.ids("ada"), p.seen("ada"))
	}
	if err := p.Close(); err != nil {
		t.Error(err)
	}
}

// received reports whether a channel of Watch has received, without waiting.
func received(written <-chan struct{}) bool {
	select {
	case <-written:
		return true
	default:
		return false
	}
}

func TestWatch(t *testing.T) {
	for _, follower := range []bool{false, true} {
		s := newShop(t, cosmostest.Options{Follower: follower})
		if _, _, err := s.Watch("shop", "none"); err == nil {
			t.Error("a missing container is watched")
		}
		written, stop, err := s.Watch("shop", "orders")
		s.must(err)
		if received(written) {
			t.Error("received before a write")
		}
		s.put("ada", "1")
		s.put("ada", "2")
		if !received(written) || received(written) {
			t.Error("not received once after two writes")
		}
		s.register("add", addOrders)
		s.execute("add", "ada", `[["3"]]`)
		if !received(written) {
			t.Error("not received after a script")
		}
		s.has("ada", "1")
		wantStatus(t, "a conflict", s.add("ada", "1"), http.StatusConflict)
		if received(written) {
			t.Error("received without a write")
		}
		if s.Follower != nil {
			s.Follower.Hold()
		}
		if s.put("ada", "4"); !received(written) {
			t.Error("not received after a write that the follower lacks")
		}
		stop()
		if s.put("ada", "5"); received(written) {
			t.Error("received after stop")
		}
	}
}

func TestChanges(t *testing.T) {
	s := newShop(t, cosmostest.Options{})
	s.register("add", addOrders)
	others := func() [2]uint64 {
		return [2]uint64{s.Changes("shop", "orders", "bob"), s.Changes("shop", "orders", "cyd")}
	}
	first, quiet := s.Changes("shop", "orders", "ada"), others()
	for what, write := range map[string]func(){
		"an upsert": func() { s.put("ada", "1") },
		"a script":  func() { s.execute("add", "ada", `[["2"]]`) },
		"a batch": func() {
			s.rest("POST", docs, `[{"operationType":"Upsert","resourceBody":{"id":"3","customer":"ada"}}]`, of("ada"), "x-ms-cosmos-is-batch-request: true", "x-ms-cosmos-batch-atomic: true")
		},
	} {
		before := s.Changes("shop", "orders", "ada")
		if write(); s.Changes("shop", "orders", "ada") <= before {
			t.Errorf("%s does not count", what)
		}
	}
	before := s.Changes("shop", "orders", "ada")
	s.has("ada", "1")
	s.add("ada", "1")
	s.execute("add", "ada", `[[]]`)
	if n := s.Changes("shop", "orders", "ada"); n != before || n < first+3 {
		t.Errorf("after three writes: %d, then %d, from %d", before, n, first)
	}
	// One of them may share ada's counter by chance.
	if now := others(); now[0] != quiet[0] && now[1] != quiet[1] {
		t.Errorf("writes of ada count for others: %v, from %v", now, quiet)
	}
	s.Changes("none", "none", "ada") // need not exist
}
