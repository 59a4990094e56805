//go:build ci

package store_test

import (
	"flag"
	"fmt"
	"maps"
	"slices"
	"testing"

	"cosmosblog/proof/storetest"
	"cosmosblog/store"
	"cosmosblog/store/cosmos"
	"cosmosblog/store/schema"
)

var allFailures = flag.Bool("all-failures", false,
	"make operations of procedures fail in every way, not only in those that the procedures distinguish")

// failures returns the outcomes of the failing operations. The procedures distinguish operations
// that are not accepted (0), 404, 409, and any other number. The client retries 449 and not 500.
func failures() []int64 {
	if *allFailures {
		return storetest.Failures
	}
	return []int64{0, 404, 409, 449, 500}
}

// allOrNothing are executions of procedures that must do everything or nothing.
var allOrNothing = map[string]struct {
	procedure cosmos.Script
	argument  func(th conversation) any
	again     string                                       // code of a repeated execution
	done      func(th conversation, p partitionItems) bool // nil if nothing must change
}{
	"repeated createPost": {schema.CreatePost, func(th conversation) any {
		return store.CreatePostArgument{Post: &schema.PostItem{ID: th.post.ID, PostID: th.post.ID, UserID: th.ada.ID, Content: "New."}}
	}, schema.CodeOK, nil},
	"createPost with a long content": {schema.CreatePost, func(th conversation) any {
		return store.CreatePostArgument{
			Post:    &schema.PostItem{ID: "p_new", PostID: th.post.ID, Type: schema.TypePost, UserID: th.ada.ID, ContentVersion: 1},
			Content: schema.NewContentItem(th.post.ID, "Long.", 1),
		}
	}, schema.CodeOK, func(th conversation, p partitionItems) bool {
		return p["p_new"]["contentVersion"] == 1.0 && p["content"]["content"] == "Long."
	}},
	"createComment": {schema.CreateComment, func(th conversation) any {
		return store.CreateCommentArgument{PostID: th.post.ID, Comment: schema.CommentItem{
			ID: "c_new", PostID: th.post.ID, Type: schema.TypeComment, UserID: th.carla.ID, Content: "New.", CreationDate: th.post.CreationDate,
		}}
	}, schema.CodeOK, func(th conversation, p partitionItems) bool { return p["c_new"]["content"] == "New." }},
	"repeated createComment": {schema.CreateComment, func(th conversation) any {
		return store.CreateCommentArgument{PostID: th.post.ID, Comment: schema.CommentItem{ID: th.comment.ID, PostID: th.post.ID, UserID: th.bob.ID, Content: "New."}}
	}, schema.CodeOK, nil},
	"updateComment": {schema.UpdateComment, func(th conversation) any {
		return store.UpdateCommentArgument{ID: th.comment.ID, PostID: th.post.ID, UserID: th.bob.ID, Content: "Edited.", UpdatedDate: th.post.CreationDate}
	}, schema.CodeOK, func(th conversation, p partitionItems) bool { return p[th.comment.ID]["content"] == "Edited." }},
	"deleteComment": {schema.DeleteComment, func(th conversation) any {
		return store.DeleteCommentArgument{ID: th.comment.ID, PostID: th.post.ID, UserID: th.bob.ID}
	}, schema.CodeCommentDeleted, func(th conversation, p partitionItems) bool { return p[th.comment.ID]["deleted"] == true }},
	"createLike": {schema.CreateLike, func(th conversation) any {
		return store.CreateLikeArgument{PostID: th.post.ID, Like: schema.LikeItem{
			ID: th.carla.ID, PostID: th.post.ID, Type: schema.TypeLike, UserID: th.carla.ID, CreationDate: th.post.CreationDate,
		}}
	}, schema.CodeOK, func(th conversation, p partitionItems) bool { return p[th.carla.ID] != nil }},
	"repeated createLike": {schema.CreateLike, func(th conversation) any {
		return store.CreateLikeArgument{PostID: th.post.ID, Like: schema.LikeItem{ID: th.bob.ID, PostID: th.post.ID, UserID: th.bob.ID}}
	}, schema.CodeOK, nil},
	"deleteLike": {schema.DeleteLike, func(th conversation) any {
		return store.DeleteLikeArgument{PostID: th.post.ID, UserID: th.bob.ID, AuthorRevision: th.bob.Revision}
	}, schema.CodeOK, func(th conversation, p partitionItems) bool { return p[th.bob.ID] == nil }},
	"deleteLike without a like": {schema.DeleteLike, func(th conversation) any {
		return store.DeleteLikeArgument{PostID: th.post.ID, UserID: th.carla.ID}
	}, schema.CodeOK, nil},
}

// TestProceduresAreAtomic makes each operation of each procedure fail in each way, whether or
// not queries see the writes of their own transaction. Either everything is done or nothing, the
// counters are exact, and a repeated execution does everything once.
func TestProceduresAreAtomic(t *testing.T) {
	t.Parallel()
	storetest.ScriptWorlds(t, func(t *testing.T, outer *storetest.World, r *storetest.ScriptFaults) {
		w := &world{outer}
		ada, bob, carla := w.AddUser("Ada"), w.AddUser("Bob"), w.AddUser("Carla")
		for name, c := range allOrNothing {
			for _, number := range failures() {
				t.Run(fmt.Sprint(name, "/", number), func(t *testing.T) {
					w := w.on(t)
					for nth := int64(1); ; nth++ {
						th := w.conversation(ada, bob, carla)
						before := w.partition(th.post.ID)
						execute := func() (string, partitionItems) {
							var a struct{ Code string }
							_, err := w.DB.Execute(w.Ctx(), c.procedure, th.post.ID, c.argument(th), &a)
							after := w.partition(th.post.ID)
							after.checkCounts(t, th.post.ID)
							if (err != nil || a.Code != schema.CodeOK || c.done == nil) && !after.equal(before) {
								t.Errorf("operation %d failed (%v, code %s), but items were written: %v, before %v", nth, err, a.Code, after, before)
							}
							if err == nil && a.Code == schema.CodeOK && c.done != nil && !after.equal(before) && !c.done(th, after) {
								t.Errorf("operation %d failed, and the procedure was half done: %v", nth, after)
							}
							return a.Code, after
						}
						r.Injected.Store(false)
						r.Number.Store(number)
						r.Nth.Store(nth)
						execute()
						r.Nth.Store(0)
						if !r.Injected.Load() {
							if nth < 3 {
								t.Errorf("only %d operations could fail", nth-1)
							}
							return
						}
						code, after := execute()
						if c.done != nil && !c.done(th, after) || code != schema.CodeOK && code != c.again {
							t.Errorf("operation %d failed, and the repeated execution returned %s", nth, code)
						}
						before = after
						if code, _ = execute(); code != c.again {
							t.Errorf("operation %d failed, and the third execution returned %s, want %s", nth, code, c.again)
						}
					}
				})
			}
		}
	})
}

// TestUpdateUsernamesAfterFailures makes each operation of updateUsernames fail in each way. The
// procedure may stop early and keep its progress. Each item then has either the old username and
// revision or the new ones, and repeated executions update the rest.
func TestUpdateUsernamesAfterFailures(t *testing.T) {
	t.Parallel()
	storetest.ScriptWorlds(t, func(t *testing.T, outer *storetest.World, r *storetest.ScriptFaults) {
		w := &world{outer}
		ada, bob := w.AddUser("Ada"), w.AddUser("Bob")
		for _, number := range failures() {
			t.Run(fmt.Sprint(number), func(t *testing.T) {
				w := w.on(t)
				for nth := int64(1); nth == 1 || r.Injected.Load(); nth++ {
					th := w.conversation(ada, bob, bob)
					w.AddComment(ada, th.post)
					_, err := w.LikePost(w.Ctx(), ada, th.post.ID)
					w.OK(err)
					before := w.partition(th.post.ID)
					rename := map[string]any{"userId": ada.ID, "username": "Countess", "authorRevision": 9}

					r.Injected.Store(false)
					r.Number.Store(number)
					r.Nth.Store(nth)
					more, err := w.updateUsernames(th.post.ID, rename)
					r.Nth.Store(0)
					after := w.partition(th.post.ID)
					if err != nil && !after.equal(before) {
						t.Errorf("operation %d failed (%v), but items were written", nth, err)
					}
					n := w.countRenamed(before, after)
					if err == nil && !more && n != 3 && number != 404 { // 404: the item no longer exists
						t.Errorf("operation %d: reported as done, but %d items have the new username", nth, n)
					}
					more = true
					for tries := 0; more; tries++ {
						if tries == 5 {
							t.Fatal("not done after 5 executions")
						}
						more, err = w.updateUsernames(th.post.ID, rename)
						w.OK(err)
					}
					if n := w.countRenamed(before, w.partition(th.post.ID)); n != 3 {
						t.Errorf("operation %d failed, and after repeated executions %d items have the new username", nth, n)
					}
				}
			})
		}
	})
}

// countRenamed counts the items with the new username, and checks that nothing else changed.
func (w *world) countRenamed(before, after partitionItems) (n int) {
	w.T.Helper()
	for id, item := range after {
		then := maps.Clone(before[id])
		if recent, n := renamedRecent(then, item); n > 0 {
			then["recentComments"], then["revision"] = recent, then["revision"].(float64)+1
			then["_etag"], then["_ts"] = item["_etag"], item["_ts"]
		}
		if item["userUsername"] == "Countess" {
			n++
			then["userUsername"], then["authorRevision"] = "Countess", float64(9)
			if item["type"] == "post" && then["revision"] != item["revision"] {
				then["revision"] = then["revision"].(float64) + 1
			}
			then["_etag"], then["_ts"] = item["_etag"], item["_ts"]
		}
		if !(partitionItems{id: item}).equal(partitionItems{id: then}) {
			w.T.Errorf("%v became %v", before[id], item)
		}
	}
	if !slices.Equal(slices.Sorted(maps.Keys(before)), slices.Sorted(maps.Keys(after))) {
		w.T.Errorf("items were created or deleted: %v, before %v", after, before)
	}
	return n
}

// renamedRecent returns the recent comments of before, with the new username where after has it,
// and the number of them.
func renamedRecent(before, after map[string]any) (recent []any, n int) {
	was, _ := before["recentComments"].([]any)
	is, _ := after["recentComments"].([]any)
	for i, c := range was {
		comment := maps.Clone(c.(map[string]any))
		if i < len(is) && is[i].(map[string]any)["userUsername"] == "Countess" {
			comment["userUsername"], comment["authorRevision"] = "Countess", float64(9)
			n++
		}
		recent = append(recent, comment)
	}
	return recent, n
}
