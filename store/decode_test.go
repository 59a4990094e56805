package store_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"reflect"
	"strings"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"

	"cosmosblog/blog"
	"cosmosblog/cosmostest"
	"cosmosblog/internal/inprocess"
	"cosmosblog/proof/storetest"
	"cosmosblog/store"
	"cosmosblog/store/cosmos"
	"cosmosblog/store/provision"
	"cosmosblog/store/schema"
)

// FuzzDecode checks that cosmos.Decode accepts the same texts as encoding/json and returns the same
// items. Its corpus are answers of the engine, and texts on which JSON decoders differ.
func FuzzDecode(f *testing.F) {
	for _, text := range engineAnswers(f) {
		f.Add(text)
	}
	for _, text := range ambiguousTexts() {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		compareDecoding[schema.UserItem](t, text)
		compareDecoding[schema.PostItem](t, text)
		compareDecoding[schema.CommentItem](t, text)
		compareDecoding[schema.LikeItem](t, text)
		compareDecoding[schema.ReservationItem](t, text)
		compareDecoding[struct{ Documents []schema.PostItem }](t, text)
		compareDecoding[struct {
			Code      string
			Duplicate bool
			Post      *schema.PostItem
			Comment   *schema.CommentItem
		}](t, text)
	})
}

func compareDecoding[T any](t *testing.T, text []byte) {
	t.Helper()
	var got, want T
	gotErr, wantErr := cosmos.Decode(text, &got), json.Unmarshal(text, &want)
	if (gotErr == nil) != (wantErr == nil) {
		t.Fatalf("Decode(%q) returns the error %v, encoding/json %v", text, gotErr, wantErr)
	}
	if gotErr != nil && !cosmos.IsPermanent(gotErr) {
		t.Fatalf("Decode(%q) returns the error %v, which is not permanent", text, gotErr)
	}
	if gotErr == nil && !reflect.DeepEqual(got, want) {
		t.Fatalf("Decode(%q) returns\n%#v, encoding/json\n%#v", text, got, want)
	}
}

// engineAnswers returns the bodies of the engine's answers to commands and queries of all kinds.
func engineAnswers(tb testing.TB) [][]byte {
	tb.Helper()
	engine := cosmostest.New(tb, cosmostest.Options{})
	kept := &keptAnswers{next: inprocess.To(engine)}
	db, err := provision.OpenEmbedded(tb.Context(), engine, cosmos.Options{Transport: kept})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(db.Close)
	kept.bodies = nil // without those of provisioning
	s, ctx := store.New(db), tb.Context()
	ok := func(err error) {
		tb.Helper()
		if err != nil {
			tb.Fatal(err)
		}
	}
	ada, err := s.CreateUser(ctx, storetest.Account("ada"), "Ada")
	ok(err)
	first, err := s.CreatePost(ctx, ada, blog.CreatePostInput{Title: "A \"title\" <&> \U0001F600", Content: "Line\nline\ttab \\ end\u2028"})
	ok(err)
	second, err := s.CreatePost(ctx, ada, blog.CreatePostInput{Title: "Überschrift", Content: strings.Repeat("日本語 ", 40)})
	ok(err)
	_, err = s.CreateComment(ctx, ada, blog.CreateCommentInput{PostID: first.Ref(), Content: "A comment."})
	ok(err)
	_, err = s.LikePost(ctx, ada, first.ID)
	ok(err)
	title := "Another title"
	_, err = s.UpdatePost(ctx, ada.ID, blog.UpdatePostInput{ID: first.Ref(), PostChange: blog.PostChange{Title: &title}})
	ok(err)
	_, err = s.DeletePost(ctx, ada.ID, second.ID)
	ok(err)
	page := blog.PageRequest{First: 20}
	_, err = s.User(ctx, ada.ID)
	ok(err)
	_, err = s.UserByUsername(ctx, "ada")
	ok(err)
	_, err = s.Posts(ctx, []string{first.ID, second.ID})
	ok(err)
	_, err = s.Comments(ctx, first.ID, page)
	ok(err)
	_, err = s.Likes(ctx, first.ID, page)
	ok(err)
	_, err = s.Feed(ctx, page)
	ok(err)
	return kept.bodies
}

// keptAnswers is a transport that keeps the bodies of all answers.
type keptAnswers struct {
	next   policy.Transporter
	bodies [][]byte
}

func (k *keptAnswers) Do(request *http.Request) (*http.Response, error) {
	response, err := k.next.Do(request)
	if err != nil {
		return nil, err
	}
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return nil, err
	}
	response.Body = io.NopCloser(bytes.NewReader(body))
	k.bodies = append(k.bodies, body)
	return response, nil
}

// ambiguousTexts returns items on whose syntax or meaning JSON decoders differ.
func ambiguousTexts() []string {
	return []string{
		``, ` `, `null`, `{}`, `[]`, `"id"`, `{"id":"a"} `, `{"id":"a"}x`, `{"id":"a",}`, `{"id":}`, `{"id"}`, "\ufeff{}",
		`{"ID":"a"}`, `{"iD":"a","id":"b"}`, `{"id":"b","ID":"a"}`, `{"post_id":"a","post-id":"b"}`, `{"_id":"a"}`,
		"{\"u\u017feRId\":\"long s\"}", "{\"li\u212AeCount\":1}", // folded by Unicode to userId and likeCount
		`{"id":"a","id":"b"}`, `{"id":"a","id":null}`, `{"edits":["a","b"],"edits":["c"]}`, `{"edits":["a"],"edits":[null,null]}`,
		`{"post":{"id":"a"},"post":{"title":"b"}}`, `{"Documents":[{"id":"a"}],"documents":[{"title":"b"}]}`,
		`{"id":null,"version":null,"deleted":null,"edits":null,"post":null}`, `{"edits":[]}`, `{"edits":{}}`,
		`{"version":1.0}`, `{"version":1e2}`, `{"version":-0}`, `{"version":01}`, `{"version":+1}`, `{"version":"1"}`,
		`{"revision":9223372036854775807}`, `{"revision":9223372036854775808}`, `{"ttl":2147483648}`, `{"x":1e999}`, `{"x":-}`,
		`{"deleted":1}`, `{"deleted":"true"}`, `{"deleted":TRUE}`, `{"id":true}`,
		`{"id":"\ud83d\ude00"}`, `{"id":"\ud83d"}`, `{"id":"\ude00\ud83d"}`, `{"id":"\ud83d\u0041"}`, `{"id":"\u0000"}`, `{"id":"\x"}`,
		`{"id":"\u12"}`, "{\"id\":\"\xff\"}", "{\"id\":\"\xed\xa0\x80\"}", "{\"\xff\":1}", "{\"id\":\"\x01\"}", "{\"id\":\"\x7f\"}",
		`{"\u0069d":"a"}`, `{"i\u0064":"\/\b\f"}`, "{\"id\":\"\u2028\"}",
	}
}

// TestDecodeDepth checks that cosmos.Decode accepts the same nesting as encoding/json: 10,000.
func TestDecodeDepth(t *testing.T) {
	for _, depth := range []int{9_998, 9_999, 10_000, 10_001} {
		compareDecoding[schema.PostItem](t, []byte(`{"x":`+strings.Repeat("[", depth)+strings.Repeat("]", depth)+`}`))
		compareDecoding[schema.PostItem](t, []byte(strings.Repeat(`{"x":`, depth)+`0`+strings.Repeat("}", depth)))
	}
}
