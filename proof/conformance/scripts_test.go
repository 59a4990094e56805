//go:build ci

package conformance

import (
	"fmt"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"cosmosblog/cosmostest"
)

// TestScripts covers stored procedures.
func TestScripts(t *testing.T) {
	t.Run("create, read, list, query, replace, delete", testScriptDefinitions)
	t.Run("missing properties and scripts", testScriptsMissing)
	t.Run("compilation errors", testCompilationErrors)
	t.Run("arguments", testArguments)
	t.Run("bodies", testBodies)
	t.Run("logging", testLogging)
	t.Run("errors by number", testScriptErrors)
	t.Run("one transaction", testScriptTransaction)
	t.Run("only its partition", testScriptPartition)
	t.Run("order of callbacks", testCallbackOrder)
	t.Run("promise errors are ignored", testPromiseErrors)
	t.Run("rejected operations", testRejectedOperations)
	t.Run("timeout", testTimeout)
	t.Run("own writes in queries", testOwnWrites)
	t.Run("conflicts", testScriptConflicts)
	t.Run("globals", testGlobals)
}

func testScriptDefinitions(t *testing.T) {
	a := open(t)
	path := a.path() + "/sprocs"
	created := a.script("sprocs", "one", "function () {}", "")
	a.equal("etag", created.etag(), created.at("_etag"), documented)
	a.rejected(409, "", documented, a.send("POST", path, `{"id":"one","body":"function () {}"}`))
	a.equal("body", a.must(200, documented, a.send("GET", path+"/one", "")).at("body"), "function () {}", documented)
	list := a.must(200, documented, a.send("GET", path, ""))
	if scripts, _ := list.at("StoredProcedures").([]any); len(scripts) != 1 || list.at("_count") != 1.0 {
		t.Errorf("list: %s", list.text)
	}
	query := a.must(200, documented, a.send("POST", path, `{"query":"SELECT * FROM c WHERE c.id = 'one'"}`, "Content-Type", "application/query+json", "x-ms-documentdb-isquery", "True"))
	if scripts, _ := query.at("StoredProcedures").([]any); len(scripts) != 1 {
		t.Errorf("query: %s", query.text)
	}
	const changed = `{"id":"one","body":"function () { getContext().getResponse().setBody(2); }"}`
	a.must(412, documented, a.send("PUT", path+"/one", changed, "If-Match", `"other"`))
	a.must(200, documented, a.send("PUT", path+"/one", changed, "If-Match", created.etag()))
	a.equal("body", a.must(200, documented, a.execute("one", "[]")).body, 2, documented)
	a.must(204, documented, a.send("DELETE", path+"/one", ""))
	a.must(404, documented, a.send("GET", path+"/one", ""))

	trigger := a.script("triggers", "t", "function () {}", `,"triggerType":"Pre","triggerOperation":"All"`)
	a.equal("triggerType", trigger.at("triggerType"), "Pre", documented)
	triggers := a.must(200, documented, a.send("GET", a.path()+"/triggers", ""))
	if scripts, _ := triggers.at("Triggers").([]any); len(scripts) != 1 {
		t.Errorf("triggers: %s", triggers.text)
	}
}

func testScriptsMissing(t *testing.T) {
	a := open(t)
	for path, body := range map[string]string{
		"sprocs": `{"id":"one"}`, "triggers": `{"id":"one","body":"function () {}","triggerType":"Pre"}`,
	} {
		got := a.rejected(400, "", fromSDKs, a.send("POST", a.path()+"/"+path, body))
		if !strings.Contains(got.text, "required properties") {
			t.Errorf("%s (%s)", got.text, fromSDKs)
		}
	}
	a.must(400, documented, a.send("POST", a.path()+"/triggers", `{"id":"one","body":"function () {}","triggerType":"During","triggerOperation":"All"}`))
	a.rejected(404, "", documented, a.execute("none", "[]"))
	a.rejected(404, "1003", fromSDKs, a.send("POST", "dbs/"+a.database+"/colls/none/sprocs/one", "[]", "pk", "p"))
}

func testCompilationErrors(t *testing.T) {
	a := open(t)
	a.script("sprocs", "broken", "function ( {", "")
	got := a.rejected(400, "65535", fromSDKs, a.execute("broken", "[]"))
	if !strings.Contains(got.text, "Encountered exception while compiling") {
		t.Errorf("%s (%s)", got.text, fromSDKs)
	}
	a.script("sprocs", "marked", "\ufefffunction () { getContext().getResponse().setBody(1); }", "")
	a.must(200, fromSDKs, a.execute("marked", "[]"))
}

func testArguments(t *testing.T) {
	a := open(t)
	a.script("sprocs", "echo", "function (a, b) { getContext().getResponse().setBody([a === undefined, b === undefined, a, b]); }", "")
	for body, want := range map[string]string{
		`["x",{"n":1}]`: `[false,false,"x",{"n":1}]`, `[1]`: `[false,true,1,null]`, `[null]`: `[false,true,null,null]`,
		``: `[true,true,null,null]`, `null`: `[true,true,null,null]`, `{}`: `[true,true,null,null]`, `{"a":1}`: `[true,true,null,null]`,
		`{"length":1,"0":"x"}`: `[false,true,"x",null]`,
	} {
		a.equal("body "+body, a.must(200, fromSDKs, a.execute("echo", body)).body, want, fromSDKs)
	}
	for _, body := range []string{`"text"`, `7`, `true`, `[1`} {
		a.must(400, fromSDKs, a.execute("echo", body))
	}
	a.must(400, fromSDKs, a.send("POST", a.path()+"/sprocs/echo", "[]")) // without a partition key
}

func testBodies(t *testing.T) {
	a := open(t)
	for i, c := range []struct{ body, want string }{
		{`function () {}`, `""`},
		{`function () { getContext().getResponse().setBody(undefined); }`, `""`},
		{`function () { getContext().getResponse().setBody(null); }`, `null`},
		{`function () { var b = {n: 1}; getContext().getResponse().setBody(b); b.n = 2; }`, `{"n":2}`},
		{`function () { getContext().getResponse().setBody("a"); getContext().getResponse().appendBody("b"); }`, `"ab"`},
	} {
		id := fmt.Sprint("s", i)
		a.script("sprocs", id, c.body, "")
		a.equal(c.body, a.must(200, fromSDKs, a.execute(id, "[]")).text, c.want, fromSDKs)
	}
}

func testLogging(t *testing.T) {
	a := open(t)
	a.script("sprocs", "log", `function () { console.log("é %s", 7); }`, "")
	if log := a.must(200, fromSDKs, a.execute("log", "[]")).header.Get("X-Ms-Documentdb-Script-Log-Results"); log != "" {
		t.Errorf("log %q without the header (%s)", log, fromSDKs)
	}
	got := a.must(200, fromSDKs, a.execute("log", "[]", "x-ms-documentdb-script-enable-logging", "True"))
	log, err := url.PathUnescape(got.header.Get("X-Ms-Documentdb-Script-Log-Results"))
	if err != nil || !strings.Contains(log, "é 7") {
		t.Errorf("log %q %v (%s)", log, err, fromSDKs)
	}
}

func testScriptErrors(t *testing.T) {
	a := open(t)
	a.script("sprocs", "fail", `function (how) {
		if (how === "number") throw new Error(4711, "by number");
		if (how === "text") throw new Error("by text");
		if (how === "abort") getContext().abort(new Error(12, "by abort"));
		if (how === "read") __.readDocument(__.getAltLink() + "/docs/none", function (err) { throw new Error(err.number, "by callback"); });
		if (how === "uncalled") __.deleteDocument(__.getAltLink() + "/docs/none");
	}`, "")
	for how, c := range map[string]struct{ substatus, text string }{
		"number": {"4711", "by number"}, "text": {"", "by text"}, "read": {"404", "by callback"},
	} {
		got := a.rejected(400, c.substatus, fromSDKs, a.execute("fail", fmt.Sprintf(`[%q]`, how)))
		if message, _ := got.at("message").(string); !strings.Contains(message, "Encountered exception while executing function") || !strings.Contains(message, c.text) {
			t.Errorf("%s: %s (%s)", how, message, fromSDKs)
		}
	}
	a.must(400, fromSDKs, a.execute("fail", `["abort"]`))
	a.must(400, fromSDKs, a.execute("fail", `["uncalled"]`))
}

// writing creates n items s0, s1, … in the partition p. If fail is true, it throws at the end.
const writing = `function (n, fail) {
	for (let i = 0; i < n; i++) {
		if (!__.createDocument(__.getSelfLink(), {id: "s" + i, pk: "p"}, function (err) { if (err) throw err; })) throw new Error("rejected");
	}
	if (fail === "now") throw new Error("now");
	if (fail === "later") __.readDocuments(__.getSelfLink(), function () { throw new Error("later"); });
	getContext().getResponse().setBody(n);
}`

func testScriptTransaction(t *testing.T) {
	a := open(t)
	a.script("sprocs", "write", writing, "")
	a.must(400, documented, a.execute("write", `[3,"now"]`))
	a.must(400, documented, a.execute("write", `[3,"later"]`))
	a.must(404, documented, a.send("GET", a.docs()+"/s0", "", "pk", "p"))
	got := a.must(200, documented, a.execute("write", `[3]`))
	if got.header.Get("X-Ms-Session-Token") == "" {
		t.Errorf("no session token (%s)", documented)
	}
	rows := a.must(200, documented, a.changes("", "x-ms-max-item-count", "1")).rows()
	if len(rows) != 3 || at(rows[0], "_lsn") != at(rows[2], "_lsn") {
		t.Errorf("page: %v (%s)", rows, fromSDKs)
	}
	a.must(400, documented, a.execute("write", `[4]`)) // s0 exists, so s3 must not be created
	a.must(404, documented, a.send("GET", a.docs()+"/s3", "", "pk", "p"))
}

func testScriptPartition(t *testing.T) {
	a := open(t)
	a.create("q", `{"id":"x","pk":"q"}`)
	a.script("sprocs", "look", `function () { __.queryDocuments(__.getSelfLink(), "SELECT * FROM c", function (err, docs) { getContext().getResponse().setBody(docs.length); }); }`, "")
	a.equal("items of another partition", a.must(200, documented, a.execute("look", "[]")).body, 0, documented)
	a.script("sprocs", "stray", `function () { __.createDocument(__.getSelfLink(), {id: "y", pk: "q"}); }`, "")
	a.must(400, documented, a.execute("stray", "[]"))
}

func testCallbackOrder(t *testing.T) {
	a := open(t)
	a.create("p", `{"id":"x","pk":"p"}`)
	a.script("sprocs", "order", `function () {
		const seen = [], link = __.getAltLink() + "/docs/x";
		__.readDocument(link, function () { seen.push("first"); __.readDocument(link, function () { seen.push("inner"); getContext().getResponse().setBody(seen); }); });
		__.readDocument(link, function () { seen.push("second"); });
		seen.push("main");
	}`, "")
	a.equal("order", a.must(200, fromSDKs, a.execute("order", "[]")).body, `["main","first","second","inner"]`, fromSDKs)
}

func testPromiseErrors(t *testing.T) {
	a := open(t)
	a.script("sprocs", "promise", `function () {
		__.createDocument(__.getSelfLink(), {id: "kept", pk: "p"});
		Promise.resolve().then(function () { throw new Error("lost"); });
	}`, "")
	a.must(200, fromSDKs, a.execute("promise", "[]"))
	a.must(200, fromSDKs, a.send("GET", a.docs()+"/kept", "", "pk", "p"))
}

func testRejectedOperations(t *testing.T) {
	for first := 1; first <= 3; first++ {
		a := openEngine(t, "the test rejects operations of a script", cosmostest.Options{Scripts: cosmostest.Scripts{Accept: func(n int) bool { return n < first }}})
		a.script("sprocs", "write", writing, "")
		a.must(400, documented, a.execute("write", `[3]`)) // throws if an operation is rejected: nothing is written
		a.equal("items", a.query("p", "SELECT VALUE COUNT(1) FROM c").at("Documents"), "[0]", documented)
		a.script("sprocs", "careless", `function () { for (let i = 0; i < 3; i++) __.createDocument(__.getSelfLink(), {id: "c" + i, pk: "p"}); }`, "")
		a.must(200, documented, a.execute("careless", "[]")) // accepted operations are committed
		a.equal("items", a.query("p", "SELECT VALUE COUNT(1) FROM c").at("Documents"), fmt.Sprintf("[%d]", first-1), documented)
	}
}

func testTimeout(t *testing.T) {
	a := openEngine(t, "the test shortens the time limit", cosmostest.Options{Scripts: cosmostest.Scripts{Timeout: 50 * time.Millisecond}})
	a.script("sprocs", "forever", `function () { __.createDocument(__.getSelfLink(), {id: "x", pk: "p"}, function () { for (;;) { try { while (true) {} } catch (e) {} } }); }`, "")
	a.rejected(408, "", fromSDKs, a.execute("forever", "[]"))
	a.must(404, documented, a.send("GET", a.docs()+"/x", "", "pk", "p"))
}

func testOwnWrites(t *testing.T) {
	for seen, want := range map[bool]string{false: `[0,1]`, true: `[1,1]`} {
		a := openEngine(t, "the documentation does not specify it", cosmostest.Options{Scripts: cosmostest.Scripts{OwnWrites: seen}})
		a.script("sprocs", "look", `function () {
			const seen = [], self = __.getSelfLink();
			__.createDocument(self, {id: "x", pk: "p"}, function () {
				__.queryDocuments(self, "SELECT * FROM c", function (err, docs) {
					seen.push(docs.length);
					__.readDocuments(self, function (err, docs) { seen.push(docs.length); getContext().getResponse().setBody(seen); });
				});
			});
		}`, "")
		a.equal(fmt.Sprint("own writes visible: ", seen), a.must(200, assumed, a.execute("look", "[]")).body, want, assumed)
	}
}

// testScriptConflicts runs conflicting scripts. An account may reject some with 449; the engine
// runs them one by one.
func testScriptConflicts(t *testing.T) {
	a := open(t)
	a.create("p", `{"id":"count","pk":"p","n":0}`)
	a.script("sprocs", "add", `function () {
		__.readDocument(__.getAltLink() + "/docs/count", function (err, doc) {
			if (err) throw err;
			doc.n++;
			if (!__.replaceDocument(doc._self, doc, {etag: doc._etag}, function (err) { if (err) throw err; })) throw new Error("rejected");
		});
	}`, "")
	const writers = 8
	statuses := make([]int, writers)
	var wait sync.WaitGroup
	for i := range writers {
		wait.Go(func() {
			got, err := a.try("POST", a.path()+"/sprocs/add", "[]", "pk", "p")
			if err == nil {
				statuses[i] = got.status
			}
		})
	}
	wait.Wait()
	done := 0
	for _, status := range statuses {
		switch {
		case status == 200:
			done++
		case status != 449 || a.engine != nil:
			t.Errorf("status %d", status)
		}
	}
	a.equal("count", a.send("GET", a.docs()+"/count", "", "pk", "p").at("n"), done, documented)
}

func testGlobals(t *testing.T) {
	a := open(t)
	a.script("sprocs", "globals", `function () {
		getContext().getResponse().setBody([typeof eval, typeof setTimeout, typeof require, typeof getContext, typeof __, typeof console.log]);
	}`, "")
	a.equal("globals", a.must(200, assumed, a.execute("globals", "[]")).body, `["undefined","undefined","undefined","function","object","function"]`, assumed)
}
