package store

import (
	"context"

	"cosmosblog/blog"
	"cosmosblog/store/cosmos"
	"cosmosblog/store/schema"
)

// User reads a user (Q1): one point read in users. Errors: NOT_FOUND if there is no such user,
// or if the user's first username is not reserved yet; ErrBeingDeleted; THROTTLED.
func (s *Store) User(ctx context.Context, userID string) (*blog.User, error) {
	readAt := s.db.EarliestNow()
	item, err := readItem[schema.UserItem](ctx, s, s.users, schema.TypeUser, address{Partition: userID, ID: userID})
	if err != nil {
		return nil, err
	}
	if err := errNotVisible(item); err != nil {
		return nil, err
	}
	user := item.User()
	user.ReadAt = readAt
	return user, nil
}

// CurrentUser is User in the latest state, with every acknowledged write. It sends one more request
// than User. Commands call it before they reject a user whom another read did not find.
func (s *Store) CurrentUser(ctx context.Context, userID string) (*blog.User, error) {
	ctx = cosmos.InSession(ctx)
	tries := s.newTries()
	for {
		err := cosmos.AdvanceSession(ctx, s.users, userID, userID)
		if err == nil {
			return s.User(ctx, userID)
		}
		if err := tries.next(ctx, err); err != nil {
			return nil, err
		}
	}
}

var errNoUser = blog.Errorf(blog.NotFound, "The user does not exist, or it was deleted.")

// ErrBeingDeleted is the NOT_FOUND of a user whose deletion has not finished.
var ErrBeingDeleted = blog.Errorf(blog.NotFound, "This user is being deleted.")

// errNotVisible returns the error of a query for a missing or invisible user, and nil for a visible
// one.
func errNotVisible(i *schema.UserItem) error {
	switch {
	case i == nil:
		return errNoUser
	case i.Visible():
		return nil
	case i.Deleted && !i.Gone():
		return ErrBeingDeleted
	}
	return errNoUser
}

// Users reads several users: one point read for one id, one read many for several. Unknown and
// deleted users are absent from the map. Error: THROTTLED.
func (s *Store) Users(ctx context.Context, userIDs []string) (map[string]*blog.User, error) {
	readAt := s.db.EarliestNow()
	items, err := readItems[schema.UserItem](ctx, s, s.users, schema.TypeUser, cosmos.OwnAddresses(userIDs))
	if err != nil {
		return nil, err
	}
	users := make(map[string]*blog.User, len(items))
	for _, item := range items {
		if item != nil && item.Visible() {
			user := item.User()
			user.ReadAt = readAt
			users[user.ID] = user
		}
	}
	return users, nil
}

// UserByUsername finds the user with a username, in any case: a point read in usernames, then
// one in users. Errors: NOT_FOUND, THROTTLED.
func (s *Store) UserByUsername(ctx context.Context, username string) (*blog.User, error) {
	name := blog.NormalizeUsername(username)
	if blog.CheckUsername(username) != nil {
		return nil, errNoUser // no user can have this username, and the service rejects some texts as ids
	}
	reservation, err := readItem[schema.ReservationItem](ctx, s, s.usernames, "reservation", address{Partition: name, ID: name})
	switch {
	case err != nil:
		return nil, err
	case reservation == nil:
		return nil, errNoUser
	}
	user, err := s.User(ctx, reservation.UserID)
	if err != nil {
		return nil, err
	}
	if blog.NormalizeUsername(user.Username) != name {
		return nil, errNoUser // reserved, but the user has another username
	}
	return user, nil
}

// UserPosts lists a user's posts in short form, newest first (Q3): one query to the user's
// partition of users. It does not check whether the user exists. Error: THROTTLED.
func (s *Store) UserPosts(ctx context.Context, userID string, page blog.PageRequest) (blog.Page[*blog.Post], error) {
	return readPage(ctx, s, s.users, userID, userPosts, page, listedPost)
}

// listedPost returns the post of an item and its position in a list.
func listedPost(i *schema.PostItem) (*blog.Post, blog.Position) {
	return i.Post(), blog.Position{CreationDate: i.CreationDate, ID: i.ID}
}
