package engine

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"cosmosblog/engine/script"
	"cosmosblog/engine/value"
)

// sample is a typical user script with the loop that calls it and the expected items at the end.
// Resumable scripts are called until they are done; the others do everything or nothing.
type sample struct {
	// items is the number of items i00, i01 … with n = 0, 1 … at the start.
	items int
	// arguments returns the arguments of a call, from the last response, which is undefined before
	// the first call.
	arguments func(body value.Value) string
	finished  func(body value.Value) (done bool, what string) // nil: done after one successful call
	// want is the final result of finished, or the response.
	want string
	left string // id:n of the items at the end
}

func always(arguments string) func(value.Value) string {
	return func(value.Value) string { return arguments }
}

var samples = map[string]func() sample{
	"bulkDelete": func() sample {
		deleted := 0
		return sample{15, always(`["SELECT * FROM c WHERE c.n < 13"]`), func(body value.Value) (bool, string) {
			n, _ := body.Get("deleted").AsNumber()
			deleted += int(n)
			return !body.Get("more").IsTrue(), fmt.Sprint(deleted)
		}, "13", "i13:13 i14:14"}
	},
	"bulkImport": func() sample {
		imported := 0
		return sample{0, func(body value.Value) string {
			n, _ := body.AsNumber()
			imported += int(n)
			rest := []string{}
			for i := imported; i < 6; i++ {
				rest = append(rest, fmt.Sprintf(`{"id":"i%02d","postId":"p1","n":%d}`, i, i))
			}
			return "[[" + strings.Join(rest, ",") + "]]"
		}, func(body value.Value) (bool, string) {
			n, _ := body.AsNumber()
			return imported+int(n) == 6, ""
		}, "", "i00:0 i01:1 i02:2 i03:3 i04:4 i05:5"}
	},
	"sum": func() sample {
		return sample{20, func(body value.Value) string {
			if body.IsUndefined() {
				return `["n"]`
			}
			return fmt.Sprintf(`["n",%v,%v]`, body.Get("continuation"), body.Get("sum"))
		}, func(body value.Value) (bool, string) {
			return body.Get("continuation").IsUndefined(), body.Get("sum").String()
		}, "190", ""}
	},
	"count": func() sample {
		return sample{20, func(body value.Value) string {
			if body.IsUndefined() {
				return `["SELECT * FROM c WHERE c.n >= 7"]`
			}
			from := body.Get("continuation")
			if from.IsUndefined() {
				from = value.Null
			}
			return fmt.Sprintf(`["SELECT * FROM c WHERE c.n >= 7",%v,%v]`, from, body.Get("count"))
		}, func(body value.Value) (bool, string) {
			return !body.Get("more").IsTrue(), body.Get("count").String()
		}, "13", ""}
	},
	"swap": func() sample {
		return sample{items: 2, arguments: always(`["i00","i01","n"]`), want: "true", left: "i00:1 i01:0"}
	},
	"update": func() sample {
		return sample{items: 1, arguments: always(`["i00",{"$inc":{"n":5,"m":1},"$set":{"s":[1]},"$unset":{"x":1}}]`), left: "i00:5"}
	},
	"upsert of an old item": func() sample {
		return sample{items: 2, arguments: always(`[{"id":"i01","postId":"p1","n":7}]`), want: `{"done":"replaced"}`, left: "i00:0 i01:7"}
	},
	"upsert of a new item": func() sample {
		return sample{items: 1, arguments: always(`[{"id":"i01","postId":"p1","n":7}]`), want: `{"done":"created"}`, left: "i00:0 i01:7"}
	},
	"lock": func() sample {
		return sample{arguments: always(`["lock","me",10]`), want: `{"owner":"me"}`, left: "lock:{}"}
	},
}

// TestSamples runs each sample with both visibilities of own writes. In the first call, all
// operations from the n-th on are rejected, for every n that the script reaches.
func TestSamples(t *testing.T) {
	for name, start := range samples {
		for _, own := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/own=%t", name, own), func(t *testing.T) {
				for n := 1; runSample(t, name, start(), own, n); n++ {
				}
			})
		}
	}
}

// runSample runs a sample and reports whether an operation was rejected.
func runSample(t *testing.T, name string, s sample, own bool, n int) (rejected bool) {
	limit := n - 1
	a := newBlog(t, Options{QueriesSeeOwnWrites: own, Script: script.Options{Accept: func(operation int) bool {
		rejected = rejected || operation > limit
		return operation <= limit
	}}})
	file, _, _ := strings.Cut(name, " ")
	a.addScript("sprocs", "s", sampleBody(t, file))
	for i := range s.items {
		a.create("p1", fmt.Sprintf(`{"id":"i%02d","postId":"p1","n":%d}`, i, i))
	}
	before := a.idsAndNumbers()
	var last answer
	for calls := 0; ; calls++ {
		got := a.send("POST", posts+"/sprocs/s", s.arguments(last.body), "pk", "p1")
		limit = 1 << 30
		if s.finished == nil {
			if got.status != 200 && calls == 0 && rejected {
				if a.idsAndNumbers() != before {
					t.Errorf("rejecting from %d on: %s, before %s", n, a.idsAndNumbers(), before)
				}
				continue
			}
			a.must(200, got)
			if s.want != "" && got.text != s.want {
				t.Errorf("rejecting from %d on: %s, want %s", n, got.text, s.want)
			}
			break
		}
		last = a.must(200, got)
		if done, what := s.finished(last.body); done {
			if what != s.want {
				t.Errorf("rejecting from %d on: %s, want %s", n, what, s.want)
			}
			break
		}
		if calls == 10 {
			t.Fatalf("rejecting from %d on: the script does not finish", n)
		}
	}
	if left := s.left; left != "" && a.idsAndNumbers() != left || left == "" && a.idsAndNumbers() != before {
		t.Errorf("rejecting from %d on: %s", n, a.idsAndNumbers())
	}
	return rejected
}

// idsAndNumbers returns id:n of the items in p1.
func (a *account) idsAndNumbers() string {
	a.t.Helper()
	var items []string
	for _, item := range a.must(200, a.query("p1", `{"query":"SELECT * FROM c"}`)).items() {
		id, _ := item.Get("id").AsString()
		items = append(items, id+":"+item.Get("n").String())
	}
	return strings.Join(items, " ")
}

func sampleBody(t *testing.T, name string) string {
	t.Helper()
	body, err := os.ReadFile("script/testdata/" + name + ".js")
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}

// TestSampleTriggers rejects each operation of a write's two triggers in turn. The write must be
// rejected without any change, and succeed afterwards.
func TestSampleTriggers(t *testing.T) {
	for _, own := range []bool{false, true} {
		var reject, asked int
		a := newBlog(t, Options{QueriesSeeOwnWrites: own, Script: script.Options{Accept: func(operation int) bool {
			asked = max(asked, operation)
			return operation != reject
		}}})
		a.addTrigger("uniqueName", "Pre", "All", sampleBody(t, "uniqueName"))
		a.addTrigger("keepTotals", "Post", "All", sampleBody(t, "keepTotals"))
		for i, step := range []struct {
			method, path, item string
			status             int
			state              string // expected items afterwards
		}{
			{"POST", docs, `{"id":"a","postId":"p1","name":"x","n":1}`, 201, "a:1 name x:{} totals:1"},
			{"POST", docs, `{"id":"b","postId":"p1","name":"x","n":2}`, 400, "a:1 name x:{} totals:1"},
			{"POST", docs, `{"id":"b","postId":"p1","name":"y","n":2}`, 201, "a:1 b:2 name x:{} name y:{} totals:3"},
			{"PUT", docs + "/a", `{"id":"a","postId":"p1","name":"y","n":3}`, 400, "a:1 b:2 name x:{} name y:{} totals:3"},
			{"PUT", docs + "/a", `{"id":"a","postId":"p1","name":"z","n":3}`, 200, "a:3 b:2 name y:{} name z:{} totals:6"},
			{"PUT", docs + "/a", `{"id":"a","postId":"p1","name":"z","n":4}`, 200, "a:4 b:2 name y:{} name z:{} totals:10"},
			{"POST", docs, `{"id":"c","postId":"p1","name":"x","n":5}`, 201, "a:4 b:2 c:5 name x:{} name y:{} name z:{} totals:15"},
		} {
			write := func() answer {
				asked = 0
				return a.send(step.method, step.path, step.item, "pk", "p1", preTrigger, "uniqueName", postTrigger, "keepTotals")
			}
			before := a.idsAndNumbers()
			for reject = 1; reject == 1 || reject <= asked; reject++ {
				a.must(400, write())
				if a.idsAndNumbers() != before {
					t.Errorf("own=%t, step %d, rejecting at %d: %s, before %s", own, i, reject, a.idsAndNumbers(), before)
				}
			}
			reject = 0
			a.must(step.status, write())
			if a.idsAndNumbers() != step.state {
				t.Errorf("own=%t, step %d: %s, want %s", own, i, a.idsAndNumbers(), step.state)
			}
		}
	}
}

// TestLockInAScript checks that a lock stays with its owner as long as the owner renews it in
// time.
func TestLockInAScript(t *testing.T) {
	a := newBlog(t, Options{})
	a.addScript("sprocs", "lock", sampleBody(t, "lock"))
	for _, step := range []struct {
		after time.Duration
		who   string
		owner string
	}{{0, "ada", "ada"}, {9, "bob", "ada"}, {0, "ada", "ada"}, {9, "bob", "ada"}, {2, "bob", "bob"}, {0, "ada", "bob"}} {
		a.clock.advance(step.after * time.Second)
		got := a.must(200, a.send("POST", posts+"/sprocs/lock", `["lock","`+step.who+`",10]`, "pk", "p1"))
		if owner, _ := got.body.Get("owner").AsString(); owner != step.owner {
			t.Errorf("%v: %s", step, got.text)
		}
	}
}
