package store_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"cosmosblog/blog"
	"cosmosblog/proof/storetest"
	"cosmosblog/proof/testseed"
)

// holdsRecent fails the test unless a post has its newest three comments, newest first, as the list
// of its comments has them.
func (w *world) holdsRecent(postID string) {
	w.T.Helper()
	post, err := w.Post(w.Ctx(), postID)
	w.OK(err)
	comments := storetest.ListAll(w.World, postID, w.Comments)
	var want, got []string
	for _, c := range slices.Backward(comments[max(0, len(comments)-blog.MaxRecentComments):]) {
		want = append(want, recentText(c))
	}
	for _, c := range post.RecentComments {
		got = append(got, recentText(c))
		if c.Post != post || c.ContentLoaded() {
			w.T.Errorf("the recent comment is %+v", c)
		}
	}
	if !slices.Equal(got, want) {
		w.T.Errorf("the recent comments are\n%s\nand should be\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func recentText(c *blog.Comment) string {
	return fmt.Sprint(c.ID, " by ", c.Author.ID, " ", c.Author.Username, " at ", c.CreationDate, " ", c.UpdatedDate, ": ", c.Excerpt)
}

// Whatever happens to comments and their authors, a post has its newest three. Some comments come
// from a server whose clock is behind.
func TestRecentComments(t *testing.T) {
	w, random := newWorld(t), testseed.Rand(t)
	behind := w.another()
	users := []*blog.User{w.AddUser("Ada"), w.AddUser("Bob")}
	for range 20 {
		w.commentAtRandom(random, behind, users)
	}
}

// commentAtRandom changes the comments of a new post, and checks the recent ones after each change.
func (w *world) commentAtRandom(random *rand.Rand, behind *world, users []*blog.User) {
	post := w.AddPost(users[0])
	var comments []*blog.Comment
	for step := range 25 {
		i := random.IntN(len(users))
		text := strings.Repeat(fmt.Sprint("text ", random.IntN(100), " \n"), 1+random.IntN(15))
		var err error
		switch n := random.IntN(11); {
		case n < 5:
			server := w
			if n == 0 {
				server = behind
			}
			comment, createErr := server.CreateComment(w.Ctx(), users[i], blog.CreateCommentInput{PostID: post.Ref(), Content: text})
			comments, err = append(comments, comment), createErr
		case n == 5:
			users[i], err = w.UpdateUser(w.Ctx(), users[i].ID, fmt.Sprint("user-", post.ID[2:14], "-", step))
			w.OK(err)
			_, err = w.updateUsernames(post.ID, map[string]any{"userId": users[i].ID, "username": users[i].Username, "authorRevision": users[i].Revision})
		case len(comments) == 0:
		case n < 9:
			comment := comments[random.IntN(len(comments))]
			_, err = w.UpdateComment(w.Ctx(), comment.Author.ID, blog.UpdateCommentInput{ID: comment.Ref(), Content: text})
		default:
			deleted := random.IntN(len(comments))
			_, err = w.DeleteComment(w.Ctx(), comments[deleted].Author.ID, post.ID, comments[deleted].ID)
			comments = slices.Delete(comments, deleted, deleted+1)
		}
		w.OK(err)
		w.holdsRecent(post.ID)
		w.HoldsCounts(post.ID, len(comments), 0)
	}
}
