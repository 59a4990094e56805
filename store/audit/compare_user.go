package audit

import (
	"context"

	"cosmosblog/blog"
	"cosmosblog/store/schema"
)

// userPartition holds the items of one partition of users.
type userPartition struct {
	userID     string
	user       *auditedItem // nil if there is none
	copies     []*auditedItem
	unreadable []*auditedItem
}

// compareUser compares one partition of users. It compares the user's counter and the
// reservation of the username. It looks for items that a deletion should have removed, and
// checks that each copy has a source. comparePost compares the fields of the copies.
func (c comparer) compareUser(ctx context.Context, userID string) ([]Drift, error) {
	p, err := c.readUserPartition(ctx, userID)
	if err != nil {
		return nil, err
	}
	drifts, err := c.compareCopies(ctx, p)
	if err != nil || p.user == nil {
		return drifts, err
	}
	more, err := c.clearStateIfChanged(ctx, p.countDrifts(), c.users, p.user)
	if err != nil {
		return nil, err
	}
	drifts = append(drifts, more...)
	if more, err = c.compareDeletion(ctx, p.user); err != nil {
		return nil, err
	}
	drifts = append(drifts, more...)
	more, err = c.compareUsername(ctx, p.user)
	return append(drifts, more...), err
}

// userPartitionQuery omits the properties that copies have from their posts.
const userPartitionQuery = `SELECT c.id, c.userId, c.postId, c.type, c.username, c.pendingUsername, c.creationDate,` +
	` c.postCount, c.revision, c.deleted, c.unlisted, c.ttl, c._etag FROM c`

func (c comparer) readUserPartition(ctx context.Context, userID string) (*userPartition, error) {
	items, err := c.readPartition(ctx, c.users, userID, userPartitionQuery)
	if err != nil {
		return nil, err
	}
	p := &userPartition{userID: userID}
	for _, item := range items {
		if item.ID == userID {
			userForm.check(item)
		}
		switch {
		case item.unreadable != nil:
			p.unreadable = append(p.unreadable, item)
		case item.ID == userID:
			p.user = item
		default:
			p.copies = append(p.copies, item)
		}
	}
	return p, nil
}

// countDrifts compares postCount with the number of live copies.
func (p *userPartition) countDrifts() []Drift {
	if p.user.Deleted || p.user.PostCount != nil && *p.user.PostCount == p.liveCopies() {
		return nil
	}
	var is any = ""
	if p.user.PostCount != nil {
		is = *p.user.PostCount
	}
	d := p.user.drift(DriftCount, schema.Users, p.userID)
	return []Drift{d.withValues("postCount", is, p.liveCopies())}
}

func (p *userPartition) liveCopies() (n int) {
	for _, copy := range p.copies {
		if !copy.Deleted {
			n++
		}
	}
	return n
}

// compareCopies checks that each live copy has a source, and each tombstone a ttl.
func (c comparer) compareCopies(ctx context.Context, p *userPartition) ([]Drift, error) {
	var drifts []Drift
	for _, item := range p.unreadable {
		kind, err := c.missingSource(ctx, p.userID, item)
		if err != nil {
			return nil, err
		}
		// comparePost reports the unreadable copy of an existing post.
		if d, ok := item.unreadableDrift(schema.Users, p.userID); ok && kind != "" {
			drifts = append(drifts, d)
		}
	}
	for _, copy := range p.copies {
		d, ok, err := c.compareCopy(ctx, p.userID, copy)
		if err != nil {
			return nil, err
		}
		if ok {
			drifts = append(drifts, d)
		}
	}
	return drifts, nil
}

func (c comparer) compareCopy(
	ctx context.Context, userID string, copy *auditedItem,
) (Drift, bool, error) {
	if copy.Deleted && copy.Unlisted { // it gets its ttl after its entries are tombstones
		return Drift{}, false, nil
	}
	if copy.Deleted {
		d, ok := copy.expiryDrift(schema.Users, userID)
		return d, ok, nil
	}
	if c.knownPosts.contains(userID, copy.ID) {
		return Drift{}, false, nil
	}
	kind, err := c.missingSource(ctx, userID, copy)
	return copy.drift(kind, schema.Users, userID), kind != "", err
}

// missingSource returns the kind of drift of a live copy without a source, and "" if it has one.
// The source is the post of the user that has the copy's id. If userID is empty, the post may be of
// any user. An unreadable post counts as the source.
func (c comparer) missingSource(
	ctx context.Context, userID string, copy *auditedItem,
) (DriftKind, error) {
	post, err := c.readItem(ctx, c.posts, copy.ID, copy.ID)
	switch {
	case err != nil:
		return "", err
	case post != nil && post.unreadable != nil:
		return "", nil
	case post != nil && post.Type == schema.TypePost && (userID == "" || post.UserID == userID):
		return "", nil
	case copy.PostID == copy.ID || copy.PostID == "":
		return DriftOrphan, nil
	}
	post, err = c.readItem(ctx, c.posts, copy.PostID, copy.PostID)
	if err != nil || post == nil {
		return DriftOrphan, err
	}
	return DriftDuplicate, nil
}

// compareDeletion checks that the deletion of a user is done or pending.
func (c comparer) compareDeletion(ctx context.Context, user *auditedItem) ([]Drift, error) {
	d, ok := user.expiryDrift(schema.Users, user.ID)
	if !ok {
		return nil, nil
	}
	if user.Deleted && c.isFresh() {
		pending, err := c.readLeaseItem(ctx, schema.DeletionID(user.ID))
		if err != nil || pending != nil {
			return nil, err
		}
	}
	// The deletion may have been done between the two reads.
	return c.clearStateIfChanged(ctx, []Drift{d}, c.users, user)
}

// compareUsername checks that the user's username is reserved for the user.
func (c comparer) compareUsername(ctx context.Context, user *auditedItem) ([]Drift, error) {
	if user.Deleted || user.Username == "" {
		return nil, nil
	}
	name := blog.NormalizeUsername(user.Username)
	reservation, err := c.readReservation(ctx, name)
	if err != nil {
		return nil, err
	}
	if reservation != nil && reservation.unreadable == nil && reservation.UserID == user.ID {
		return nil, nil
	}
	d := Drift{Kind: DriftReservation, Container: schema.Usernames, Partition: name, ID: name}
	if reservation != nil {
		d = reservation.drift(DriftReservation, schema.Usernames, name)
		d.Is = reservation.text("userId")
	}
	d = d.withValues("userId", d.Is, user.ID).withSource(user.Revision)
	return c.clearStateIfRenamed(ctx, d, user)
}

// clearStateIfRenamed reads a user once more. If the user changed since the reservation was read,
// it clears the source state of the drift.
func (c comparer) clearStateIfRenamed(
	ctx context.Context, d Drift, user *auditedItem,
) ([]Drift, error) {
	now, err := c.readItem(ctx, c.users, user.ID, user.ID)
	if err != nil || now == nil || now.Revision != user.Revision {
		d.sourceState = ""
	}
	return []Drift{d}, err
}
