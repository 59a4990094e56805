package audit_test

import (
	"testing"

	"cosmosblog/blog"
	"cosmosblog/store/audit"
	"cosmosblog/store/cosmos"
	"cosmosblog/store/schema"
)

// TestRecount repairs the counters of a post with more comments than fit on a page.
func TestRecount(t *testing.T) {
	w := newWorld(t)
	ada := w.AddUser("Ada")
	post := w.AddPost(ada)
	const many = 1100
	var texts [][]byte
	for range many {
		comment := &blog.Comment{ID: blog.IDSource{}.NewCommentID("", "", ""), Author: ada, CreationDate: "2026"}
		text, err := cosmos.EncodeItem(schema.NewCommentItem(post.ID, comment))
		w.OK(err)
		texts = append(texts, text)
	}
	w.PlantAll(post.ID, texts)
	deleted := w.AddComment(ada, post)
	_, err := w.DeleteComment(w.Ctx(), ada.ID, post.ID, deleted.ID)
	w.OK(err)
	w.AddLike(ada, post)
	w.Damage(post.ID, map[string]any{"/commentCount": 7, "/likeCount": -3})
	w.OK(w.RestoreRecentComments(w.Ctx(), post.ID))
	w.OK(w.RepairPost(w.Ctx(), post.ID))
	audited, err := w.audit(w.Ctx(), audit.Options{Repair: true})
	w.OK(err)
	if audited.Drifts != audited.Corrected || audited.Drifts < 2 {
		t.Errorf("%+v", audited)
	}
	w.HoldsCounts(post.ID, many, 1)
}
