package audit

import (
	"context"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"

	"cosmosblog/store/cosmos"
	"cosmosblog/store/schema"
	"cosmosblog/store/views"
)

// thread is what one partition of posts holds.
type thread struct {
	postID    string
	post      *auditedItem // nil where there is none
	responses []*auditedItem
	rest      []*auditedItem // of no type that belongs here, or unreadable
	users     map[string]*auditedUser
}

// atPost looks at one partition of posts and at the post's copy in users: what the post counts, whose names all bear, what
// a deletion left, and each field of the copy.
func (l look) atPost(ctx context.Context, postID string) ([]Drift, error) {
	t, err := l.thread(ctx, postID)
	if err != nil {
		return nil, err
	}
	drifts, err := l.unlessPending(ctx, t.drifts())
	if err == nil {
		drifts, err = l.unlessMoved(ctx, drifts, t)
	}
	if err != nil || t.post == nil {
		return drifts, err
	}
	l.known.add(t.post.UserID, postID)
	of := t.counts()
	copies, err := l.atUserCopy(ctx, t.post)
	if err != nil {
		return nil, err
	}
	of, err = l.unlessChanged(ctx, append(of, copies...), l.posts, postID, postID, t.post.ETag)
	return append(drifts, of...), err
}

func (l look) thread(ctx context.Context, postID string) (*thread, error) {
	items, err := l.partition(ctx, l.posts, postID, partitionQuery)
	if err != nil {
		return nil, err
	}
	t := &thread{postID: postID}
	var authors []string
	for _, item := range items {
		switch {
		case item.unreadable != nil:
			t.rest = append(t.rest, item)
			continue
		case item.Type == schema.TypePost && item.ID == postID:
			t.post = item
		case item.isResponse():
			t.responses = append(t.responses, item)
		}
		authors = append(authors, item.UserID)
	}
	t.users, err = l.authors(ctx, authors)
	return t, err
}

// drifts compares all that does not depend on the moment: each item with what is said of it elsewhere.
func (t *thread) drifts() []Drift {
	var drifts []Drift
	for _, item := range t.rest {
		if d, ok := item.unreadableDrift(schema.Posts, t.postID); ok {
			drifts = append(drifts, d)
		}
	}
	switch {
	case t.post == nil && len(t.rest) > 0: // perhaps it is the post that cannot be read
	case t.post == nil:
		drifts = append(drifts, t.all(DriftOrphan)...)
	case t.post.Deleted && t.post.TTL > 0:
		drifts = append(drifts, t.all(DriftUnpurged)...)
	case t.post.Deleted:
		if d, ok := t.post.expiry(schema.Posts, t.postID); ok {
			drifts = append(drifts, d)
		}
	default:
		for _, item := range append(t.responses, t.post) {
			drifts = append(drifts, t.ofItem(item)...)
		}
	}
	return drifts
}

// all gives a drift of every response.
func (t *thread) all(kind DriftKind) []Drift {
	var drifts []Drift
	for _, item := range t.responses {
		drifts = append(drifts, item.drift(kind, schema.Posts, t.postID))
	}
	return drifts
}

// ofItem gives what is wrong with one item of a live post.
func (t *thread) ofItem(item *auditedItem) []Drift {
	if d, ok := item.expiry(schema.Posts, t.postID); ok {
		return []Drift{d}
	}
	if item.Deleted {
		return nil
	}
	d := item.drift(DriftName, schema.Posts, t.postID)
	user := t.users[item.UserID]
	switch {
	case user == nil:
		d.Kind = DriftAuthor
		return []Drift{d.says("userId", item.UserID, "")}
	case user.Gone():
		d.Kind = DriftLeft
		return []Drift{d.says("userId", item.UserID, "").from(user.Revision)}
	case user.unreadable != nil, user.Deleted, user.Username == "": // all that is theirs is being deleted; they are about to be
	case item.UserUsername != user.Username:
		return []Drift{d.says("userUsername", item.UserUsername, user.Username).from(user.Revision)}
	case item.AuthorRevision != user.Revision:
		return []Drift{d.says("authorRevision", item.AuthorRevision, user.Revision).from(user.Revision)}
	}
	return nil
}

// counts compares the counters of a live post with what they count.
func (t *thread) counts() []Drift {
	if t.post.Deleted {
		return nil
	}
	comments, likes := liveResponses(t.responses)
	var drifts []Drift
	count := func(field string, is, should int) {
		if is != should {
			drifts = append(drifts, t.post.drift(DriftCount, schema.Posts, t.postID).says(field, is, should))
		}
	}
	count("commentCount", t.post.CommentCount, comments)
	count("likeCount", t.post.LikeCount, likes)
	return drifts
}

// liveResponses counts the comments and likes among the items of a partition that a post counts.
func liveResponses(items []*auditedItem) (comments, likes int) {
	for _, item := range items {
		switch {
		case item.isLike():
			likes++
		case item.isComment() && !item.Deleted:
			comments++
		}
	}
	return comments, likes
}

// atUserCopy compares the copy of a post in its author's partition of users.
func (l look) atUserCopy(ctx context.Context, post *auditedItem) ([]Drift, error) {
	copy, err := l.readAudited(ctx, l.users, post.UserID, post.ID)
	switch {
	case err != nil:
		return nil, err
	case copy != nil && copy.unreadable != nil:
		d, _ := copy.unreadableDrift(schema.Users, post.UserID)
		return []Drift{d}, nil
	case copy != nil:
		drifts := copyDrifts(schema.Users, post.UserID, copy, post)
		for i := range drifts {
			drifts[i] = drifts[i].from(post.ETag)
		}
		return drifts, nil
	case !post.Deleted:
		return []Drift{missing(schema.Users, post.UserID, post)}, nil
	}
	return nil, nil
}

// missing gives the drift of a copy that is not there.
func missing(container, partition string, post *auditedItem) Drift {
	return Drift{Kind: DriftMissing, Container: container, Partition: partition, ID: post.ID, Should: "there", source: string(post.ETag)}
}

// unlessPending leaves out what a sweep or a purge is yet to do, and what a copy of a database is yet to bring: a post comes
// after its comments and likes.
func (l look) unlessPending(ctx context.Context, drifts []Drift) ([]Drift, error) {
	if !l.isFresh() {
		return drifts, nil
	}
	pending := map[string]bool{} // by the item of leases; the copy by ""
	var kept []Drift
	for _, d := range drifts {
		work, ok := d.pendingWork()
		if !ok {
			kept = append(kept, d)
			continue
		}
		is, ok := pending[work]
		if !ok {
			var err error
			if is, err = l.isPending(ctx, work); err != nil {
				return nil, err
			}
			pending[work] = is
		}
		if !is {
			kept = append(kept, d)
		}
	}
	return kept, nil
}

// pendingWork gives the id of the item of leases that would tell why something in a partition of posts is not right yet; "" is
// a copy of a database. False where nothing would.
func (d Drift) pendingWork() (id string, ok bool) {
	switch d.Kind {
	case DriftName:
		return views.SweepID(d.item.UserID), true
	case DriftExpiry, DriftUnpurged:
		return views.PurgeID(d.Partition), true
	case DriftOrphan:
		return "", true
	}
	return "", false
}

const etagsQuery = `SELECT c.id, c._etag FROM c`

// unlessMoved does not believe what is said of items that are no longer as they were read: what was pending then may have
// ended before it was asked for.
func (l look) unlessMoved(ctx context.Context, drifts []Drift, t *thread) ([]Drift, error) {
	if !l.isFresh() || len(drifts) == 0 {
		return drifts, nil
	}
	items, err := l.partition(ctx, l.posts, t.postID, etagsQuery)
	if err != nil {
		return nil, err
	}
	now := make(map[string]azcore.ETag, len(items))
	for _, item := range items {
		now[item.ID] = item.ETag
	}
	_, postIsThere := now[t.postID]
	for i, d := range drifts {
		if now[d.ID] != d.item.ETag || d.Kind == DriftOrphan && postIsThere {
			drifts[i].source = ""
		}
	}
	return drifts, nil
}

const copiesQuery = `SELECT c.id FROM c WHERE c.type = 'copy'`

// isPending tells whether the work of an item of leases is pending, or where none is named whether a copy into this database is.
func (l look) isPending(ctx context.Context, id string) (bool, error) {
	if id == "" {
		copies, err := cosmos.QueryAcross[views.ResponseRow](ctx, l.leases, copiesQuery)
		return len(copies) > 0, err
	}
	work, err := l.leaseItem(ctx, id)
	return work != nil && work.Type != views.TypeSwept, err
}

// leaseItem reads an item of leases; nil where it is not there.
func (l look) leaseItem(ctx context.Context, id string) (*auditedItem, error) {
	return l.readAudited(ctx, l.leases, id, id)
}
