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
