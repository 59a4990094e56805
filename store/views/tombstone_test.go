package views_test

import (
	"context"
	"flag"
	"fmt"
	"maps"
	"strings"
	"sync"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"cosmosblog/blog"
	"cosmosblog/cosmostest"
	"cosmosblog/proof/storetest"
	"cosmosblog/store/chores"
	"cosmosblog/store/cosmos"
	"cosmosblog/store/schema"
	"cosmosblog/store/views"
)

var tombstonesFlag = flag.Int("tombstones", 300,
	"the number of deleted posts, and of deleted comments, that lists and chores must not pay for")

// TestDeletedItemsCostNothing checks that lists, writes of the feed and chores cost the same after
// very many posts and comments were created and deleted.
func TestDeletedItemsCostNothing(t *testing.T) {
	w := newTombstoneWorld(t)
	before := w.charges(w.purged[0])
	w.deletePosts(*tombstonesFlag)
	w.compareCharges("deleted posts", before, w.charges(w.purged[1]))
	w.deleteComments(*tombstonesFlag, w.post, w.purged[2])
	w.compareCharges("deleted posts and comments", before, w.charges(w.purged[2]))
}

// TestTombstonesAnswerRepeatedRequests checks the answers of requests that are repeated after the
// projector has finished with a deleted comment or post.
func TestTombstonesAnswerRepeatedRequests(t *testing.T) {
	w := newWorld(t)
	ann := w.AddUser("ann")
	live := w.AddPost(ann)
	comment := blog.CreateCommentInput{PostID: live.Ref(), Content: "Once.", IdempotencyKey: new("key")}
	post := blog.CreatePostInput{Title: "Once", Content: "Once.", IdempotencyKey: new("key")}
	other, otherPost := comment, post
	other.Content, otherPost.Content = "Another.", "Another."

	created, err := w.CreateComment(w.Ctx(), ann, comment)
	w.OK(err)
	_, err = w.DeleteComment(w.Ctx(), ann.ID, live.ID, created.ID)
	w.OK(err)
	createdPost, err := w.CreatePost(w.Ctx(), ann, post)
	w.OK(err)
	w.RemovePost(createdPost)
	for range 2 { // before and after they have their ttl
		_, err = w.CreateComment(w.Ctx(), ann, comment)
		w.Fails(err, blog.NotFound)
		_, err = w.CreateComment(w.Ctx(), ann, other)
		w.Fails(err, blog.IdempotencyKeyReused)
		_, err = w.CreatePost(w.Ctx(), ann, post)
		w.Fails(err, blog.NotFound)
		_, err = w.CreatePost(w.Ctx(), ann, otherPost)
		w.Fails(err, blog.IdempotencyKeyReused)
		_, err = w.DeleteComment(w.Ctx(), ann.ID, live.ID, created.ID)
		w.Fails(err, blog.NotFound)
		_, err = w.UpdateComment(w.Ctx(), ann.ID, blog.UpdateCommentInput{ID: created.Ref(), Content: "Edited."})
		w.Fails(err, blog.NotFound)
		_, err = w.Comment(w.Ctx(), live.ID, created.ID)
		w.Fails(err, blog.NotFound)
		if id, err := w.PostOfComment(w.Ctx(), created.ID); err != nil || id != live.ID {
			t.Errorf("the post of the deleted comment is %q, %v", id, err)
		}
		w.HoldsCounts(live.ID, 0, 0)
		w.OK(w.ExpireComment(w.Ctx(), live.ID, created.ID, ann.ID))
		w.OK(w.PurgePost(w.Ctx(), createdPost.ID))
	}
	w.Wire.Inject(cosmostest.Nth(1, storetest.CutAfter)) // the projector is faster than the retry
	_, err = w.DeleteComment(w.Ctx(), ann.ID, live.ID, created.ID)
	w.OK(err)
}

// tombstoneWorld has a full feed, a user with posts and comments, and a post with comments.
type tombstoneWorld struct {
	*world
	ann, bob *blog.User
	live     []*blog.Post // in the feed, oldest first
	post     *blog.Post   // with comments
	comments []*blog.Comment
	purged   []*blog.Post // deleted, with comments, for one purge each
	renames  int64
}

func newTombstoneWorld(t *testing.T) *tombstoneWorld {
	w := &tombstoneWorld{world: newWorld(t)}
	w.ann, w.bob = w.AddUser("ann"), w.AddUser("bob")
	for i := range views.FeedCapacity + 5 {
		author := w.bob
		if i%5 == 0 {
			author = w.ann
		}
		post := w.addProjectedPost(author)
		w.live = append(w.live, post)
	}
	w.live = w.live[5:]
	w.post = w.live[0]
	w.AddComment(w.ann, w.post)
	for range 60 {
		w.comments = append(w.comments, w.AddComment(w.bob, w.post))
	}
	w.AddLike(w.ann, w.post)
	for range 3 {
		post := w.AddPost(w.bob)
		for range 30 {
			w.AddComment(w.bob, post)
		}
		w.RemovePost(post)
		w.purged = append(w.purged, post)
	}
	return w
}

// addProjectedPost creates a post and projects it into all views.
func (w *tombstoneWorld) addProjectedPost(author *blog.User) *blog.Post {
	post := w.AddPost(author)
	w.project(post.ID)
	return post
}

func (w *tombstoneWorld) project(postID string) {
	w.T.Helper()
	change := w.ReadChange(postID, postID)
	_, err := w.UserPostView(change.Post.Author.ID).Project(w.Ctx(), change.Post)
	w.OK(err)
	_, err = w.FeedView().Project(w.Ctx(), change.Post)
	w.OK(err)
}

// charges returns the charge of each operation in RU.
func (w *tombstoneWorld) charges(purged *blog.Post) map[string]float64 {
	first := func(n int) blog.PageRequest { return blog.PageRequest{First: n} }
	after := func(n int, position blog.Position) blog.PageRequest {
		return blog.PageRequest{First: n, After: &position}
	}
	middle := w.live[len(w.live)-60]
	later := after(20, blog.Position{CreationDate: middle.CreationDate, ID: middle.ID, Rank: 60})
	comment := w.comments[20]
	laterComments := after(20, blog.Position{CreationDate: comment.CreationDate, ID: comment.ID})
	w.renames += 10
	sweep := chores.Sweep{UserID: w.ann.ID, Username: "ann", AuthorRevision: w.ann.Revision + w.renames}
	fresh := w.AddPost(w.bob)
	change := w.ReadChange(fresh.ID, fresh.ID)
	written := w.AddComment(w.bob, w.post)

	horizon, etag, err := w.ReadHorizon(w.Ctx())
	w.OK(err)
	w.OK(w.MoveHorizon(w.Ctx(), horizon, horizon.Position(), etag)) // leaves no room, so the next new copy trims the feed

	charges := map[string]float64{}
	w.charge(charges, "feed, one post", func(ctx context.Context) error { _, err := w.Feed(ctx, first(1)); return err })
	w.charge(charges, "feed", func(ctx context.Context) error { _, err := w.Feed(ctx, first(20)); return err })
	w.charge(charges, "feed, later", func(ctx context.Context) error { _, err := w.Feed(ctx, later); return err })
	w.charge(charges, "posts", func(ctx context.Context) error { _, err := w.UserPosts(ctx, w.ann.ID, first(20)); return err })
	w.charge(charges, "posts, later", func(ctx context.Context) error { _, err := w.UserPosts(ctx, w.ann.ID, later); return err })
	w.charge(charges, "comments", func(ctx context.Context) error { _, err := w.Comments(ctx, w.post.ID, first(20)); return err })
	w.charge(charges, "comments, later", func(ctx context.Context) error { _, err := w.Comments(ctx, w.post.ID, laterComments); return err })
	w.charge(charges, "likes", func(ctx context.Context) error { _, err := w.Likes(ctx, w.post.ID, first(20)); return err })
	w.charge(charges, "a write to the feed", func(ctx context.Context) error { _, err := w.FeedView().Project(ctx, change.Post); return err })
	w.charge(charges, "a write to the user's posts", func(ctx context.Context) error {
		_, err := w.UserPostView(change.Post.Author.ID).Project(ctx, change.Post)
		return err
	})
	w.charge(charges, "deleteComment", func(ctx context.Context) error {
		_, err := w.DeleteComment(ctx, w.bob.ID, w.post.ID, written.ID)
		return err
	})
	w.charge(charges, "a refill", w.RefillFeed)
	w.charge(charges, "a sweep", func(ctx context.Context) error { _, err := chores.Run(ctx, w.SweepPass(sweep)); return err })
	var deleted azcosmos.PatchOperations
	deleted.AppendSet("/deleted", true)
	_, err = w.Container(schema.Users).PatchItem(w.Ctx(), azcosmos.NewPartitionKeyString(w.ann.ID), w.ann.ID, deleted, nil)
	w.OK(err)
	w.charge(charges, "a pass of a deletion", func(ctx context.Context) error {
		_, err := chores.Run(ctx, w.DeletionPass(chores.Deletion{UserID: w.ann.ID, Revision: 1, Last: true}))
		return err
	})
	w.charge(charges, "a purge", func(ctx context.Context) error { return w.PurgePost(ctx, purged.ID) })
	return charges
}

func (w *tombstoneWorld) charge(charges map[string]float64, name string, do func(context.Context) error) {
	w.T.Helper()
	var total chargeSum
	w.OK(do(cosmos.WithRecorder(w.Ctx(), &total)))
	charges[name] = total.sum
}

// chargeSum sums the charges of requests.
type chargeSum struct {
	mu  sync.Mutex
	sum float64
}

func (c *chargeSum) Record(_ context.Context, request cosmos.Request) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.sum += request.Charge
}

func (w *tombstoneWorld) compareCharges(with string, before, after map[string]float64) {
	w.T.Helper()
	for name, charge := range before {
		if after[name] > 1.1*charge {
			w.T.Errorf("%s costs %.2f RU, with %d %s %.2f", name, charge, *tombstonesFlag, with, after[name])
		}
	}
}

// deletePosts leaves what remains of ann's deleted posts. One is created and deleted, and the
// others are copies of it, at the same positions as the posts that are not deleted.
func (w *tombstoneWorld) deletePosts(n int) {
	w.T.Helper()
	post := w.addProjectedPost(w.ann)
	w.RemovePost(post)
	w.project(post.ID)
	w.OK(w.PurgePost(w.Ctx(), post.ID))
	source := w.readRaw(schema.Posts, post.ID, post.ID)
	inUsers := w.readRaw(schema.Users, w.ann.ID, post.ID)
	inFeed := w.readRaw(schema.Feed, schema.FeedPartition, post.ID)
	var users, feed []any
	for i := range n {
		id := fmt.Sprintf("p_deleted_%05d", i)
		properties := map[string]any{"id": id, "postId": id, "creationDate": w.live[i%len(w.live)].CreationDate}
		w.Plant(w.Container(schema.Posts), id, cloned(source, properties))
		users, feed = append(users, cloned(inUsers, properties)), append(feed, cloned(inFeed, properties))
	}
	w.plantBatches(schema.Users, w.ann.ID, users)
	w.plantBatches(schema.Feed, schema.FeedPartition, feed)
}

// deleteComments is deletePosts for ann's comments on posts.
func (w *tombstoneWorld) deleteComments(n int, posts ...*blog.Post) {
	w.T.Helper()
	comment := w.AddComment(w.ann, w.post)
	_, err := w.DeleteComment(w.Ctx(), w.ann.ID, w.post.ID, comment.ID)
	w.OK(err)
	w.OK(w.ExpireComment(w.Ctx(), w.post.ID, comment.ID, w.ann.ID))
	source := w.readRaw(schema.Posts, w.post.ID, comment.ID)
	for _, post := range posts {
		var items []any
		for i := range n {
			items = append(items, cloned(source, map[string]any{
				"id": fmt.Sprintf("c_deleted_%05d", i), "postId": post.ID,
				"creationDate": w.comments[i%len(w.comments)].CreationDate,
			}))
		}
		w.plantBatches(schema.Posts, post.ID, items)
	}
}

func (w *tombstoneWorld) readRaw(container, partition, id string) map[string]any {
	w.T.Helper()
	item, _, err := cosmos.Read[map[string]any](w.Ctx(), w.Container(container), partition, id)
	w.OK(err)
	return *item
}

// cloned returns an item with other properties, and without those of the service.
func cloned(item, properties map[string]any) map[string]any {
	clone := maps.Clone(item)
	maps.DeleteFunc(clone, func(name string, _ any) bool { return strings.HasPrefix(name, "_") })
	maps.Copy(clone, properties)
	return clone
}

// plantBatches creates items in one partition without commands.
func (w *tombstoneWorld) plantBatches(container, partition string, items []any) {
	w.T.Helper()
	for len(items) > 0 {
		batch := w.Container(container).NewTransactionalBatch(azcosmos.NewPartitionKeyString(partition))
		n := min(cosmos.MaxBatchOperations, len(items))
		for _, item := range items[:n] {
			text, err := cosmos.EncodeItem(item)
			w.OK(err)
			batch.CreateItem(text, nil)
		}
		w.OK(cosmos.ExecuteBatch(w.Ctx(), w.Container(container), batch))
		items = items[n:]
	}
}
