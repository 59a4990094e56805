package views

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"cosmosblog/blog"
	"cosmosblog/store/cosmos"
	"cosmosblog/store/schema"
)

// DeletedTTL is the time after which a deleted item expires. The ttl is set after all other work of
// the deletion. A worker that lost its lease may still try to write an old state. It stops long
// before DeletedTTL, so it always meets the tombstone. The ttl is also longer than clients keep
// retrying with an idempotency key.
const DeletedTTL = 7 * 24 * time.Hour

// PostView is one view of posts: short copies of posts in one partition, or the entries of a list.
// PostViews lists all views of a post, except the lists: UserPostView maintains them. RepairPost
// writes all views, and writes their tombstones if the post is deleted; audit and rebuild use it.
// To add a view, list it in PostViews, project it in the projector (projections.go),
// and compare it with its source in store/audit (compare_post.go).
type PostView struct {
	Container string // name
	Partition string

	postCopies
	client *azcosmos.ContainerClient
}

// postCopies is what distinguishes the views of posts: userPosts, feedPosts and listEntries.
type postCopies interface {
	// admission reads what decides about posts without a copy.
	admission(ctx context.Context) (admission, error)
	// seen returns a post as the view has it: one that is not in the view is deleted.
	seen(post *blog.Post) *blog.Post
	// copyOf returns the copy of a post, or its tombstone, that replaces a copy in the given state.
	copyOf(post *blog.Post, current CopyState) any
	// patch returns the changes that bring a live copy of an earlier state of a post up to date, and
	// the condition on the copy for which they are enough.
	patch(post *blog.Post) (condition string, changes azcosmos.PatchOperations)
	// write writes the copy of a post, on condition that the copy is still in the given state. Error:
	// CONFLICT or NOT_FOUND if it is not.
	write(ctx context.Context, post *blog.Post, current CopyState) error
	// follow does what remains to be done for posts after their copies.
	follow(ctx context.Context, posts []projected) error
	// begin prepares the writes of a group of posts. It returns a function that must be called after
	// them.
	begin(ctx context.Context) (end func(), err error)
}

// projected is a post whose copy was projected.
type projected struct {
	post    *blog.Post
	current CopyState // of the copy before
	written bool      // otherwise, the copy was as new as the post or newer
}

// admission decides which posts without a copy get one, if they are not deleted. A post that is
// neither admitted nor refused gets one, too, but must be projected alone.
type admission struct {
	admits  func(*blog.Post) bool // into a transaction with others
	refuses func(*blog.Post) bool
	room    int // the number of copies that one transaction may create

	// arrive returns the arrival date of the next copy that the transaction creates. nil if the copies
	// of the view have none.
	arrive func() blog.DateTime
	// account adds to a transaction what changes with the number of created copies.
	account func(batch *azcosmos.TransactionalBatch, created int)
	// accounted is called with the item that account has changed, as the transaction left it. May be
	// nil.
	accounted func(ctx context.Context, account []byte, created int) error
}

// PostViews returns all views of a post.
func (v *Views) PostViews(post *blog.Post) []PostView {
	return []PostView{v.UserPostView(post.Author.ID), v.FeedView()}
}

// CopyState is the state of a copy on which its writes are conditional. It is zero if there is no
// copy.
type CopyState struct {
	Revision int64       `json:"revision"`
	Deleted  bool        `json:"deleted"`
	ETag     azcore.ETag `json:"_etag"`

	ArrivalDate blog.DateTime `json:"arrivalDate"` // of copies in feed

	listedState // of copies in users; feed and lists have only a part of it, and do not use it
}

func (c CopyState) exists() bool { return c.ETag != "" }

// isBefore reports whether a copy is of an earlier state of a post. This is the guard of all views.
func (c CopyState) isBefore(post *blog.Post) bool { return c.Revision < post.Revision }

// Project brings the copy of a post up to date, and reports whether it wrote the copy. If the copy
// is as new as the post or newer, it writes nothing. The copy of a deleted post is a tombstone. The
// post must be from a changefeed.Change, whose author has the Revision that the username is from.
// Project may run concurrently with itself, also for other states of the same post: the newest
// state stays.
func (v PostView) Project(ctx context.Context, post *blog.Post) (written bool, err error) {
	return v.project(ctx, post, ifAdmitted)
}

// Restore is Project for a post that certainly belongs in the view.
func (v PostView) Restore(ctx context.Context, post *blog.Post) error {
	_, err := v.project(ctx, post, always)
	return err
}

// WriteTombstone is Project for a deleted post, except that it writes no tombstone if there is no
// copy.
func (v PostView) WriteTombstone(ctx context.Context, post *blog.Post) error {
	_, err := v.project(ctx, post, never)
	return err
}

// creation tells when a post without a copy gets one.
type creation int

const (
	always creation = iota
	never
	ifAdmitted // by the view. Every deleted post gets a tombstone
)

// project writes the copy of a post if necessary. The first try assumes that a new post has no
// copy, and that a changed one has an older one. So most projections are a single write. If the
// assumption is wrong, or the copy changes in between, project reads the copy and decides again.
func (v PostView) project(ctx context.Context, post *blog.Post, create creation) (written bool, err error) {
	ctx, post = cosmos.InSession(ctx), v.seen(post)
	d := decision{v, post, create, isNew(post), false}
	if canPatch(post) {
		condition, changes := v.patch(post)
		err = cosmos.PatchIf(ctx, v.client, v.Partition, post.ID, condition, changes)
		if !cosmos.IsRaceLost(err) {
			return err == nil, err
		}
		d.isAbsent, d.isCurrent = cosmos.IsNotFound(err), true // a rejection shows the latest state
	}
	var current CopyState
	err = cosmos.RetryOnConflict(func() (err error) {
		var isWanted bool
		if current, isWanted, err = d.make(ctx); err != nil || !isWanted {
			return err
		}
		err = v.write(ctx, post, current)
		d.isAbsent, written = false, err == nil
		return err
	})
	if err == nil {
		err = v.follow(ctx, []projected{{post, current, written}})
	}
	return written, err
}

// decision decides whether the copy of a post is written.
type decision struct {
	PostView
	post      *blog.Post
	create    creation
	isAbsent  bool // there is no copy, as far as is known: the decision need not read it
	isCurrent bool // the session was advanced, so that reads show the latest state
}

// make reads the copy, unless it is absent, and decides whether it should be written. A replica
// that lags may hide a refill that has just restored the post. Before make concludes that a post
// without a copy does not belong in the view, it therefore advances the session and reads again.
// One advance is enough for a whole page of changes, because a refill marks the horizon before it
// reads the posts.
func (d decision) make(ctx context.Context) (current CopyState, isWanted bool, err error) {
	current, isWanted, err = d.fromRead(ctx)
	if err != nil || isWanted || current.exists() || d.isCurrent {
		return current, isWanted, err
	}
	if err := cosmos.AdvanceSessionOnce(ctx, d.client, d.Partition, d.post.ID); err != nil {
		return current, false, err
	}
	return d.fromRead(ctx)
}

func (d decision) fromRead(ctx context.Context) (current CopyState, isWanted bool, err error) {
	if !d.isAbsent {
		current, err = d.read(ctx, d.post.ID)
		if err != nil || current.exists() {
			return current, err == nil && current.isBefore(d.post), err
		}
	}
	if d.create != ifAdmitted || d.post.Deleted {
		return current, d.create != never, nil
	}
	a, err := d.admission(ctx)
	return current, err == nil && !a.refuses(d.post), err
}

// isNew reports whether a post has not changed since its creation.
func isNew(post *blog.Post) bool { return post.Revision == 1 && !post.Deleted }

// canPatch reports whether a patch may be enough to bring the copy of a post up to date: the post
// has changed since its creation, and is not deleted.
func canPatch(post *blog.Post) bool { return post.Revision > 1 && !post.Deleted }

// isEarlier returns the condition that a copy is of an earlier state of a post.
func isEarlier(post *blog.Post) string {
	return fmt.Sprintf("c.revision < %d", post.Revision)
}

// hasDate returns the condition, with "and" before it, that a copy has the date of a post, and
// therefore its place in lists. It is live, too: a tombstone has no place.
func hasDate(post *blog.Post) string {
	return fmt.Sprintf(" and c.creationDate = '%s' and c.sortKey = '%s'", post.CreationDate, schema.SortKey(post.CreationDate, post.ID))
}

// patchCounts returns the changes of a post's copy after likes and comments, and the condition that
// the post was not edited and its author not renamed in between. The texts are set too, in case
// they are damaged.
func patchCounts(post *blog.Post) (condition string, changes azcosmos.PatchOperations) {
	condition = isEarlier(post) + hasDate(post) + fmt.Sprintf(" and c.version = %d and c.authorRevision = %d and c.userUsername = '%s'",
		post.Version, post.Author.Revision, post.Author.Username)
	if post.UpdatedDate == "" {
		condition += " and not is_defined(c.updatedDate)"
	} else {
		condition += fmt.Sprintf(" and c.updatedDate = '%s'", post.UpdatedDate)
	}
	changes.AppendSet("/head", post.PostHead) // of at most ten
	changes.AppendSet("/commentCount", post.CommentCount)
	changes.AppendSet("/recentComments", schema.RecentCommentsOf(post))
	changes.AppendSet("/likeCount", post.LikeCount)
	changes.AppendSet("/revision", post.Revision)
	return condition, changes
}

// Overwrite writes the copy of a post if the present copy has a given etag ("" for none), whatever
// its revision is. It reads the post after the copy, so the write fails if a projector writes a
// later state of the post in between. If the copy has another etag, or the post cannot be decoded,
// Overwrite writes nothing.
func (v *Views) Overwrite(ctx context.Context, view PostView, postID string, etag azcore.ETag) error {
	return cosmos.RetryOnConflict(func() error {
		current, err := view.readAny(ctx, postID)
		if err != nil || current.ETag != etag {
			return err
		}
		change, err := v.feeds.Change(ctx, schema.Posts, postID, postID)
		if err != nil || change.Post == nil {
			return err
		}
		post := view.seen(change.Post)
		if err := view.write(ctx, post, current); err != nil {
			return err
		}
		return view.follow(ctx, []projected{{post, current, true}})
	})
}

// read reads the state of a copy; the zero state if there is none.
func (v PostView) read(ctx context.Context, postID string) (CopyState, error) {
	return readState[CopyState](ctx, v, postID)
}

// readAny is read for a copy whose properties may be damaged. The etag is always correct.
func (v PostView) readAny(ctx context.Context, postID string) (CopyState, error) {
	state, err := readState[damagedCopyState](ctx, v, postID)
	return state.CopyState, err
}

func readState[State any](ctx context.Context, v PostView, postID string) (State, error) {
	var none State
	state, _, err := cosmos.Read[State](ctx, v.client, v.Partition, postID)
	if cosmos.IsNotFound(err) {
		return none, nil
	}
	if err != nil {
		return none, err
	}
	return *state, nil
}

// damagedCopyState is a state of which some properties may have the wrong type.
type damagedCopyState struct{ CopyState }

// UnmarshalJSON decodes the properties that it can.
func (c *damagedCopyState) UnmarshalJSON(text []byte) error {
	_ = json.Unmarshal(text, &c.CopyState) // skips properties of the wrong type
	return nil
}

// writeCopy creates a copy, or replaces it if it is still in the state that was read.
func writeCopy(
	ctx context.Context, c *azcosmos.ContainerClient, partition, id string, item any, current CopyState,
) (err error) {
	if current.exists() {
		_, err = cosmos.Replace(ctx, c, partition, id, item, current.ETag)
	} else {
		_, err = cosmos.Create(ctx, c, partition, item)
	}
	return err
}

func newTombstone(post *blog.Post, tombstoneType string) schema.TombstoneItem {
	return schema.NewTombstoneItem(post, tombstoneType, int32(DeletedTTL.Seconds()))
}

// UserCopyOf returns the item that represents a post in its author's partition of users, once the
// lists of the post are up to date.
func UserCopyOf(post *blog.Post) any {
	if post.Deleted {
		return newTombstone(post, schema.TypeTombstone)
	}
	return newCopy(post)
}

// FeedCopyOf returns the item that represents a post in feed. The type is the partition key there,
// so a tombstone keeps that of a post.
func FeedCopyOf(post *blog.Post) any {
	if post.Deleted {
		return newTombstone(post, schema.TypePost)
	}
	return newCopy(post)
}

// CopyOf returns the item that represents a post in the view, once everything that follows from the
// post is done. A copy in feed also has its own arrival date.
func (v PostView) CopyOf(post *blog.Post) any {
	if v.Container == schema.Users {
		return UserCopyOf(post)
	}
	return v.copyOf(v.seen(post), CopyState{})
}

// newCopy returns the copy of a post that is not deleted.
func newCopy(post *blog.Post) schema.PostItem {
	return schema.PostItem{
		ID:             post.ID,
		PostID:         post.ID,
		UserID:         post.Author.ID,
		Type:           schema.TypePost,
		UserUsername:   post.Author.Username,
		AuthorRevision: post.Author.Revision,
		PostHead:       post.PostHead,
		CommentCount:   post.CommentCount,
		RecentComments: schema.RecentCommentsOf(post),
		LikeCount:      post.LikeCount,
		CreationDate:   post.CreationDate,
		SortKey:        schema.SortKey(post.CreationDate, post.ID),
		UpdatedDate:    post.UpdatedDate,
		Version:        post.Version,
		Revision:       post.Revision,
	}
}
