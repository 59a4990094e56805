package seed

import (
	"context"
	"fmt"
	"strconv"

	"golang.org/x/sync/errgroup"

	"cosmosblog/internal/blog"
	"cosmosblog/store"
)

// Options says how a data set is written.
type Options struct {
	Parallel int         // requests at a time; 32 where 0
	Written  func(n int) // told of items that are there now; called concurrently; nil for nobody
}

const defaultParallel = 32

// Write writes the set with its views, and can be broken off and begun again at any time: what is there already is
// recognised, and told to Written as well. Others may use the database meanwhile, and a projector may run.
//
// The newest posts come first, and go into the feed before the others are there: a projector that sees those later finds
// all of them to be too old for it.
func (s *Set) Write(ctx context.Context, database *store.Store, options Options) error {
	if options.Parallel == 0 {
		options.Parallel = defaultParallel
	}
	if options.Written == nil {
		options.Written = func(int) {}
	}
	w := &writer{set: s, store: database, options: options, users: make([]*blog.User, s.Users())}
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
	store   *store.Store
	options Options
	users   []*blog.User           // as they stand in the database
	newest  map[postKey]*blog.Post // what writeFeed wrote
}

// postKey tells a post of the set.
type postKey struct{ author, number int }

func (h Heading) key() postKey { return postKey{h.Author, h.Number} }

// each does something for all numbers below n, some at a time.
func (w *writer) each(ctx context.Context, n int, do func(ctx context.Context, i int) error) error {
	group, groupCtx := errgroup.WithContext(ctx)
	group.SetLimit(w.options.Parallel)
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
		w.options.Written(2) // the username too
		return nil
	})
}

// maxNamesakes is how many names like the set's own are tried for a user.
const maxNamesakes = 100

// writeUser gives the user the set's name for them or, where somebody else in the database bears that, one like it.
func (w *writer) writeUser(ctx context.Context, user *blog.User) (*blog.User, error) {
	for n := 1; ; n++ {
		name := user.Username
		if n > 1 {
			name += "-" + strconv.Itoa(n)
		}
		written, err := w.store.WriteUser(ctx, user.ID, name, user.CreationDate)
		if err == nil || blog.CodeOf(err) != blog.UsernameTaken || n == maxNamesakes {
			return written, err
		}
	}
}

// writeFeed writes the newest posts, and brings them into the feed.
func (w *writer) writeFeed(ctx context.Context) error {
	headings := w.set.Newest(store.FeedCapacity + 1)
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
	return w.store.WriteFeedPosts(ctx, posts)
}

// writePosts writes the posts that are not there yet, and all short copies in users.
func (w *writer) writePosts(ctx context.Context) error {
	return w.each(ctx, w.set.Users(), w.writeUserPosts)
}

func (w *writer) writeUserPosts(ctx context.Context, author int) error {
	headings := w.set.Headings(author)
	posts := make([]*blog.Post, len(headings))
	for i, h := range headings {
		if posts[i] = w.newest[h.key()]; posts[i] != nil {
			continue
		}
		var err error
		if posts[i], err = w.writeThread(ctx, h); err != nil {
			return err
		}
	}
	if err := w.store.WriteUserPosts(ctx, w.users[author].ID, posts); err != nil {
		return err
	}
	w.options.Written(len(posts))
	return nil
}

func (w *writer) writeThread(ctx context.Context, h Heading) (*blog.Post, error) {
	post, err := w.store.WriteThread(ctx, w.set.Thread(h, w.users))
	if err != nil {
		return nil, fmt.Errorf("post %d of user %d: %w", h.Number, h.Author, err)
	}
	w.options.Written(h.Items())
	return post, nil
}
