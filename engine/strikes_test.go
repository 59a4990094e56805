package engine

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"cosmosblog/engine/script"
)

// TestBlockedScripts executes scripts that take more than two seconds of their container's
// throughput. After three of these executions, a script is blocked with 403, and no other one,
// until it is made again. The basis is GatewayTests of the .NET SDK
// (ValidateStoredProceduresBlacklisting), and reports of programs that delete and create a script
// to get rid of the 403.
func TestBlockedScripts(t *testing.T) {
	const body = `function (n) { for (var i = 0; i < n; i++) __.readDocument(__.getAltLink() + '/docs/a') }`
	for name, c := range map[string]struct {
		options    Options
		throughput string // of the container's offer
		within     int    // number of reads of 1 RU within the limit
	}{
		"the least throughput":             {within: 790},
		"an offer":                         {throughput: "1000", within: 1990},
		"what the engine allows, not more": {options: Options{Throughput: 100}, throughput: "1000", within: 190},
	} {
		t.Run(name, func(t *testing.T) {
			a := newAccount(t, c.options)
			a.must(201, a.send("POST", "dbs", `{"id":"blog"}`))
			var headers []string
			if c.throughput != "" {
				headers = []string{"x-ms-offer-throughput", c.throughput}
			}
			a.must(201, a.send("POST", "dbs/blog/colls", blogContainer, headers...))
			a.create("p1", `{"id":"a","postId":"p1"}`)
			a.addScript("sprocs", "heavy", body)
			a.addScript("sprocs", "other", body)
			execute := func(id string, reads int) answer {
				a.clock.advance(time.Hour) // the throughput is not used up
				return a.send("POST", posts+"/sprocs/"+id, fmt.Sprintf("[%d]", reads), "pk", "p1")
			}
			for range 2 * maxStrikes {
				a.must(200, execute("heavy", c.within))
			}
			for range maxStrikes {
				a.must(200, execute("heavy", c.within+20))
			}
			for range 2 {
				blocked := a.must(403, execute("heavy", 0))
				if !strings.Contains(blocked.text, "The script with id 'heavy' is blocked for execution because it has violated its allowed resource limit several times.") {
					t.Error(blocked.text)
				}
			}
			a.must(200, execute("other", 1))
			a.must(204, a.send("DELETE", posts+"/sprocs/heavy", ""))
			a.addScript("sprocs", "heavy", body)
			a.must(200, execute("heavy", 1))
		})
	}
}

// TestBlockedTriggers blocks a trigger by what its writes are charged. Writes without it go on.
func TestBlockedTriggers(t *testing.T) {
	a := newBlog(t, Options{})
	a.addTrigger("heavy", "Post", "All", `function () {
		var n = getContext().getRequest().getBody().n;
		for (var i = 0; i < n; i++) __.readDocument(__.getAltLink() + '/docs/a');
	}`)
	write := func(n int, headers ...string) answer {
		return a.send("POST", docs, fmt.Sprintf(`{"id":"a","postId":"p1","n":%d}`, n), append(headers, "pk", "p1", asUpsert, "True")...)
	}
	for range maxStrikes {
		if got := write(900, postTrigger, "heavy"); got.status >= 300 {
			t.Fatal(got.text)
		}
	}
	a.must(403, write(0, postTrigger, "heavy"))
	a.must(200, write(0))
}

// TestTimeoutsBlock checks that executions without an end count, too.
func TestTimeoutsBlock(t *testing.T) {
	a := newBlog(t, Options{Script: script.Options{Timeout: time.Millisecond}})
	a.addScript("sprocs", "endless", `function () { while (true) {} }`)
	for range maxStrikes {
		a.must(408, a.send("POST", posts+"/sprocs/endless", "", "pk", "p1"))
	}
	a.must(403, a.send("POST", posts+"/sprocs/endless", "", "pk", "p1"))
}

// TestProcedureCount registers as many stored procedures as a container may have (limits page of
// Azure Cosmos DB).
func TestProcedureCount(t *testing.T) {
	a := newBlog(t, Options{})
	for i := range 100 {
		a.addScript("sprocs", fmt.Sprint("s", i), "function () {}")
	}
	const more = `{"id":"more","body":"function () {}"}`
	a.must(403, a.send("POST", posts+"/sprocs", more))
	a.must(200, a.send("PUT", posts+"/sprocs/s1", `{"id":"s1","body":"function () {}"}`))
	a.addTrigger("t", "Post", "All", "function () {}")
	a.must(204, a.send("DELETE", posts+"/sprocs/s1", ""))
	a.must(201, a.send("POST", posts+"/sprocs", more))
}
