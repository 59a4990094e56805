package cosmostest_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"cosmosblog/cosmostest"
)

// newHistory is a shop with a follower, and its container drafts.
func newHistory(t testing.TB, options cosmostest.Options) (s *shop, drafts *client) {
	t.Helper()
	options.Follower = true
	s = newShop(t, options)
	return s, s.other("drafts")
}

// other returns a client of another container of the shop, which it creates.
func (s *shop) other(name string) *client {
	s.Helper()
	c := newClient(s, s.NewTransport())
	c.orders = c.transport.Container("shop", name, "/customer")
	return c
}

// feed is a reader of the change feed of one feed range.
type feed struct {
	*client
	options azcosmos.ChangeFeedOptions
}

// feeds returns readers of all feed ranges of a container, from the beginning.
func (c *client) feeds() (all []*feed) {
	c.Helper()
	ranges, err := c.orders.ReadFeedRanges(c.Context(), nil)
	c.must(err)
	beginning := time.Unix(0, 0)
	for i := range ranges {
		all = append(all, &feed{c, azcosmos.ChangeFeedOptions{FeedRange: &ranges[i], StartFrom: &beginning}})
	}
	return all
}

// next returns the ids of the next page, and its session token.
func (f *feed) next() (ids, token string) {
	f.Helper()
	page, err := f.orders.ReadChangeFeed(f.Context(), &f.options)
	f.must(err)
	f.options.Continuation = &page.ContinuationToken
	var list []string
	for _, item := range page.Items {
		list = append(list, f.idOf(item))
	}
	return strings.Join(list, " "), page.RawResponse.Header.Get("X-Ms-Session-Token")
}

// changed returns the ids that the change feed shows from the beginning, sorted.
func (c *client) changed() string {
	c.Helper()
	var list []string
	for _, f := range c.feeds() {
		ids, _ := f.next()
		list = append(list, strings.Fields(ids)...)
	}
	slices.Sort(list)
	return strings.Join(list, " ")
}

// systemOf returns the etag and the resource id of an order.
func (c *client) systemOf(customer, id string) string {
	c.Helper()
	return fmt.Sprint(c.property(customer, id, "_etag"), c.property(customer, id, "_rid"))
}

// definitionOf returns the resource id and the etag of a container.
func (c *client) definitionOf(path string) string {
	c.Helper()
	var found struct {
		RID  string `json:"_rid"`
		ETag string `json:"_etag"`
	}
	c.must(json.Unmarshal([]byte(c.expect(http.StatusOK, c.rest("GET", path, "")).text), &found))
	return found.RID + found.ETag
}

// TestLoseWrites checks that the writes of one container are lost, and nothing else: items of the
// other one, and definitions of both, keep resource ids and etags.
func TestLoseWrites(t *testing.T) {
	for _, options := range []cosmostest.Options{{}, {Dir: t.TempDir()}, {Regions: true}} {
		s, drafts := newHistory(t, options)
		s.put("ada", "1")
		s.Follower.Hold()
		s.put("ada", "2")
		drafts.put("ada", "1", `"n":1`)
		s.register("add", addOrders)
		s.expect(http.StatusOK, s.execute("add", "ada", `[["3"]]`))
		s.must(s.remove("ada", "1"))
		fresh := s.other("fresh")
		drafts.put("ada", "1", `"n":2`)
		fresh.put("ada", "1")
		defined := func() string {
			return s.definitionOf("dbs/shop/colls/drafts") + s.definitionOf("dbs/shop/colls/fresh") + s.definitionOf(sprocs+"/add")
		}
		draft, definitions := drafts.systemOf("ada", "1"), defined()

		s.LoseWrites("orders")
		s.Transport.CloseIdleConnections()
		if got := s.seen("ada"); got != "1" {
			t.Errorf("a new client sees %q", got)
		}
		latest := newClient(t, s.Latest())
		if latest.has("ada", "2") || !latest.has("ada", "1") {
			t.Error("Latest does not read the engine that is left")
		}
		if drafts.property("ada", "1", "n") != 2.0 || fresh.ids("ada") != "1" {
			t.Error("another container lost writes")
		}
		if got := drafts.systemOf("ada", "1"); got != draft {
			t.Errorf("an item of another container is %s, was %s", got, draft)
		}
		if got := defined(); got != definitions {
			t.Errorf("the definitions are %s, were %s", got, definitions)
		}
		for _, change := range []func(){s.Follower.Hold, s.Follower.FallBehind, s.Follower.Lead, s.Follower.CatchUp,
			func() { s.Follower.Trail(time.Hour) }, func() { s.Follower.Lag(3) }, func() { s.LoseWrites() }} {
			change()
			s.Transport.CloseIdleConnections()
			s.token = nil
			s.expect(http.StatusOK, s.execute("add", "ada", `[["3"]]`))
			if got := s.seen("ada"); got != "1 3" {
				t.Errorf("then a new client sees %q", got)
			}
			s.must(s.remove("ada", "3"))
		}
		s.must(s.Check())
		s.must(s.Close())
	}
}

// TestLoseAllWrites checks that all containers lose writes if none is named, also if a path has
// resource ids.
func TestLoseAllWrites(t *testing.T) {
	s, drafts := newHistory(t, cosmostest.Options{})
	var database, container struct {
		RID string `json:"_rid"`
	}
	s.must(json.Unmarshal([]byte(s.rest("GET", "dbs/shop", "").text), &database))
	s.must(json.Unmarshal([]byte(s.rest("GET", orders, "").text), &container))
	s.Follower.Lead()
	s.put("ada", "1")
	s.expect(http.StatusCreated, s.rest("POST", "dbs/"+database.RID+"/colls/"+container.RID+"/docs", string(order("ada", "2")), of("ada")))
	drafts.put("ada", "1")
	if s.ids("ada") != "1 2" {
		t.Fatal("the writes are missing")
	}
	s.LoseWrites()
	s.token, drafts.token = nil, nil
	if s.ids("ada") != "" || drafts.ids("ada") != "" {
		t.Errorf("orders %q and drafts %q are left", s.ids("ada"), drafts.ids("ada"))
	}
}

// TestLoseWritesNumbers checks that log sequence numbers go back and are used again, and what
// follows for session tokens and for a reader of the change feed. Etags do not appear again.
func TestLoseWritesNumbers(t *testing.T) {
	s, _ := newHistory(t, cosmostest.Options{})
	reader := s.feeds()[0]
	s.put("ada", "1")
	s.Follower.Lead()
	s.put("ada", "lost1")
	lost, numbers := s.property("ada", "lost1", "_etag"), []string{*s.token}
	s.put("ada", "lost2")
	numbers = append(numbers, *s.token)
	if ids, _ := reader.next(); ids != "1 lost1 lost2" {
		t.Fatalf("before, the feed shows %q", ids)
	}

	s.LoseWrites("orders")
	for _, before := range numbers {
		s.token = &before
		err := s.tryGet("ada", "1")
		wantStatus(t, "a read of a lost session", err, http.StatusNotFound)
		if got := refusal(t, err).Header.Get("X-Ms-Substatus"); got != "1002" {
			t.Errorf("substatus %q", got)
		}
	}
	ids, end := reader.next()
	if ids != "" || slices.Contains(numbers, end) {
		t.Errorf("a reader beyond the end gets %q in state %s", ids, end)
	}
	for i, number := range numbers {
		if s.put("ada", fmt.Sprint("new", i)); *s.token != number {
			t.Errorf("the %d. write after has the number %s, want %s", i+1, *s.token, number)
		}
		if s.property("ada", fmt.Sprint("new", i), "_etag") == lost {
			t.Error("an etag appeared again")
		}
		if ids, _ := reader.next(); ids != "" {
			t.Errorf("the reader gets %q", ids)
		}
	}
	s.put("ada", "seen")
	if ids, _ := reader.next(); ids != "seen" {
		t.Errorf("then the reader gets %q", ids)
	}
	if got := s.changed(); got != "1 new0 new1 seen" {
		t.Errorf("the feed from the beginning shows %q", got)
	}
}

// TestLoseWritesOfScripts checks that the follower repeats the decisions of the writes that are
// not lost, and that the hooks of the test decide afterwards.
func TestLoseWritesOfScripts(t *testing.T) {
	var called int
	var accepts atomic.Bool
	s, drafts := newHistory(t, cosmostest.Options{Scripts: cosmostest.Scripts{
		Accept: func(int) bool { return accepts.Load() },
		Before: func(int) { called++ },
	}})
	add, err := json.Marshal(map[string]string{"id": "add", "body": addOrders})
	s.must(err)
	s.register("add", addOrders)
	s.expect(http.StatusCreated, s.rest("POST", "dbs/shop/colls/drafts/sprocs", string(add)))
	execute := func(container, id string, accepted bool) string {
		t.Helper()
		accepts.Store(accepted)
		return s.expect(http.StatusOK, s.rest("POST", "dbs/shop/colls/"+container+"/sprocs/add", `[["`+id+`"]]`, of("ada"))).text
	}
	s.Follower.Lead()
	execute("orders", "1", true)
	execute("drafts", "1", false)
	execute("orders", "2", false)
	execute("drafts", "2", true)
	accepts.Store(false)
	s.LoseWrites("orders")
	if s.seen("ada") != "" || drafts.ids("ada") != "2" {
		t.Errorf("orders are %q, drafts %q", s.seen("ada"), drafts.ids("ada"))
	}
	before := called
	if got := execute("orders", "3", false); got != "[false]" || called == before {
		t.Errorf("%s, and Before was called %d times", got, called-before)
	}
	if got := execute("orders", "3", true); got != "[true]" {
		t.Error(got)
	}
}

// TestLoseWritesOfTime checks that outstanding writes happen at the time at which they were
// acknowledged, and that time goes on afterwards.
func TestLoseWritesOfTime(t *testing.T) {
	clock := cosmostest.NewClock(noon)
	s, drafts := newHistory(t, cosmostest.Options{Now: clock.Now})
	s.Follower.Lead()
	s.put("ada", "lost")
	drafts.put("ada", "1")
	s.put("ada", "brief", `"ttl":60`)
	clock.Advance(time.Hour)
	s.LoseWrites("orders")
	if got := drafts.property("ada", "1", "_ts"); got != float64(noon.Unix()) {
		t.Errorf("written at %v", got)
	}
	s.token = nil
	if s.put("ada", "1", `"ttl":60`); s.property("ada", "1", "_ts") != float64(noon.Add(time.Hour).Unix()) {
		t.Error("written at another time")
	}
	clock.Advance(time.Minute)
	if s.ids("ada") != "" {
		t.Error("an item does not expire")
	}
}

// TestLoseWritesFromOutside checks that Watch, Changes, Split and Strikes are about the engine that
// is left, also for a channel and a count of before.
func TestLoseWritesFromOutside(t *testing.T) {
	s, drafts := newHistory(t, cosmostest.Options{})
	written, stop, err := s.Watch("shop", "orders")
	s.must(err)
	other, stopOther, err := s.Watch("shop", "drafts")
	s.must(err)
	defer stopOther()
	s.Follower.Hold()
	for range 3 {
		s.put("ada", "1")
		drafts.put("ada", "1")
	}
	received(written)
	received(other)
	before := s.Changes("shop", "orders", "ada")
	s.LoseWrites("orders")
	if s.Changes("shop", "orders", "ada") <= before {
		t.Error("the count of Changes went back")
	}
	if received(written) || received(other) {
		t.Error("received without a write")
	}
	before = s.Changes("shop", "orders", "ada")
	if s.put("ada", "2"); !received(written) || received(other) {
		t.Error("a channel of before does not receive after a write of its container only")
	}
	if s.Changes("shop", "orders", "ada") <= before {
		t.Error("the write does not count")
	}
	stop()
	if s.put("ada", "3"); received(written) {
		t.Error("received after stop")
	}
	again, stop, err := s.Watch("shop", "orders")
	s.must(err)
	defer stop()
	s.must(s.Split("shop", "orders", "0"))
	if s.put("bob", "1"); !received(again) || s.ranges() != 2 || s.ids("ada") != "2 3" {
		t.Errorf("after a split: %d ranges, %q", s.ranges(), s.ids("ada"))
	}
	if n, err := s.Strikes("shop", "orders"); n != 0 || err != nil {
		t.Errorf("%d strikes: %v", n, err)
	}
}

// TestLoseWritesBesideRequests checks that each request is executed once: what is acknowledged
// after the failover is there, and what the other container acknowledged, too.
func TestLoseWritesBesideRequests(t *testing.T) {
	s, _ := newHistory(t, cosmostest.Options{Scripts: cosmostest.Scripts{Snapshot: true}})
	s.register("add", addOrders)
	s.Follower.Lead()
	var over atomic.Bool
	var mu sync.Mutex
	kept := map[string]bool{} // the orders that must be there
	s.together(s.NewTransport, func(c *client, worker int) {
		drafts, err := c.azcosmos.NewContainer("shop", "drafts")
		if err != nil {
			t.Error(err)
		}
		for round := range rounds {
			id, late := fmt.Sprintf("%d-%d", worker, round), over.Load()
			c.token = nil
			if err := c.tryPut("ada", id); err != nil {
				t.Errorf("a write: %v", err)
			}
			if err := c.tryGet("ada", id); err != nil && late {
				t.Errorf("a read of a write after the failover: %v", err)
			}
			if _, err := drafts.UpsertItem(t.Context(), key("ada"), order("ada", id), nil); err != nil {
				t.Errorf("a write of a draft: %v", err)
			}
			mu.Lock()
			kept[id] = late
			mu.Unlock()
			if worker == 0 && round == rounds/2 {
				s.LoseWrites("orders")
				over.Store(true)
			}
		}
	})
	found := strings.Fields(s.seen("ada"))
	for id, late := range kept {
		if late && !slices.Contains(found, id) {
			t.Errorf("the order %s is lost", id)
		}
	}
	if len(found) == len(kept) {
		t.Error("nothing was lost")
	}
	drafts, err := s.azcosmos.NewContainer("shop", "drafts")
	s.must(err)
	s.client.orders, s.token = drafts, nil
	if n := len(strings.Fields(s.ids("ada"))); n != len(kept) {
		t.Errorf("there are %d drafts of %d", n, len(kept))
	}
}

// TestLoseWritesRegions checks that clients find the region that writes after the failover.
func TestLoseWritesRegions(t *testing.T) {
	for _, state := range []cosmostest.RegionState{cosmostest.Online, cosmostest.Removed} {
		s, _ := newHistory(t, cosmostest.Options{Regions: true})
		s.put("ada", "1")
		s.Follower.Hold()
		s.put("ada", "2")
		s.FailRegion(state)
		s.LoseWrites()
		got := s.rest("POST", docs, string(order("ada", "3")), of("ada"))
		s.expect(http.StatusForbidden, got)
		s.Transport.CloseIdleConnections()
		s.token = nil
		client := s.Transport.Client(nil)
		orders, err := client.NewContainer("shop", "orders")
		s.must(err)
		if _, err := orders.CreateItem(t.Context(), key("ada"), order("ada", "3"), nil); err != nil {
			t.Errorf("a write after the failover: %v", err)
		}
		if got := s.ids("ada"); got != "1 3" {
			t.Errorf("orders %q", got)
		}
	}
}

// TestRestore checks that the items of a restored container are read and queried, and that its
// change feed shows only what is written afterwards, also after a split.
func TestRestore(t *testing.T) {
	for _, splits := range [][]string{nil, {"0", "1"}} {
		s, drafts := newHistory(t, cosmostest.Options{})
		customers := []string{"ada", "bob", "cyd", "dan"}
		early := s.feeds()[0]
		for i, customer := range customers {
			s.put(customer, fmt.Sprint("kept", i))
			drafts.put(customer, fmt.Sprint("draft", i))
			if i == 0 {
				early.next()
			}
		}
		s.Follower.Hold()
		s.put("ada", "lost")
		s.must(s.remove("bob", "kept1"))
		drafts.put("ada", "more")

		s.Restore("orders")
		s.token, drafts.token = nil, nil
		for _, id := range splits {
			s.must(s.Split("shop", "orders", id))
		}
		for i, customer := range customers {
			if !s.has(customer, fmt.Sprint("kept", i)) || s.ids(customer) != fmt.Sprint("kept", i) {
				t.Errorf("%s has %q", customer, s.ids(customer))
			}
		}
		if got := s.changed(); got != "" {
			t.Errorf("the feed shows %q", got)
		}
		if got := drafts.changed(); got != "draft0 draft1 draft2 draft3 more" {
			t.Errorf("the feed of the other container shows %q", got)
		}
		s.put("ada", "new")
		s.put("bob", "kept1", `"n":1`)
		if got := s.changed(); got != "kept1 new" {
			t.Errorf("after two writes, the feed shows %q", got)
		}
		if splits == nil { // otherwise, the range of this reader is gone
			if ids, _ := early.next(); ids != "new kept1" {
				t.Errorf("an early continuation shows %q", ids)
			}
		}
	}
}

// TestRestoreFeed checks the ways to begin a change feed over REST, and that a continuation beyond
// the end stays there.
func TestRestoreFeed(t *testing.T) {
	clock := cosmostest.NewClock(noon)
	s, _ := newHistory(t, cosmostest.Options{Now: clock.Now})
	s.put("ada", "1")
	s.put("ada", "2")
	s.Follower.Lead()
	s.put("ada", "3")
	s.put("ada", "4")
	clock.Advance(time.Minute)
	s.Restore()
	read := func(headers ...string) answer {
		return s.rest("GET", docs, "", append(headers, "A-IM: Incremental Feed", inRange("0"))...)
	}
	since := "If-Modified-Since: " + noon.Add(-time.Hour).Format(http.TimeFormat)
	for _, start := range []string{"If-None-Match: ", `If-None-Match: "0"`, `If-None-Match: "1"`, "If-None-Match: *", since, of("ada")} {
		if got := s.expect(http.StatusNotModified, read(start)); got.Header.Get("Etag") != `"2"` {
			t.Errorf("%s continues at %s", start, got.Header.Get("Etag"))
		}
	}
	got := s.expect(http.StatusNotModified, read(`If-None-Match: "4"`))
	if got.Header.Get("Etag") != `"4"` || got.Header.Get("X-Ms-Session-Token") != "0:-1#2" {
		t.Errorf("beyond the end: %s, %s", got.Header.Get("Etag"), got.Header.Get("X-Ms-Session-Token"))
	}
	s.put("ada", "5")
	for _, start := range []string{"If-None-Match: ", `If-None-Match: "2"`, since, of("ada")} {
		if got := s.expect(http.StatusOK, read(start)).text; strings.Count(got, `"id"`) != 1 || !strings.Contains(got, `"id":"5"`) {
			t.Errorf("%s shows %s", start, got)
		}
	}
	s.expect(http.StatusNotModified, read(`If-None-Match: "4"`))
	s.Restore("orders")
	if ids := s.changed(); ids != "" || !s.has("ada", "5") {
		t.Errorf("after another Restore, the feed shows %q", ids)
	}
}

// TestLoseWritesErrors checks what ends the test, or panics outside one.
func TestLoseWritesErrors(t *testing.T) {
	for what, options := range map[string]cosmostest.Options{"no follower": {}, "no container": {Follower: true}} {
		func() {
			account, err := cosmostest.Open(options)
			if err != nil {
				t.Fatal(err)
			}
			defer account.Close()
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", what)
				}
			}()
			account.LoseWrites("none")
		}()
	}
}
