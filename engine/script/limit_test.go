package script_test

import (
	"context"
	"errors"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dlclark/regexp2/v2"

	"cosmosblog/engine/script"
)

func TestEndlessLoopsAreInterrupted(t *testing.T) {
	loops := map[string]string{
		"loop":                 `for (;;) {}`,
		"inside try":           `for (;;) { try { for (;;) {} } catch (e) {} finally { continue } }`,
		"in a callback":        `__.readDocument(__.getAltLink() + '/docs/z', function () { for (;;) {} })`,
		"in a promise":         `Promise.resolve().then(function () { for (;;) {} })`,
		"in async":             `(async function () { for (;;) await 1 })()`,
		"in toJSON at the end": `var a = {}; __.response.setBody(a); a.toJSON = function () { for (;;) {} }`,
		"in an exception":      `throw {toJSON: function () { for (;;) {} }}`,
		"in an option":         `__.readDocument(__.getAltLink() + '/docs/z', {get ifNoneMatch() { for (;;) {} }})`,
		"in a comparison":      `[3, 2, 1].sort(function () { for (;;) {} })`,
		"in toString":          `__.response.setBody('' + {toString: function () { for (;;) {} }})`,
		"in a getter":          `JSON.stringify({get a() { for (;;) {} }})`,
		"in a proxy":           `new Proxy({}, {get: function () { for (;;) {} }}).a`,
		"in an iterator":       `Array.from({[Symbol.iterator]: function () { return {next: function () { return {} }} }})`,
		"endless promises":     `(function again() { Promise.resolve().then(again) })()`,
		"regular expressions":  `for (;;) /a+b/.test('aaaa')`,
		"endless operations":   `(function again() { __.readDocument(__.getAltLink() + '/docs/z', again) })()`,
	}
	for name, loop := range loops {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			limit := 30 * time.Millisecond
			_, err := try(t, newMemory(t), script.Options{Timeout: limit, Budget: time.Hour}, `function () { `+loop+` }`)
			var late *script.TimeoutError
			if !errors.As(err, &late) || late.Limit != limit {
				t.Errorf("got %v, want a TimeoutError", err)
			}
		})
	}
}

// waiting is a collection whose queries never complete.
type waiting struct{ *memory }

func (waiting) Query(ctx context.Context, _ []byte, _ string, _ int) (script.Page, error) {
	<-ctx.Done()
	return script.Page{}, ctx.Err()
}

func TestQueriesStopAtTheTimeout(t *testing.T) {
	p, limit := compile(t, `function () { __.queryDocuments(__.getSelfLink(), 'SELECT * FROM c', function () {}); }`), 30*time.Millisecond
	_, err := p.Execute(t.Context(), waiting{newMemory(t)}, nil, script.Options{Timeout: limit})
	if late := (*script.TimeoutError)(nil); !errors.As(err, &late) || late.Limit != limit {
		t.Errorf("got %v, want a TimeoutError", err)
	}
}

// TestRegularExpressionsTimeOut uses a look-ahead, which makes goja backtrack endlessly. goja
// uses Go's regexp package for other expressions.
func TestRegularExpressionsTimeOut(t *testing.T) {
	defer func(limit time.Duration) { regexp2.DefaultMatchTimeout = limit }(regexp2.DefaultMatchTimeout)
	if regexp2.DefaultMatchTimeout != script.DefaultTimeout {
		t.Errorf("match timeout %v, want %v", regexp2.DefaultMatchTimeout, script.DefaultTimeout)
	}
	regexp2.DefaultMatchTimeout = 200 * time.Millisecond
	limit := 50 * time.Millisecond
	_, err := try(t, newMemory(t), script.Options{Timeout: limit}, `function () {
		__.response.setBody(/(?=a)(a+)+b/.test('a'.repeat(60)));
	}`)
	if late := (*script.TimeoutError)(nil); !errors.As(err, &late) || late.Limit != limit {
		t.Errorf("got %v, want a TimeoutError", err)
	}
}

func TestFailedExecutionsReturnTheLog(t *testing.T) {
	r, err := try(t, newMemory(t), script.Options{Logging: true}, `function () { console.log('before'); throw new Error('failed') }`)
	if err == nil || r.Log != "before" || r.Body != nil {
		t.Errorf("got %+v, %v", r, err)
	}
}

func TestContextIsCanceled(t *testing.T) {
	cause := errors.New("client disconnected")
	ctx, cancel := context.WithCancelCause(t.Context())
	m := newMemory(t, `{"id":"a"}`)
	m.fail = func(string) error { cancel(cause); return nil }
	p := compile(t, `function () { __.readDocument(__.getAltLink() + '/docs/a', function () { for (;;) {} }) }`)
	if _, err := p.Execute(ctx, m, nil, script.Options{}); err != cause {
		t.Errorf("got %v, want the cause", err)
	}
	if _, err := p.Execute(ctx, m, nil, script.Options{}); err != cause {
		t.Errorf("canceled before the start: got %v, want the cause", err)
	}
	equal(t, "calls", len(m.calls), 1)
}

// slow makes every operation take a second in a synctest bubble.
func slow(m *memory) *memory {
	m.fail = func(string) error { time.Sleep(time.Second); return nil }
	return m
}

const countReads = `function () {
	var reads = 0;
	(function again() {
		__.response.setBody(reads);
		if (!__.readDocument(__.getAltLink() + '/docs/a', function () { reads++; again() })) __.response.setBody('rejected after ' + reads);
	})();
}`

func TestBudgetRejectsOperationsBeforeTheTimeout(t *testing.T) {
	for name, c := range map[string]struct {
		options script.Options
		want    string
	}{
		"by default":    {script.Options{}, `"rejected after 4"`},
		"own timeout":   {script.Options{Timeout: 10 * time.Second}, `"rejected after 8"`},
		"own budget":    {script.Options{Budget: 1500 * time.Millisecond}, `"rejected after 2"`},
		"spent at once": {script.Options{Budget: -1}, `"rejected after 0"`},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r, err := try(t, slow(newMemory(t, `{"id":"a"}`)), c.options, countReads)
				if err != nil {
					t.Fatal(err)
				}
				equal(t, "body", string(r.Body), c.want)
			})
		})
	}
}

func TestTimeoutBetweenOperations(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := slow(newMemory(t, `{"id":"a"}`))
		limit := 4500 * time.Millisecond
		_, err := try(t, m, script.Options{Timeout: limit}, `function () { for (var i = 0; i < 10; i++) __.readDocument(__.getAltLink() + '/docs/a') }`)
		if late := (*script.TimeoutError)(nil); !errors.As(err, &late) || late.Limit != limit {
			t.Errorf("got %v, want a TimeoutError", err)
		}
		equal(t, "operations before the timeout", len(m.calls), 5)
	})
}

func TestLog(t *testing.T) {
	cases := map[string]struct{ script, want string }{
		"text":              {`console.log('a'); console.log('b ö')`, "ab ö"},
		"any value":         {`console.log(1); console.log(undefined); console.log({})`, "1undefined[object Object]"},
		"format":            {`console.log('%s and %s', 1, 'x')`, "1 and x"},
		"percent":           {`console.log('%d %% %s%', 1)`, "%d % 1%"},
		"missing value":     {`console.log('%s %s', 1)`, "1 undefined"},
		"surplus value":     {`console.log('%s', 1, 2)`, "1"},
		"no values":         {`console.log('%s %%')`, "%s %%"},
		"no arguments":      {`try { console.log() } catch (e) { console.log(e.number) }`, "400"},
		"format not string": {`try { console.log(1, 2) } catch (e) { console.log(e.number) }`, "400"},
		"beyond the limit":  {`console.log('x'); console.log('ö'.repeat(1366)); console.log('z')`, "xz"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			r, err := try(t, newMemory(t), script.Options{Logging: true}, `function () { `+c.script+` }`)
			if err != nil {
				t.Fatal(err)
			}
			equal(t, "log", r.Log, url.PathEscape(c.want))
			silent, err := try(t, newMemory(t), script.Options{}, `function () { `+c.script+` }`)
			if err != nil {
				t.Fatal(err)
			}
			equal(t, "log without logging", silent.Log, "")
		})
	}
}

func TestDeeplyNestedItemsAreRejected(t *testing.T) {
	m := newMemory(t)
	deep := strings.Repeat("[", 200) + strings.Repeat("]", 200)
	equal(t, "body", execute(t, m, `function (text) {
		try { __.createDocument(__.getAltLink(), '{"id":"a","deep":' + text + '}') } catch (e) { __.response.setBody(e instanceof SyntaxError) }
	}`, deep), "true")
}
