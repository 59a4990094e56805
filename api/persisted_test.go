package api_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"testing"

	"cosmosblog/api"
)

func sha256Of(query string) string {
	sum := sha256.Sum256([]byte(query))
	return hex.EncodeToString(sum[:])
}

// persistedBody returns the body of a POST with a hash, and with a query unless it is empty.
func persistedBody(t testing.TB, query, hash string) string {
	t.Helper()
	body := map[string]any{"extensions": map[string]any{"persistedQuery": map[string]any{"version": 1, "sha256Hash": hash}}}
	if query != "" {
		body["query"] = query
	}
	text, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// persistedTarget returns the target of a GET with a hash, and with a query unless it is empty.
func persistedTarget(query, hash string) string {
	values := url.Values{"extensions": {`{"persistedQuery":{"version":1,"sha256Hash":"` + hash + `"}}`}}
	if query != "" {
		values.Set("query", query)
	}
	return "/graphql?" + values.Encode()
}

// wantPersistedError checks for the error by which clients recognize the state of a hash. Apollo
// Client and urql compare the message.
func wantPersistedError(t *testing.T, r reply, code, message string) {
	t.Helper()
	status := 200
	if strings.HasPrefix(r.Header().Get("Content-Type"), newerType) {
		status = 400
	}
	if r.Code != status || r.codes() != code || len(r.Errors) != 1 || r.Errors[0].Message != message || r.Data != nil {
		t.Errorf("status %d, %s, want %s", r.Code, r.Body, message)
	}
	if r.Header().Get("Cache-Control") != "no-store" {
		t.Errorf("Cache-Control %q", r.Header().Get("Cache-Control"))
	}
}

// TestPersistedQueries sends what Apollo Client and urql send: the hash, then the hash with the
// query, and from then on the hash alone.
func TestPersistedQueries(t *testing.T) {
	for _, method := range []string{"GET", "POST"} {
		for _, accept := range []string{"application/json", newerType} {
			s := newServer(t, inDevelopment)
			query := "query " + method + "{viewer{username}}"
			send := func(query, hash string) reply {
				if method == "GET" {
					return s.do("GET", persistedTarget(query, hash), "", "Accept", accept, "Authorization", "Bearer good")
				}
				return s.post(persistedBody(t, query, hash), "Accept", accept, "Authorization", "Bearer good")
			}
			wantPersistedError(t, send("", sha256Of(query)), "PERSISTED_QUERY_NOT_FOUND", "PersistedQueryNotFound")
			for _, text := range []string{query, "", ""} {
				if r := send(text, sha256Of(query)); r.Code != 200 || string(r.Data) != `{"viewer":{"username":"ann"}}` || len(r.Errors) > 0 {
					t.Errorf("%s: status %d, %s", method, r.Code, r.Body)
				}
			}
		}
	}
}

// TestPersistedQueriesInProduction checks that a hash alone is rejected, so that clients stop
// sending hashes, and that a query with its hash is executed but not kept.
func TestPersistedQueriesInProduction(t *testing.T) {
	s := newServer(t, nil)
	const query = "{__typename}"
	hash := sha256Of(query)
	for range 2 {
		wantPersistedError(t, s.post(persistedBody(t, "", hash)), "PERSISTED_QUERY_NOT_SUPPORTED", "PersistedQueryNotSupported")
		wantPersistedError(t, s.do("GET", persistedTarget("", hash), "", "Accept", newerType), "PERSISTED_QUERY_NOT_SUPPORTED", "PersistedQueryNotSupported")
		if r := s.post(persistedBody(t, query, hash)); r.Code != 200 || len(r.Errors) > 0 {
			t.Errorf("with its query: status %d, %s", r.Code, r.Body)
		}
	}
}

// TestMalformedPersistedQueries covers hashes that no client sends.
func TestMalformedPersistedQueries(t *testing.T) {
	const query = "{__typename}"
	good := sha256Of(query)
	for _, extension := range []string{
		`null`, `"S3CRET"`, `{}`, `{"version":1}`, `{"sha256Hash":"` + good + `"}`,
		`{"version":2,"sha256Hash":"` + good + `"}`, `{"version":"1","sha256Hash":"` + good + `"}`,
		`{"version":1,"sha256Hash":"` + good[1:] + `"}`, `{"version":1,"sha256Hash":"` + strings.ToUpper(good) + `"}`,
		`{"version":1,"sha256Hash":"` + strings.Repeat("S", 64) + `"}`, `{"version":1,"sha256Hash":5}`,
		`{"version":1,"sha256Hash":"` + sha256Of("S3CRET") + `"}`, // of another query
	} {
		for _, development := range []bool{false, true} {
			s := newServer(t, func(o *api.Options, _ *stubQuery) { o.Development = development })
			r := s.post(`{"query":"` + query + `","extensions":{"persistedQuery":` + extension + `}}`)
			if extension == "null" { // as if it were absent
				if r.Code != 200 || len(r.Errors) > 0 {
					t.Errorf("null: status %d, %s", r.Code, r.Body)
				}
				continue
			}
			if r.Code != 400 || r.codes() != "BAD_USER_INPUT" || strings.Contains(r.Body.String(), "S3CRET") {
				t.Errorf("development %v, %s: status %d, %s", development, extension, r.Code, r.Body)
			}
		}
	}
}

// TestOnlyValidQueriesAreKept checks that documents that are invalid, malformed or long are never
// kept, and that a hash of such a document stays unknown.
func TestOnlyValidQueriesAreKept(t *testing.T) {
	s := newServer(t, inDevelopment)
	for _, query := range []string{"{", "{nothing}", "{viewer}", "{__typename}#" + strings.Repeat("x", 20<<10)} {
		for range 2 {
			s.post(persistedBody(t, query, sha256Of(query)))
			wantPersistedError(t, s.post(persistedBody(t, "", sha256Of(query))), "PERSISTED_QUERY_NOT_FOUND", "PersistedQueryNotFound")
		}
	}
}

// TestKeptQueriesAreBounded checks that old queries make room for new ones.
func TestKeptQueriesAreBounded(t *testing.T) {
	s := newServer(t, inDevelopment)
	query := func(n int) string { return fmt.Sprintf("query Q%d{__typename}", n) }
	for n := range 400 {
		if r := s.post(persistedBody(t, query(n), sha256Of(query(n)))); len(r.Errors) > 0 {
			t.Fatalf("query %d: %s", n, r.Body)
		}
	}
	wantPersistedError(t, s.post(persistedBody(t, "", sha256Of(query(0)))), "PERSISTED_QUERY_NOT_FOUND", "PersistedQueryNotFound")
	if r := s.post(persistedBody(t, "", sha256Of(query(399)))); r.Code != 200 || len(r.Errors) > 0 {
		t.Errorf("the newest query: %s", r.Body)
	}
}

// TestPersistedMutationByGet checks that a hash does not make GET execute a mutation.
func TestPersistedMutationByGet(t *testing.T) {
	s := newServer(t, inDevelopment)
	const query = `mutation{updateUser(input:{username:"ann"}){user{username}}}`
	for _, target := range []string{persistedTarget(query, sha256Of(query)), persistedTarget("", sha256Of(query))} {
		if r := s.do("GET", target, "", "Authorization", "Bearer good"); r.Code != 405 || r.codes() != "BAD_USER_INPUT" {
			t.Errorf("status %d, %s", r.Code, r.Body)
		}
	}
}
