package engine

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"runtime"
	"strings"
	"testing"
	"time"

	"cosmosblog/engine/script"
	"cosmosblog/engine/value"
)

// run stores a procedure under a new id and executes it in p1 with arguments. headers as in
// send.
func (a *account) run(body, arguments string, headers ...string) answer {
	a.t.Helper()
	id := fmt.Sprint("run", a.serial.Load())
	a.addScript("sprocs", id, body)
	return a.send("POST", posts+"/sprocs/"+id, arguments, append([]string{"pk", "p1"}, headers...)...)
}

// inScript returns a procedure made of statements: c is the collection, link its link, and say
// collects the response.
func inScript(statements string) string {
	return `function () {
		var c = getContext().getCollection(), link = c.getAltLink(), said = [];
		function doc(id) { return link + '/docs/' + id }
		function say() { said.push.apply(said, arguments); __.response.setBody(said) }
		` + statements + `}`
}

// idsInP1 returns the ids in p1.
func (a *account) idsInP1() string {
	a.t.Helper()
	return strings.Join(a.must(200, a.query("p1", `{"query":"SELECT * FROM c"}`)).ids(), " ")
}

// TestDatabaseTime checks that every answer and every script has the time of the engine's clock, by
// which clients and scripts expire late requests.
func TestDatabaseTime(t *testing.T) {
	a := newBlog(t, Options{})
	a.clock.advance(time.Hour)
	want := a.clock.Now().UTC()
	now := a.must(200, a.run(`function () { __.response.setBody([Date.now(), new Date().toISOString()]) }`, ""))
	if got := fmt.Sprintf(`[%d,"%s"]`, want.UnixMilli(), want.Format("2006-01-02T15:04:05.000Z")); now.text != got {
		t.Errorf("a script reads %s, want %s", now.text, got)
	}
	for name, answer := range map[string]answer{
		"script": now, "missing item": a.send("GET", docs+"/none", "", "pk", "p1"), "no resource": a.send("GET", "/none", ""),
	} {
		if got := answer.header.Get("Date"); got != want.Format(http.TimeFormat) {
			t.Errorf("%s: the date is %q", name, got)
		}
	}
}

func TestProcedureArguments(t *testing.T) {
	a := newBlog(t, Options{})
	a.addScript("sprocs", "s", `function (a, b) { __.response.setBody([a === undefined ? 'undefined' : a, b === undefined ? 'undefined' : b]) }`)
	for body, want := range map[string]string{
		``: `["undefined","undefined"]`, `null`: `["undefined","undefined"]`, `{}`: `["undefined","undefined"]`, `{"a":1}`: `["undefined","undefined"]`,
		`["x",{"y":1}]`: `["x",{"y":1}]`, `{"length":2,"0":7,"1":8}`: `[7,8]`,
		`1`: "", `"x"`: "", `true`: "", `[1`: "",
	} {
		got := a.send("POST", posts+"/sprocs/s", body, "pk", "p1")
		if want == "" {
			a.must(400, got)
		} else if a.must(200, got); got.text != want {
			t.Errorf("%s returns %s, want %s", body, got.text, want)
		}
	}
	if got := a.must(200, a.send("POST", posts+"/sprocs/s", `[1,2]`, "pk", "p1", "Content-Type", "application/query+json")); got.text != "[1,2]" {
		t.Errorf("sent as a query: %s", got.text)
	}
	a.must(400, a.send("POST", posts+"/sprocs/s", "[]")) // no partition key
	a.must(404, a.send("POST", posts+"/sprocs/none", "[]", "pk", "p1"))
	if got := a.must(404, a.send("POST", "dbs/blog/colls/none/sprocs/s", "[]", "pk", "p1")); got.header.Get("X-Ms-Substatus") != "1003" {
		t.Errorf("no container: substatus %s", got.header.Get("X-Ms-Substatus"))
	}
}

func TestProcedureResponseBody(t *testing.T) {
	a := newBlog(t, Options{Script: script.Options{MaxBody: 100}})
	for statements, want := range map[string]string{
		``:                                `""`,
		`__.response.setBody(undefined)`:  `""`,
		`__.response.setBody(null)`:       `null`,
		`var o = {}; say(o); o.later = 1`: `[{"later":1}]`,
		`__.response.appendBody('a'); __.response.appendBody('b'); __.response.setValue('body', __.response.getValue('body') + 'c')`: `"abc"`,
		`try { say('x'.repeat(200)) } catch (e) { said = []; say(e.number, e.message.slice(0, 53)) }`:                                `[413,"Resulting message would be too large because of \"Body"]`,
	} {
		if got := a.must(200, a.run(inScript(statements), "[]")); got.text != want {
			t.Errorf("%s: %s, want %s", statements, got.text, want)
		}
	}
	a.must(413, a.run(inScript(`c.createDocument(link, {id: 'x', postId: 'p1'}); say('x'.repeat(200))`), "[]"))
	if a.idsInP1() != "" {
		t.Error("an execution with an oversized response was committed")
	}
}

// TestProcedureFailures checks the error that a client gets, and that nothing is written.
func TestProcedureFailures(t *testing.T) {
	a := newBlog(t, Options{})
	a.create("p1", `{"id":"a","postId":"p1"}`)
	const create = `c.createDocument(link, {id: 'new', postId: 'p1'}, function (err) { if (err) throw err; `
	for name, f := range map[string]struct{ statements, substatus, message string }{
		"throws":                    {create + `throw new Error('told')})`, "", `Encountered exception while executing function. Exception = Error: told\r\nStack trace: at `},
		"throws a number":           {create + `throw new Error(4041, 'told')})`, "4041", `Exception = Error: told`},
		"throws text":               {create + `throw 'told'})`, "", `Exception = told`},
		"throws a callback's error": {create + `c.readDocument(doc('z'), function (err) { throw err })})`, "", `{\"number\":404,`},
		"throws the error's number": {create + `c.readDocument(doc('z'), function (err) { throw new Error(err.number, err.body) })})`, "404", `does not exist`},
		"aborts":                    {create + `try { getContext().abort(new Error(7, 'told')) } catch (e) {}})`, "7", `Exception = Error: told`},
		"no callback":               {create + `c.readDocument(doc('z'))})`, "", `does not exist`},
		"another partition":         {create + `c.createDocument(link, {id: 'x', postId: 'p2'})})`, "1001", `doesn't match`},
		"wrong arguments":           {create + `c.readDocument('nowhere')})`, "400", `Invalid document link`},
		"throws a TypeError":        {create + `undefined.x})`, "", `TypeError: Cannot read property 'x' of undefined`},
	} {
		t.Run(name, func(t *testing.T) {
			got := a.must(400, a.run(inScript(f.statements), "[]"))
			if got.header.Get("X-Ms-Substatus") != f.substatus {
				t.Errorf("substatus %s, want %s", got.header.Get("X-Ms-Substatus"), f.substatus)
			}
			code, _ := got.body.Get("code").AsString()
			message, _ := got.body.Get("message").AsString()
			if unquoted := strings.ReplaceAll(message, `\\`, `\`); code != "BadRequest" || !strings.HasPrefix(message, `Message: {"Errors":["`) || !strings.Contains(unquoted, f.message) {
				t.Errorf("%s", got.text)
			}
			if charge(t, got) == 0 || a.idsInP1() != "a" {
				t.Errorf("charged %v, items %s", charge(t, got), a.idsInP1())
			}
		})
	}
}

// TestIgnoredScriptErrorsAreCommitted checks that an error ignored by a callback does not stop
// the transaction.
func TestIgnoredScriptErrorsAreCommitted(t *testing.T) {
	a := newBlog(t, Options{})
	a.create("p1", `{"id":"a","postId":"p1"}`)
	got := a.must(200, a.run(inScript(`
		c.createDocument(link, {id: 'b', postId: 'p1'});
		c.createDocument(link, {id: 'a', postId: 'p1'}, function (err) { say(err.number) });
		c.readDocument(doc('z'), function (err) { say(err.number) });
		c.replaceDocument(doc('a'), {id: 'a', postId: 'p1'}, {etag: '"old"'}, function (err) { say(err.number) });
		c.upsertDocument(link, {id: 'a', postId: 'p1'}, {etag: '"old"'}, function (err) { say(err.number) });
		c.deleteDocument(doc('a'), {etag: '"old"'}, function (err) { say(err.number) });
		c.createDocument(link, {id: 'c', postId: 'p2'}, function (err) { say(err.number) });
		c.createDocument(link, {id: 'c', postId: 'p1', x: 'x'.repeat(2 << 20)}, function (err) { say(err.number) });
		c.queryDocuments(link, 'SELECT', function (err) { say(err.number) });
		c.createDocument(link, {id: 'd', postId: 'p1'});`), "[]"))
	if got.text != "[409,404,412,412,412,400,413,400]" || a.idsInP1() != "a b d" {
		t.Errorf("%s; items %s", got.text, a.idsInP1())
	}
}

// TestRejectedOperationsAreCommittedPartially rejects an operation: it is not queued and its
// callback never runs. Earlier operations are committed and the status is 200.
func TestRejectedOperationsAreCommittedPartially(t *testing.T) {
	a := newBlog(t, Options{Script: script.Options{Accept: func(n int) bool { return n <= 3 }}})
	got := a.must(200, a.run(`function () {
		var c = getContext().getCollection(), n = 0;
		create();
		function create() {
			var accepted = c.createDocument(c.getSelfLink(), { id: 'n' + n, postId: 'p1' }, function (err) { if (err) throw err; n++; create() });
			__.response.setBody({ done: n, more: !accepted });
		}
	}`, "[]"))
	if got.text != `{"done":3,"more":true}` || a.idsInP1() != "n0 n1 n2" {
		t.Errorf("%s; items %s", got.text, a.idsInP1())
	}
}

func TestProcedureTimeout(t *testing.T) {
	a := newBlog(t, Options{Script: script.Options{Timeout: 30 * time.Millisecond, Budget: time.Hour}})
	got := a.must(408, a.run(inScript(`c.createDocument(link, {id: 'x', postId: 'p1'}, function () { for (;;) {} })`), "[]"))
	if !strings.Contains(got.text, "The requested operation exceeded maximum alloted time.") || a.idsInP1() != "" {
		t.Errorf("%s; items %s", got.text, a.idsInP1())
	}
}

// TestProcedurePromises reproduces a trap of the service: errors thrown in promises are lost,
// and the transaction is committed. Only abort is not lost.
func TestProcedurePromises(t *testing.T) {
	const lost = `c.createDocument(link, {id: 'x', postId: 'p1'}, async function () { throw new Error(9, 'lost') })`
	a := newBlog(t, Options{})
	a.must(200, a.run(inScript(lost), "[]"))
	a.must(400, a.run(inScript(`c.createDocument(link, {id: 'y', postId: 'p1'}, async function () { getContext().abort(new Error('not lost')) })`), "[]"))
	if a.idsInP1() != "x" {
		t.Errorf("items %s", a.idsInP1())
	}
	strict := newBlog(t, Options{Script: script.Options{Strict: true}})
	if got := strict.must(400, strict.run(inScript(lost), "[]")); got.header.Get("X-Ms-Substatus") != "9" || strict.idsInP1() != "" {
		t.Errorf("%s; items %s", got.text, strict.idsInP1())
	}
}

func TestProcedureLog(t *testing.T) {
	const header = "X-Ms-Documentdb-Script-Log-Results"
	a := newBlog(t, Options{})
	const talk = `console.log('one %s', 1); console.log('\nzwei ü + 50%');`
	if got := a.must(200, a.run(inScript(talk), "[]")); len(got.header[header]) != 0 {
		t.Errorf("unrequested log %q", got.header[header])
	}
	for status, statements := range map[int]string{200: talk, 400: talk + `throw new Error('x')`} {
		got := a.must(status, a.run(inScript(statements), "[]", "x-ms-documentdb-script-enable-logging", "true"))
		if text, err := url.PathUnescape(got.header.Get(header)); err != nil || text != "one 1\nzwei ü + 50%" {
			t.Errorf("%d: the log is %q, %v", status, got.header.Get(header), err)
		}
	}
	long := a.must(200, a.run(inScript(`for (var i = 0; i < 10000; i++) console.log('ü ')`), "[]", "x-ms-documentdb-script-enable-logging", "true"))
	if n := len(long.header.Get(header)); n == 0 || n > 8<<10 {
		t.Errorf("the header has %d bytes", n)
	}
}

// TestPagesInScripts checks the pages that scripts read, and their continuations.
func TestPagesInScripts(t *testing.T) {
	for _, own := range []bool{false, true} {
		t.Run(fmt.Sprintf("own=%t", own), func(t *testing.T) {
			a := newBlog(t, Options{QueriesSeeOwnWrites: own})
			for i := range 230 {
				a.create("p1", fmt.Sprintf(`{"id":"i%03d","postId":"p1","n":%d}`, i, i))
			}
			const body = `function (query, size) {
				var pages = [], link = __.getSelfLink();
				(function next(from) {
					var options = { pageSize: size, continuation: from };
					if (query) __.queryDocuments(link, query, options, page);
					else __.readDocuments(link, options, page);
				})();
				function page(err, items, options) {
					if (err) throw new Error(err.number, err.body);
					pages.push(items.length);
					if (pages.length > 300) throw new Error('no end');
					if (options.continuation) {
						if (query) __.queryDocuments(link, query, { pageSize: size, continuation: options.continuation }, page);
						else __.readDocuments(link, { pageSize: size, continuation: options.continuation }, page);
					} else __.response.setBody(pages);
				}
			}`
			a.addScript("sprocs", "pages", body)
			for arguments, want := range map[string]string{
				`[null]`:                            "[100,100,30]",
				`[null,50]`:                         "[50,50,50,50,30]",
				`["SELECT * FROM c"]`:               "[100,100,30]",
				`["SELECT * FROM c",115]`:           "[115,115]",
				`["SELECT * FROM c",-1]`:            "[230]",
				`["SELECT * FROM c WHERE c.n < 0"]`: "[0]",
				`["SELECT VALUE COUNT(1) FROM c"]`:  "[1]",
				`["SELECT * FROM c ORDER BY c.n DESC OFFSET 20 LIMIT 120",90]`: "[90,30]",
			} {
				if got := a.must(200, a.send("POST", posts+"/sprocs/pages", arguments, "pk", "p1")); got.text != want {
					t.Errorf("%s: %s, want %s", arguments, got.text, want)
				}
			}
		})
	}
}

// TestScriptsInSpecialPartitions uses the partitions of items without a partition key and of
// items whose key is null.
func TestScriptsInSpecialPartitions(t *testing.T) {
	a := newBlog(t, Options{})
	a.addScript("sprocs", "s", `function (item) { __.createDocument(__.getAltLink(), item, function (err, made) { __.response.setBody(err ? err.number : made.id) }) }`)
	for _, c := range []struct{ key, item, want string }{
		{`[{}]`, `{"id":"none"}`, `"none"`}, {`[{}]`, `{"id":"a","postId":null}`, "400"},
		{`[null]`, `{"id":"null","postId":null}`, `"null"`}, {`[null]`, `{"id":"a"}`, "400"},
		{`[7]`, `{"id":"number","postId":7}`, `"number"`}, {`[7]`, `{"id":"a","postId":"7"}`, "400"},
	} {
		if got := a.must(200, a.send("POST", posts+"/sprocs/s", "["+c.item+"]", "x-ms-documentdb-partitionkey", c.key)); got.text != c.want {
			t.Errorf("%s in %s: %s, want %s", c.item, c.key, got.text, c.want)
		}
	}
}

// TestScriptDeletesPageByPage deletes the items of each page before it reads the next one, in
// any order.
func TestScriptDeletesPageByPage(t *testing.T) {
	for _, own := range []bool{false, true} {
		for _, query := range []string{
			"SELECT * FROM c", "SELECT * FROM c WHERE c.userId = 'u'", "SELECT * FROM c ORDER BY c.n DESC", "SELECT * FROM c ORDER BY c.id",
			"SELECT * FROM c WHERE c.type = 'a' ORDER BY c.type, c.creationDate DESC, c.id DESC", "SELECT DISTINCT c.id, c._self FROM c", "SELECT TOP 30 * FROM c ORDER BY c.n",
		} {
			a := newBlog(t, Options{QueriesSeeOwnWrites: own})
			for i := range 30 {
				a.create("p1", fmt.Sprintf(`{"id":"i%02d","postId":"p1","n":%d,"type":"a","creationDate":"%02d","userId":"u"}`, i, i%10, i))
			}
			got := a.run(inScript(`(function next(from) {
				c.queryDocuments(link, "`+query+`", {pageSize: 7, continuation: from}, function (err, page, options) {
					if (err) throw new Error(err.number, err.body);
					say(page.length);
					page.forEach(function (d) { c.deleteDocument(d._self) });
					if (options.continuation) next(options.continuation);
				});
			})()`), "[]")
			if got.text != "[7,7,7,7,2]" || a.idsInP1() != "" {
				t.Errorf("own=%t, %s: %s; items %s", own, query, got.text, a.idsInP1())
			}
		}
	}
}

// TestScriptQueriesStopAtTimeLimit checks that a query stops when the script's time is over.
func TestScriptQueriesStopAtTimeLimit(t *testing.T) {
	a := newBlog(t, Options{})
	a.createMany("p", 100, commentOfThree)
	c, err := a.container("blog", "posts")
	if err != nil {
		t.Fatal(err)
	}
	ended, end := context.WithCancel(t.Context())
	end()
	s := &scriptCollection{a.newTransaction(c, newPartition(value.String("p")))}
	if _, err := s.Query(ended, []byte(`{"query":"SELECT * FROM c ORDER BY c.n"}`), "", 1); !errors.Is(err, context.Canceled) {
		t.Errorf("after its end: %v", err)
	}
}

// TestContinuationsAcrossExecutions uses a continuation from one execution in the next one.
func TestContinuationsAcrossExecutions(t *testing.T) {
	const body = `function (from) {
		__.queryDocuments(__.getSelfLink(), "SELECT VALUE c.n FROM c ORDER BY c.n DESC", { pageSize: 2, continuation: from }, function (err, page, options) {
			if (err) throw new Error(err.number, err.body);
			__.response.setBody({ page: page, next: options.continuation });
		});
	}`
	for _, own := range []bool{false, true} {
		a := newBlog(t, Options{QueriesSeeOwnWrites: own})
		a.addScript("sprocs", "s", body)
		for i := range 5 {
			a.create("p1", fmt.Sprintf(`{"id":"i%d","postId":"p1","n":%d}`, i, i))
		}
		from, pages := "null", ""
		for from != "" && len(pages) < 50 {
			got := a.must(200, a.send("POST", posts+"/sprocs/s", "["+from+"]", "pk", "p1"))
			pages += got.body.Get("page").String()
			if from = got.body.Get("next").String(); got.body.Get("next").IsUndefined() {
				from = ""
			}
		}
		if pages != "[4,3][2,1][0]" {
			t.Errorf("own=%t: the pages are %s", own, pages)
		}
	}
}

// TestEtagsInScripts checks the etag options of scripts, and reads of unmodified items.
func TestEtagsInScripts(t *testing.T) {
	a := newBlog(t, Options{})
	a.create("p1", `{"id":"a","postId":"p1"}`)
	got := a.must(200, a.run(inScript(`c.readDocument(doc('a'), function (err, a) {
		c.readDocument(a._self, {ifNoneMatch: a._etag}, function (err, none, options) { say(none === undefined, options.notModified, options.statusCode) });
		c.replaceDocument(a._self, a, {etag: a._etag}, function (err, b) {
			say(a._etag !== b._etag, a._rid === b._rid);
			c.readDocument(doc('a'), {ifNoneMatch: a._etag}, function (err, again) { say(again._etag === b._etag) });
			c.replaceDocument(doc('a'), a, {etag: a._etag}, function (err) { say(err.number) });
			c.deleteDocument(doc('a'), {etag: b._etag}, function (err, options) { say(err === undefined, options.statusCode) });
			c.readDocument(doc('a'), function (err) { say(err.number) });
		});
	})`), "[]"))
	if got.text != `[true,true,304,true,true,true,412,true,204,404]` {
		t.Error(got.text)
	}
}

// TestSelfLinksInScripts checks that a link of resource ids identifies one item, not a later
// item with the same id.
func TestSelfLinksInScripts(t *testing.T) {
	a := newBlog(t, Options{})
	a.create("p1", `{"id":"a","postId":"p1"}`)
	got := a.must(200, a.run(inScript(`c.readDocument(doc('a'), function (err, old) {
		c.deleteDocument(old._self);
		c.readDocument(old._self, function (err) { say(err.number) });
		c.createDocument(link, {id: 'a', postId: 'p1', n: 2}, function (err, made) {
			say(made._self !== old._self);
			c.readDocument(made._self, function (err, d) { say(d.n) });
			c.readDocument(old._self, function (err) { say(err.number) });
			c.replaceDocument(old._self, {id: 'a', postId: 'p1'}, function (err) { say(err.number) });
			c.deleteDocument(old._self, function (err) { say(err.number) });
		});
	})`), "[]"))
	if got.text != `[404,true,2,404,404,404]` || a.idsAndNumbers() != "a:2" {
		t.Errorf("%s; items %s", got.text, a.idsAndNumbers())
	}
}

// TestGeneratedIDsInScripts checks that generated ids have the service's form.
func TestGeneratedIDsInScripts(t *testing.T) {
	a := newBlog(t, Options{})
	got := a.must(200, a.run(inScript(`
		var item = {postId: 'p1'}, guid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/, first;
		c.createDocument(link, item, function (err, a) { first = a.id; say(guid.test(a.id), item.id === undefined) });
		c.createDocument(link, '{"postId":"p1","id":""}', function (err, a) { say(guid.test(a.id), a.id !== first) });
		c.upsertDocument(link, {id: null, postId: 'p1'}, function (err, a, options) { say(guid.test(a.id), options.statusCode) });
		c.upsertDocument(link, {id: 'mine', postId: 'p1'}, function (err, a, options) { say(options.statusCode) });
		c.upsertDocument(link, {id: 'mine', postId: 'p1'}, function (err, a, options) { say(options.statusCode) });
		c.createDocument(link, {postId: 'p1'}, {disableAutomaticIdGeneration: true}, function (err) { say(err.number) });
		c.upsertDocument(link, {postId: 'p1'}, {disableAutomaticIdGeneration: true}, function (err) { say(err.number) });`), "[]"))
	if got.text != `[true,true,true,true,true,201,201,200,400,400]` {
		t.Error(got.text)
	}
}

// TestScriptIsOneTransaction checks that point reads and feeds in a script see its writes.
// Others see nothing before the end, then all under one number.
func TestScriptIsOneTransaction(t *testing.T) {
	a := newBlog(t, Options{})
	a.create("p1", `{"id":"a","postId":"p1","n":1}`)
	a.create("p1", `{"id":"b","postId":"p1"}`)
	a.create("p2", `{"id":"z","postId":"p2"}`)
	before := a.must(200, a.changes(""))
	got := a.must(200, a.run(inScript(`
		c.createDocument(link, {id: 'c', postId: 'p1'});
		c.replaceDocument(doc('a'), {id: 'a', postId: 'p1', n: 2});
		c.deleteDocument(doc('b'));
		c.readDocument(doc('a'), function (err, a) { say(a.n); a.n = 'changed here only' });
		c.readDocument(doc('b'), function (err) { say(err.number) });
		c.readDocument(doc('z'), function (err) { say(err.number) });
		c.readDocuments(link, function (err, all) { say(all.map(function (d) { return d.id + (d.n || '') }).join(' ')) });
		say('the main function first');`), "[]"))
	if got.text != `["the main function first",2,404,404,"a2 c"]` {
		t.Error(got.text)
	}
	changed := a.must(200, a.changes(before.header.Get("Etag"), "x-ms-max-item-count", "1"))
	if len(changed.items()) != 2 || changed.items()[0].Get("_lsn").String() != changed.items()[1].Get("_lsn").String() {
		t.Errorf("the changes: %s", changed.text)
	}
}

// TestProcedureCharge checks that an execution is charged once, plus all its operations.
func TestProcedureCharge(t *testing.T) {
	a := newBlog(t, Options{})
	created := charge(t, a.create("p1", `{"id":"a","postId":"p1"}`))
	read := charge(t, a.must(200, a.send("GET", docs+"/a", "", "pk", "p1")))
	nothing := charge(t, a.must(200, a.run(inScript(``), "[]")))
	both := charge(t, a.must(200, a.run(inScript(`c.createDocument(link, {id: 'b', postId: 'p1'}); c.readDocument(doc('a'))`), "[]")))
	if want := nothing + created + read; nothing != scriptBase || both < want-0.02 || both > want+0.02 {
		t.Errorf("a script %.2f, a create %.2f, a read %.2f, together %.2f", nothing, created, read, both)
	}
}

// TestScriptContinuationOfAnotherPartition checks that a script reads only its own partition,
// even with a continuation of another partition.
func TestScriptContinuationOfAnotherPartition(t *testing.T) {
	a := newBlog(t, Options{})
	for i := range 10 {
		pk := fmt.Sprintf("p%d", i)
		a.create(pk, fmt.Sprintf(`{"id":%q,"postId":%q}`, pk, pk))
	}
	a.addScript("sprocs", "read", `function (from) {
		__.readDocuments(__.getSelfLink(), { continuation: from }, function (err, all) { __.response.setBody(all.map(function (d) { return d.id })) });
	}`)
	token := (&continuation{Fingerprint: feedFingerprint, Position: []byte{0}}).String()
	for i := range 10 {
		pk := fmt.Sprintf("p%d", i)
		if got := a.must(200, a.send("POST", posts+"/sprocs/read", fmt.Sprintf("[%q]", token), "pk", pk)); got.text != fmt.Sprintf("[%q]", pk) {
			t.Errorf("partition %s: %s", pk, got.text)
		}
	}
}

// TestLargePartitions checks that reading a page of a partition, or an item by its resource id,
// does not read the whole partition.
func TestLargePartitions(t *testing.T) {
	a := newBlog(t, Options{})
	for i := range 40 {
		item := fmt.Sprintf(`{"id":"i%02d","postId":"p","text":%q}`, i, strings.Repeat("x", 1<<20))
		a.must(201, a.send("POST", docs, item, "pk", "p", "Prefer", "return=minimal"))
	}
	a.addScript("sprocs", "read", `function () { __.readDocuments(__.getSelfLink(), { pageSize: 2 }, function (err, all) { __.response.setBody(all.length) }); }`)
	a.addScript("sprocs", "all", `function () { __.readDocuments(__.getSelfLink(), function (err, all) { __.response.setBody(all.length) }); }`)
	item := a.must(200, a.send("GET", docs+"/i39", "", "pk", "p")).body
	self, _ := item.Get("_self").AsString()
	for what, request := range map[string]func() answer{
		"two items": func() answer { return a.send("POST", posts+"/sprocs/read", "[]", "pk", "p") },
		"one page":  func() answer { return a.send("POST", posts+"/sprocs/all", "[]", "pk", "p") },
		"by id":     func() answer { return a.send("GET", strings.Trim(self, "/"), "", "pk", "p") },
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		a.must(200, request())
		runtime.ReadMemStats(&after)
		if mb := (after.TotalAlloc - before.TotalAlloc) >> 20; mb > 30 {
			t.Errorf("%s allocates %d MB", what, mb)
		}
	}
}
