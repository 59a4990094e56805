package store_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"
	"pgregory.net/rapid"

	"cosmosblog/internal/blog"
	"cosmosblog/internal/proof/storetest"
	"cosmosblog/internal/proof/testseed"
	"cosmosblog/store/cosmos"
	"cosmosblog/store/schema"
)

// TestLists checks that reading a list page by page returns all of its elements in order, with
// any page size. The data has equal dates, deleted items, items of other types, and other
// partitions.
func TestLists(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	serial := 0
	testseed.Check(t, func(r *rapid.T) {
		serial++
		author, postID := fmt.Sprintf("u_%d", serial), fmt.Sprintf("p_%d", serial)
		n := rapid.IntRange(0, 40).Draw(r, "items")
		inUsers := []any{schema.UserItem{ID: author, UserID: author, Type: schema.TypeUser, Username: author}}
		inPosts := []any{schema.PostItem{ID: postID, PostID: postID, Type: schema.TypePost}}
		var posts, comments, likes []blog.Position
		for i := range n {
			date := blog.NewDateTime(w.Clock.Now().AddDate(0, 0, rapid.IntRange(0, 9).Draw(r, "day")))
			deleted := rapid.IntRange(0, 3).Draw(r, "deleted") == 0
			id := fmt.Sprintf("i_%04d", i)
			postType, commentType := schema.TypePost, schema.TypeComment
			if deleted {
				postType, commentType = schema.TypeTombstone, schema.TypeTombstone
			}
			inUsers = append(inUsers,
				schema.PostItem{ID: id, PostID: id, UserID: author, Type: postType, CreationDate: date, Deleted: deleted})
			inPosts = append(inPosts,
				schema.CommentItem{ID: id, PostID: postID, UserID: author, Type: commentType, CreationDate: date, Deleted: deleted},
				schema.LikeItem{ID: "u" + id, PostID: postID, UserID: "u" + id, Type: schema.TypeLike, CreationDate: date})
			if position := (blog.Position{CreationDate: date, ID: id}); !deleted {
				posts, comments = append(posts, position), append(comments, position)
			}
			likes = append(likes, blog.Position{CreationDate: date, ID: "u" + id})
		}
		w.plantBatches(schema.Users, author, inUsers)
		w.plantBatches(schema.Posts, postID, inPosts)
		size := rapid.IntRange(1, 12).Draw(r, "page")

		storetest.SortPositions(posts, true)
		storetest.SortPositions(comments, false)
		storetest.SortPositions(likes, true)
		compare(r, "posts", posts, positions(r, w.Ctx(), author, size, w.UserPosts))
		compare(r, "comments", comments, positions(r, w.Ctx(), postID, size, w.Comments))
		slices.Reverse(comments)
		compare(r, "comments, newest first", comments, positions(r, w.Ctx(), postID, size,
			func(ctx context.Context, id string, page blog.PageRequest) (blog.Page[*blog.Comment], error) {
				page.Order = blog.NewestFirst
				return w.Comments(ctx, id, page)
			}))
		compare(r, "likes", likes, positions(r, w.Ctx(), postID, size, w.Likes))
	})
}

// plantBatches creates items directly in one partition, in few transactions.
func (w *world) plantBatches(container, partition string, items []any) {
	w.T.Helper()
	for chunk := range slices.Chunk(items, cosmos.MaxBatchOperations) {
		batch := w.Container(container).NewTransactionalBatch(azcosmos.NewPartitionKeyString(partition))
		for _, item := range chunk {
			text, err := cosmos.EncodeItem(item)
			w.OK(err)
			batch.CreateItem(text, nil)
		}
		w.OK(cosmos.ExecuteBatch(w.Ctx(), w.Container(container), batch))
	}
}

func positions[T any](r *rapid.T, ctx context.Context, id string, size int, list func(context.Context, string, blog.PageRequest) (blog.Page[T], error)) []blog.Position {
	var all []blog.Position
	request := blog.PageRequest{First: size}
	for {
		page, err := list(ctx, id, request)
		if err != nil {
			r.Fatal(err)
		}
		if len(page.Items) != len(page.Positions) || page.HasNextPage && len(page.Items) != size {
			r.Fatalf("a page of size %d has %d items and %d positions", size, len(page.Items), len(page.Positions))
		}
		all = append(all, page.Positions...)
		if !page.HasNextPage {
			return all
		}
		request.After = &page.Positions[size-1]
	}
}

func compare(r *rapid.T, what string, want, got []blog.Position) {
	if !slices.Equal(want, got) {
		r.Fatalf("the %s are %v, want %v", what, got, want)
	}
}

// TestFeedLength checks that the feed ends after its 100th post, and that the last page has no
// next page.
func TestFeedLength(t *testing.T) {
	for _, count := range []int{0, 99, 100, 101, 130} {
		w := newWorld(t)
		items := []any{map[string]any{"id": "horizon", "type": schema.TypePost, "creationDate": "2000", "postId": "p"}}
		for i := range count {
			id := fmt.Sprintf("p_%04d", i)
			items = append(items, schema.PostItem{ID: id, PostID: id, Type: schema.TypePost, CreationDate: w.NextDate()})
		}
		items = append(items, schema.PostItem{ID: "gone", PostID: "gone", Type: schema.TypePost, CreationDate: w.NextDate(), Deleted: true})
		w.plantBatches(schema.Feed, schema.FeedPartition, items)
		for _, size := range []int{1, 7, 30, 100} {
			var ids []string
			request := blog.PageRequest{First: size}
			for {
				page, err := w.Feed(w.Ctx(), request)
				w.OK(err)
				for i, post := range page.Items {
					ids = append(ids, post.ID)
					if page.Positions[i].Rank != len(ids) {
						t.Fatalf("post %d has rank %d", len(ids), page.Positions[i].Rank)
					}
				}
				if page.HasNextPage != (len(ids) < min(count, blog.FeedLength)) {
					t.Fatalf("with %d posts, HasNextPage after %d posts is %t", count, len(ids), page.HasNextPage)
				}
				if !page.HasNextPage {
					break
				}
				request.After = &page.Positions[len(page.Positions)-1]
			}
			if len(ids) != min(count, blog.FeedLength) {
				t.Errorf("with %d posts and pages of %d, the feed has %d posts", count, size, len(ids))
			}
			for i, id := range ids {
				if want := fmt.Sprintf("p_%04d", count-1-i); id != want {
					t.Fatalf("post %d is %s, want %s", i+1, id, want)
				}
			}
		}
	}
}

func TestReadEach(t *testing.T) {
	w := newWorld(t)
	ada, bob := w.AddUser("Ada"), w.AddUser("Bob")
	one, two := w.AddPost(ada), w.AddPost(bob)
	deleted := w.AddPost(ada)
	_, err := w.DeletePost(w.Ctx(), ada.ID, deleted.ID)
	w.OK(err)

	posts, err := w.Posts(w.Ctx(), []string{one.ID, two.ID, deleted.ID, one.ID, "p_unknown"})
	w.OK(err)
	if len(posts) != 2 || posts[one.ID].Content != one.Content || posts[two.ID].Author.Username != "Bob" {
		t.Errorf("the posts are %v", posts)
	}
	posts, err = w.Posts(w.Ctx(), []string{deleted.ID})
	w.OK(err)
	if len(posts) != 0 {
		t.Errorf("a deleted post was returned: %v", posts)
	}
	users, err := w.Users(w.Ctx(), []string{ada.ID, "u_unknown", bob.ID})
	w.OK(err)
	if len(users) != 2 || !same(users[ada.ID], ada) || !same(users[bob.ID], bob) {
		t.Errorf("the users are %v", users)
	}
	cancelled, cancel := context.WithCancel(w.Ctx())
	cancel()
	if _, err := w.Users(cancelled, []string{ada.ID, bob.ID}); err == nil {
		t.Error("reading many with a cancelled context returned no error")
	}
}

// TestReversedIndex reads a post's comments, oldest first, by the index of the reverse order: all
// directions of ORDER BY are the reverse of the index, so it serves ("Indexing policies in Azure
// Cosmos DB", composite indexes). A page is then charged the same wherever it is.
func TestReversedIndex(t *testing.T) {
	w := newWorld(t)
	post := w.AddPost(w.AddUser("ada"))
	var items []any
	const comments, size = 600, 10
	for i := range comments {
		items = append(items, schema.CommentItem{ID: fmt.Sprintf("c_%04d", i), PostID: post.ID, UserID: "u_a", Type: schema.TypeComment,
			CreationDate: blog.NewDateTime(w.Clock.Now().AddDate(0, 0, i))})
	}
	w.plantBatches(schema.Posts, post.ID, items)
	charged := func(page blog.PageRequest) float64 {
		ctx, meter := cosmos.Metered(w.Ctx())
		got, err := w.Comments(ctx, post.ID, page)
		w.OK(err)
		if len(got.Items) != size {
			t.Errorf("the page has %d comments", len(got.Items))
		}
		return meter.Charged()
	}
	first := charged(blog.PageRequest{First: size})
	for _, at := range []int{100, comments - size - 1} {
		after := blog.Position{CreationDate: items[at].(schema.CommentItem).CreationDate, ID: items[at].(schema.CommentItem).ID}
		if charge := charged(blog.PageRequest{First: size, After: &after}); charge > 1.1*first {
			t.Errorf("the page after %d comments is charged %.1f RU, the first one %.1f", at, charge, first)
		}
	}
}
