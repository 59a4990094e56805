package script_test

import (
	"errors"
	"testing"

	"cosmosblog/engine/script"
)

func TestPreTrigger(t *testing.T) {
	cases := map[string]struct{ script, want string }{
		"keeps the body":       {``, `{"id": "a", "n": 1}`},
		"reads the body":       {`q.getBody().n = 2`, `{"id": "a", "n": 1}`},
		"sets the body":        {`var d = q.getBody(); d.n = 2; q.setBody(d)`, `{"id":"a","n":2}`},
		"changes it after set": {`var d = q.getBody(); q.setBody(d); d.n = 3`, `{"id":"a","n":3}`},
		"sets text":            {`q.setBody('{"id":"b"}')`, `{"id":"b"}`},
		"sets nothing":         {`q.setBody(undefined)`, ``},
		"by value":             {`q.setValue('body', {id: q.getValue('operationType')})`, `{"id":"Create"}`},
		"operation":            {`q.setBody({id: q.getOperationType()})`, `{"id":"Create"}`},
		"has no response":      {`try { getContext().getResponse() } catch (e) { q.setBody({id: typeof __.response, e: e instanceof TypeError}) }`, `{"id":"undefined","e":true}`},
		"reads the collection": {`__.readDocument(__.getAltLink() + '/docs/x', function (err, d) { q.setBody({id: 'a', n: d.n}) })`, `{"id":"a","n":7}`},
		"not limited in size":  {`q.setBody({id: 'a', text: '123456789012345678901234567890'})`, `{"id":"a","text":"123456789012345678901234567890"}`},
		"other values":         {`try { q.setValue('operationType', 'Delete') } catch (e) { q.setBody({id: e.number}) }`, `{"id":403}`},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			p := compile(t, `function () { var q = getContext().getRequest(); `+c.script+` }`)
			w := script.Write{Operation: "Create", Body: []byte(`{"id": "a", "n": 1}`)}
			body, err := p.Before(t.Context(), newMemory(t, `{"id":"x","n":7}`), w, script.Options{MaxBody: 10})
			if err != nil {
				t.Fatal(err)
			}
			equal(t, "body", string(body), c.want)
		})
	}
}

func TestPreTriggerCanLog(t *testing.T) {
	_, err := compile(t, `function () { console.log('x') }`).Before(t.Context(), newMemory(t), script.Write{Operation: "Delete"}, script.Options{Logging: true})
	if err != nil {
		t.Fatal(err)
	}
}

func TestPostTrigger(t *testing.T) {
	cases := map[string]struct{ script, want string }{
		"keeps the body":       {``, `{"id": "a", "_etag": "1"}`},
		"sees the stored item": {`r.setBody([r.getBody()._etag, r.getBody() === r.getBody()])`, `["1",true]`},
		"sees the request":     {`r.setBody([q.getBody(), q.getOperationType()])`, `[{"id":"a"},"Upsert"]`},
		"cannot change it":     {`r.setBody([typeof q.setBody, typeof q.setValue])`, `["undefined","undefined"]`},
		"sets undefined":       {`r.setBody(undefined)`, `""`},
		"sets text":            {`r.setBody('x')`, `"x"`},
		"response has no type": {`r.setBody(typeof r.getOperationType)`, `"undefined"`},
		"writes":               {`__.createDocument(__.getAltLink(), {id: 'log'}, function (err, d) { r.setBody(d.id) })`, `"log"`},
		"appends to an object": {`r.appendBody('x')`, `"[object Object]x"`},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			p := compile(t, `function () { var q = getContext().getRequest(), r = __.response; `+c.script+` }`)
			w := script.Write{Operation: "Upsert", Body: []byte(`{"id":"a"}`)}
			body, err := p.After(t.Context(), newMemory(t), w, []byte(`{"id": "a", "_etag": "1"}`), script.Options{})
			if err != nil {
				t.Fatal(err)
			}
			equal(t, "body", string(body), c.want)
		})
	}
}

func TestTriggersOfDeletes(t *testing.T) {
	p := compile(t, `function () {
		var q = getContext().getRequest();
		__.createDocument(__.getAltLink(), {id: q.getOperationType(), request: typeof q.getBody(), response: __.response ? typeof __.response.getBody() : 'none'});
	}`)
	m := newMemory(t)
	w := script.Write{Operation: "Delete"}
	body, err := p.Before(t.Context(), m, w, script.Options{})
	if err != nil || len(body) != 0 {
		t.Fatalf("before: %q, %v", body, err)
	}
	equal(t, "before", m.get("Delete", "request")+m.get("Delete", "response"), `"undefined""none"`)

	m = newMemory(t)
	if body, err = p.After(t.Context(), m, w, nil, script.Options{}); err != nil || len(body) != 0 {
		t.Fatalf("after: %q, %v", body, err)
	}
	equal(t, "after", m.get("Delete", "request")+m.get("Delete", "response"), `"undefined""undefined"`)
}

func TestTriggersFail(t *testing.T) {
	p := compile(t, `function () { throw new Error(42, 'not today') }`)
	large := compile(t, `function () { __.response.setBody('1234567890') }`)
	w := script.Write{Operation: "Replace", Body: []byte(`{}`)}
	var failed *script.ScriptError
	if _, err := p.Before(t.Context(), newMemory(t), w, script.Options{}); !errors.As(err, &failed) || failed.Number != 42 {
		t.Errorf("before: got %v", err)
	}
	if _, err := p.After(t.Context(), newMemory(t), w, nil, script.Options{}); !errors.As(err, &failed) || failed.Number != 42 {
		t.Errorf("after: got %v", err)
	}
	if _, err := large.After(t.Context(), newMemory(t), w, nil, script.Options{MaxBody: 5}); !errors.As(err, new(*script.TooLargeError)) {
		t.Errorf("too large: got %v", err)
	}
	broken := script.Write{Operation: "Create", Body: []byte(`{`)}
	if _, err := compile(t, `function () { __.request.getBody() }`).Before(t.Context(), newMemory(t), broken, script.Options{}); !errors.As(err, &failed) {
		t.Errorf("invalid JSON body: got %v", err)
	}
}
