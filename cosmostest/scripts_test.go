package cosmostest_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"cosmosblog/cosmostest"
)

// addOrders is a procedure that creates orders of ada, one after the other. It answers with what
// happened to each: true, false if it was not accepted, or the number of its error.
const addOrders = `function (ids) {
	var c = getContext().getCollection(), done = [];
	next(0);
	function next(i) {
		__.response.setBody(done);
		if (i === ids.length) return;
		var accepted = c.createDocument(c.getSelfLink(), {id: ids[i], customer: 'ada'}, function (err) {
			done.push(err ? err.number : true);
			next(i + 1);
		});
		if (!accepted) done.push(false);
	}
}`

// newScripts is a shop with the procedure add.
func newScripts(t testing.TB, options cosmostest.Options) *shop {
	t.Helper()
	s := newShop(t, options)
	s.register("add", addOrders)
	return s
}

// addAll executes the procedure add with a list of ids, and returns its answer.
func (s *shop) addAll(ids string) string {
	s.Helper()
	return s.expect(http.StatusOK, s.execute("add", "ada", "["+ids+"]")).text
}

// TestScriptsBefore checks that Before is called for the operations of scripts, and not again when
// a follower repeats them.
func TestScriptsBefore(t *testing.T) {
	for _, follower := range []bool{false, true} {
		var calls []int
		before := func(n int) { calls = append(calls, n) }
		s := newScripts(t, cosmostest.Options{Follower: follower, Scripts: cosmostest.Scripts{Before: before}})
		if got := s.addAll(`["1","2"]`); got != "[true,true]" || fmt.Sprint(calls) != "[1 2 3]" {
			t.Errorf("%s with calls before %v", got, calls)
		}
		s.put("ada", "3")
		if len(calls) != 3 {
			t.Error("called before a write without a script")
		}
	}
}

func TestScriptsAccept(t *testing.T) {
	s := newScripts(t, cosmostest.Options{Scripts: cosmostest.Scripts{Accept: func(n int) bool { return n != 3 }}})
	if got := s.addAll(`["1","2","3","4"]`); got != "[true,true,false]" || s.ids("ada") != "1 2" {
		t.Errorf("%s, items %s", got, s.ids("ada"))
	}
}

func TestScriptsFail(t *testing.T) {
	for _, number := range []int{400, 403, 404, 409, 412, 413, 449, 500} {
		s := newScripts(t, cosmostest.Options{Scripts: cosmostest.Scripts{Fail: func(n int) int {
			if n == 2 {
				return number
			}
			return 0
		}}})
		if got := s.addAll(`["1","2","3"]`); got != fmt.Sprintf("[true,%d,true]", number) || s.ids("ada") != "1 3" {
			t.Errorf("%d: %s, items %s", number, got, s.ids("ada"))
		}
		// An operation without a callback ends the execution, which writes nothing.
		s.register("bare", `function () {
			var c = getContext().getCollection();
			c.createDocument(c.getSelfLink(), {id: '4', customer: 'ada'});
			c.createDocument(c.getSelfLink(), {id: '5', customer: 'ada'});
		}`)
		s.expect(http.StatusBadRequest, s.execute("bare", "ada", "[]"))
		if s.ids("ada") != "1 3" {
			t.Errorf("%d: a failed execution wrote: %s", number, s.ids("ada"))
		}
	}
}

func TestScriptsOwnWrites(t *testing.T) {
	const count = `function () {
		var c = getContext().getCollection();
		c.createDocument(c.getSelfLink(), {id: '2', customer: 'ada'}, function () {
			c.queryDocuments(c.getSelfLink(), 'SELECT * FROM c', function (err, items) { __.response.setBody(items.length) });
		});
	}`
	for seen, want := range map[bool]string{false: "1", true: "2"} {
		s := newShop(t, cosmostest.Options{Scripts: cosmostest.Scripts{OwnWrites: seen}})
		s.put("ada", "1")
		s.register("count", count)
		if got := s.expect(http.StatusOK, s.execute("count", "ada", "[]")); got.text != want {
			t.Errorf("OwnWrites %t: a query finds %s items", seen, got.text)
		}
	}
}

// TestScriptsSnapshot checks that a script is rejected if an item that it writes changes meanwhile,
// and not if an item changes that it only reads.
func TestScriptsSnapshot(t *testing.T) {
	const copyOrder = `function () {
		var c = getContext().getCollection();
		c.readDocument(c.getAltLink() + '/docs/source', function (err, source) {
			if (err) throw err;
			c.upsertDocument(c.getSelfLink(), {id: 'copy', customer: 'ada', n: source.n}, function (err) { if (err) throw err });
		});
	}`
	for changed, want := range map[string]int{"copy": 449, "source": http.StatusOK, "none": http.StatusOK} {
		var other *client
		s := newShop(t, cosmostest.Options{Scripts: cosmostest.Scripts{Snapshot: true, Before: func(n int) {
			if n == 2 && changed != "none" {
				other.put("ada", changed, `"n":2`)
			}
		}}})
		other = newClient(t, s.NewTransport())
		s.put("ada", "source", `"n":1`)
		s.put("ada", "copy", `"n":0`)
		s.register("copy", copyOrder)
		s.expect(want, s.rest("POST", sprocs+"/copy", "[]", of("ada"), at449))
		n := 1.0 // of the snapshot, although it is old
		if want != http.StatusOK {
			n = 2 // of the other write
		}
		if got := s.property("ada", "copy", "n"); got != n {
			t.Errorf("after a change of %s: n is %v, want %v", changed, got, n)
		}
	}
}

// TestScriptsTimeout lets time pass between the operations of a script. After four fifths of the
// limit, no more operations are accepted; after it, the script is interrupted.
func TestScriptsTimeout(t *testing.T) {
	for _, test := range []struct {
		limit, pass time.Duration
		status      int
		answer      string
		items       string
	}{
		{0, 800 * time.Millisecond, http.StatusOK, "[true,true,true,true,true,false]", "1 2 3 4 5"},
		{0, 3 * time.Second, http.StatusRequestTimeout, "", ""},
		{10 * time.Second, 1600 * time.Millisecond, http.StatusOK, "[true,true,true,true,true,false]", "1 2 3 4 5"},
		{time.Second, 600 * time.Millisecond, http.StatusRequestTimeout, "", ""},
		{time.Hour, 5 * time.Second, http.StatusOK, "[true,true,true,true,true,true]", "1 2 3 4 5 6"},
	} {
		synctest.Test(t, func(t *testing.T) {
			options := cosmostest.Options{}
			options.Scripts.Timeout, options.Scripts.Before = test.limit, func(int) { time.Sleep(test.pass) }
			s := newScripts(t, options)
			got := s.execute("add", "ada", `[["1","2","3","4","5","6"]]`)
			if got.StatusCode != test.status || test.answer != "" && got.text != test.answer || s.ids("ada") != test.items {
				t.Errorf("limit %v, %v at a time: %d %s, items %q", test.limit, test.pass, got.StatusCode, got.text, s.ids("ada"))
			}
		})
	}
}

func TestScriptsStrict(t *testing.T) {
	const reject = `function () {
		var c = getContext().getCollection();
		c.createDocument(c.getSelfLink(), {id: '1', customer: 'ada'}, function () { Promise.reject(new Error('lost')) });
	}`
	for strict, status := range map[bool]int{false: http.StatusOK, true: http.StatusBadRequest} {
		s := newShop(t, cosmostest.Options{Scripts: cosmostest.Scripts{Strict: strict}})
		s.register("reject", reject)
		got := s.expect(status, s.execute("reject", "ada", "[]"))
		if strict && !strings.Contains(got.text, "lost") || s.has("ada", "1") == strict {
			t.Errorf("strict %t: %s, items %q", strict, got.text, s.ids("ada"))
		}
	}
}

// TestScriptsOfTriggers checks that the hooks also concern triggers.
func TestScriptsOfTriggers(t *testing.T) {
	s := newShop(t, cosmostest.Options{Scripts: cosmostest.Scripts{Fail: func(int) int { return http.StatusConflict }}})
	s.expect(http.StatusCreated, s.rest("POST", orders+"/triggers", `{"id":"log","triggerType":"Post","triggerOperation":"All","body":
		"function () { var c = getContext().getCollection(); c.createDocument(c.getSelfLink(), {id: 'log', customer: 'ada'}) }"}`))
	s.expect(http.StatusBadRequest, s.rest("POST", docs, string(order("ada", "1")), of("ada"), "x-ms-documentdb-post-trigger-include: log"))
	if s.ids("ada") != "" {
		t.Errorf("the items are %s", s.ids("ada"))
	}
}

// TestStrikes counts the executions that take more than a script may: two seconds of the
// throughput.
func TestStrikes(t *testing.T) {
	for _, follower := range []bool{false, true} {
		clock := cosmostest.NewClock(time.Now())
		s := newShop(t, cosmostest.Options{Follower: follower, Throughput: 400, Now: clock.Now})
		s.register("read", `function (n) { for (var i = 0; i < n; i++) __.readDocument(__.getAltLink() + '/docs/none', {}, function () {}) }`)
		for i, reads := range []string{"[700]", "[900]", "[900]", "[900]"} {
			clock.Advance(time.Minute) // the throughput is not used up
			s.expect(http.StatusOK, s.execute("read", "ada", reads))
			if n, err := s.Strikes("shop", "orders"); n != i || err != nil {
				t.Errorf("after %d executions: %d strikes, %v", i+1, n, err)
			}
		}
		clock.Advance(time.Minute)
		s.expect(http.StatusForbidden, s.execute("read", "ada", "[1]"))
		if _, err := s.Strikes("shop", "none"); err == nil {
			t.Error("no error for a container that does not exist")
		}
	}
}
