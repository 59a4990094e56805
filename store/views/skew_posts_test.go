//go:build ci

package views_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"cosmosblog/blog"
	"cosmosblog/proof/storetest"
	"cosmosblog/store/chores"
	"cosmosblog/store/cosmos"
	"cosmosblog/store/schema"
)

// postScene is a post of Ada's with five comments, the second and the newest by her and the others
// by Bob, and a like of Bob's. Carl has none. The newest comment is a recent one of the post, the
// second becomes one if that is deleted.
type postScene struct {
	*world
	ada, bob, carl *blog.User
	post           *blog.Post
	newest, second *blog.Comment
}

// addScene adds a post to a world whose users exist.
func (s postScene) addScene() postScene {
	s.T.Helper()
	s.post = s.AddPost(s.ada)
	for n := range 5 {
		author := s.bob
		if n == 1 || n == 4 {
			author = s.ada
		}
		comment, err := s.CreateComment(s.Ctx(), author, blog.CreateCommentInput{PostID: s.post.Ref(), Content: fmt.Sprint("Comment ", n)})
		s.OK(err)
		if s.newest = comment; n == 1 {
			s.second = comment
		}
	}
	s.AddLike(s.bob, s.post)
	return s
}

// postProcedures are all ways to execute a procedure in posts.
var postProcedures = map[string]func(postScene) error{
	"createComment":         func(s postScene) error { return s.createComment("key") },
	"updateComment":         func(s postScene) error { return s.edit(s.newest, "Edited.") },
	"updateComment second":  func(s postScene) error { return s.edit(s.second, "Edited.") },
	"deleteComment":         func(s postScene) error { return s.delete(s.ada, s.newest) },
	"deleteComment second":  func(s postScene) error { return s.delete(s.ada, s.second) },
	"createLike":            func(s postScene) error { return s.like(s.carl) },
	"createLike again":      func(s postScene) error { return s.like(s.bob) },
	"deleteLike":            func(s postScene) error { return s.unlike(s.bob) },
	"deleteLike of none":    func(s postScene) error { return s.unlike(s.carl) },
	"updateUsernames":       func(s postScene) error { return s.rename(s.bob, 1) },
	"updateUsernames ada":   func(s postScene) error { return s.rename(s.ada, 1) },
	"restoreRecentComments": func(s postScene) error { return s.RestoreRecentComments(s.Ctx(), s.post.ID) },
}

// postWrites are all other writes of a post's partition, and procedures with other arguments.
var postWrites = map[string]func(postScene) error{
	"another createComment": func(s postScene) error { return s.createComment("other") },
	"another updateComment": func(s postScene) error { return s.edit(s.newest, "Edited otherwise.") },
	"deleteComment by ada":  func(s postScene) error { return s.delete(s.ada, s.newest) },
	"deleted comment expires": func(s postScene) error {
		err := postProcedures["deleteComment"](s)
		s.OK(s.ExpireComment(s.Ctx(), s.post.ID, s.newest.ID, s.ada.ID))
		return err
	},
	"createLike and deleteLike": func(s postScene) error { return firstError(s.like(s.carl), s.unlike(s.carl)) },
	"later updateUsernames":     func(s postScene) error { return s.rename(s.bob, 2) },
	"UpdatePost": func(s postScene) error {
		title := "Another title"
		_, err := s.UpdatePost(s.Ctx(), s.ada.ID, blog.UpdatePostInput{ID: s.post.Ref(), PostChange: blog.PostChange{Title: &title}})
		return err
	},
	"DeletePost": func(s postScene) error {
		_, err := s.DeletePost(s.Ctx(), s.ada.ID, s.post.ID)
		return err
	},
	"MarkPostDeleted": func(s postScene) error {
		_, err := s.MarkPostDeleted(s.Ctx(), &schema.PostItem{ID: s.post.ID, PostID: s.post.ID})
		return err
	},
	"DeletePost and purge": func(s postScene) error {
		_, err := s.DeletePost(s.Ctx(), s.ada.ID, s.post.ID)
		s.OK(s.PurgePost(s.Ctx(), s.post.ID))
		return err
	},
}

func firstError(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

func (s postScene) createComment(key string) error {
	_, err := s.CreateComment(s.Ctx(), s.carl, blog.CreateCommentInput{PostID: s.post.Ref(), Content: "By key " + key, IdempotencyKey: new(key)})
	return err
}

func (s postScene) edit(comment *blog.Comment, content string) error {
	_, err := s.UpdateComment(s.Ctx(), comment.Author.ID, blog.UpdateCommentInput{ID: comment.Ref(), Content: content})
	return err
}

func (s postScene) delete(user *blog.User, comment *blog.Comment) error {
	_, err := s.DeleteComment(s.Ctx(), user.ID, s.post.ID, comment.ID)
	return err
}

func (s postScene) like(user *blog.User) error {
	_, err := s.LikePost(s.Ctx(), user, s.post.ID)
	return err
}

func (s postScene) unlike(user *blog.User) error {
	_, err := s.UnlikePost(s.Ctx(), user, s.post.ID)
	return err
}

// rename writes another username of a user to the partition, as a sweep does.
func (s postScene) rename(user *blog.User, n int64) error {
	_, err := s.SweepPost(s.Ctx(), s.post.ID, chores.Sweep{
		UserID: user.ID, Username: fmt.Sprint("renamed", n), AuthorRevision: user.Revision + n,
	})
	return err
}

// state returns the items of the scene's partition, without what differs between any two scenes,
// and the outcomes of its writes.
func (s postScene) state(outcomes ...error) string {
	s.T.Helper()
	items, err := cosmos.Query[map[string]any](s.Ctx(), s.Container(schema.Posts), s.post.ID, "SELECT * FROM c", 100)
	s.OK(err)
	var lines []string
	differs := func(name string, _ any) bool {
		return strings.HasPrefix(name, "_") || name == "id" || name == "postId" || strings.HasSuffix(name, "Date") || name == "sortKey" ||
			name == "edits" // ids of the edits
	}
	for _, item := range items {
		maps.DeleteFunc(item, differs)
		recent, _ := item["recentComments"].([]any)
		for _, comment := range recent {
			maps.DeleteFunc(comment.(map[string]any), differs)
		}
		text, err := json.Marshal(item)
		s.OK(err)
		lines = append(lines, string(text))
	}
	slices.Sort(lines)
	for i, err := range outcomes {
		if err != nil {
			lines = append(lines, fmt.Sprint(i, " ", blog.CodeOf(err)))
		}
	}
	return strings.Join(lines, "\n")
}

// Whatever is written to a post's partition while a procedure runs, and at whichever of its
// operations: the result is that of one order of the two. (All operations read the same snapshot,
// so only -stride 1 tries each.)
func TestProceduresAreSerializable(t *testing.T) {
	for _, own := range ownWrites(t) {
		interleaver := &storetest.Interleaver{}
		w := &world{storetest.NewSnapshotWorld(t, interleaver, own)}
		users := postScene{world: w, ada: w.AddUser("Ada"), bob: w.AddUser("Bob"), carl: w.AddUser("Carl")}
		others := maps.Clone(postProcedures)
		maps.Copy(others, postWrites)
		for name, procedure := range postProcedures {
			for otherName, other := range others {
				for _, damaged := range []damage{none, wrong, halfRenamed} {
					if damaged == wrong && name != "restoreRecentComments" {
						continue
					}
					t.Run(fmt.Sprintf("%s during %s, %s", otherName, name, damaged), func(t *testing.T) {
						users := users
						users.world = w.on(t)
						users.isSerializable(interleaver, damaged, procedure, other)
					})
				}
			}
		}
	}
}

// damage is the state in which a scene begins.
type damage string

const (
	none  damage = "sound"
	wrong damage = "wrong" // the counters and the recent comments
	// halfRenamed is the state after the first of several executions of updateUsernames.
	halfRenamed damage = "half renamed"
)

// renameRecent writes Bob's next username to the recent comments of the post, not to the comments.
func (s postScene) renameRecent() {
	s.T.Helper()
	post, _, err := cosmos.Read[schema.PostItem](s.Ctx(), s.Container(schema.Posts), s.post.ID, s.post.ID)
	s.OK(err)
	for n := range post.RecentComments {
		if post.RecentComments[n].UserID != s.bob.ID {
			continue
		}
		post.RecentComments[n].UserUsername, post.RecentComments[n].AuthorRevision = "renamed1", s.bob.Revision+1
	}
	s.Damage(s.post.ID, map[string]any{"/recentComments": post.RecentComments})
}

// isSerializable compares the interleaved executions with the two orders. Each begins with a new
// scene, in the given state.
func (s postScene) isSerializable(interleaver *storetest.Interleaver, damaged damage, procedure, other func(postScene) error) {
	s.T.Helper()
	begin := func() postScene {
		scene := s.addScene()
		switch damaged {
		case wrong:
			scene.Damage(scene.post.ID, map[string]any{"/commentCount": 7, "/recentComments": []any{}})
		case halfRenamed:
			scene.renameRecent()
		}
		return scene
	}
	scene := begin()
	first := procedure(scene)
	before := scene.state(first, other(scene))
	scene = begin()
	first = other(scene)
	after := scene.state(procedure(scene), first)
	for operation := 1; operation == 1 || *strideFlag == 1; operation++ {
		scene = begin()
		var second error
		interleaver.Set(operation, func() { second = other(scene) })
		got := scene.state(procedure(scene), second)
		switch came := interleaver.Clear(); {
		case !came && operation == 1:
			s.T.Fatal("the procedure was not executed")
		case !came:
			return
		}
		if got != before && got != after {
			s.T.Fatalf("before operation %d:\n%s\nThe procedure first:\n%s\nThe other first:\n%s", operation, got, before, after)
		}
	}
}
