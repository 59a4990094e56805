package script_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"cosmosblog/engine/script"
)

// prelude defines names for the scripts of the tests: c is the collection, link its link, doc
// returns an item's link, and say appends to the response.
const prelude = `
	var c = getContext().getCollection(), link = c.getAltLink(), said = [];
	function doc(id) { return link + '/docs/' + id; }
	function say() { said.push.apply(said, arguments); __.response.setBody(said); }
`

func run(t testing.TB, m *memory, body string) string {
	t.Helper()
	return execute(t, m, `function (a, b) {`+prelude+body+`}`)
}

func TestCallbackArguments(t *testing.T) {
	cases := map[string]struct{ script, want string }{
		"read": {
			`c.readDocument(doc('a'), {}, function (err, d, o) { say(err === undefined, d.n, d._etag, o.statusCode, o.notModified); })`,
			`[true,1,"\"1\"",200,null]`},
		"read by self link": {
			`c.readDocument(c.getSelfLink() + 'docs/a/', function (err, d) { say(d.n); })`, `[1]`},
		"read when not modified": {
			`c.readDocument(doc('a'), {ifNoneMatch: '"1"'}, function (err, d, o) { say(err === undefined, d === undefined, o.statusCode, o.notModified); })`,
			`[true,true,304,true]`},
		"read when modified": {
			`c.readDocument(doc('a'), {ifNoneMatch: '"0"'}, function (err, d, o) { say(d.n, o.statusCode); })`, `[1,200]`},
		"read missing item": {
			`c.readDocument(doc('z'), function (err, d, o) { say(err.number, err.body, err.message, err instanceof Error, arguments.length); })`,
			`[404,"not found","not found",false,1]`},
		"feed": {
			`c.readDocuments(link, function (err, docs, o) { say(docs.length, docs[0].id, o.statusCode, typeof o.continuation); })`,
			`[3,"a",200,"undefined"]`},
		"feed by pages": {
			`(function page(from) {
				c.readDocuments(c.getSelfLink(), {pageSize: 2, continuation: from}, function (err, docs, o) {
					say(docs.map(function (d) { return d.id }).join());
					if (o.continuation) page(o.continuation);
				});
			})()`, `["a,b","c"]`},
		"query": {
			`c.queryDocuments(link, 'SELECT * FROM c', function (err, docs, o) { say(docs.length, o.statusCode); })`, `[3,200]`},
		"query with parameters": {
			`c.queryDocuments(link, {query: 'SELECT * FROM c WHERE c.n = @v', parameters: [{name: '@v', value: 2}]}, {enableScan: true},
				function (err, docs) { say(docs[0].id, docs.length); })`, `["b",1]`},
		"invalid query": {
			`c.queryDocuments(link, 'SELECT', function (err) { say(err.number); })`, `[400]`},
		"create": {
			`c.createDocument(link, {id: 'n', x: 1}, function (err, d, o) { say(d.id, d.x, !!d._self, o.statusCode); })`, `["n",1,true,201]`},
		"create from text": {
			`c.createDocument(link, '{"id":"n"}', function (err, d) { say(d.id); })`, `["n"]`},
		"create generates an id": {
			`c.createDocument(link, {}, function (err, d) { say(d.id); })`, `["generated-3"]`},
		"create without an id": {
			`c.createDocument(link, {}, {disableAutomaticIdGeneration: true}, function (err) { say(err.number); })`, `[400]`},
		"create existing item": {
			`c.createDocument(link, {id: 'a'}, function (err) { say(err.number); })`, `[409]`},
		"upsert new": {
			`c.upsertDocument(link, {id: 'n'}, function (err, d, o) { say(d.id, o.statusCode); })`, `["n",201]`},
		"upsert old": {
			`c.upsertDocument(link, {id: 'a', n: 9}, {etag: '"1"'}, function (err, d, o) { say(d.n, o.statusCode); })`, `[9,200]`},
		"upsert with another etag": {
			`c.upsertDocument(link, {id: 'a', n: 9}, {etag: '"0"'}, function (err, d) { say(err.number); })`, `[412]`},
		"upsert generates an id": {
			`c.upsertDocument(link, {id: ''}, function (err, d, o) { say(d.id, o.statusCode); })`, `["generated-3",201]`},
		"upsert without an id": {
			`c.upsertDocument(link, {}, {disableAutomaticIdGeneration: true}, function (err) { say(err.number); })`, `[400]`},
		"replace": {
			`c.replaceDocument(doc('a'), {id: 'a', n: 5}, {etag: '"1"', unknown: 1}, function (err, d, o) { say(d.n, o.statusCode); })`, `[5,200]`},
		"replace with another etag": {
			`c.replaceDocument(doc('a'), {id: 'a'}, {etag: '"0"'}, function (err) { say(err.number); })`, `[412]`},
		"replace missing item": {
			`c.replaceDocument(doc('z'), {id: 'z'}, function (err) { say(err.number); })`, `[404]`},
		"delete": {
			`c.deleteDocument(doc('a'), {}, function (err, o) { say(err === undefined, o.statusCode, arguments.length); })`, `[true,204,2]`},
		"delete with another etag": {
			`c.deleteDocument(doc('a'), {etag: '"0"'}, function (err) { say(err.number); })`, `[412]`},
		"the shortcut": {
			`__.readDocument(__.getAltLink() + '/docs/a', function (err, d) { say(d.n, Object.getPrototypeOf(__) === c); })`, `[1,true]`},
		"options undefined": {
			`c.readDocument(doc('a'), undefined, function (err, d) { say(d.n); })`, `[1]`},
		"true when accepted": {
			`say(c.readDocument(doc('a')), c.readDocument(doc('b'), {}))`, `[true,true]`},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			m := newMemory(t, `{"id":"a","n":1}`, `{"id":"b","n":2}`, `{"id":"c","n":3}`)
			equal(t, "body", run(t, m, test.script), test.want)
		})
	}
}

func TestPageSizes(t *testing.T) {
	for options, want := range map[string]int{
		`{}`: 100, `undefined`: 100, `{pageSize: 0}`: 100, `{pageSize: null}`: 100, `{pageSize: 7}`: 7, `{pageSize: '8'}`: 8, `{pageSize: -1}`: -1,
		`{pageSize: 1e300}`: 1<<31 - 1,
	} {
		m := newMemory(t)
		run(t, m, `c.readDocuments(link, `+options+`); c.queryDocuments(link, 'SELECT * FROM c', `+options+`)`)
		want := []string{fmt.Sprintf("feed  %d", want), fmt.Sprintf(`query {"query":"SELECT * FROM c"}  %d`, want)}
		if diff := cmp.Diff(want, m.calls); diff != "" {
			t.Errorf("%s: %s", options, diff)
		}
	}
}

func TestInvalidArgumentsThrowImmediately(t *testing.T) {
	calls := map[string]string{
		`c.readDocument()`:                                       `requires at least 1 argument(s) but was called with 0`,
		`c.readDocuments()`:                                      `requires at least 1`,
		`c.readDocuments(link, {pageSize: 'text'})`:              `The "pageSize" option must be a number.`,
		`c.queryDocuments(link, 'SELECT 1', {pageSize: {}})`:     `The "pageSize" option must be a number.`,
		`c.queryDocuments(link)`:                                 `requires at least 2 argument(s) but was called with 1`,
		`c.createDocument(link)`:                                 `requires at least 2`,
		`c.upsertDocument(link)`:                                 `requires at least 2`,
		`c.replaceDocument(doc('a'))`:                            `requires at least 2`,
		`c.deleteDocument()`:                                     `requires at least 1`,
		`c.readDocument(1)`:                                      `Invalid document link: "1"`,
		`c.readDocument('a')`:                                    `Invalid document link: "a"`,
		`c.readDocument(doc('a/b'))`:                             `Invalid document link`,
		`c.readDocument(doc('a//'))`:                             `Invalid document link`,
		`c.readDocument(doc(''))`:                                `Invalid document link`,
		`c.readDocument(link + '/attachments/a')`:                `Invalid document link`,
		`c.readDocument('dbs/blog/colls/posts2/docs/a')`:         `outside current collection`,
		`c.readDocument('dbs/other/colls/posts/docs/a')`:         `outside current collection`,
		`c.readDocuments('dbs/blog/colls/users')`:                `outside current collection`,
		`c.readDocuments(link + '/')`:                            `outside current collection`,
		`c.readDocuments(c.getSelfLink().slice(0, -1))`:          `outside current collection`,
		`c.readDocuments('posts')`:                               `Invalid collection link`,
		`c.readDocuments(undefined)`:                             `Invalid collection link`,
		`c.createDocument(doc('a'), {})`:                         `Invalid collection link`,
		`c.createDocument(link, null)`:                           `document body must be an object or a string`,
		`c.createDocument(link, 1)`:                              `document body must be an object or a string`,
		`c.createDocument(link, function () {})`:                 `document body must be an object or a string`,
		`c.replaceDocument(doc('a'), undefined)`:                 `document body must be an object or a string`,
		`c.createDocument(link, '{')`:                            `SyntaxError`,
		`c.queryDocuments(link, 1)`:                              `"filterQuery" parameter must be of type "string" or "object"`,
		`c.readDocument(doc('a'), 'x')`:                          `"options" parameter must be of type "object"`,
		`c.readDocument(doc('a'), null)`:                         `"options" parameter must be of type "object"`,
		`c.readDocument(doc('a'), function () {}, function(){})`: `"options" parameter must be of type "object"`,
		`c.readDocument(doc('a'), {}, {})`:                       `"callback" parameter must be of type "function"`,
		`c.readDocument(doc('a'), {}, null)`:                     `"callback" parameter must be of type "function"`,
	}
	for call, want := range calls {
		m := newMemory(t, `{"id":"a"}`)
		body := run(t, m, `try { `+call+`; say('no error'); } catch (e) { say(e.number, String(e), e instanceof Error); }`)
		if !strings.Contains(strings.ReplaceAll(body, `\"`, `"`), want) || !strings.HasSuffix(body, "true]") {
			t.Errorf("%s: got %s, want %s", call, body, want)
		}
		if !strings.HasPrefix(body, "[400,") && want != "SyntaxError" {
			t.Errorf("%s: got %s, want the number 400", call, body)
		}
		if len(m.calls) > 0 {
			t.Errorf("%s: the collection was called: %v", call, m.calls)
		}
	}
}

func TestMainRunsBeforeTheQueue(t *testing.T) {
	m := newMemory(t, `{"id":"a"}`, `{"id":"b"}`, `{"id":"c"}`, `{"id":"d"}`)
	body := run(t, m, `
		c.readDocument(doc('a'), function () {
			say('a begins');
			c.readDocument(doc('c'), function () { say('c'); });
			c.readDocument(doc('d'), function () { say('d'); });
			say('a ends');
		});
		c.readDocument(doc('b'), function () { say('b'); });
		say('main ends');`)
	equal(t, "order", body, `["main ends","a begins","a ends","b","c","d"]`)
	want := []string{"read " + altLink + "/docs/a", "read " + altLink + "/docs/b", "read " + altLink + "/docs/c", "read " + altLink + "/docs/d"}
	if !slices.Equal(m.calls, want) {
		t.Errorf("calls: got %v, want %v", m.calls, want)
	}
}

func TestTheQueueDoesNotRecurse(t *testing.T) {
	m := newMemory(t, `{"id":"a"}`)
	body := run(t, m, `
		var n = 0;
		(function again() { if (n < 5000) c.readDocument(doc('a'), function () { n++; again(); }); else say(n); })();`)
	equal(t, "reads", body, `[5000]`)
}

func TestArgumentsAreCopied(t *testing.T) {
	m := newMemory(t, `{"id":"a","n":1}`)
	run(t, m, `
		var d = {id: 'b', n: 1, deep: {n: 1}}, options = {etag: '"1"'}, query = {query: 'SELECT * FROM c'};
		c.createDocument(link, d); d.n = 2; d.deep.n = 2;
		c.replaceDocument(doc('a'), d, options); options.etag = '"wrong"'; d.n = 3;
		c.queryDocuments(link, query); query.query = 'changed';`)
	equal(t, "created", m.get("b", "n")+m.get("b", "deep"), `1{"n":1}`)
	equal(t, "replaced", m.get("a", "n")+m.get("a", "deep"), `2{"n":2}`)
	equal(t, "query", m.calls[2], `query {"query":"SELECT * FROM c"}  100`)
}

func TestCallbacksReceiveCopies(t *testing.T) {
	m := newMemory(t, `{"id":"a","n":1}`)
	body := run(t, m, `
		var first;
		c.readDocument(doc('a'), function (err, d) { first = d; d.n = 2; d.more = true; });
		c.readDocument(doc('a'), function (err, d) { say(d !== first, d.n, d.more === undefined); });`)
	equal(t, "second read", body, `[true,1,true]`)
	equal(t, "stored", m.get("a", "n"), "1")
}

func TestRejectedOperationsAreNotQueued(t *testing.T) {
	m := newMemory(t)
	var seen []int
	o := script.Options{Accept: func(operation int) bool { seen = append(seen, operation); return operation != 2 }}
	r, err := try(t, m, o, `function () {`+prelude+`
		for (var i = 1; i <= 3; i++) {
			(function (i) { say(c.createDocument(link, {id: 'i' + i}, function () { say('ran ' + i); })); })(i);
		}
		try { c.readDocument('bad link'); } catch (e) {}
	}`)
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "body", string(r.Body), `[true,false,true,"ran 1","ran 3"]`)
	equal(t, "operations", r.Operations, 2)
	if !slices.Equal(m.ids, []string{"i1", "i3"}) || !slices.Equal(seen, []int{1, 2, 3}) {
		t.Errorf("items %v, requested operations %v", m.ids, seen)
	}
}

func TestFailureWithoutCallbackEndsTheExecution(t *testing.T) {
	m := newMemory(t)
	_, err := try(t, m, script.Options{}, `function () {`+prelude+`
		c.createDocument(link, {id: 'a'});
		c.readDocument(doc('missing'));
		c.createDocument(link, {id: 'never'});
	}`)
	var failed *script.ScriptError
	var cause *script.OperationError
	if !errors.As(err, &failed) || !errors.As(err, &cause) || cause.Number != 404 || failed.Number != 0 {
		t.Errorf("got %v, want a ScriptError for the 404", err)
	}
	equal(t, "calls", len(m.calls), 2)
}

func TestFailuresIgnoredByTheCallbackAreIgnored(t *testing.T) {
	m := newMemory(t)
	body := run(t, m, `
		c.readDocument(doc('missing'), function (err) {});
		c.createDocument(link, {id: 'a'}, function (err, d) { say(d.id); });`)
	equal(t, "body", body, `["a"]`)
}

func TestOtherCollectionErrorsEndTheExecution(t *testing.T) {
	broken := errors.New("disk failure")
	m := newMemory(t, `{"id":"a"}`)
	m.fail = func(call string) error {
		if strings.HasPrefix(call, "delete") {
			return broken
		}
		return nil
	}
	_, err := try(t, m, script.Options{}, `function () {`+prelude+`
		c.deleteDocument(doc('a'), function () { say('never'); });
		c.readDocument(doc('a'));
	}`)
	if err != broken {
		t.Errorf("got %v, want the error of the collection", err)
	}
	equal(t, "calls", len(m.calls), 1)
}

func TestExceptionsInMainDiscardTheQueue(t *testing.T) {
	m := newMemory(t)
	_, err := try(t, m, script.Options{}, `function () {`+prelude+` c.createDocument(link, {id: 'a'}); throw new Error('no'); }`)
	if failed := (*script.ScriptError)(nil); !errors.As(err, &failed) {
		t.Errorf("got %v, want a ScriptError", err)
	}
	equal(t, "calls", len(m.calls), 0)
}

func TestCollectionObject(t *testing.T) {
	equal(t, "surface", run(t, newMemory(t), `
		say(Object.keys(c).length, 'readDocument' in c, c.hasOwnProperty('deleteDocument'), typeof c.isAltLink, typeof c.toString,
			c.readDocument === c.readDocument, c.getSelfLink(), c.getAltLink(), c === getContext().getCollection());
		c.mine = 1; delete c.readDocument;
		say(c.mine, typeof c.readDocument, Object.keys(c).indexOf('readDocument'), Object.keys(c).pop());`),
		`[9,true,true,"undefined","function",true,"`+selfLink+`","`+altLink+`",true,1,"undefined",-1,"mine"]`)
}
