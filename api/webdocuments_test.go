package api_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestDocumentsOfWebPages checks the documents that the blog sends and the examples of GraphiQL.
// They are valid and within the limit of the price, and the manifest has their hashes.
func TestDocumentsOfWebPages(t *testing.T) {
	documents := map[string]string{}
	manifest, err := os.ReadFile("../web/app/src/gql/persisted-documents.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(manifest, &documents); err != nil || len(documents) == 0 {
		t.Fatalf("the manifest: %d documents, %v", len(documents), err)
	}
	for hash, text := range documents {
		sum := sha256.Sum256([]byte(text))
		if want := "sha256:" + hex.EncodeToString(sum[:]); hash != want {
			t.Errorf("the manifest has the hash %s instead of %s for %s", hash, want, text)
		}
	}
	examples, err := filepath.Glob("../web/graphiql/src/examples/*.graphql")
	if err != nil || len(examples) != 15 {
		t.Fatalf("%d examples, %v", len(examples), err)
	}
	for _, path := range examples {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		documents[filepath.Base(path)] = string(text)
	}
	s := newSite(t, false)
	for name, text := range documents {
		// Without a token, valid mutations have errors of their fields.
		codes := s.queryAs("", text, "postId", s.post, "userId", s.ann.ID, "username", "eve", "title", "x", "content", "x").codes()
		for _, refused := range []string{"GRAPHQL_PARSE_FAILED", "GRAPHQL_VALIDATION_FAILED", "COST_LIMIT_EXCEEDED", "LIMIT_EXCEEDED"} {
			if strings.Contains(codes, refused) {
				t.Errorf("%s: %s\n%s", name, codes, text)
			}
		}
	}
}
