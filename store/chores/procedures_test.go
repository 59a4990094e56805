package chores_test

import (
	"testing"

	"cosmosblog/proof/storetest"
	"cosmosblog/store/chores"
)

// A rename changes every item with an older name, and no other, page by page. An older rename
// that is late changes nothing. After a refusal, the next execution continues.
func TestUpdateUsernames(t *testing.T) {
	for _, own := range []bool{false, true} {
		r := &storetest.ScriptFaults{}
		w := &world{storetest.NewScriptWorld(t, r, own)}
		ada, bob := w.AddUser("Ada"), w.AddUser("Bob")
		post := w.AddPost(ada)
		const many = 130 // more than one page
		for range many {
			w.AddComment(ada, post)
		}
		bobs, deleted := w.AddComment(bob, post), w.AddComment(ada, post)
		_, err := w.DeleteComment(w.Ctx(), ada.ID, post.ID, deleted.ID)
		w.OK(err)
		_, err = w.LikePost(w.Ctx(), ada, post.ID)
		w.OK(err)
		before, err := w.Post(w.Ctx(), post.ID)
		w.OK(err)

		var updated int
		more := true
		for _, want := range []int{101, many - 99} { // the post and a page, and the rest
			updated, more, err = w.UpdateUsernames(w.Ctx(), post.ID, chores.UpdateUsernamesArgument{UserID: ada.ID, Username: "Lady", AuthorRevision: 5})
			w.OK(err)
			if updated != want || more != (want == 101) {
				t.Errorf("%d items were updated, want %d; more: %t", updated, want, more)
			}
		}
		newer := chores.UpdateUsernamesArgument{UserID: ada.ID, Username: "Countess", AuthorRevision: 6}
		total, executions := 0, 0
		for more = true; more; executions++ {
			if r.Nth.Store(int64(50 + executions)); executions > 10 { // refuse another operation each time
				t.Fatal("the executions do not end")
			}
			updated, more, err = w.UpdateUsernames(w.Ctx(), post.ID, newer)
			w.OK(err)
			total += updated
		}
		r.Nth.Store(0)
		if total != many+2 || executions < 3 {
			t.Errorf("%d items were updated in %d executions, want %d", total, executions, many+2)
		}
		late := chores.UpdateUsernamesArgument{UserID: ada.ID, Username: "Older", AuthorRevision: 4}
		for _, argument := range []chores.UpdateUsernamesArgument{newer, late} {
			updated, more, err := w.UpdateUsernames(w.Ctx(), post.ID, argument)
			w.OK(err)
			if updated != 0 || more {
				t.Errorf("%+v updated %d items, more: %t", argument, updated, more)
			}
		}

		after, err := w.Post(w.Ctx(), post.ID)
		w.OK(err)
		if after.Author.Username != "Countess" || after.Revision != before.Revision+2 || after.Version != before.Version {
			t.Errorf("the post is %+v", after)
		}
		for _, comment := range storetest.ListAll(w.World, post.ID, w.Comments) {
			want := "Countess"
			if comment.ID == bobs.ID {
				want = "Bob"
			}
			if comment.Author.Username != want {
				t.Errorf("a comment is by %s, want %s", comment.Author.Username, want)
			}
		}
		like, err := w.Like(w.Ctx(), post.ID, ada.ID)
		w.OK(err)
		if like.User.Username != "Countess" {
			t.Errorf("the like is by %s", like.User.Username)
		}
		w.HoldsCounts(post.ID, many+1, 1)
	}
}
