package store

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"

	"cosmosblog/internal/blog"
	"cosmosblog/store/embedded"
	host "cosmosblog/store/embedded/script"
)

// What the service's JavaScript engine may not know, or what our rules forbid.
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

// operations are calls that return whether they were accepted, and how a call looks that looks at it.
var (
	operations = regexp.MustCompile(`collection\.(\w*Documents?)\(`)
	lookedAt   = regexp.MustCompile(`(accepted\(|if \(!)collection\.(\w*Documents?)\(`)
)

func TestScriptsAreClean(t *testing.T) {
	for _, s := range scripts {
		t.Run(s.id, func(t *testing.T) {
			code := regexp.MustCompile(`//[^\n]*`).ReplaceAllString(s.body, "")
			for what, pattern := range forbidden {
				if found := pattern.FindString(code); found != "" {
					t.Errorf("there is %q: %s", found, what)
				}
			}
			calls := operations.FindAllString(code, -1)
			if len(calls) == 0 || len(calls) != len(lookedAt.FindAllString(code, -1)) {
				t.Errorf("of %d operations %d are looked at for being accepted", len(calls), len(lookedAt.FindAllString(code, -1)))
			}
			if bytes.HasPrefix([]byte(s.body), []byte("\ufeff")) || strings.Contains(s.body, "\r") {
				t.Error("the file has a byte order mark or carriage returns")
			}
			if _, err := host.Compile(s.id, s.body); err != nil {
				t.Error(err)
			}
		})
	}
}

// refuser refuses the n-th operation of every script execution or, where it has a number, makes it fail with that; 0
// refuses none. And it refuses all after the first most; 0 is no limit. It says whether it did.
type refuser struct {
	nth, number, most atomic.Int64
	did               atomic.Bool
}

func (r *refuser) accept(operation int) bool {
	if most := r.most.Load(); most > 0 && int64(operation) > most {
		r.did.Store(true)
		return false
	}
	if r.number.Load() != 0 || int64(operation) != r.nth.Load() {
		return true
	}
	r.did.Store(true)
	return false
}

func (r *refuser) fail(operation int) *host.OperationError {
	number := int(r.number.Load())
	if number == 0 || int64(operation) != r.nth.Load() {
		return nil
	}
	r.did.Store(true)
	return &host.OperationError{Number: number, Message: "made to fail"}
}

// scriptWorlds gives a world for both visibilities of a transaction's own writes.
func scriptWorlds(t *testing.T, f func(t *testing.T, w *world, r *refuser)) {
	for _, own := range []bool{false, true} {
		t.Run(fmt.Sprintf("own=%t", own), func(t *testing.T) {
			r := &refuser{}
			f(t, newScriptWorld(t, r, own), r)
		})
	}
}

// newScriptWorld gives a world whose scripts' operations are refused as r says; own tells whether queries see own writes.
func newScriptWorld(t *testing.T, r *refuser, own bool) *world {
	t.Helper()
	return newWorldWith(t, embedded.Options{
		QueriesSeeOwnWrites: own,
		Script:              host.Options{Accept: r.accept, Fail: r.fail, Strict: true},
	})
}

// Whichever operation of a procedure is refused, nothing of it is done, and the client is told to try again.
func TestRefusedOperations(t *testing.T) {
	scriptWorlds(t, func(t *testing.T, w *world, r *refuser) {
		ada, bob := w.user("Ada"), w.user("Bob")
		post := w.post(ada)
		comment := w.comment(bob, post)
		_, err := w.LikePost(w.ctx(), bob, post.ID)
		w.ok(err)
		for name, command := range map[string]struct {
			do         func() error
			operations int64 // how many it asks for
		}{
			"createComment": {func() error {
				_, err := w.CreateComment(w.ctx(), ada, blog.CommentInput{PostID: post.ID, Content: "A comment."})
				return err
			}, 3},
			"createLike": {func() error { _, err := w.LikePost(w.ctx(), ada, post.ID); return err }, 3},
			"updateComment": {func() error {
				_, err := w.UpdateComment(w.ctx(), bob.ID, post.ID, comment.ID, "Edited.")
				return err
			}, 3},
			"deleteComment": {func() error {
				_, err := w.DeleteComment(w.ctx(), bob.ID, post.ID, comment.ID)
				return err
			}, 4},
			"deleteLike": {func() error { _, err := w.UnlikePost(w.ctx(), bob.ID, post.ID); return err }, 4},
		} {
			t.Run(name, func(t *testing.T) {
				w := w.on(t)
				for n := range command.operations {
					r.nth.Store(n + 1)
					w.fails(command.do(), blog.Throttled)
					r.nth.Store(0)
					w.counts(post.ID, 1, 1)
				}
			})
		}
		// Let through, each changes what it should: the refusals above were not for another reason.
		r.nth.Store(5)
		_, err = w.LikePost(w.ctx(), ada, post.ID)
		w.ok(err)
		_, err = w.DeleteComment(w.ctx(), bob.ID, post.ID, comment.ID)
		w.ok(err)
		r.nth.Store(0)
		w.counts(post.ID, 0, 2)
	})
}

// A rename reaches every item that bears an older name, and no other, page after page; an older rename that comes late
// changes nothing; a refusal anywhere is gone on from.
func TestUpdateUsernames(t *testing.T) {
	scriptWorlds(t, func(t *testing.T, w *world, r *refuser) {
		ada, bob := w.user("Ada"), w.user("Bob")
		post := w.post(ada)
		const many = 130 // more than one page
		for range many {
			w.comment(ada, post)
		}
		bobs, deleted := w.comment(bob, post), w.comment(ada, post)
		_, err := w.DeleteComment(w.ctx(), ada.ID, post.ID, deleted.ID)
		w.ok(err)
		_, err = w.LikePost(w.ctx(), ada, post.ID)
		w.ok(err)
		before, err := w.Post(w.ctx(), post.ID)
		w.ok(err)

		updated, more, err := w.updateUsernames(w.ctx(), post.ID, updateUsernamesArgument{UserID: ada.ID, Username: "Lady", AuthorRevision: 5})
		w.ok(err)
		if updated != many+2 || more {
			t.Errorf("%d items were updated, want %d; more: %t", updated, many+2, more)
		}
		newer := updateUsernamesArgument{UserID: ada.ID, Username: "Countess", AuthorRevision: 6}
		total, executions := 0, 0
		for more = true; more; executions++ {
			if r.nth.Store(int64(50 + executions)); executions > 10 { // refused somewhere, each time somewhere else
				t.Fatal("it does not come to an end")
			}
			updated, more, err = w.updateUsernames(w.ctx(), post.ID, newer)
			w.ok(err)
			total += updated
		}
		r.nth.Store(0)
		if total != many+2 || executions < 3 {
			t.Errorf("%d items were updated in %d executions, want %d", total, executions, many+2)
		}
		late := updateUsernamesArgument{UserID: ada.ID, Username: "Older", AuthorRevision: 4}
		for _, argument := range []updateUsernamesArgument{newer, late} {
			updated, more, err := w.updateUsernames(w.ctx(), post.ID, argument)
			w.ok(err)
			if updated != 0 || more {
				t.Errorf("%+v updated %d items, more: %t", argument, updated, more)
			}
		}

		after, err := w.Post(w.ctx(), post.ID)
		w.ok(err)
		if after.Author.Username != "Countess" || after.Revision != before.Revision+2 || after.Version != before.Version {
			t.Errorf("the post is %+v", after)
		}
		for _, comment := range listAll(w, post.ID, w.Comments) {
			want := "Countess"
			if comment.ID == bobs.ID {
				want = "Bob"
			}
			if comment.Author.Username != want {
				t.Errorf("a comment is by %s, want %s", comment.Author.Username, want)
			}
		}
		like, err := w.Like(w.ctx(), post.ID, ada.ID)
		w.ok(err)
		if like.User.Username != "Countess" {
			t.Errorf("the like is by %s", like.User.Username)
		}
		w.counts(post.ID, many+1, 1)
	})
}

// What a procedure is told of an item that is not what it should be is a code, and counters that are none are mended.
func TestProceduresMistrustItems(t *testing.T) {
	w := newWorld(t)
	ada := w.user("Ada")
	w.plant(w.posts, "p_old", map[string]any{"id": "p_old", "postId": "p_old", "type": "post", "userId": ada.ID, "deleted": false})
	w.plant(w.posts, "p_old", map[string]any{"id": "c_like", "postId": "p_old", "type": "like"})

	w.plant(w.posts, "p_none", map[string]any{"id": "p_none", "postId": "p_none", "type": "comment", "userId": ada.ID, "deleted": false})

	_, err := w.LikePost(w.ctx(), ada, "p_none")
	w.fails(err, blog.NotFound)
	_, err = w.UnlikePost(w.ctx(), ada.ID, "p_none")
	w.fails(err, blog.NotFound)
	_, err = w.CreateComment(w.ctx(), ada, blog.CommentInput{PostID: "p_none", Content: "A comment."})
	w.fails(err, blog.NotFound)
	_, err = w.DeleteComment(w.ctx(), ada.ID, "p_none", "p_none")
	w.fails(err, blog.NotFound)

	_, err = w.LikePost(w.ctx(), ada, "p_old")
	w.ok(err)
	w.comment(ada, &blog.Post{ID: "p_old"})
	post, err := w.Post(w.ctx(), "p_old")
	w.ok(err)
	if post.LikeCount != 1 || post.CommentCount != 1 || post.Revision != 2 {
		t.Errorf("the post is %+v", post)
	}
	_, err = w.DeleteComment(w.ctx(), ada.ID, "p_old", "c_like")
	w.fails(err, blog.NotFound)
	bobs := w.comment(w.user("Bob"), &blog.Post{ID: "p_old"})
	for _, id := range []string{"c_like", bobs.ID} {
		a, _, err := w.execute(w.ctx(), createCommentScript, "p_old", createCommentArgument{ID: id, PostID: "p_old", UserID: ada.ID})
		w.ok(err)
		if a.Code != codeKeyReused {
			t.Errorf("Ada's comment over something else is %s", a.Code)
		}
	}
}
