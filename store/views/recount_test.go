package views_test

import (
	"net/http"
	"reflect"
	"strings"
	"testing"

	"cosmosblog/cosmostest"
	"cosmosblog/internal/blog"
	"cosmosblog/internal/proof/storetest"
	"cosmosblog/store/audit"
	"cosmosblog/store/cosmos"
	"cosmosblog/store/schema"
)

// Wrong counters are corrected in one transaction with a new revision. If an operation is
// refused, nothing changes. If the counters are right, nothing is written.
func TestRecountPost(t *testing.T) {
	scriptWorlds(t, func(t *testing.T, w *world, r *storetest.ScriptFaults) {
		ada, bob := w.AddUser("Ada"), w.AddUser("Bob")
		post := w.AddPost(ada)
		const many = 1100 // more than one page
		var texts [][]byte
		for range many {
			text, err := cosmos.EncodeItem(schema.NewCommentItem(post.ID, &blog.Comment{ID: blog.IDSource{}.NewCommentID("", "", ""), Author: ada, CreationDate: "2026"}))
			w.OK(err)
			texts = append(texts, text)
		}
		w.PlantAll(post.ID, texts)
		deleted := w.AddComment(bob, post)
		_, err := w.DeleteComment(w.Ctx(), bob.ID, post.ID, deleted.ID)
		w.OK(err)
		for _, user := range []*blog.User{ada, bob} {
			_, err := w.LikePost(w.Ctx(), user, post.ID)
			w.OK(err)
		}
		w.Damage(post.ID, map[string]any{"/commentCount": 7, "/likeCount": -3})
		before, _, err := cosmos.Read[schema.PostItem](w.Ctx(), w.Container(schema.Posts), post.ID, post.ID)
		w.OK(err)

		for n := range int64(4) { // the post, two pages, the post again
			r.Nth.Store(n + 1)
			_, err := w.RecountPost(w.Ctx(), post.ID)
			w.Fails(err, blog.Throttled)
			r.Nth.Store(0)
			after, _, err := cosmos.Read[schema.PostItem](w.Ctx(), w.Container(schema.Posts), post.ID, post.ID)
			w.OK(err)
			if !reflect.DeepEqual(after, before) {
				t.Fatalf("refused at %d, the post is %+v", n+1, after)
			}
		}
		for round, wantCorrected := range []bool{true, false} {
			corrected, err := w.RecountPost(w.Ctx(), post.ID)
			w.OK(err)
			after, _, err := cosmos.Read[schema.PostItem](w.Ctx(), w.Container(schema.Posts), post.ID, post.ID)
			w.OK(err)
			want := *before
			want.CommentCount, want.LikeCount, want.Revision = many, 2, before.Revision+1
			if corrected != wantCorrected || !reflect.DeepEqual(*after, want) {
				t.Errorf("round %d: corrected %t, the post is %+v, want %+v", round, corrected, after, want)
			}
		}
		_, err = w.RecountPost(w.Ctx(), "p_unknown")
		w.Fails(err, blog.NotFound)
		_, err = w.MarkPostDeleted(w.Ctx(), before)
		w.OK(err)
		_, err = w.RecountPost(w.Ctx(), post.ID)
		w.Fails(err, blog.NotFound)
	})
}

// A post with more comments and likes than one script can count in its time is counted
// nevertheless.
func TestRecountOfLargePost(t *testing.T) {
	w := newWorld(t)
	ada := w.AddUser("Ada")
	post := w.AddPost(ada)
	w.AddComment(ada, post)
	w.OK(w.RepairPost(w.Ctx(), post.ID))
	w.Damage(post.ID, map[string]any{"/commentCount": 7, "/likeCount": 7, "/revision": 7})
	w.OK(w.RepairPost(w.Ctx(), post.ID))
	refused := 0
	w.Wire.Inject(func(_ int, request *http.Request, next storetest.Transporter) (*http.Response, error) {
		if !strings.HasSuffix(request.URL.Path, schema.RecountPost.ID) {
			return next.Do(request)
		}
		if refused++; refused > 100 {
			t.Fatal("the script is executed without limit")
		}
		return cosmostest.Refuse(http.StatusBadRequest, "X-Ms-Substatus: 429")(0, request, nil)
	})
	audited, err := audit.Run(w.Ctx(), w.DB, audit.Options{Repair: true, Sleep: w.DB.Sleep})
	w.OK(err)
	w.Wire.Inject(nil)
	if audited.Drifts != 2 || audited.Corrected != 2 {
		t.Errorf("%+v", audited)
	}
	w.HoldsCounts(post.ID, 1, 0)
}
