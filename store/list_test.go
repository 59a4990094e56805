package store_test

import (
	"context"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"
	"pgregory.net/rapid"

	"cosmosblog/blog"
	"cosmosblog/proof/storetest"
	"cosmosblog/proof/testseed"
	"cosmosblog/store/cosmos"
	"cosmosblog/store/schema"
	"cosmosblog/store/views"
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
				schema.PostItem{ID: id, PostID: id, UserID: author, Type: postType, CreationDate: date, SortKey: schema.SortKey(date, id), Deleted: deleted})
			inPosts = append(inPosts,
				schema.CommentItem{ID: id, PostID: postID, UserID: author, Type: commentType, CreationDate: date, SortKey: schema.SortKey(date, id), Deleted: deleted},
				schema.LikeItem{ID: "u" + id, PostID: postID, UserID: "u" + id, Type: schema.TypeLike, CreationDate: date, SortKey: schema.SortKey(date, "u"+id)})
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
		if len(all) > 1000 || len(page.Items) != len(page.Positions) || page.HasNextPage && len(page.Items) != size {
			r.Fatalf("after %d items, a page of size %d has %d items and %d positions", len(all), size, len(page.Items), len(page.Positions))
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
			id, date := fmt.Sprintf("p_%04d", i), w.NextDate()
			items = append(items, schema.PostItem{ID: id, PostID: id, Type: schema.TypePost, CreationDate: date, SortKey: schema.SortKey(date, id)})
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

// TestDeepPages reads pages of all lists near their beginning and a hundred pages deep. Each page
// is charged for its items only, because a position is a range on the last path of a composite
// index. Comments, oldest first, are read by the index of the reverse order: both directions of
// ORDER BY are the reverse of the index ("Indexing policies in Azure Cosmos DB", composite
// indexes).
func TestDeepPages(t *testing.T) {
	w := newWorld(t)
	ada := w.AddUser("ada")
	const size, pages, most = 3, 102, 3.5 // RU, for three items and the next one
	list := blog.Tag{Name: "deep"}.List()
	w.plantLists(ada, list, size*pages)
	for name, read := range map[string]func(context.Context, blog.PageRequest) (int, []blog.Position, error){
		"posts of a user":        pageOf(w.UserPosts, ada.ID, ""),
		"comments":               pageOf(w.Comments, "p_of_all", blog.OldestFirst),
		"comments, newest first": pageOf(w.Comments, "p_of_all", blog.NewestFirst),
		"likes":                  pageOf(w.Likes, "p_of_all", ""),
		"posts with a tag":       pageOf(w.ListedPosts, list, ""),
		"feed": func(ctx context.Context, request blog.PageRequest) (int, []blog.Position, error) {
			page, err := w.Feed(ctx, request)
			return len(page.Items), page.Positions, err
		},
		"arrivals": func(ctx context.Context, request blog.PageRequest) (int, []blog.Position, error) {
			page, err := w.Arrivals(ctx, request)
			return len(page.Items), page.Positions, err
		},
		"months": func(ctx context.Context, request blog.PageRequest) (int, []blog.Position, error) {
			before := ""
			if request.After != nil {
				before = request.After.ID
			}
			months, err := w.Months(ctx, request.First, before)
			positions := make([]blog.Position, len(months))
			for i, month := range months {
				positions[i].ID = month.Name
			}
			return len(months), positions, err
		},
	} {
		request, charges := blog.PageRequest{First: size}, []float64{}
		for range pages {
			ctx, meter := cosmos.Metered(w.Ctx())
			n, positions, err := read(ctx, request)
			w.OK(err)
			if n < size { // the end of the feed
				break
			}
			charges = append(charges, meter.Charged())
			request.After = &positions[size-1]
		}
		if isFeed := name == "feed" || name == "arrivals"; !isFeed && len(charges) < pages-1 || len(charges) < blog.FeedLength/size-1 {
			t.Errorf("%s: %d pages", name, len(charges))
			continue
		}
		for _, deep := range []int{10, min(100, len(charges)-2)} {
			if charges[deep] > most || math.Abs(charges[deep]-charges[1]) > 0.03*charges[1] {
				t.Errorf("%s: page %d is charged %.2f RU, the second one %.2f", name, deep+1, charges[deep], charges[1])
			}
		}
	}
}

// plantLists creates a number of posts of a user in users, feed and a list, as many months, and as
// many comments and likes of one post.
func (w *world) plantLists(author *blog.User, list blog.List, n int) {
	w.T.Helper()
	var inUsers, inPosts, inFeed, inLists, months []any
	for i := range n {
		post := &blog.Post{ID: fmt.Sprintf("p_%05d", i), Author: author, PostHead: blog.PostHead{Title: "Deep"}, CreationDate: blog.NewDateTime(w.Clock.Now().AddDate(0, i, 0))}
		comment := schema.NewCommentItem("p_of_all", &blog.Comment{ID: fmt.Sprintf("c_%05d", i), Author: author, Content: "Deep", CreationDate: post.CreationDate})
		like := schema.NewLikeItem("p_of_all", &blog.Like{User: &blog.User{ID: fmt.Sprintf("u_%05d", i), Username: "liker"}, CreationDate: post.CreationDate})
		inUsers = append(inUsers, views.UserCopyOf(post))
		inPosts = append(inPosts, comment, like)
		inLists = append(inLists, schema.NewEntryItem(list, post))
		months = append(months, schema.NewWeightItem(schema.CounterItem{List: post.CreationDate.Month().List(), PostCount: 1}))
		if i < blog.FeedLength {
			inFeed = append(inFeed, schema.FeedItem{PostItem: views.FeedCopyOf(post).(schema.PostItem), ArrivalDate: post.CreationDate})
		}
	}
	w.plantBatches(schema.Users, author.ID, inUsers)
	w.plantBatches(schema.Posts, "p_of_all", inPosts)
	w.plantBatches(schema.Feed, schema.FeedPartition, inFeed)
	w.plantBatches(schema.Lists, string(list), inLists)
	w.plantBatches(schema.Lists, blog.Months.Plural, months)
}

// pageOf returns a reader of the pages of one list.
func pageOf[ID, T any](
	list func(context.Context, ID, blog.PageRequest) (blog.Page[T], error), id ID, order blog.CommentOrder,
) func(context.Context, blog.PageRequest) (int, []blog.Position, error) {
	return func(ctx context.Context, request blog.PageRequest) (int, []blog.Position, error) {
		request.Order = order
		page, err := list(ctx, id, request)
		return len(page.Items), page.Positions, err
	}
}
