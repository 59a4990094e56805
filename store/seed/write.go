package seed

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"golang.org/x/sync/errgroup"

	"cosmosblog/blog"
	"cosmosblog/store/bulk"
	"cosmosblog/store/cosmos"
	"cosmosblog/store/views"
)

// parallel is the maximum number of concurrent requests.
const parallel = 32

// Write writes the set with its views. It calls written, which may be nil, concurrently for each n
// written or existing items: an interrupted Write can be repeated. Other clients may use the
// database at the same time, and a projector may run. Nobody may rename or delete users of the set
// until Write is done: package audit finds posts with former names.
//
// Write starts with the newest posts, and writes them to the feed before all others. A
// projector that sees the others later finds them too old for the feed.
func (s *Set) Write(ctx context.Context, db *cosmos.DB, written func(n int)) error {
	if written == nil {
		written = func(int) {}
	}
	w := &writer{set: s, bulk: bulk.New(db), written: written, users: make([]*blog.User, s.Users())}
	for _, step := range []func(context.Context) error{w.writeUsers, w.writeFeed, w.writePosts} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return nil
}

// writer writes one set into one database.
type writer struct {
	set     *Set
	bulk    *bulk.Writer
	written func(n int)
	users   []*blog.User           // as stored in the database
	newest  map[postKey]*blog.Post // posts that writeFeed wrote
}

type postKey struct{ author, number int }

func (h Heading) key() postKey { return postKey{h.Author, h.Number} }

// each calls do for all numbers below n, at most parallel at once.
func (w *writer) each(ctx context.Context, n int, do func(ctx context.Context, i int) error) error {
	group, groupCtx := errgroup.WithContext(ctx)
	group.SetLimit(parallel)
	for i := range n {
		if groupCtx.Err() != nil {
			break
		}
		group.Go(func() error { return do(groupCtx, i) })
	}
	if err := group.Wait(); err != nil {
		return err
	}
	return ctx.Err()
}

func (w *writer) writeUsers(ctx context.Context) error {
	return w.each(ctx, w.set.Users(), func(ctx context.Context, n int) error {
		user, err := w.writeUser(ctx, w.set.User(n))
		if err != nil {
			return err
		}
		w.users[n] = user
		w.written(2) // the username too
		return nil
	})
}

// maxNamesakes is the maximum number of usernames to try for a user.
const maxNamesakes = 100

// writeUser writes the user with the set's username or, if another user of the database has it,
// with a number appended.
func (w *writer) writeUser(ctx context.Context, user *blog.User) (*blog.User, error) {
	for n := 1; ; n++ {
		name := user.Username
		if n > 1 {
			name += "-" + strconv.Itoa(n)
		}
		written, err := w.bulk.WriteUser(ctx, user.ID, name, user.CreationDate)
		if err == nil || blog.CodeOf(err) != blog.UsernameTaken || n == maxNamesakes {
			return written, err
		}
	}
}

// writeFeed writes the newest posts, and their copies to the feed.
func (w *writer) writeFeed(ctx context.Context) error {
	headings := w.set.Newest(views.FeedCapacity + 1)
	posts := make([]*blog.Post, len(headings))
	err := w.each(ctx, len(headings), func(ctx context.Context, i int) (err error) {
		posts[i], err = w.writeThread(ctx, headings[i])
		return err
	})
	if err != nil {
		return err
	}
	w.newest = make(map[postKey]*blog.Post, len(headings))
	for i, h := range headings {
		w.newest[h.key()] = posts[i]
	}
	return w.bulk.WriteFeedPosts(ctx, posts)
}

// authorsAtOnce is the number of authors whose posts are written before their views. The posts of
// many authors fill the transactions of the lists. Memory holds these posts, without their
// contents.
const authorsAtOnce = 200

// writePosts writes the posts that writeFeed did not write, all entries in lists, and all short
// copies in users. The copies come last: until then, a projector finds that a post has yet to be
// listed.
func (w *writer) writePosts(ctx context.Context) error {
	for first := 0; first < w.set.Users(); first += authorsAtOnce {
		posts := make([][]*blog.Post, min(authorsAtOnce, w.set.Users()-first))
		err := w.each(ctx, len(posts), func(ctx context.Context, i int) (err error) {
			posts[i], err = w.writeThreads(ctx, first+i)
			return err
		})
		if err == nil {
			err = w.writeLists(ctx, slices.Concat(posts...))
		}
		if err == nil {
			err = w.each(ctx, len(posts), func(ctx context.Context, i int) error {
				err := w.bulk.WriteUserPosts(ctx, w.users[first+i].ID, posts[i])
				if err == nil {
					w.written(len(posts[i]))
				}
				return err
			})
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// writeThreads writes the posts of an author, and returns them with those that writeFeed wrote.
func (w *writer) writeThreads(ctx context.Context, author int) (posts []*blog.Post, err error) {
	headings := w.set.Headings(author)
	posts = make([]*blog.Post, len(headings))
	for i, h := range headings {
		if posts[i] = w.newest[h.key()]; posts[i] != nil {
			continue
		}
		if posts[i], err = w.writeThread(ctx, h); err != nil {
			return nil, err
		}
	}
	return posts, nil
}

// writeLists writes the entries of posts in the lists of their months and tags.
func (w *writer) writeLists(ctx context.Context, posts []*blog.Post) error {
	listed := map[blog.List][]*blog.Post{}
	for _, post := range posts {
		for _, list := range post.Lists() {
			listed[list] = append(listed[list], post)
		}
	}
	lists := slices.Sorted(maps.Keys(listed))
	return w.each(ctx, len(lists), func(ctx context.Context, i int) error {
		return w.bulk.WriteList(ctx, lists[i], listed[lists[i]])
	})
}

func (w *writer) writeThread(ctx context.Context, h Heading) (*blog.Post, error) {
	post, err := w.bulk.WriteThread(ctx, w.set.Thread(h, w.users))
	if err != nil {
		return nil, fmt.Errorf("post %d of user %d: %w", h.Number, h.Author, err)
	}
	w.written(h.Items())
	return post, nil
}
