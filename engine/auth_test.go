package engine

import (
	"net/http/httptest"
	"strings"
	"testing"
)

func TestEntraTokensPermitNoManagement(t *testing.T) {
	a := newBlog(t, Options{Entra: true})
	a.addScript("sprocs", "one", `function one() { getContext().getResponse().setBody(1) }`)
	send := func(method, path, body, token string) (status int, substatus string) {
		r := httptest.NewRequest(method, "http://engine.invalid/"+path, strings.NewReader(body))
		r.Header.Set("Authorization", "type=aad&ver=1.0&sig="+token)
		r.Header.Set("x-ms-documentdb-partitionkey", `["p1"]`)
		w := httptest.NewRecorder()
		a.ServeHTTP(w, r)
		return w.Code, w.Header().Get("X-Ms-Substatus")
	}
	const token = "header.claims.signature"
	for _, c := range []struct {
		method, path, body string
		want               int
	}{
		{"GET", "", "", 200},
		{"GET", posts, "", 200},
		{"GET", posts + "/pkranges", "", 200},
		{"POST", docs, `{"id":"a","postId":"p1"}`, 201},
		{"GET", docs + "/a", "", 200},
		{"POST", posts + "/sprocs/one", "[]", 200},
		{"GET", posts + "/sprocs/one", "", 403},
		{"GET", posts + "/sprocs", "", 403},
		{"POST", posts + "/sprocs", `{"id":"two","body":"function two() {}"}`, 403},
		{"DELETE", posts + "/sprocs/one", "", 403},
		{"GET", posts + "/triggers", "", 403},
		{"POST", "dbs", `{"id":"x"}`, 403},
		{"DELETE", posts, "", 403},
		{"PUT", posts, blogContainer, 403},
		{"GET", "offers", "", 403},
	} {
		status, substatus := send(c.method, c.path, c.body, token)
		if status != c.want || status == 403 && substatus != "5300" {
			t.Errorf("%s %s: %d/%s, want %d", c.method, c.path, status, substatus, c.want)
		}
	}
	if status, _ := send("GET", posts, "", "no-token"); status != 401 {
		t.Errorf("malformed token: status %d", status)
	}
	b := newBlog(t, Options{})
	a = b
	if status, _ := send("GET", posts, "", token); status != 401 {
		t.Errorf("without Options.Entra, an Entra ID token gets status %d", status)
	}
}

// TestNamesThatLookEscaped addresses every kind of resource by a name with what looks like an
// escape. The gateway decodes paths twice, so the signature of the name itself does not fit (the
// payloads in Azure/azure-cosmos-dotnet-v2#150; dotnet-v3, EmulatorTests/
// CosmosItemIdEncodingTestsBase.cs). A body may have any id, and Entra ID tokens sign nothing.
func TestNamesThatLookEscaped(t *testing.T) {
	a := newBlog(t, Options{Entra: true})
	a.create("p", `{"id":"a%20b","postId":"p"}`)
	a.addScript("sprocs", "a%20b", `function one() { getContext().getResponse().setBody(1) }`)
	a.must(201, a.send("POST", "dbs/blog/colls", `{"id":"a%20b",`+idKey+`}`))
	a.must(201, a.send("POST", "dbs", `{"id":"a%20b"}`))
	for _, path := range []string{docs + "/a%20b", posts + "/sprocs/a%20b", "dbs/blog/colls/a%20b", "dbs/blog/colls/a%20b/docs", "dbs/a%20b", "dbs/a%20b/colls"} {
		for _, method := range []string{"GET", "PUT", "PATCH", "DELETE", "POST"} {
			if got := a.send(method, path, `{}`, "pk", "p"); got.status != 401 && got.status != 405 {
				t.Errorf("%s %s: %d", method, path, got.status)
			}
		}
	}
	if got := a.send("GET", docs+"/x%deZ%", "", "pk", "p"); got.status != 401 || !strings.Contains(got.text, "x\ufffdZ%") {
		t.Errorf("the payload of the message: %s", got.text)
	}
	for _, id := range []string{"100%", "%", "a%2", "a%zz", "%-1"} {
		a.create("p", `{"id":"`+id+`","postId":"p"}`)
		a.must(200, a.send("GET", docs+"/"+id, "", "pk", "p"))
	}
	if got := a.must(200, a.query("p", `{"query":"SELECT * FROM c WHERE c.id = 'a%20b'"}`)); len(got.ids()) != 1 {
		t.Errorf("the query finds %v", got.ids())
	}
	r := a.request("GET", docs+"/a%20b", "", "pk", "p")
	r.Header.Set("Authorization", "type=aad&ver=1.0&sig=header.claims.signature")
	w := httptest.NewRecorder()
	if a.ServeHTTP(w, r); w.Code != 200 {
		t.Errorf("with a token of Entra ID: %d", w.Code)
	}
}
