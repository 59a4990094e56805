package store_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"testing"

	"cosmosblog/internal/blog"
	"cosmosblog/store"
	"cosmosblog/store/cosmos"
	"cosmosblog/store/schema"
	"cosmosblog/store/storetest"
)

// partitionItems are the items of one partition, as they are stored.
type partitionItems map[string]map[string]any

func (w *world) partition(postID string) partitionItems {
	w.T.Helper()
	all, err := cosmos.Query[map[string]any](w.Ctx(), w.Container(schema.Posts), postID, "SELECT * FROM c", 100)
	w.OK(err)
	items := partitionItems{}
	for _, item := range all {
		items[item["id"].(string)] = item
	}
	return items
}

// equal compares everything, system properties included.
func (p partitionItems) equal(other partitionItems) bool {
	a, _ := json.Marshal(p)
	b, _ := json.Marshal(other)
	return string(a) == string(b)
}

// counted holds the post's counters to the items that they count.
func (p partitionItems) counted(t *testing.T, postID string) {
	t.Helper()
	found := map[string]float64{}
	for _, item := range p {
		if item["deleted"] != true {
			found[item["type"].(string)]++
		}
	}
	if post := p[postID]; post["commentCount"] != found["comment"] || post["likeCount"] != found["like"] {
		t.Errorf("the post counts %v comments and %v likes, there are %v", post["commentCount"], post["likeCount"], found)
	}
}

// conversation is a post of Ada's with a comment and a like of Bob's; Carla has done nothing yet.
type conversation struct {
	ada, bob, carla *blog.User
	post            *blog.Post
	comment         *blog.Comment
}

func (w *world) conversation(ada, bob, carla *blog.User) conversation {
	post := w.AddPost(ada)
	comment := w.AddComment(bob, post)
	_, err := w.LikePost(w.Ctx(), bob, post.ID)
	w.OK(err)
	return conversation{ada, bob, carla, post, comment}
}

// allOrNothing are executions of the procedures that do all they should or nothing.
var allOrNothing = map[string]struct {
	procedure cosmos.Script
	argument  func(th conversation) any
	again     string                                       // the code of the same execution again
	done      func(th conversation, p partitionItems) bool // nil: nothing is to be changed
}{
	"createComment": {schema.CreateComment, func(th conversation) any {
		return store.CreateCommentArgument{ID: "c_new", PostID: th.post.ID, UserID: th.carla.ID, Content: "New.", CreationDate: th.post.CreationDate}
	}, schema.CodeOK, func(th conversation, p partitionItems) bool { return p["c_new"]["content"] == "New." }},
	"createComment again": {schema.CreateComment, func(th conversation) any {
		return store.CreateCommentArgument{ID: th.comment.ID, PostID: th.post.ID, UserID: th.bob.ID, Content: "New."}
	}, schema.CodeOK, nil},
	"updateComment": {schema.UpdateComment, func(th conversation) any {
		return store.UpdateCommentArgument{ID: th.comment.ID, PostID: th.post.ID, UserID: th.bob.ID, Content: "Edited.", UpdatedDate: th.post.CreationDate}
	}, schema.CodeOK, func(th conversation, p partitionItems) bool { return p[th.comment.ID]["content"] == "Edited." }},
	"deleteComment": {schema.DeleteComment, func(th conversation) any {
		return store.DeleteCommentArgument{ID: th.comment.ID, PostID: th.post.ID, UserID: th.bob.ID}
	}, schema.CodeCommentDeleted, func(th conversation, p partitionItems) bool { return p[th.comment.ID]["deleted"] == true }},
	"createLike": {schema.CreateLike, func(th conversation) any {
		return store.CreateLikeArgument{PostID: th.post.ID, UserID: th.carla.ID, CreationDate: th.post.CreationDate}
	}, schema.CodeOK, func(th conversation, p partitionItems) bool { return p[th.carla.ID] != nil }},
	"createLike again": {schema.CreateLike, func(th conversation) any {
		return store.CreateLikeArgument{PostID: th.post.ID, UserID: th.bob.ID}
	}, schema.CodeOK, nil},
	"deleteLike": {schema.DeleteLike, func(th conversation) any {
		return store.DeleteLikeArgument{PostID: th.post.ID, UserID: th.bob.ID}
	}, schema.CodeOK, func(th conversation, p partitionItems) bool { return p[th.bob.ID] == nil }},
	"deleteLike of none": {schema.DeleteLike, func(th conversation) any {
		return store.DeleteLikeArgument{PostID: th.post.ID, UserID: th.carla.ID}
	}, schema.CodeOK, nil},
}

// Whichever operation of a procedure is refused or fails, in whichever way, and whether queries see what the transaction
// wrote or not: either all of it is done or nothing, the counters are right, and the same execution again does it once.
func TestProceduresDoAllOrNothing(t *testing.T) {
	storetest.ScriptWorlds(t, func(t *testing.T, outer *storetest.World, r *storetest.Refuser) {
		w := &world{outer}
		ada, bob, carla := w.AddUser("Ada"), w.AddUser("Bob"), w.AddUser("Carla")
		for name, c := range allOrNothing {
			for _, number := range storetest.Failures {
				t.Run(fmt.Sprint(name, "/", number), func(t *testing.T) {
					w := w.on(t)
					for nth := int64(1); ; nth++ {
						th := w.conversation(ada, bob, carla)
						before := w.partition(th.post.ID)
						execute := func() (string, partitionItems) {
							var a struct{ Code string }
							_, err := w.DB.Execute(w.Ctx(), c.procedure, th.post.ID, c.argument(th), &a)
							after := w.partition(th.post.ID)
							after.counted(t, th.post.ID)
							if (err != nil || a.Code != schema.CodeOK || c.done == nil) && !after.equal(before) {
								t.Errorf("operation %d: %v, %s, and something was written: %v, before %v", nth, err, a.Code, after, before)
							}
							if err == nil && a.Code == schema.CodeOK && c.done != nil && !after.equal(before) && !c.done(th, after) {
								t.Errorf("operation %d: half done: %v", nth, after)
							}
							return a.Code, after
						}
						r.Did.Store(false)
						r.Number.Store(number)
						r.Nth.Store(nth)
						execute()
						r.Nth.Store(0)
						if !r.Did.Load() {
							if nth < 3 {
								t.Errorf("only %d operations were met", nth-1)
							}
							return
						}
						code, after := execute()
						if c.done != nil && !c.done(th, after) || code != schema.CodeOK && code != c.again {
							t.Errorf("operation %d failed, and then: %s", nth, code)
						}
						before = after
						if code, _ = execute(); code != c.again {
							t.Errorf("operation %d failed, was repeated, and repeated again: %s", nth, code)
						}
					}
				})
			}
		}
	})
}

// updateUsernames may stop where an operation is refused, and keeps what it did: each item has the old name and the old
// revision of its user or both new ones, and repeating it comes to the end.
func TestUpdateUsernamesStopsBetweenItems(t *testing.T) {
	storetest.ScriptWorlds(t, func(t *testing.T, outer *storetest.World, r *storetest.Refuser) {
		w := &world{outer}
		ada, bob := w.AddUser("Ada"), w.AddUser("Bob")
		for _, number := range storetest.Failures {
			t.Run(fmt.Sprint(number), func(t *testing.T) {
				w := w.on(t)
				for nth := int64(1); nth == 1 || r.Did.Load(); nth++ {
					th := w.conversation(ada, bob, bob)
					w.AddComment(ada, th.post)
					_, err := w.LikePost(w.Ctx(), ada, th.post.ID)
					w.OK(err)
					before := w.partition(th.post.ID)
					rename := map[string]any{"userId": ada.ID, "username": "Countess", "authorRevision": 9}

					r.Did.Store(false)
					r.Number.Store(number)
					r.Nth.Store(nth)
					more, err := w.updateUsernames(th.post.ID, rename)
					r.Nth.Store(0)
					after := w.partition(th.post.ID)
					if err != nil && !after.equal(before) {
						t.Errorf("operation %d: %v, and something was written", nth, err)
					}
					n := w.renamed(before, after)
					if err == nil && !more && n != 3 && number != 404 { // which stands for an item that is gone
						t.Errorf("operation %d: it says that it is done, and %d items have the new name", nth, n)
					}
					more = true
					for tries := 0; more; tries++ {
						if tries == 5 {
							t.Fatal("it does not come to an end")
						}
						more, err = w.updateUsernames(th.post.ID, rename)
						w.OK(err)
					}
					if n := w.renamed(before, w.partition(th.post.ID)); n != 3 {
						t.Errorf("operation %d failed, and after a repetition %d items have the new name", nth, n)
					}
				}
			})
		}
	})
}

// renamed counts the items that have the new name, and holds that nothing else of them was changed.
func (w *world) renamed(before, after partitionItems) (n int) {
	w.T.Helper()
	for id, item := range after {
		then := maps.Clone(before[id])
		if item["userUsername"] == "Countess" {
			n++
			then["userUsername"], then["authorRevision"] = "Countess", float64(9)
			if item["type"] == "post" {
				then["revision"] = then["revision"].(float64) + 1
			}
			then["_etag"], then["_ts"] = item["_etag"], item["_ts"]
		}
		if !(partitionItems{id: item}).equal(partitionItems{id: then}) {
			w.T.Errorf("%v became %v", before[id], item)
		}
	}
	if !slices.Equal(slices.Sorted(maps.Keys(before)), slices.Sorted(maps.Keys(after))) {
		w.T.Errorf("items came or went: %v, before %v", after, before)
	}
	return n
}

// updateUsernames executes the procedure once.
func (w *world) updateUsernames(postID string, argument any) (more bool, err error) {
	var a struct {
		Code string
		More bool
	}
	_, err = w.DB.Execute(w.Ctx(), schema.UpdateUsernames, postID, argument, &a)
	if err == nil && a.Code != schema.CodeOK {
		w.T.Errorf("the code is %s", a.Code)
	}
	return a.More, err
}
