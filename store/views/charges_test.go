package views_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"cosmosblog/blog"
	"cosmosblog/proof/storetest"
	"cosmosblog/store/chores"
	"cosmosblog/store/cosmos"
	"cosmosblog/store/schema"
)

// maxScriptCharge is the largest charge of an execution of a script: half of what the service may
// block a script for, on a container with the least throughput (two seconds of 400 RU/s).
const maxScriptCharge = 400

// scriptCharges records the largest charges of executions and of writes with a trigger, which are
// all creates in feed.
type scriptCharges struct {
	mu   sync.Mutex
	most map[string]float64
}

func (c *scriptCharges) Record(_ context.Context, r cosmos.Request) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if r.Operation == "execute" || r.Container == schema.Feed && r.Operation == "create" {
		name := r.Container + " " + r.Operation
		c.most[name] = max(c.most[name], r.Charge)
	}
}

// TestLargestScripts executes all scripts on the largest items that the API accepts. On the engine
// and on an account, a script that is charged two seconds of a container's throughput three times
// is blocked. The engine's containers have 400 RU/s.
func TestLargestScripts(t *testing.T) {
	w := newWorld(t)
	charges := &scriptCharges{most: map[string]float64{}}
	ctx := cosmos.WithRecorder(w.Ctx(), charges)
	ada, err := w.CreateUser(ctx, storetest.Account("ada"), strings.Repeat("a", blog.MaxUsernameLength))
	w.OK(err)
	bob, err := w.CreateUser(ctx, storetest.Account("bob"), strings.Repeat("b", blog.MaxUsernameLength))
	w.OK(err)
	wide := func(n int) string { return strings.Repeat("𠮷", n) } // four bytes each
	input := blog.CreatePostInput{Title: wide(blog.MaxTitleLength), Content: wide(blog.MaxContentBytes / 4)}
	for i := range blog.MaxTags {
		input.Tags = append(input.Tags, wide(blog.MaxTagLength-1)+fmt.Sprint(i))
	}
	post, err := w.CreatePost(ctx, ada, input)
	w.OK(err)
	inline, err := w.CreatePost(ctx, ada, blog.CreatePostInput{Title: input.Title, Content: wide(schema.MaxInlineContent / 4), Tags: input.Tags})
	w.OK(err)
	const many = 3 * 30
	var comments []*blog.Comment
	for range many {
		comment, err := w.CreateComment(ctx, bob, blog.CreateCommentInput{PostID: inline.Ref(), Content: wide(blog.MaxCommentLength)})
		w.OK(err)
		comments = append(comments, comment)
	}
	newest := comments[many-1]
	_, err = w.UpdateComment(ctx, bob.ID, blog.UpdateCommentInput{ID: newest.Ref(), Content: wide(blog.MaxCommentLength-1) + "!"})
	w.OK(err)
	_, err = w.LikePost(ctx, bob, inline.ID)
	w.OK(err)
	for _, comment := range comments[many-3:] {
		_, err = w.DeleteComment(ctx, bob.ID, inline.ID, comment.ID)
		w.OK(err)
	}
	w.Damage(inline.ID, map[string]any{"/recentComments": []any{}})
	w.OK(w.RestoreRecentComments(ctx, inline.ID))
	changed, err := w.SweepPost(ctx, inline.ID, chores.Sweep{UserID: bob.ID, Username: strings.Repeat("c", 30), AuthorRevision: 9})
	w.OK(err)
	if changed < many-3 {
		t.Errorf("the sweep changed %d items", changed)
	}
	w.fillFeed(ctx, post, 2*blog.FeedLength+60)
	for name, charge := range charges.most {
		t.Logf("%s: %.0f RU", name, charge)
		if charge > maxScriptCharge {
			t.Errorf("%s is charged %.0f RU, more than %d", name, charge, maxScriptCharge)
		}
	}
	if len(charges.most) != 3 {
		t.Errorf("the test executed scripts of %v", charges.most)
	}
}

// fillFeed writes copies of a post under other ids, in an order in which the trigger trims both new
// and old ones.
func (w *world) fillFeed(ctx context.Context, post *blog.Post, copies int) {
	w.T.Helper()
	for i := range copies {
		other := *post
		other.ID, other.CreationDate = fmt.Sprintf("p_%03d", i), w.feedPosition((7*i)%50, "").CreationDate
		_, err := w.FeedView().Project(ctx, &other)
		w.OK(err)
	}
}

// TestRenameOnLongPost checks that a rename costs on a long post what it costs on a short one: its
// query finds the items of the user, and the content is none of them.
func TestRenameOnLongPost(t *testing.T) {
	w := newWorld(t)
	ada, bob := w.AddUser("ada"), w.AddUser("bob")
	var costs [2]float64
	for i, length := range []int{10, blog.MaxContentBytes} {
		post, err := w.CreatePost(w.Ctx(), ada, blog.CreatePostInput{Title: "A title", Content: strings.Repeat("x", length)})
		w.OK(err)
		w.AddComment(bob, post)
		w.AddLike(bob, post)
		charges := &scriptCharges{most: map[string]float64{}}
		_, err = w.SweepPost(cosmos.WithRecorder(w.Ctx(), charges), post.ID, chores.Sweep{UserID: bob.ID, Username: "bobby", AuthorRevision: 9})
		w.OK(err)
		costs[i] = charges.most["posts execute"]
	}
	if costs[0] < 1 || costs[1] > 1.2*costs[0] {
		t.Errorf("a rename costs %.1f RU on a short post, and %.1f on a long one", costs[0], costs[1])
	}
}
