package bulk

import (
	"context"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"cosmosblog/internal/blog"
	"cosmosblog/store"
	"cosmosblog/store/cosmos"
	"cosmosblog/store/schema"
	"cosmosblog/store/views"
)

// Thread is a post with all that was said to it and who liked it, every author loaded but for what an item does not
// keep. The post's counters and revision are not looked at: they are those of the comments and likes.
type Thread struct {
	Post     *blog.Post
	Comments []*blog.Comment
	Likes    []*blog.Like
}

// WriteThread writes a post with its comments and likes, in transactions of which each leaves the counters right. It
// gives the post as it stands then, for the views. Where a part of the thread is there already, the rest is added; where
// the post was deleted since, nothing is. Each writer gets the name that they bear by then, which is read just before, as a
// command's is; who is not in the database keeps the thread's, and of who was deleted nothing is written. Error: CONFLICT
// where there is something else under the post's id.
func (s *Writer) WriteThread(ctx context.Context, thread Thread) (*blog.Post, error) {
	w := s.newThreadWriter(thread)
	for {
		err := s.db.Persist(ctx, func() error { return w.attempt(ctx) })
		if err == nil {
			return w.current(), nil
		}
		if !cosmos.IsConflict(err) {
			return nil, err
		}
		if w.races++; w.races > cosmos.MaxConflictRetries {
			return nil, err
		}
		if err := s.db.Persist(ctx, func() error { return w.find(ctx) }); err != nil {
			return nil, err
		}
	}
}

// threadWriter writes one thread. At the beginning it takes for granted that nothing is there; when it learns otherwise,
// it looks what is.
type threadWriter struct {
	store   *Writer
	post    *schema.PostItem // as it stands, as far as this writer knows
	created bool
	rest    []response // what is not there yet
	races   int

	comments, likes int // how many the thread has
}

// response is a comment or a like, as it is stored.
type response struct {
	id      string
	userID  string
	comment bool
	item    authored
	text    []byte // of item
}

// authored is an item with its user's username.
type authored interface{ SetAuthor(user *schema.UserItem) }

// maxBatchBytes is how much of items goes into one transactional batch: the service takes 2 MB with all that is around
// them.
const maxBatchBytes = 1 << 20

func (s *Writer) newThreadWriter(thread Thread) *threadWriter {
	w := &threadWriter{
		store:    s,
		post:     NewPostItem(thread.Post),
		rest:     make([]response, 0, len(thread.Comments)+len(thread.Likes)),
		comments: len(thread.Comments),
		likes:    len(thread.Likes),
	}
	for _, c := range thread.Comments {
		item := NewCommentItem(thread.Post.ID, c)
		w.rest = append(w.rest, response{id: c.ID, userID: c.Author.ID, comment: true, item: &item})
	}
	for _, l := range thread.Likes {
		item := NewLikeItem(thread.Post.ID, l)
		w.rest = append(w.rest, response{id: l.ID(), userID: l.User.ID, item: &item})
	}
	return w
}

// attempt reads the names of the rest, and writes that within the deadline of a command: later, a rename or deletion that the
// names do not show yet may be through with the post. What an attempt wrote, the next one leaves out.
func (w *threadWriter) attempt(ctx context.Context) error {
	ctx, cancel := store.WithCommandDeadline(ctx)
	defer cancel()
	if err := w.name(ctx); err != nil {
		return err
	}
	return w.write(ctx)
}

// name gives what is yet to be written the names of its writers.
func (w *threadWriter) name(ctx context.Context) error {
	users, err := w.writers(ctx)
	if err != nil {
		return err
	}
	if author := users[w.post.UserID]; author != nil && !w.created {
		w.post.SetAuthor(author)
		w.post.Deleted = author.Deleted
	}
	var rest []response
	for _, r := range w.rest {
		user := users[r.userID]
		if user != nil && user.Deleted {
			continue
		}
		if user != nil {
			r.item.SetAuthor(user)
		}
		if r.text, err = cosmos.EncodeItem(r.item); err != nil {
			return cosmos.ToBlogError(err)
		}
		rest = append(rest, r)
	}
	w.rest = rest
	return nil
}

// writers reads who wrote what is yet to be written. Those who are not there are absent.
func (w *threadWriter) writers(ctx context.Context) (map[string]*schema.UserItem, error) {
	ids := make([]string, 0, 1+len(w.rest))
	if !w.created {
		ids = append(ids, w.post.UserID)
	}
	for _, r := range w.rest {
		ids = append(ids, r.userID)
	}
	items, err := cosmos.ReadEach[schema.UserItem](ctx, w.store.users, cosmos.IdentitiesByID(ids))
	users := make(map[string]*schema.UserItem, len(items))
	for i := range items {
		users[items[i].ID] = &items[i]
	}
	return users, err
}

// write writes the rest, batch after batch. Error: CONFLICT where something is not as it was thought to be.
func (w *threadWriter) write(ctx context.Context) error {
	for !w.post.Deleted && (!w.created || len(w.rest) > 0) {
		n := w.fitting()
		counted := w.counting(w.rest[:n])
		batch, err := w.batch(counted, w.rest[:n])
		if err != nil {
			return err
		}
		if err := cosmos.ExecuteBatch(ctx, w.store.posts, batch); err != nil {
			return err
		}
		w.post, w.created, w.rest = &counted, true, w.rest[n:]
	}
	return nil
}

// fitting tells how much of the rest goes into one batch beside the post.
func (w *threadWriter) fitting() int {
	size := len(w.post.Content)
	for n, r := range w.rest {
		if size += len(r.text); n == cosmos.MaxBatchOperations-1 || n > 0 && size > maxBatchBytes {
			return n
		}
	}
	return len(w.rest)
}

// counting gives the post as it is when it counts some more responses, each of them one revision.
func (w *threadWriter) counting(responses []response) schema.PostItem {
	counted := *w.post
	for _, r := range responses {
		if r.comment {
			counted.CommentCount++
		} else {
			counted.LikeCount++
		}
	}
	counted.Revision += int64(len(responses))
	return counted
}

// batch adds responses to the thread, and the post with them where it is yet to be created.
func (w *threadWriter) batch(counted schema.PostItem, responses []response) (azcosmos.TransactionalBatch, error) {
	batch := w.store.posts.NewTransactionalBatch(azcosmos.NewPartitionKeyString(w.post.PostID))
	if w.created {
		batch.PatchItem(w.post.ID, w.increments(counted), nil)
	} else {
		text, err := cosmos.EncodeItem(counted)
		if err != nil {
			return batch, cosmos.ToBlogError(err)
		}
		batch.CreateItem(text, nil)
	}
	for _, r := range responses {
		batch.CreateItem(r.text, nil)
	}
	return batch, nil
}

// increments are what makes the post count as counted does, whoever else changes it meanwhile.
func (w *threadWriter) increments(counted schema.PostItem) azcosmos.PatchOperations {
	var changes azcosmos.PatchOperations
	changes.SetCondition("from c where c.type = 'post' and c.deleted = false")
	if n := counted.CommentCount - w.post.CommentCount; n > 0 {
		changes.AppendIncrement("/commentCount", int64(n))
	}
	if n := counted.LikeCount - w.post.LikeCount; n > 0 {
		changes.AppendIncrement("/likeCount", int64(n))
	}
	changes.AppendIncrement("/revision", counted.Revision-w.post.Revision)
	return changes
}

// find looks what is there of the thread. A post that counts as many as the thread has is complete, which a point read
// tells; otherwise the partition is asked.
func (w *threadWriter) find(ctx context.Context) error {
	item, _, err := cosmos.Read[schema.PostItem](ctx, w.store.posts, w.post.PostID, w.post.ID)
	switch {
	case cosmos.IsNotFound(err):
		w.created = false
		return nil
	case err != nil:
		return err
	case item.Type != schema.TypePost || item.UserID != w.post.UserID:
		return store.ErrKeyReused
	}
	w.post, w.created = item, true
	if item.Deleted || item.CommentCount == w.comments && item.LikeCount == w.likes {
		w.rest = nil
		return nil
	}
	return w.leaveOutPresent(ctx)
}

func (w *threadWriter) leaveOutPresent(ctx context.Context) error {
	rows, err := cosmos.Query[views.ResponseRow](ctx, w.store.posts, w.post.PostID, views.ResponsesQuery, w.comments+w.likes)
	if err != nil {
		return err
	}
	present := make(map[string]bool, len(rows))
	for _, row := range rows {
		present[row.ID] = true
	}
	var rest []response
	for _, r := range w.rest {
		if !present[r.id] {
			rest = append(rest, r)
		}
	}
	w.rest = rest
	return nil
}

// current gives the post as the projections want it.
func (w *threadWriter) current() *blog.Post {
	post := w.post.Post()
	post.Content = ""
	post.Author.Revision = w.post.AuthorRevision
	return post
}

// NewPostItem, newCommentItem and newLikeItem give what CreatePost, CreateComment and LikePost store without an
// idempotency key.
func NewPostItem(post *blog.Post) *schema.PostItem {
	return &schema.PostItem{
		ID:             post.ID,
		PostID:         post.ID,
		UserID:         post.Author.ID,
		Type:           schema.TypePost,
		UserUsername:   post.Author.Username,
		AuthorRevision: post.Author.Revision,
		Title:          post.Title,
		Content:        post.Content,
		Excerpt:        blog.Excerpt(post.Content),
		CreationDate:   post.CreationDate,
		Version:        1,
		Revision:       1,
	}
}

func NewCommentItem(postID string, comment *blog.Comment) schema.CommentItem {
	return schema.CommentItem{
		ID:             comment.ID,
		PostID:         postID,
		Type:           schema.TypeComment,
		UserID:         comment.Author.ID,
		UserUsername:   comment.Author.Username,
		AuthorRevision: comment.Author.Revision,
		Content:        comment.Content,
		CreationDate:   comment.CreationDate,
	}
}

func NewLikeItem(postID string, like *blog.Like) schema.LikeItem {
	return schema.LikeItem{
		ID:             like.User.ID,
		PostID:         postID,
		Type:           schema.TypeLike,
		UserID:         like.User.ID,
		UserUsername:   like.User.Username,
		AuthorRevision: like.User.Revision,
		CreationDate:   like.CreationDate,
	}
}
