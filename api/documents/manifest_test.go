package documents_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"cosmosblog/api/documents"
	"cosmosblog/blog"
	"cosmosblog/guard/limits"
)

// Manifests have the forms that graphql-codegen, Relay and Apollo write.
func TestParseManifest(t *testing.T) {
	for text, id := range map[string]string{
		`{"a": "{ __typename }"}`:        "a",
		`{"sha256:0": "{ __typename }"}`: "sha256:0",
		`{"format": "apollo-persisted-query-manifest", "version": 1, "operations":
			[{"id": "b", "name": "B", "type": "query", "body": "{ __typename }"}]}`: "b",
	} {
		m, err := documents.ParseManifest([]byte(text))
		if err != nil || len(m) != 2 || m[id] != "{ __typename }" || m[documents.HashID("{ __typename }")] != m[id] {
			t.Errorf("%s: %v, %v", text, m, err)
		}
	}
	for text, want := range map[string]string{
		``:                         "JSON object",
		`[]`:                       "JSON object",
		`{}`:                       "no document",
		`{"a": 5}`:                 "a is not a text",
		`{"a": {"text": "{ x }"}}`: "a is not a text",
		`{"format": "apollo-persisted-query-manifest", "version": 2, "operations": []}`: "version 2",
		`{"format": "other", "version": 1}`:                                             `format "other"`,
		`{"format": "apollo-persisted-query-manifest", "version": 1, "operations": []}`: "no document",
		`{"format": "apollo-persisted-query-manifest", "version": 1, "operations":
			[{"id": "a", "body": "{ x }"}, {"id": "a", "body": "{ y }"}]}`: "two documents have the id a",
	} {
		if _, err := documents.ParseManifest([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}

// A manifest with a document that is invalid or too expensive is refused, with the document's id.
func TestLoad(t *testing.T) {
	expensive := `query Dear($n: Int!) { feed(first: 100) { nodes { content comments(first: 100) { nodes { content } } x: comments(first: $n) { nodes { id } } } } }`
	for text, want := range map[string]string{
		`{ nothing }`:               `Cannot query field "nothing"`,
		`{ feed `:                   "expected a name",
		`fragment A on Post { id }`: "no operation",
		`mutation { deletePost(input: {id: "x"}) { post { id } } updatePost(input: {id: "x", version: 3000000000}) { post { id } } }`: "line 1, column 94",
		`subscription { a: postPublished { cursor } b: postPublished { cursor } }`:                                                    "one field only",
		`query A { viewer { id } } query A { __typename }`:                                                                            "There can be only one operation named",
		expensive: "RU",
		`query Deep { ` + strings.Repeat("viewer { posts { nodes { author { ", 10) + "id" + strings.Repeat(" } } } }", 10) + ` }`: "deep",
	} {
		d := documents.New(limits.Default(), false)
		err := d.Load(documents.Manifest{"good": "{ __typename }", "wrong": text}, true)
		if err == nil || !strings.Contains(err.Error(), "the document wrong (") || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
	// Some variables make these too expensive, others do not.
	d := documents.New(limits.Default(), false)
	manifest := documents.Manifest{}
	for i := range 1000 {
		manifest[fmt.Sprint(i)] = fmt.Sprintf(`query Q%d($n: Int!, $m: Int = 5, $ids: [ID!]!, $in: CreatePostInput!, $order: CommentOrder!, $is: Boolean!) {
			feed(first: $n) { nodes { content comments(first: $m, order: $order) { nodes { content author { creationDate } } } } }
			nodes(ids: $ids) { id @include(if: $is) } }`, i)
		if i%2 == 0 {
			manifest[fmt.Sprint(i)] = fmt.Sprintf(`mutation M%d($in: CreatePostInput!) { createPost(input: $in) { post { id } } }`, i)
		} else {
			manifest[fmt.Sprint(i)] = strings.Replace(manifest[fmt.Sprint(i)], ", $in: CreatePostInput!", "", 1)
		}
	}
	text, err := json.Marshal(manifest)
	if err != nil {
		t.Fatal(err)
	}
	if manifest, err = documents.ParseManifest(text); err == nil {
		err = d.Load(manifest, true)
		d.RejectOthers()
	}
	if err != nil || len(manifest) != 2000 {
		t.Fatalf("%d documents, %v", len(manifest), err)
	}
	listed, _ := d.Text("7")
	known, errs := d.Read(listed, "Q7")
	if len(errs) > 0 || known.Operation.Name != "Q7" {
		t.Errorf("%v, %v", known, errs)
	}
	for _, name := range []string{"", "Q7", "Other"} {
		if _, errs := d.Read(listed, name); len(errs) > 0 {
			t.Errorf("a listed document with the operation %q: %v", name, errs)
		}
		if _, errs := d.Read("{ __typename }", name); len(errs) != 1 || blog.CodeOf(errs[0]) != blog.Forbidden {
			t.Errorf("another document with the operation %q: %v", name, errs)
		}
	}
}
