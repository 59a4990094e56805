package engine

import (
	"encoding/json"
	"math"
	"strconv"
	"strings"
	"testing"
	"time"

	"cosmosblog/engine/script"
	"cosmosblog/engine/value"
)

// netStep is a request, and what is wanted of the answer, parted by " & ": its status, with the
// substatus behind a slash; texts in its body, with ! those that are not; names of headers behind
// ^, and ^! if the answer lacks them; and the statuses of a batch's operations, parted by spaces.
// In body and headers, {etag}, {session} and {token} stand for the last ones, {token} being a
// continuation. A header pk has the JSON of a partition key. The request "keep" makes the last etag
// {kept}, and "wait" passes the seconds in body.
type netStep struct {
	request, body, want string
	headers             []string
}

func netSend(request, body, want string, headers ...string) netStep {
	return netStep{request, body, want, headers}
}

// netTrigger and the following are steps that many cases need.
func netTrigger(id, when, operation, body string) netStep {
	text, _ := json.Marshal(body)
	return netSend("POST triggers", `{"id":"`+id+`","body":`+string(text)+`,"triggerType":"`+when+`","triggerOperation":"`+operation+`"}`, "201")
}

func netProcedure(body string) netStep {
	text, _ := json.Marshal(body)
	return netSend("POST sprocs", `{"id":"s","body":`+string(text)+`}`, "201")
}

func netCreate(item string) netStep { return netSend("POST docs", item, "201", "pk", `"p"`) }

func netExecute(arguments, want string) netStep {
	return netSend("POST sprocs/s", arguments, want, "pk", `"p"`)
}

func netBatch(operations, want string, headers ...string) netStep {
	return netSend("POST docs", operations, want, append(headers, "pk", `"p"`, "x-ms-cosmos-is-batch-request", "True", "x-ms-cosmos-batch-atomic", "True")...)
}

func netQuery(text, want string, headers ...string) netStep {
	return netSend("POST docs", `{"query":"`+text+`"}`, want, append(headers, "Content-Type", "application/query+json",
		"x-ms-documentdb-query", "True", "x-ms-documentdb-query-enablecrosspartition", "true")...)
}

// netChanges reads the changes of the only range after an etag, or from the beginning.
func netChanges(after, want string, headers ...string) netStep {
	if after != "" {
		headers = append(headers, "If-None-Match", after)
	}
	return netSend("GET docs", "", want, append(headers, "A-IM", "Incremental Feed", "x-ms-documentdb-partitionkeyrangeid", "0")...)
}

// runNetSteps sends the steps of a case.
func runNetSteps(t *testing.T, a *account, steps []netStep) {
	t.Helper()
	known := []string{"{etag}", "", "{session}", "", "{token}", "", "{kept}", ""}
	for i, s := range steps {
		switch s.request {
		case "wait":
			seconds, _ := strconv.Atoi(s.body)
			a.clock.advance(time.Duration(seconds) * time.Second)
			continue
		case "keep":
			known[7] = known[1]
			continue
		}
		fill := strings.NewReplacer(known...).Replace
		method, path, _ := strings.Cut(fill(s.request), " ")
		if !strings.HasPrefix(path, "dbs") {
			path = strings.TrimSuffix(posts+"/"+path, "/")
		}
		var headers []string
		for j, h := range s.headers {
			if h == "pk" {
				h = "x-ms-documentdb-partitionkey"
			} else if j > 0 && s.headers[j-1] == "pk" {
				h = "[" + h + "]"
			}
			headers = append(headers, fill(h))
		}
		got := a.send(method, path, fill(s.body), headers...)
		wants := strings.Split(s.want, " & ")
		status := strconv.Itoa(got.status)
		if sub := got.header.Get("X-Ms-Substatus"); sub != "" {
			status += "/" + sub
		}
		if status != wants[0] {
			t.Errorf("step %d, %s: %s, want %s: %.300s", i, s.request, status, wants[0], got.text)
			return
		}
		for _, want := range wants[1:] {
			if name, isHeader := strings.CutPrefix(want, "^"); isHeader {
				if name, absent := strings.CutPrefix(name, "!"); absent != (got.header.Get(name) == "") {
					t.Errorf("step %d, %s: headers %v, want %s", i, s.request, got.header, want)
				}
				continue
			}
			if results, ok := got.body.AsArray(); ok && isStatuses(want) {
				checkBatch(t, got, results, want)
				continue
			}
			if text, absent := strings.CutPrefix(want, "!"); absent == strings.Contains(got.text, text) {
				t.Errorf("step %d, %s: want %q: %.300s", i, s.request, want, got.text)
			}
		}
		if got.header.Get("X-Ms-Activity-Id") == "" || got.header.Get("X-Ms-Request-Charge") == "" {
			t.Errorf("step %d, %s: the answer has no activity id or no charge", i, s.request)
		}
		for j, value := range []string{got.header.Get("Etag"), got.header.Get("X-Ms-Session-Token"), got.header.Get("X-Ms-Continuation")} {
			if value != "" || j == 2 {
				known[2*j+1] = value
			}
		}
	}
}

// isStatuses reports whether a wanted text is the statuses of a batch's operations.
func isStatuses(text string) bool { return len(strings.Trim(text, "0123456789 ")) == 0 }

// checkBatch compares the statuses of a batch's operations, and the sum of their charges with that
// of the whole (BatchSinglePartitionKeyTests, VerifyBatchProcessed).
func checkBatch(t *testing.T, got answer, results []value.Value, want string) {
	t.Helper()
	statuses, sum := []string{}, 0.0
	for _, r := range results {
		charged, _ := r.Get("requestCharge").AsNumber()
		statuses, sum = append(statuses, r.Get("statusCode").String()), sum+charged
	}
	if found := strings.Join(statuses, " "); found != want || math.Abs(sum-charge(t, got)) > 0.1 {
		t.Errorf("statuses %s, want %s; charges %.2f, of the whole %.2f", found, want, sum, charge(t, got))
	}
}

// TestDotnetCases has what Microsoft's tests of the .NET SDK expect of the service, in our words
// (azure-cosmos-dotnet-v3, Microsoft.Azure.Cosmos.EmulatorTests, commit 8c53d359). A case is named
// by its test there.
func TestDotnetCases(t *testing.T) {
	for _, cases := range []map[string][]netStep{netTriggerCases, netProcedureCases, netBatchCases, netItemCases, netFeedCases} {
		for name, steps := range cases {
			t.Run(name, func(t *testing.T) {
				runNetSteps(t, newBlog(t, Options{}), steps)
				runNetSteps(t, newBlog(t, Options{SnapshotScripts: true, QueriesSeeOwnWrites: true}), steps)
			})
		}
	}
}

// Scripts, items and headers of several cases.
const (
	netUpper   = `function () { var r = getContext().getRequest(), b = r.getBody(); b.id = b.id.toUpperCase() + 'x'; r.setBody(b) }`
	netNothing = `function () { }`
	netFails   = `function fails(f) { try { f() } catch (e) { return } throw 'no error' } `
	netNumber  = `function number() { var r = getContext().getRequest(), c = getContext().getCollection(), b = r.getBody();
		c.queryDocuments(c.getSelfLink(), "SELECT VALUE MAX(r.n) FROM root r WHERE r.k = '" + b.k + "'", function (err, found) {
			if (err) throw new Error(err.message);
			b.n = (found.length > 0 ? found[0] : 0) + 1;
		});
		r.setBody(b) }`
	netChildren = `{"id":"a","postId":"p","description":"d","taskNum":1,"children":[{"id":"c0","cost":2},{"id":"c1","nullableInt":3,"pk":null}]}`
	netEdit     = `{"operations":[{"op":"add","path":"/children/1/pk","value":"patched"},{"op":"remove","path":"/description"},{"op":"add","path":"/taskNum","value":8}]}`
	netLimit    = "x-ms-documentdb-responsecontinuationtokenlimitinkb"
	netSince    = "If-Modified-Since"
)

func netPatch(id, body, want string, headers ...string) netStep {
	return netSend("PATCH docs/"+id, body, want, append(headers, "pk", `"p"`)...)
}

func netRead(id, want string) netStep { return netSend("GET docs/"+id, "", want, "pk", `"p"`) }

// netAmong is a batch whose second operation of three is rejected.
func netAmong(operation string, status int) netStep {
	return netBatch(`[{"operationType":"Create","resourceBody":{"id":"x","postId":"p"}},`+operation+`,{"operationType":"Create","resourceBody":{"id":"y","postId":"p"}}]`,
		"207 & 424 "+strconv.Itoa(status)+" 424")
}

// netTriggerCases are of triggers.
var netTriggerCases = map[string][]netStep{
	"GatewayTests.ValidateTriggers/request and response bodies": {
		netTrigger("pre", "Pre", "All", netUpper),
		netTrigger("post", "Post", "All", `function () { var q = getContext().getRequest().getBody(), r = getContext().getResponse(), b = r.getBody();
				if (q.id != 'Ax' || b.id != 'Ax') throw 'mismatch'; b.id += q.id + '2'; r.setBody(b) };`),
		netSend("POST docs", `{"id":"a"}`, `201 & "id":"AxAx2"`, "pk", `{}`, preTrigger, "pre", postTrigger, "post"),
		netSend("GET docs/Ax", "", "200", "pk", `{}`),
	},
	"GatewayTests.ValidateTriggers/what a post-trigger cannot set": {
		netTrigger("post", "Post", "All", `function () { `+netFails+`
				var q = getContext().getRequest(), r = getContext().getResponse();
				fails(function () { q.setBody('x') }); fails(function () { q.setValue('Body', 'x') });
				fails(function () { q.setValue('Test', 'x') }); fails(function () { r.setValue('Test', 'x') }) };`),
		netSend("POST docs", `{"id":"a"}`, "201", "pk", `{}`, postTrigger, "post"),
	},
	"GatewayTests.ValidateTriggers/what a pre-trigger cannot do": {
		netTrigger("pre", "Pre", "All", `function () { `+netFails+`var r = getContext().getRequest(), b = r.getBody();
				fails(function () { getContext().getResponse() }); fails(function () { r.setValue('Test', '1') });
				b.id = 'b'; r.setValue('Body', b) }`),
		netSend("POST docs", `{"id":"a"}`, `201 & "id":"b"`, "pk", `{}`, preTrigger, "pre"),
	},
	"GatewayTests.ValidateTriggers/set many times": {
		netTrigger("pre", "Pre", "All", `function () { for (var i = 0; i < 200; i++) { var r = getContext().getRequest(), b = r.getBody(); b.id += 'a'; r.setBody(b) } };`),
		netSend("POST docs", `{"id":"doc"}`, `201 & "id":"doc`+strings.Repeat("a", 200)+`"`, "pk", `{}`, preTrigger, "pre"),
	},
	"GatewayTests.ValidateTriggers/errors": {
		netTrigger("post", "Post", "All", netNothing), netTrigger("delete", "Post", "Delete", netNothing),
		netTrigger("error", "Pre", "All", `function () { throw new Error(409, 'Error 409') }`),
		netTrigger("late", "Post", "All", `function () { throw new Error(4444, 'Error 4444') }`),
		netTrigger("text", "Post", "All", `function () { throw 'always'; }`),
		netSend("POST docs", `{"id":"a"}`, "400", "pk", `{}`, preTrigger, "post"),
		netSend("POST docs", `{"id":"a"}`, "400", "pk", `{}`, postTrigger, "delete"),
		netSend("POST docs", `{"id":"a"}`, "400/409 & Error 409", "pk", `{}`, preTrigger, "error"),
		netSend("POST docs", `{"id":"a"}`, "400/4444 & Error 4444", "pk", `{}`, postTrigger, "late"),
		netSend("POST docs", `{"id":"a"}`, "400 & always", "pk", `{}`, postTrigger, "text"),
		netSend("POST docs", `{"id":"a"}`, "400", "pk", `{}`, preTrigger, "error,post"),
		netSend("POST docs", `{"id":"a"}`, "400", "pk", `{}`, postTrigger, "post,text"),
		netSend("GET docs/a", "", "404", "pk", `{}`),
	},
	"GatewayTests.ValidateTriggers/definitions": {
		netSend("POST triggers", `{"id":"t","triggerType":"Post","triggerOperation":"All"}`, `400 & The input content is invalid because the required properties - 'body; ' - are missing`),
		netSend("POST triggers", `{"id":"t","body":"function () { }","triggerOperation":"All"}`, `400 & The input content is invalid because the required properties - 'triggerType; ' - are missing`),
		netSend("POST triggers", `{"id":"t","body":"function () { }","triggerType":"Post"}`, `400 & The input content is invalid because the required properties - 'triggerOperation; ' - are missing`),
	},
	"GatewayTests.ValidateTriggers/deletes its item": {
		netTrigger("post", "Post", "All", `function () { var c = getContext().getCollection(), item = getContext().getResponse().getBody();
				function page(err, feed, options) {
					if (err) throw 'page';
					feed.forEach(function (d) { if (d.id == item.id) c.deleteDocument(d._self, function (err) { if (err) throw 'delete' }) });
					if (options.continuation) c.readDocuments(c.getSelfLink(), { pageSize: 1, continuation: options.continuation }, page);
				}
				c.readDocuments(c.getSelfLink(), { pageSize: 1 }, page) }`),
		netSend("POST docs", `{"id":"0"}`, "201", "pk", `{}`), netSend("POST docs", `{"id":"b"}`, "201", "pk", `{}`),
		netSend("POST docs", `{"id":"a"}`, "201", "pk", `{}`, postTrigger, "post"),
		netSend("GET docs/a", "", "404", "pk", `{}`), netSend("GET docs/b", "", "200", "pk", `{}`),
	},
	"GatewayTests.ValidateTriggers/quota": { // the service has both functions
		netTrigger("post", "Post", "All", `function () { var r = getContext().getResponse(); r.setBody([typeof r.getResourceQuotaCurrentUsage, typeof r.getMaxResourceQuota]) }`),
		netSend("POST docs", `{"id":"a"}`, `201 & ["undefined","undefined"]`, "pk", `{}`, postTrigger, "post"),
	},
	"GatewayTests.ValidateTriggerCrud": {
		netTrigger("t", "Pre", "All", netNothing),
		netSend("PUT triggers/t", `{"id":"t","body":"function() {var x = 20;}","triggerType":"Pre","triggerOperation":"Create"}`, `200 & "triggerType":"Pre" & "triggerOperation":"Create"`),
		netSend("GET triggers/t", "", `200 & function() {var x = 20;}`), netSend("DELETE triggers/t", "", "204"), netSend("GET triggers/t", "", "404"),
		netSend("GET triggers", "", `200 & "Triggers":[]`),
	},
	"TriggersTests.ValidatePreTriggerTest": {
		netTrigger("number", "Pre", "Create", netNumber), netTrigger("upsert", "Pre", "Upsert", netNumber),
		netSend("POST docs", `{"id":"a","k":"k~1"}`, `201 & "n":1`, "pk", `{}`, preTrigger, "number"),
		netSend("POST docs", `{"id":"b","k":"k~1"}`, `201 & "n":2`, "pk", `{}`, preTrigger, "number"),
		netSend("POST docs", `{"id":"c","k":"k~1"}`, `201 & "n":3`, "pk", `{}`, preTrigger, "upsert", asUpsert, "True"),
		netSend("POST docs", `{"id":"d","k":"other"}`, `201 & "n":1`, "pk", `{}`, preTrigger, "upsert", asUpsert, "True"),
	},
	"TriggersTests.ValidateTriggersTest": {
		netTrigger("tax", "Pre", "All", `function tax() { var r = getContext().getRequest(), item = r.getBody(); item.tax = calculate(item.cost); item.createdTime = new Date(); r.setBody(item);
				function calculate(n) { return n * .20 } }`),
		netSend("POST docs", `{"id":"a","postId":"p","cost":9001}`, `201 & "tax":1800.2 & "createdTime":"2026-01-02T03:04:05.000Z"`, "pk", `"p"`, preTrigger, "tax"),
	},
}

// netProcedureCases are of stored procedures.
var netProcedureCases = map[string][]netStep{
	"GatewayTests.ValidateStoredProcedureCrud": {
		netProcedure(netNothing), netSend("DELETE sprocs/s", "", "204"), netSend("GET sprocs/s", "", "404"), netSend("DELETE sprocs/s", "", "404"),
		netExecute("[]", "404 & Resource Not Found"), netSend("DELETE ", "", "204"),
		netSend("POST sprocs", `{"query":"select * from root r where r.id=\"s\""}`, "404/1003", "x-ms-documentdb-isquery", "True", "Content-Type", "application/query+json"),
		netSend("DELETE sprocs/s", "", "404/1003"),
	},
	"GatewayTests.ValidateSprocWithFailedUpdates": {
		netCreate(`{"id":"a","postId":"p"}`),
		netProcedure(`function () { var c = getContext().getCollection(); c.createDocument(c.getSelfLink(), { id: 'a', postId: 'p' }, { }, function (err, d) { getContext().getResponse().setBody(err ? 'dummy' : d) }) }`),
		netExecute("", `200 & "dummy"`),
	},
	"GatewayTests.ValidateSystemSproc": { // the service has this procedure
		netSend("POST sprocs/__.sys.echo", `["x"]`, "404", "pk", `"p"`),
	},
	"GatewayTests.ValidateStoredProcedures/results": { // not active there
		netProcedure(`function (input) { var r = getContext().getResponse();
				for (var i = 0; i < 1000; i++) { if (i > 0 && r.getBody() != i - 1) throw 'mismatch'; r.setBody(i) }
				r.setBody(''); for (i = 0; i < 10; i++) r.appendValue('Body', i); r.appendBody('a' + input.temp + (1 + 2)) }`),
		netExecute(`[{"temp":"so"}]`, `200 & "0123456789aso3"`),
	},
	"GatewayTests.ValidateStoredProcedures/errors": {
		netProcedure(`function (n) { throw n ? new Error(n, 'told') : new Error('told') }`),
		netExecute("[1234]", "400/1234 & told"), netExecute("[]", "400 & told"),
		netSend("PUT sprocs/s", `{"id":"s","body":"function() { This is to create a Compile Error! }"}`, "200"), netExecute("", "400/65535"),
		netSend("PUT sprocs/s", `{"id":"s","body":""}`, "400"), // the service says that it does not compile
	},
	"GatewayTests.ValidateStoredProcedures/documents": {
		netCreate(`{"id":"a","postId":"p","b":2,"bb":"b"}`), netCreate(`{"id":"c","postId":"p","b":3,"bb":"x"}`),
		netProcedure(`function () { var c = getContext().getCollection(), r = getContext().getResponse();
				c.queryDocuments(c.getAltLink(), 'select * from root r where r.bb = "b"', { pageSize: 10, continuation: '', enableScan: true }, function (err, feed, options) {
					if (err || options.continuation || feed.length != 1) throw new Error('query');
					r.appendBody(JSON.stringify(feed[0].b));
					c.readDocuments(c.getSelfLink(), { pageSize: 1, continuation: '' }, page) });
				function page(err, feed, options) {
					if (err) throw new Error('page');
					feed.forEach(function (d) { d.b++; c.replaceDocument(d._self, d, { indexAction: 'exclude' }, function (err, made, options) {
						if (err) throw new Error('replace');
						r.appendBody(JSON.stringify(made.b) + typeof options.currentCollectionSizeInMB);
						c.deleteDocument(c.getAltLink() + '/docs/' + d.id, function (err) { if (err) throw 'delete' }) }) });
					if (options.continuation) c.readDocuments(c.getSelfLink(), { pageSize: 1, continuation: options.continuation }, page);
				} }`),
		netExecute("", `200 & "23undefined4undefined"`), // the service has currentCollectionSizeInMB
		netQuery("SELECT VALUE COUNT(1) FROM c", `200 & "Documents":[0]`, "pk", `"p"`),
	},
	"GatewayTests.ValidateReadOnlyStoredProcedureExecution": {
		netCreate(`{"id":"a","postId":"p"}`), netCreate(`{"id":"b","postId":"p"}`),
		netProcedure(`function () { var c = getContext().getCollection();
				c.readDocuments(c.getSelfLink(), { }, function page(err, feed, options) {
					if (err) throw 'page';
					feed.forEach(function (d) { getContext().getResponse().appendBody(d.id) });
					if (options.continuation) c.readDocuments(c.getSelfLink(), { pageSize: 1, continuation: options.continuation }, page) }) }`),
		netExecute("", `200 & "ab"`),
	},
	"StoredProcedureTests.CRUDTest": {
		netSend("POST sprocs", `{"id":"s","body":"function() { { var x = 42; } }"}`, `201 & "_rid":" & "_etag":" & "_ts":1767323045 & "_self":"dbs/ & function() { { var x = 42; } }`),
		netExecute(`[]`, `200 & ""`),
		netSend("PUT sprocs/s", `{"id":"s","body":"function(name) { getContext().getResponse().setBody(\"hello \" + name) }"}`, "200"),
		netExecute(`["you"]`, `200 & "hello you"`), netSend("DELETE sprocs/s", "", "204"), netSend("DELETE sprocs/s", "", "404"),
	},
	"StoredProcedureTests.ExecuteTest": {
		netProcedure(`function () { var c = getContext().getCollection(); c.queryDocuments(c.getSelfLink(), 'SELECT * FROM c', { }, function (err, found) { getContext().getResponse().setBody(found) }) }`), netCreate(`{"id":"a","postId":"p"}`), netSend("POST docs", `{"id":"b","postId":"q"}`, "201", "pk", `"q"`), netSend("POST docs", `{"id":"c"}`, "201", "pk", `{}`),
		netExecute("", `200 & [{"id":"a" & !"b" & !"c"`), netExecute("[]", `200 & [{"id":"a"`),
		netSend("POST sprocs/s", "", `200 & [{"id":"c" & !"a" & !"b"`, "pk", `{}`), // ExecuteNonePkTest
	},
	"StoredProcedureTests.ExecuteTestWithParameter": {
		netProcedure(`function (a) { getContext().getResponse().setBody(a) }`), netExecute(`["one"]`, `200 & "one"`), netExecute(`[null]`, `200 & null`),
	},
	"StoredProcedureTests.ExecuteTestWithNonObjectStreamParameters": {
		netProcedure(`function (a) { getContext().getResponse().setBody(a) }`), netExecute(`""`, "400"), netExecute(`"hello"`, "400"), netExecute("0", "400"), netExecute("undefined", "400"), netExecute("-1.25", "400"), netExecute("false", "400"), netExecute("[x:4]", "400"),
	},
	"StoredProcedureTests.ExecuteTestWithTechnicallyJSONParseableButNotArraylikeParameters": {
		netProcedure(`function (a) { getContext().getResponse().setBody(typeof a) }`),
		netExecute("null", `200 & "undefined"`), netExecute("{}", `200 & "undefined"`), netExecute(`{"a":4}`, `200 & "undefined"`), netExecute(`{"0":4}`, `200 & "undefined"`),
	},
	"StoredProcedureTests.ExecuteTestWithArraylikeParameters": {
		netProcedure(`function (a, b, c) { getContext().getResponse().setBody(a + (b || '') + (c || '')) }`), netExecute(`["on","et","wo"]`, `200 & "onetwo"`), netExecute(`{"0":"onetwo","length":1}`, `200 & "onetwo"`), netExecute(`{"0":"onetwo","length":"1"}`, `200 & "onetwo"`),
		netExecute(`{"0":"onetwo","length":10000}`, `200 & "onetwo"`), netExecute(`{"0":"onetwo","1":"x","length":1}`, `200 & "onetwo"`),
		netExecute(`{"0":"onetwo","1":"x","length":1.5}`, `200 & "onetwo"`), netExecute(`{"0":"one","2":"two","length":3}`, `200 & "onetwo"`),
		netExecute(`{"0":"on","2":"wo","1":"et","length":3}`, `200 & "onetwo"`),
	},
	"StoredProcedureTests.ExecuteTestWithNonAppliableArraylikeParameters": {
		netProcedure(`function () { getContext().getResponse().setBody(true) }`),
		netExecute(`{"0":"a","length":600000}`, "400"), netExecute(`{"0":"a","length":1e9}`, "400"),
	},
}

// netBatchCases are of batches.
var netBatchCases = map[string][]netStep{
	"BatchSinglePartitionKeyTests.BatchCrudAsync": {
		netCreate(`{"id":"a","postId":"p","n":1}`), netCreate(`{"id":"b","postId":"p","n":1}`), netCreate(`{"id":"c","postId":"p","n":1}`), netCreate(`{"id":"d","postId":"p"}`),
		netBatch(`[{"operationType":"Create","resourceBody":{"id":"n","postId":"p"}},{"operationType":"Read","id":"c"},{"operationType":"Replace","id":"b","resourceBody":{"id":"b","postId":"p","n":2}},
				{"operationType":"Upsert","resourceBody":{"id":"u","postId":"p"}},{"operationType":"Upsert","resourceBody":{"id":"a","postId":"p","n":2}},{"operationType":"Delete","id":"d"},
				{"operationType":"Patch","id":"c","resourceBody":{"operations":[{"op":"replace","path":"/n","value":2}]}}]`, "200 & 201 200 200 201 200 204 200"),
		netQuery("SELECT c.id, c.n FROM c", `200 & [{"id":"a","n":2},{"id":"b","n":2},{"id":"c","n":2},{"id":"n"},{"id":"u"}]`, "pk", `"p"`),
	},
	"BatchSinglePartitionKeyTests.BatchOrderedAsync": {
		netBatch(`[{"operationType":"Create","resourceBody":{"id":"a","postId":"p","n":1}},{"operationType":"Replace","id":"a","resourceBody":{"id":"a","postId":"p","n":21}}]`, "200 & 201 200"),
		netRead("a", `200 & "n":21`),
	},
	"BatchSinglePartitionKeyTests.BatchCreateAndPatchAsync": { // and BatchCustomSerializerUsedForPatchAsync
		netBatch(`[{"operationType":"Create","resourceBody":{"id":"a","postId":"p","n":1}},{"operationType":"Patch","id":"a","resourceBody":{"operations":[
				{"op":"replace","path":"/n","value":2},{"op":"add","path":"/date","value":"x"},{"op":"move","from":"/date","path":"/today"}]}}]`, "200 & 201 200"),
		netRead("a", `200 & "n":2 & "today":"x" & !"date"`),
	},
	"BatchSinglePartitionKeyTests.BatchItemETagAsync": {
		netCreate(`{"id":"a","postId":"p","n":1}`),
		netBatch(`[{"operationType":"Replace","id":"a","ifMatch":{etag},"resourceBody":{"id":"a","postId":"p","n":2}}]`, "200 & 200"),
		netBatch(`[{"operationType":"Replace","id":"a","ifMatch":"1234","resourceBody":{"id":"a","postId":"p","n":3}}]`, "207 & 412"), netRead("a", `200 & "n":2`),
	},
	"BatchSinglePartitionKeyTests.BatchItemTimeToLiveAsync": {
		netCreate(`{"id":"r","postId":"p"}`), netCreate(`{"id":"u","postId":"p","ttl":3}`),
		netBatch(`[{"operationType":"Create","resourceBody":{"id":"a","postId":"p","ttl":3}},{"operationType":"Create","resourceBody":{"id":"b","postId":"p"}},
				{"operationType":"Replace","id":"r","resourceBody":{"id":"r","postId":"p","ttl":3}},{"operationType":"Upsert","resourceBody":{"id":"u","postId":"p","ttl":-1}}]`, "200 & 201 201 200 200"),
		netSend("wait", "4", ""), netRead("a", "404"), netRead("b", "200"), netRead("r", "404"), netRead("u", "200"),
	},
	"BatchSinglePartitionKeyTests.BatchWith…Async": { // CreateConflict, InvalidCreate, ReadOfNonExistentEntity, ReplaceOfStaleEntity, DeleteOfNonExistentEntity
		netCreate(`{"id":"a","postId":"p","n":1}`),
		netAmong(`{"operationType":"Create","resourceBody":{"id":"a","postId":"p","n":2}}`, 409), netAmong(`{"operationType":"Create","resourceBody":{"id":"c","postId":"q"}}`, 400),
		netAmong(`{"operationType":"Read","id":"none"}`, 404), netAmong(`{"operationType":"Replace","id":"a","ifMatch":"1234","resourceBody":{"id":"a","postId":"p","n":2}}`, 412),
		netAmong(`{"operationType":"Delete","id":"none"}`, 404), netQuery("SELECT c.id, c.n FROM c", `200 & [{"id":"a","n":1}]`),
	},
	"BatchSinglePartitionKeyTests.BatchErrorSessionTokenTestAsync": { // the service names no container's resource id in errors
		netCreate(`{"id":"a","postId":"p"}`), netRead("none", "404 & ^X-Ms-Session-Token & ^X-Ms-Content-Path"),
		netBatch(`[{"operationType":"Read","id":"none"}]`, "207 & 404 & ^X-Ms-Session-Token & ^X-Ms-Content-Path"),
		netBatch(`[{"operationType":"Read","id":"a"},{"operationType":"Read","id":"none"}]`, "207 & 424 404 & ^X-Ms-Session-Token"),
		netBatch(`[{"operationType":"Read","id":"none"},{"operationType":"Read","id":"a"}]`, "207 & 404 424 & ^X-Ms-Session-Token"),
		netBatch(`[{"operationType":"Create","resourceBody":{"id":"b","postId":"p"}},{"operationType":"Read","id":"none"}]`, "207 & 424 404 & ^X-Ms-Session-Token"),
		netBatch(`[{"operationType":"Read","id":"none"},{"operationType":"Create","resourceBody":{"id":"b","postId":"p"}}]`, "207 & 404 424 & ^X-Ms-Session-Token"),
		netRead("b", "404"),
	},
	"BatchSinglePartitionKeyTests.BatchReadsOnlyAsync": {
		netCreate(`{"id":"a","postId":"p","n":1}`), netCreate(`{"id":"b","postId":"p","n":2}`),
		netBatch(`[{"operationType":"Read","id":"a"},{"operationType":"Read","id":"b"}]`, `200 & 200 200 & "n":1 & "n":2 & ^X-Ms-Content-Path`),
	},
	"BatchSinglePartitionKeyTests.BatchServerResponseTooLargeAsync": { // in the service, the last of ten operations is 413
		netCreate(`{"id":"a","postId":"p","x":"` + strings.Repeat("x", 1<<20) + `"}`),
		netBatch("["+strings.Repeat(`{"operationType":"Read","id":"a"},`, 9)+`{"operationType":"Read","id":"a"}]`, "207 & 424 424 424 413 424 424 424 424 424 424"),
	},
	"BatchSinglePartitionKeyTests.BatchWithTooManyOperationsAsync": {
		netBatch("["+strings.Repeat(`{"operationType":"Read","id":"x"},`, 100)+`{"operationType":"Read","id":"x"}]`, "400"),
	},
	"BatchSinglePartitionKeyTests.BatchLargerThanServerRequestAsync": {
		netBatch(`[{"operationType":"Create","resourceBody":{"id":"a","postId":"p","x":"`+strings.Repeat("x", 1<<20)+`"}},{"operationType":"Create","resourceBody":{"id":"b","postId":"p","x":"`+strings.Repeat("x", 11<<17)+`"}}]`, "413"),
	},
}

// netItemCases are of items, patches, pages and sessions.
var netItemCases = map[string][]netStep{
	"CosmosItemTests.CreateDropItemWithInvalidIdCharactersTest": { // the service creates it
		netSend("POST docs", `{"id":"Invalid#/\\?Id","postId":"p"}`, "400", "pk", `"p"`),
	},
	"CosmosItemTests.NegativeCreateDropItemTest": {
		netSend("POST docs", `{"id":"a","postId":"p"}`, "400/1001", "pk", `"bad"`),
	},
	"CosmosItemTests.NoAutoGenerateIdTest": {
		netSend("POST docs", `{"postId":"p"}`, "400", "pk", `"p"`), netSend("POST docs", `{"id":null,"postId":"p"}`, "400", "pk", `"p"`),
	},
	"CosmosItemTests.CreateDropItemPartitionKeyNotInTypeTest": { // and CreateDropItemUndefinedPartitionKeyTest
		netSend("POST docs", `{"id":"a"}`, "201", "pk", `{}`), netSend("GET docs/a", "", "200", "pk", `{}`),
		netSend("DELETE docs/a", "", "204", "pk", `{}`), netSend("GET docs/a", "", "404", "pk", `{}`),
	},
	"CosmosItemTests.CreateDropItemMultiPartPartitionKeyTest": {
		netSend("POST dbs/blog/colls", `{"id":"deep","partitionKey":{"paths":["/a/b/c"],"kind":"Hash","version":2}}`, "201"),
		netSend("POST dbs/blog/colls/deep/docs", `{"id":"x","a":{"b":{"c":"pk1"}}}`, "201", "pk", `"pk1"`),
		netSend("GET dbs/blog/colls/deep/docs/x", "", "200", "pk", `"pk1"`), netSend("DELETE dbs/blog/colls/deep/docs/x", "", "204", "pk", `"pk1"`),
		netSend("GET dbs/blog/colls/deep/docs/x", "", "404", "pk", `"pk1"`),
	},
	"CosmosItemTests.ReadCollectionNotExists": { // by CosmosNotFoundTests, the gateway has no substatus for the first
		netSend("GET dbs/blog/colls/none/docs/a", "", "404/1003", "pk", `{}`), netSend("GET dbs/none/colls/none/docs/a", "", "404/1003", "pk", `{}`),
	},
	"CosmosNotFoundTests.ValidateContainerMetadataRequestsHaveSubstatus0": {
		netSend("GET dbs/blog/colls/none", "", "404"), netSend("DELETE dbs/blog/colls/none", "", "404"), netSend("PUT dbs/blog/colls/none", `{"id":"none"}`, "404"),
		netSend("GET dbs/none/colls/none", "", "404/1003"), netSend("GET dbs/none", "", "404"),
	},
	"CosmosItemTests.UpsertItemStreamTest": {
		netSend("POST docs", `{"id":"a","postId":"p"}`, "201", "pk", `"p"`, asUpsert, "True"), netSend("POST docs", `{"id":"a","postId":"p","n":9001}`, `200 & "n":9001`, "pk", `"p"`, asUpsert, "True"),
	},
	"CosmosItemTests.ReplaceItemStreamTest": {
		netSend("PUT docs/a", `{"id":"a","postId":"p"}`, "404", "pk", `"p"`), netCreate(`{"id":"a","postId":"p"}`), netSend("PUT docs/a", `{"id":"a","postId":"p","n":2}`, `200 & "n":2`, "pk", `"p"`),
	},
	"CosmosItemTests.ItemReplaceAsyncTest": {
		netCreate(`{"id":"a","postId":"p"}`), netSend("PUT docs/a", `{"id":"b","postId":"p"}`, `200 & "id":"b"`, "pk", `"p"`), netRead("a", "404"), netRead("b", "200"),
		netSend("PUT docs/b", `{"id":"b","postId":"q"}`, "400/1001", "pk", `"p"`),
		netCreate(`{"id":"c","postId":"p"}`), netSend("PUT docs/b", `{"id":"c","postId":"p"}`, "409", "pk", `"p"`), netRead("b", "200"),
		netSend("PUT docs/none", `{"id":"d","postId":"p"}`, "404", "pk", `"p"`), netSend("PUT docs/b", `{"id":"d","postId":"p"}`, "412", "pk", `"p"`, "If-Match", "1234"),
		netBatch(`[{"operationType":"Delete","id":"c"},{"operationType":"Replace","id":"b","resourceBody":{"id":"c","postId":"p","n":3}},{"operationType":"Create","resourceBody":{"id":"b","postId":"p","n":4}}]`, "200 & 204 200 201"),
		netQuery("SELECT c.id, c.n FROM c", `200 & [{"id":"b","n":4},{"id":"c","n":3}]`, "pk", `"p"`), netQuery("SELECT c.id, c.n FROM c", `200 & [{"id":"c","n":3},{"id":"b","n":4}]`),
		netChanges("", `200 & "_count":2`),
		netProcedure(`function () { __.readDocument(__.getAltLink() + '/docs/c', function (err, d) { d.id = 'e'; __.replaceDocument(d._self, d, function (err, d) {
				if (err) throw err; __.readDocument(d._self, function (err, d) { __.deleteDocument(d._self); __.response.setBody(d.id) }) }) }) }`), netExecute("", `200 & "e"`),
		netQuery("SELECT c.id FROM c", `200 & [{"id":"b"}]`),
	},
	"CosmosItemTests.ItemRequestOptionAccessConditionTest": {
		netCreate(`{"id":"a","postId":"p"}`),
		netSend("POST docs", `{"id":"a","postId":"p"}`, "412 & One of the specified pre-condition is not met", "pk", `"p"`, asUpsert, "True", "If-Match", "1234"),
	},
	"CosmosItemTests.PartitionKeyDeleteTest": { // the service deletes them
		netCreate(`{"id":"a","postId":"p"}`), netSend("POST operations/partitionkeydelete", "", "404", "pk", `"p"`), netRead("a", "200"),
	},
	"CosmosItemTests.ItemPatchFailureTest": {
		// The service's text of the 404 is Resource Not Found, and a link.
		netPatch("none", `{"operations":[{"op":"add","path":"/none/child","value":"bar"},{"op":"remove","path":"/cost"}]}`, "404"), netCreate(netChildren),
		netPatch("a", `{"operations":[{"op":"add","path":"/none/child","value":"bar"},{"op":"remove","path":"/cost"}]}`, "400 & For Operation(1): Add Operation can only create a child object & beyond: 'none'"),
		netPatch("a", `{"operations":[{"op":"add","path":"/none/child","value":"bar"}]}`, "412 & One of the specified pre-condition is not met", "If-Match", "1234"),
	},
	"CosmosItemTests.ItemPatchSuccessTest": {
		netCreate(netChildren),
		netPatch("a", `{"operations":[{"op":"set","path":"/children/0/description","value":"s"},{"op":"add","path":"/children/1/pk","value":"patched"},{"op":"remove","path":"/description"},
				{"op":"replace","path":"/taskNum","value":2},{"op":"set","path":"/children/1/nullableInt","value":null}]}`, "200 & !{", "Prefer", "return=minimal"),
		netRead("a", `200 & "taskNum":2,"children":[{"id":"c0","cost":2,"description":"s"},{"id":"c1","nullableInt":null,"pk":"patched"}] & !"d"`),
		netPatch("a", `{"operations":[{"op":"add","path":"/children/0/cost","value":1}]}`, `200 & "cost":1`),
		netPatch("a", `{"operations":[{"op":"set","path":"/children/0/id","value":null}]}`, `200 & {"id":null`),
		netPatch("a", `{"operations":[{"op":"add","path":"/children/1/description","value":"c"},{"op":"move","from":"/children/0/description","path":"/description"},
				{"op":"move","from":"/children/1/description","path":"/children/0/description"}]}`, `200 & {"id":null,"cost":1,"description":"c"},{"id":"c1","nullableInt":null,"pk":"patched"}] & "description":"s"`),
	},
	"CosmosItemTests.PatchItemStreamTest": {
		netPatch("a", `{"condition":"from root where root.x = 3",`+netEdit[1:], "404"), netCreate(netChildren), netPatch("a", netEdit, `200 & "pk":"patched" & "taskNum":8 & !"description"`),
	},
	"CosmosItemTests.PatchConditionTest": {
		netCreate(netChildren), netPatch("a", netEdit, "200"),
		netPatch("a", `{"condition":"from c where c.taskNum = 3","operations":[{"op":"replace","path":"/taskNum","value":12}]}`, "412"), netRead("a", `200 & "taskNum":8`),
		netPatch("a", `{"condition":"from root where root.taskNum = 8","operations":[{"op":"incr","path":"/taskNum","value":6}]}`, `200 & "taskNum":14`),
	},
	"CosmosItemTests.BatchPatchConditionTest": {
		netCreate(netChildren), netPatch("a", netEdit, "200"),
		netBatch(`[{"operationType":"Patch","id":"a","resourceBody":{"condition":"from c where c.taskNum = 3","operations":[{"op":"replace","path":"/taskNum","value":12}]}}]`, "207 & 412"), netRead("a", `200 & "taskNum":8`),
		netBatch(`[{"operationType":"Patch","id":"a","resourceBody":{"condition":"from root where root.taskNum = 8","operations":[{"op":"incr","path":"/taskNum","value":6}]}}]`, "200 & 200"), netRead("a", `200 & "taskNum":14`),
	},
	"CosmosItemTests.ItemPatchStreamInputTest": {
		netCreate(`{"id":"a","postId":"p","cost":null,"total":98.2789,"code":[22,0,3,null,125]}`),
		netPatch("a", `{"operations":[{"op":"replace","path":"/cost","value":100},{"op":"replace","path":"/total","value":198.2789},{"op":"replace","path":"/code","value":[20,0,123]}]}`, `200 & "cost":100,"total":198.2789,"code":[20,0,123]`),
	},
	"CosmosItemTests.VerifySessionNotFoundStatistics": { // the service: The read/write session
		netCreate(`{"id":"a","postId":"p"}`), netSend("GET docs/a", "", "404/1002 & The read session is not available", "pk", `"p"`, "x-ms-session-token", "0:-1#2000"),
		netSend("GET docs/a", "", "200", "pk", `"p"`, "x-ms-session-token", "{session}"),
	},
	"CosmosItemTests.ValidateMaxItemCountOnItemQuery": { // no page is empty
		netCreate(`{"id":"1","postId":"p"}`), netCreate(`{"id":"2","postId":"p"}`), netCreate(`{"id":"3","postId":"p"}`), netCreate(`{"id":"4","postId":"p"}`),
		netQuery("select * from t", `200 & "_count":2 & {"id":"1" & ,{"id":"2" & ^X-Ms-Continuation`, "pk", `"p"`, "x-ms-max-item-count", "2"),
		netQuery("select * from t", `200 & "_count":2 & {"id":"3" & ,{"id":"4" & ^!X-Ms-Continuation`, "pk", `"p"`, "x-ms-max-item-count", "2", "x-ms-continuation", "{token}"),
	},
	"CosmosItemTests.ItemStreamIterator": {
		netCreate(`{"id":"1","postId":"p"}`), netSend("POST docs", `{"id":"2","postId":"q"}`, "201", "pk", `"q"`),
		netSend("GET docs", "", `200 & "_count":1 & ^X-Ms-Continuation`, "x-ms-max-item-count", "1"),
		netSend("GET docs", "", `200 & "_count":1`, "x-ms-max-item-count", "1", "x-ms-continuation", "{token}"),
		netSend("GET docs", "", `200 & "_count":0 & ^!X-Ms-Continuation`, "x-ms-max-item-count", "1", "x-ms-continuation", "{token}"),
	},
	"CosmosItemTests.NegativeQueryTest": {
		netCreate(`{"id":"a","postId":"p"}`), netCreate(`{"id":"b","postId":"p"}`),
		netQuery("SELECT r.id FROM root r WHERE r._ts > 0", "400 & continuation token limit specified is not large enough", "pk", `"p"`, "x-ms-max-item-count", "1", netLimit, "0"),
		netQuery("SELECT r.id FROM root r WHERE r._ts > 0", "200 & ^X-Ms-Continuation", "pk", `"p"`, "x-ms-max-item-count", "1", netLimit, "1"),
		netQuery("SELECT r.id FROM root r WHERE r._ts > 0", "400 & Please pass in a valid continuation token size limit which must be a positive integer", "pk", `"p"`, netLimit, "-1"), // QueryTests
		netQuery("SELECT r.id FROM root r WHERE r._ts >!= 0", "400 & SC1001 & Syntax error"),                                                                                            // the service: Syntax error, incorrect syntax near
	},
	"CosmosItemTests.ContainterReCreateStatelessTest": {
		netSend("GET docs", "", "200"), netSend("DELETE ", "", "204"), netSend("GET docs", "", "404/1003"), netQuery("SELECT * FROM c", "404/1003"),
		netSend("POST dbs/blog/colls", blogContainer, "201"), netSend("GET docs", "", `200 & "_count":0`), netQuery("SELECT * FROM c", `200 & "_count":0`),
	},
	"CosmosItemTests.GivenItem…WhenMissingMemberHandlingIsError…": {
		netRead("none", "404"), netSend("DELETE docs/none", "", "404", "pk", `"p"`), netPatch("none", netEdit, "404"),
		netSend("PUT docs/none", "", "400", "pk", `"p"`), // the service: 404
		netSend("PUT docs/none", `{"id":"none","postId":"p"}`, "404", "pk", `"p"`),
	},
}

// netFeedCases are of expiry, ranges and the change feed.
var netFeedCases = map[string][]netStep{
	"CosmosContainerTests.TimeToLiveTest": {
		netSend("POST dbs/blog/colls", `{"id":"short","partitionKey":{"paths":["/users"],"kind":"Hash","version":2},"defaultTtl":10}`, `201 & "defaultTtl":10`),
		netSend("POST dbs/blog/colls/short/docs", `{"id":"a","users":"u"}`, `201 & !"ttl"`, "pk", `"u"`), netSend("GET dbs/blog/colls/short", "", `200 & "defaultTtl":10`),
		netSend("wait", "9", ""), netSend("GET dbs/blog/colls/short/docs/a", "", "200", "pk", `"u"`), netSend("wait", "2", ""), netSend("GET dbs/blog/colls/short/docs/a", "", "404", "pk", `"u"`),
	},

	"GatewayTests.ValidateChangeFeedIfNoneMatch": {
		netChanges("*", "304 & ^Etag"), netChanges("", "304 & ^Etag"), netStep{request: "keep"}, netCreate(`{"id":"a","postId":"p"}`),
		netChanges("{kept}", `200 & "id":"a"`), netChanges("{etag}", "304"), netChanges("", `200 & "id":"a" & "_lsn": & "_count":1 & ^Etag`), netStep{request: "keep"},
		netSend("POST docs", `{"id":"b","postId":"q"}`, "201", "pk", `"q"`), netCreate(`{"id":"c","postId":"p"}`),
		netChanges("{kept}", `200 & "id":"b" & "_count":2 & "id":"c" & ^Etag`), netChanges("{etag}", "304 & ^Etag"),
		netChanges("{kept}", `200 & "id":"b" & "_count":1 & ^Etag`, "x-ms-max-item-count", "1"), netChanges("{etag}", `200 & "id":"c" & "_count":1 & ^Etag`, "x-ms-max-item-count", "1"), netChanges("{etag}", "304 & ^Etag", "x-ms-max-item-count", "1"),
		netChanges("", `200 & "id":"a"`, "x-ms-max-item-count", "1"), netChanges("{etag}", `200 & "id":"b"`, "x-ms-max-item-count", "1"), netChanges("{etag}", `200 & "id":"c"`, "x-ms-max-item-count", "1"), netChanges("{etag}", "304 & ^Etag", "x-ms-max-item-count", "1"),
	},
	"GatewayTests.ValidateChangeFeedIfModifiedSince": { // made at 03:04:05 and 03:04:07
		netChanges("", "304 & ^Etag", netSince, "Thu, 25 Sep 2025 03:04:05 GMT"), netChanges("", "304 & ^Etag", netSince, "Sun, 12 Apr 2026 03:04:05 GMT"),
		netCreate(`{"id":"a","postId":"p"}`), netChanges("", `200 & "id":"a"`), netStep{request: "keep"},
		netStep{"wait", "2", "", nil}, netCreate(`{"id":"b","postId":"p"}`),
		netChanges("", "304 & ^Etag", netSince, "Fri, 02 Jan 2026 04:44:07 GMT"),
		netChanges("", `200 & "id":"a" & "id":"b"`, netSince, "Fri, 02 Jan 2026 03:03:05 GMT"),
		netChanges("", `200 & "id":"b" & !"id":"a"`, netSince, "Fri, 02 Jan 2026 03:04:05 GMT"), netChanges("", `200 & "id":"b" & !"id":"a"`, netSince, "Fri, 02 Jan 2026 03:04:06 GMT"),
		netChanges("", "304 & ^Etag", netSince, "Fri, 02 Jan 2026 03:04:07 GMT"), netChanges("", "304 & ^Etag", netSince, "Fri, 02 Jan 2026 03:04:08 GMT"),
		netChanges("{kept}", `200 & "id":"b" & !"id":"a"`, netSince, "Fri, 02 Jan 2026 03:04:07 GMT"),
	},
	"GatewayTests.ValidateChangeFeedWithPartitionKey": { // its own transaction is a system procedure
		netCreate(`{"id":"1","postId":"p"}`), netSend("POST docs", `{"id":"2","postId":"q"}`, "201", "pk", `"q"`),
		netBatch(`[{"operationType":"Create","resourceBody":{"id":"3","postId":"p"}},{"operationType":"Create","resourceBody":{"id":"4","postId":"p"}}]`, "200 & 201 201"),
		netSend("GET docs", "", `200 & "_count":3 & {"id":"1" & ,{"id":"3" & ,{"id":"4" & !{"id":"2"`, "A-IM", "Incremental Feed", "pk", `"p"`),
		netSend("GET docs", "", "304", "A-IM", "Incremental Feed", "pk", `"none"`),
		netSend("POST sprocs/__.sys.commonBulkInsert", `[[],{}]`, "404", "pk", `"p"`),
	},
	"GatewayTests.ValidateReadPartitionKeyRange": {
		netSend("POST dbs/blog/colls", `{"id":"large","partitionKey":{"paths":["/id"],"kind":"Hash","version":2}}`, "201", "x-ms-offer-throughput", "12000"),
		netSend("GET dbs/blog/colls/large/pkranges", "", `200 & "_count":2 & ^!X-Ms-Continuation`),
	},
	"GatewayTests.ValidateIndexingDirectives": {
		netSend("POST docs", `{"id":"a","postId":"p","s":"222"}`, "201", "pk", `"p"`, "x-ms-indexing-directive", "Exclude"), netQuery("select * from root r where r.s='222'", `200 & "_count":1`),
		netSend("PUT docs/a", `{"id":"a","postId":"p","s":"222"}`, "200", "pk", `"p"`, "x-ms-indexing-directive", "Exclude"), netQuery("select * from root r where r.s='222'", `200 & "_count":1`),
		netSend("DELETE docs/a", "", "204", "pk", `"p"`), netQuery("select * from root r where r.s='222'", `200 & "_count":0`),
	},
}

// TestDotnetLongProcedure is GatewayTests.ValidateLongProcessingStoredProcedures: a procedure that
// reads the same page for ever ends with its time, and what it has set is its answer.
func TestDotnetLongProcedure(t *testing.T) {
	runNetSteps(t, newBlog(t, Options{Script: script.Options{Accept: func(n int) bool { return n <= 50 }}}), []netStep{
		netCreate(`{"id":"a","postId":"p"}`),
		netProcedure(`function () { var n = 0; (function page(err, feed, options) {
			if (err) throw 'page';
			__.response.setBody(n++);
			__.readDocuments(__.getSelfLink(), { pageSize: 1, continuation: options.continuation }, page) })(null, null, {}) }`),
		netExecute("", "200 & 50"),
	})
}

// TestDotnetNames is NameRoutingTests.CrazyNameTest: names that can be created and read.
func TestDotnetNames(t *testing.T) {
	names := []string{
		"   three spaces", "!@$%^&*()-=", "~`_[]{}|;':,.<>", `a "quote"`, "<>==<<==", "a + b", strings.Repeat("long ", 50) + "end",
		"雪国", "スズメ", "बालमणि", "ميلان", "монастырь", "산소", "instauró", "Mọi người", "“”!@$%^&*()-~`_[]{}|;':,.<>雪", "Here", "bvYI",
	}
	a := newAccount(t, Options{})
	for _, name := range names {
		text, _ := json.Marshal(name)
		id := `{"id":` + string(text)
		runNetSteps(t, a, []netStep{
			netSend("POST dbs", id+"}", "201"), netSend("GET dbs/"+name, "", "200"),
			netSend("POST dbs/"+name+"/colls", id+`,"partitionKey":{"paths":["/id"],"kind":"Hash","version":2}}`, "201"),
			netSend("POST dbs/"+name+"/colls/"+name+"/docs", id+"}", "201", "pk", strconv.QuoteToASCII(name)),
			netSend("GET dbs/"+name+"/colls/"+name+"/docs/"+name, "", "200", "pk", strconv.QuoteToASCII(name)),
		})
	}
}
