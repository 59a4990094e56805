package views_test

import (
	"bytes"
	"regexp"
	"strings"
	"testing"

	"cosmosblog/blog"
	host "cosmosblog/engine/script"
	"cosmosblog/proof/storetest"
	"cosmosblog/store/schema"
)

// forbidden lists syntax that the service's JavaScript engine may not support, or that our rules
// forbid.
var forbidden = map[string]*regexp.Regexp{
	"optional chaining":      regexp.MustCompile(`\?\.`),
	"nullish coalescing":     regexp.MustCompile(`\?\?`),
	"async and promises":     regexp.MustCompile(`\b(async|await|Promise)\b`),
	"for in and for of":      regexp.MustCompile(`\bfor\s*\([^;)]*\b(in|of)\b`),
	"spread and rest":        regexp.MustCompile(`\.\.\.`),
	"default parameters":     regexp.MustCompile(`function\s*\w*\([^)]*=`),
	"classes and generators": regexp.MustCompile(`\bclass\b|function\s*\*`),
	"var":                    regexp.MustCompile(`\bvar\b`),
	"exponents":              regexp.MustCompile(`\*\*`),
}

// operations finds the calls that return whether they were accepted, and lookedAt those whose
// result is checked.
var (
	operations = regexp.MustCompile(`collection\.(\w*Documents?)\(`)
	lookedAt   = regexp.MustCompile(`(accepted\(|if \(!)collection\.(\w*Documents?)\(`)
)

// Scripts use only syntax that the service supports, and check the result of every operation.
func TestScriptSyntax(t *testing.T) {
	for _, s := range schema.Scripts {
		t.Run(s.ID, func(t *testing.T) {
			code := regexp.MustCompile(`//[^\n]*`).ReplaceAllString(s.Body, "")
			for what, pattern := range forbidden {
				if found := pattern.FindString(code); found != "" {
					t.Errorf("the script contains %q: %s", found, what)
				}
			}
			calls := operations.FindAllString(code, -1)
			if len(calls) == 0 || len(calls) != len(lookedAt.FindAllString(code, -1)) {
				t.Errorf("of %d operations, the results of %d are checked", len(calls), len(lookedAt.FindAllString(code, -1)))
			}
			if bytes.HasPrefix([]byte(s.Body), []byte("\ufeff")) || strings.Contains(s.Body, "\r") {
				t.Error("the file has a byte order mark or carriage returns")
			}
			if _, err := host.Compile(s.ID, s.Body); err != nil {
				t.Error(err)
			}
		})
	}
}

// If an operation of a procedure is refused, whichever it is, nothing is written, and the error
// is THROTTLED.
func TestRefusedOperations(t *testing.T) {
	scriptWorlds(t, func(t *testing.T, w *world, r *storetest.ScriptFaults) {
		ada, bob := w.AddUser("Ada"), w.AddUser("Bob")
		post := w.AddPost(ada)
		comment := w.AddComment(bob, post)
		_, err := w.LikePost(w.Ctx(), bob, post.ID)
		w.OK(err)
		for name, command := range map[string]struct {
			do         func() error
			operations int64 // how many it asks for
		}{
			"createComment": {func() error {
				_, err := w.CreateComment(w.Ctx(), ada, blog.CreateCommentInput{PostID: post.Ref(), Content: "A comment."})
				return err
			}, 3},
			"createLike": {func() error { _, err := w.LikePost(w.Ctx(), ada, post.ID); return err }, 3},
			"updateComment": {func() error {
				_, err := w.UpdateComment(w.Ctx(), bob.ID, blog.UpdateCommentInput{ID: comment.Ref(), Content: "Edited."})
				return err
			}, 3},
			"deleteComment": {func() error {
				_, err := w.DeleteComment(w.Ctx(), bob.ID, post.ID, comment.ID)
				return err
			}, 4},
			"deleteLike": {func() error { _, err := w.UnlikePost(w.Ctx(), bob, post.ID); return err }, 4},
		} {
			t.Run(name, func(t *testing.T) {
				w := w.on(t)
				for n := range command.operations {
					r.Nth.Store(n + 1)
					w.Fails(command.do(), blog.Throttled)
					r.Nth.Store(0)
					w.HoldsCounts(post.ID, 1, 1)
				}
			})
		}
		// Without refusals the same commands succeed.
		r.Nth.Store(5)
		_, err = w.LikePost(w.Ctx(), ada, post.ID)
		w.OK(err)
		_, err = w.DeleteComment(w.Ctx(), bob.ID, post.ID, comment.ID)
		w.OK(err)
		r.Nth.Store(0)
		w.HoldsCounts(post.ID, 0, 2)
	})
}

// Procedures return a code if an item is not of the expected kind, and replace invalid counters.
func TestProceduresCheckItems(t *testing.T) {
	w := newWorld(t)
	ada := w.AddUser("Ada")
	w.Plant(w.Container(schema.Posts), "p_old", map[string]any{"id": "p_old", "postId": "p_old", "type": "post", "userId": ada.ID, "deleted": false})
	w.Plant(w.Container(schema.Posts), "p_old", map[string]any{"id": "c_like", "postId": "p_old", "type": "like"})

	w.Plant(w.Container(schema.Posts), "p_none", map[string]any{"id": "p_none", "postId": "p_none", "type": "comment", "userId": ada.ID, "deleted": false})

	_, err := w.LikePost(w.Ctx(), ada, "p_none")
	w.Fails(err, blog.NotFound)
	_, err = w.UnlikePost(w.Ctx(), ada, "p_none")
	w.Fails(err, blog.NotFound)
	_, err = w.CreateComment(w.Ctx(), ada, blog.CreateCommentInput{PostID: blog.PostRef("p_none"), Content: "A comment."})
	w.Fails(err, blog.NotFound)
	_, err = w.DeleteComment(w.Ctx(), ada.ID, "p_none", "p_none")
	w.Fails(err, blog.NotFound)

	_, err = w.LikePost(w.Ctx(), ada, "p_old")
	w.OK(err)
	w.AddComment(ada, &blog.Post{ID: "p_old"})
	post, err := w.Post(w.Ctx(), "p_old")
	w.OK(err)
	if post.LikeCount != 1 || post.CommentCount != 1 || post.Revision != 2 {
		t.Errorf("the post is %+v", post)
	}
	_, err = w.DeleteComment(w.Ctx(), ada.ID, "p_old", "c_like")
	w.Fails(err, blog.NotFound)
	bobs := w.AddComment(w.AddUser("Bob"), &blog.Post{ID: "p_old"})
	for _, id := range []string{"c_like", bobs.ID} {
		var a struct{ Code string }
		_, err := w.DB.Execute(w.Ctx(), schema.CreateComment, "p_old", map[string]any{
			"postId": "p_old", "comment": schema.CommentItem{ID: id, PostID: "p_old", UserID: ada.ID},
		}, &a)
		w.OK(err)
		if a.Code != schema.CodeKeyReused {
			t.Errorf("the code of a comment over another item is %s", a.Code)
		}
	}
}
