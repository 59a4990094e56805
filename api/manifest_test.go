package api_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/coder/websocket"

	"cosmosblog/api"
	manifests "cosmosblog/api/documents"
	"cosmosblog/guard/limits"
)

// newManifestServer returns a server, in production, with a manifest of two documents.
func newManifestServer(t *testing.T, only bool) *server {
	known := manifests.New(limits.Default(), false)
	manifest, err := manifests.ParseManifest([]byte(`{"viewer": "{ viewer { username } }", "wrong": "mutation { deletePost(input: {id: \"x\"}) { post { id } } }"}`))
	if err == nil {
		err = known.Load(manifest, true)
	}
	if only {
		known.RejectOthers()
	}
	if err != nil {
		t.Fatal(err)
	}
	return newServer(t, func(o *api.Options, _ *stubQuery) { o.Documents = known })
}

// get sends a GET with parameters, which alternate between names and values.
func (s *server) get(header http.Header, parameters ...string) *httptest.ResponseRecorder {
	values := url.Values{}
	for i := 0; i < len(parameters); i += 2 {
		values.Set(parameters[i], parameters[i+1])
	}
	r := httptest.NewRequest("GET", "/graphql?"+values.Encode(), nil)
	r.Header.Set("Accept", "application/graphql-response+json")
	for name := range header {
		r.Header[name] = header[name]
	}
	w := httptest.NewRecorder()
	s.handler.ServeHTTP(w, r)
	return w
}

// Clients send the id of a document instead of its text, by GET and POST, and can keep the answer.
func TestDocumentIDs(t *testing.T) {
	s := newManifestServer(t, false)
	const answer = `{"data":{"viewer":null}}`
	hash := manifests.HashID("{ viewer { username } }")
	apollo := `{"persistedQuery":{"version":1,"sha256Hash":"` + strings.TrimPrefix(hash, "sha256:") + `"}}`
	for _, parameters := range [][]string{{"documentId", "viewer"}, {"documentId", hash}, {"extensions", apollo}} {
		w := s.get(nil, parameters...)
		if w.Code != 200 || w.Body.String() != answer || w.Header().Get("Cache-Control") != "private, no-cache" || w.Header().Get("ETag") == "" {
			t.Errorf("%v: %d %v %s", parameters, w.Code, w.Header(), w.Body)
		}
		again := s.get(http.Header{"If-None-Match": {w.Header().Get("ETag")}}, parameters...)
		if again.Code != http.StatusNotModified {
			t.Errorf("%v with its ETag: %d", parameters, again.Code)
		}
	}
	body, _ := json.Marshal(map[string]any{"documentId": "viewer", "variables": map[string]any{}})
	r := httptest.NewRequest("POST", "/graphql", strings.NewReader(string(body)))
	r.Header.Set("Content-Type", "application/json")
	w := httptest.NewRecorder()
	s.handler.ServeHTTP(w, r)
	if w.Code != 200 || w.Body.String() != answer {
		t.Errorf("POST: %d %s", w.Code, w.Body)
	}
	for _, test := range []struct {
		parameters []string
		status     int
		want       string
	}{
		{[]string{"documentId", "unknown"}, 400, "PERSISTED_QUERY_NOT_FOUND"},
		{[]string{"documentId", "sha256:" + strings.Repeat("0", 64)}, 400, "PERSISTED_QUERY_NOT_FOUND"},
		{[]string{"documentId", "viewer", "query", "{__typename}"}, 400, "Send either"},
		{[]string{"documentId", "wrong"}, 405, "GET can only execute queries"},
		{[]string{"documentId", ""}, 400, "no `query`"},
	} {
		if w := s.get(nil, test.parameters...); w.Code != test.status || !strings.Contains(w.Body.String(), test.want) {
			t.Errorf("%v: %d %s", test.parameters, w.Code, w.Body)
		}
	}
	if w := s.get(nil, "query", "{__typename}"); w.Code != 200 {
		t.Errorf("another document: %d %s", w.Code, w.Body)
	}
}

// A WebSocket takes ids too. The errors show which document it has found.
func TestDocumentIDsOnWebSocket(t *testing.T) {
	listening := httptest.NewServer(newManifestServer(t, true).handler)
	defer listening.Close()
	options := &websocket.DialOptions{Subprotocols: []string{"graphql-transport-ws"}}
	socket, _, err := websocket.Dial(t.Context(), "ws"+strings.TrimPrefix(listening.URL, "http")+"/graphql", options)
	if err != nil {
		t.Fatal(err)
	}
	defer socket.CloseNow()
	exchange := func(message string) string {
		if err := socket.Write(t.Context(), websocket.MessageText, []byte(message)); err != nil {
			t.Fatal(err)
		}
		_, answer, err := socket.Read(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return string(answer)
	}
	exchange(`{"type": "connection_init"}`)
	hash := strings.TrimPrefix(manifests.HashID("{ viewer { username } }"), "sha256:")
	for payload, want := range map[string]string{
		`{"documentId": "viewer"}`:              "are for subscriptions",
		`{"documentId": "viewer", "query": ""}`: "are for subscriptions",
		`{"extensions": {"persistedQuery": {"version": 1, "sha256Hash": "` + hash + `"}}}`: "are for subscriptions",
		`{"query": "{ viewer { username } }"}`:                                             "are for subscriptions",
		`{"documentId": "unknown"}`:                                                        "PERSISTED_QUERY_NOT_FOUND",
		`{"documentId": "viewer", "query": "{ __typename }"}`:                              "Send either",
		`{"query": "{ __typename }"}`:                                                      "FORBIDDEN",
		`{"query": "subscription { postChanged(id: \"x\") { id } }"}`:                      "FORBIDDEN",
	} {
		if got := exchange(`{"id": "1", "type": "subscribe", "payload": ` + payload + `}`); !strings.Contains(got, want) {
			t.Errorf("%s: got %s, want %s", payload, got, want)
		}
	}
}

// With DocumentsOnly, other documents are rejected, also valid ones and subscriptions.
func TestDocumentsOnly(t *testing.T) {
	s := newManifestServer(t, true)
	if w := s.get(nil, "documentId", "viewer"); w.Code != 200 {
		t.Errorf("by id: %d %s", w.Code, w.Body)
	}
	if w := s.get(nil, "query", "{ viewer { username } }"); w.Code != 200 {
		t.Errorf("by its text: %d %s", w.Code, w.Body)
	}
	for _, query := range []string{"{__typename}", "{ viewer { username} }"} {
		if w := s.get(nil, "query", query); !strings.Contains(w.Body.String(), "FORBIDDEN") || strings.Contains(w.Body.String(), `"data"`) {
			t.Errorf("%s: %d %s", query, w.Code, w.Body)
		}
	}
	listening := httptest.NewServer(s.handler)
	defer listening.Close()
	r, err := http.NewRequest("GET", listening.URL+"/graphql?query="+url.QueryEscape(`subscription { postChanged(id: "p_aaaaaaaaaaaaaaaaaaaaaaaaaa") { title } }`), nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Accept", "text/event-stream")
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if text, err := io.ReadAll(response.Body); err != nil || !strings.Contains(string(text), "FORBIDDEN") {
		t.Errorf("a subscription: %s, %v", text, err)
	}
}
