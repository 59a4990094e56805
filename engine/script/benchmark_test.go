package script_test

import (
	"fmt"
	"strings"
	"testing"

	"cosmosblog/engine/script"
	"cosmosblog/engine/value"
)

// createCommentScript resembles the blog's own script: it reads the post, creates the comment,
// replaces the post, and sets the response.
const createCommentScript = `
function createComment(a) {
	var context = getContext(), collection = context.getCollection(), link = collection.getAltLink();
	function must(accepted) { if (!accepted) throw new Error(503, 'NOT_ACCEPTED'); }
	must(collection.readDocument(link + '/docs/' + a.postId, function (err, post) {
		if (err) throw new Error(err.number, err.message);
		if (post.type !== 'post') { context.getResponse().setBody({ code: 'POST_NOT_FOUND' }); return; }
		var comment = { id: a.id, postId: a.postId, type: 'comment', userId: a.userId, content: a.content, creationDate: a.creationDate };
		must(collection.createDocument(link, comment, function (err, stored) {
			if (err) throw new Error(err.number, err.message);
			post.commentCount = (post.commentCount | 0) + 1;
			must(collection.replaceDocument(post._self, post, { etag: post._etag }, function (err, replaced) {
				if (err) throw new Error(err.number, err.message);
				delete replaced.content;
				context.getResponse().setBody({ code: 'OK', comment: stored, post: replaced });
			}));
		}));
	}));
}`

// canned returns every result immediately, so that the benchmark measures only the host.
type canned struct {
	script.Collection
	post value.Value
}

func (c canned) SelfLink() string { return selfLink }
func (c canned) AltLink() string  { return altLink }

func (c canned) Read(string) (value.Value, error)                                  { return c.post, nil }
func (c canned) Create(item value.Value, _ bool) (value.Value, error)              { return item, nil }
func (c canned) Replace(_ string, item value.Value, _ string) (value.Value, error) { return item, nil }

func BenchmarkCreateComment(b *testing.B) {
	p := compile(b, createCommentScript)
	post, err := value.Parse(fmt.Appendf(nil, `{"id":"p1","postId":"p1","type":"post","userId":"u1","userUsername":"ada","title":"A title","content":%q,`+
		`"excerpt":"short","commentCount":0,"likeCount":3,"creationDate":"2026-01-02T03:04:05.000006Z","version":1,"revision":4,"deleted":false,`+
		`"_self":"dbs/AbC0AA==/colls/AbC0AIQn0gM=/docs/p1/","_etag":"\"1\"","_ts":1767323045}`,
		strings.Repeat("words and ", 80)))
	if err != nil {
		b.Fatal(err)
	}
	arguments := []byte(`[{"postId":"p1","id":"c1","userId":"u2","content":"Thank you for this","creationDate":"2026-01-02T03:04:05.000006Z"}]`)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := p.Execute(b.Context(), canned{post: post}, arguments, script.Options{}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkEmpty(b *testing.B) {
	p := compile(b, `function () {}`)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := p.Execute(b.Context(), canned{}, nil, script.Options{}); err != nil {
			b.Fatal(err)
		}
	}
}
