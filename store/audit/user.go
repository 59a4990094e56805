package audit

import (
	"context"

	"cosmosblog/internal/blog"
	"cosmosblog/store"
	"cosmosblog/store/schema"
	"cosmosblog/store/views"
)

// shelf is what one partition of users holds.
type shelf struct {
	userID string
	user   *auditedItem // nil where there is none
	copies []*auditedItem
	rest   []*auditedItem // unreadable
}

// atUser looks at one partition of users: what the user counts, whose the username is, what a deletion left, and whether
// each copy has a source. Whether a copy says what its source does is for atPost to see.
func (l look) atUser(ctx context.Context, userID string) ([]Drift, error) {
	s, err := l.shelf(ctx, userID)
	if err != nil {
		return nil, err
	}
	drifts, err := l.atCopies(ctx, s)
	if err != nil || s.user == nil {
		return drifts, err
	}
	of, err := l.unlessChanged(ctx, s.counts(), l.users, userID, userID, s.user.ETag)
	if err != nil {
		return nil, err
	}
	drifts = append(drifts, of...)
	if of, err = l.atDeletion(ctx, s.user); err != nil {
		return nil, err
	}
	drifts = append(drifts, of...)
	of, err = l.atUsername(ctx, s.user)
	return append(drifts, of...), err
}

// shelfQuery leaves out what copies say of their posts.
const shelfQuery = `SELECT c.id, c.userId, c.postId, c.type, c.username, c.pendingUsername, c.creationDate, c.postCount,` +
	` c.revision, c.deleted, c.ttl, c._etag FROM c`

func (l look) shelf(ctx context.Context, userID string) (*shelf, error) {
	items, err := l.partition(ctx, l.users, userID, shelfQuery)
	if err != nil {
		return nil, err
	}
	s := &shelf{userID: userID}
	for _, item := range items {
		switch {
		case item.unreadable != nil:
			s.rest = append(s.rest, item)
		case item.Type == schema.TypeUser && item.ID == userID:
			s.user = item
		case item.Type == schema.TypePost:
			s.copies = append(s.copies, item)
		}
	}
	return s, nil
}

// counts compares postCount with the live copies.
func (s *shelf) counts() []Drift {
	if s.user.Deleted || s.isCounted() {
		return nil
	}
	var is any = ""
	if s.user.PostCount != nil {
		is = *s.user.PostCount
	}
	return []Drift{s.user.drift(DriftCount, schema.Users, s.userID).says("postCount", is, s.live())}
}

// isCounted tells whether the user's postCount is there and right.
func (s *shelf) isCounted() bool { return s.user.PostCount != nil && *s.user.PostCount == s.live() }

func (s *shelf) live() (n int) {
	for _, copy := range s.copies {
		if !copy.Deleted {
			n++
		}
	}
	return n
}

// atCopies looks whether each live copy has a source, and each tombstone an end.
func (l look) atCopies(ctx context.Context, s *shelf) ([]Drift, error) {
	var drifts []Drift
	for _, item := range s.rest {
		kind, err := l.sourceless(ctx, s.userID, item)
		if err != nil {
			return nil, err
		}
		if d, ok := item.unreadableDrift(schema.Users, s.userID); ok && kind != "" { // otherwise atPost says so
			drifts = append(drifts, d)
		}
	}
	for _, copy := range s.copies {
		d, ok, err := l.atCopy(ctx, s.userID, copy)
		if err != nil {
			return nil, err
		}
		if ok {
			drifts = append(drifts, d)
		}
	}
	return drifts, nil
}

func (l look) atCopy(ctx context.Context, userID string, copy *auditedItem) (Drift, bool, error) {
	if copy.Deleted {
		d, ok := copy.expiry(schema.Users, userID)
		return d, ok, nil
	}
	if l.known.contains(userID, copy.ID) {
		return Drift{}, false, nil
	}
	kind, err := l.sourceless(ctx, userID, copy)
	return copy.drift(kind, schema.Users, userID), kind != "", err
}

// sourceless gives the drift of a live copy that is not of a post of the user, by its id; none for one that is. A user "" is
// any. A post that cannot be read may be the one.
func (l look) sourceless(ctx context.Context, userID string, copy *auditedItem) (DriftKind, error) {
	post, err := l.readAudited(ctx, l.posts, copy.ID, copy.ID)
	switch {
	case err != nil:
		return "", err
	case post != nil && (post.unreadable != nil || post.Type == schema.TypePost && (userID == "" || post.UserID == userID)):
		return "", nil
	case copy.PostID == copy.ID || copy.PostID == "":
		return DriftOrphan, nil
	}
	post, err = l.readAudited(ctx, l.posts, copy.PostID, copy.PostID)
	if err != nil || post == nil {
		return DriftOrphan, err
	}
	return DriftDuplicate, nil
}

// atDeletion looks whether the deletion of a user is done or pending.
func (l look) atDeletion(ctx context.Context, user *auditedItem) ([]Drift, error) {
	d, ok := user.expiry(schema.Users, user.ID)
	if !ok {
		return nil, nil
	}
	if user.Deleted && l.isFresh() {
		pending, err := l.leaseItem(ctx, views.DeletionID(user.ID))
		if err != nil || pending != nil {
			return nil, err
		}
	}
	return l.unlessChanged(ctx, []Drift{d}, l.users, user.ID, user.ID, user.ETag) // the deletion may have ended by now
}

// atUsername looks whether the user's username is reserved for them.
func (l look) atUsername(ctx context.Context, user *auditedItem) ([]Drift, error) {
	if user.Deleted || user.Username == "" {
		return nil, nil
	}
	name := blog.NormalizeUsername(user.Username)
	reservation, err := l.readAudited(ctx, l.usernames, name, name)
	if err != nil || reservation != nil && (reservation.unreadable != nil || reservation.UserID == user.ID) {
		return nil, err
	}
	d := Drift{Kind: DriftReservation, Container: schema.Usernames, Partition: name, ID: name}
	if reservation != nil {
		d = reservation.drift(DriftReservation, schema.Usernames, name)
		d.Is = reservation.UserID
	}
	d = d.says("userId", d.Is, user.ID).from(user.Revision)
	return l.unlessRenamed(ctx, d, user)
}

// unlessRenamed makes sure that a user still is as when a reservation was read.
func (l look) unlessRenamed(ctx context.Context, d Drift, user *auditedItem) ([]Drift, error) {
	now, err := l.readAudited(ctx, l.users, user.ID, user.ID)
	if err != nil || now == nil || now.Revision != user.Revision {
		d.source = ""
	}
	return []Drift{d}, err
}

// atReservation looks whether the user of a reservation bears or wants the name. A young one is left alone: its naming may
// be under way.
func (l look) atReservation(ctx context.Context, name string) ([]Drift, error) {
	reservation, err := l.readAudited(ctx, l.usernames, name, name)
	switch {
	case err != nil || reservation == nil:
		return nil, err
	case reservation.unreadable != nil:
		d, _ := reservation.unreadableDrift(schema.Usernames, name)
		return []Drift{d}, nil
	case l.db.Now().Sub(reservation.CreationDate.Time()) < store.ReservationAge:
		return nil, nil
	}
	users, err := l.authors(ctx, []string{reservation.UserID})
	if err != nil {
		return nil, err
	}
	user := users[reservation.UserID]
	if user != nil && user.hasName(name) {
		return nil, nil
	}
	d := reservation.drift(DriftReclaimable, schema.Usernames, name).says("userId", reservation.UserID, "")
	if user != nil {
		d = d.from(user.Revision)
	}
	return []Drift{d}, nil
}
