package store

import (
	"context"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"cosmosblog/internal/blog"
)

// User reads a user (Q1): one point read in users. Error: NOT_FOUND, also while a user's first username is not theirs yet.
func (s *Store) User(ctx context.Context, userID string) (*blog.User, error) {
	item, _, err := read[userItem](ctx, s.users, userID, userID)
	if err != nil {
		return nil, because(err, blog.NotFound, errNoUser.Message)
	}
	if err := item.refusal(); err != nil {
		return nil, err
	}
	return item.user(), nil
}

var errNoUser = blog.Errorf(blog.NotFound, "There is no such user.")

// ErrBeingDeleted is the NOT_FOUND of a user whose deletion is under way.
var ErrBeingDeleted = blog.Errorf(blog.NotFound, "That user is being deleted.")

// visible tells whether i is a user who bears a name and was not deleted.
func (i *userItem) visible() bool { return i.Type == typeUser && i.Username != "" && !i.Deleted }

// isGone tells whether i is what remains of a user of whom nothing else is left.
func (i *userItem) isGone() bool { return i.Deleted && i.TTL > 0 }

// refusal is the error of whoever asks for a user that is not visible; nil for one that is.
func (i *userItem) refusal() error {
	switch {
	case i.visible():
		return nil
	case i.Deleted && !i.isGone():
		return ErrBeingDeleted
	}
	return errNoUser
}

// Users reads several users: one point read for one, otherwise one read many. Unknown ones are absent from the map.
func (s *Store) Users(ctx context.Context, userIDs []string) (map[string]*blog.User, error) {
	items, err := readEach[userItem](ctx, s.users, selves(userIDs))
	if err != nil {
		return nil, err
	}
	users := make(map[string]*blog.User, len(items))
	for i := range items {
		if items[i].visible() {
			users[items[i].ID] = items[i].user()
		}
	}
	return users, nil
}

// UserByUsername finds who bears a username, whatever its case: a point read in usernames, then one in users.
// Error: NOT_FOUND.
func (s *Store) UserByUsername(ctx context.Context, username string) (*blog.User, error) {
	name := blog.NormalizeUsername(username)
	if blog.CheckUsername(username) != nil {
		return nil, errNoUser // nobody can bear it, and the service cannot look up every text
	}
	reservation, _, err := read[reservationItem](ctx, s.usernames, name, name)
	if err != nil {
		return nil, because(err, blog.NotFound, errNoUser.Message)
	}
	user, err := s.User(ctx, reservation.UserID)
	if err != nil {
		return nil, err
	}
	if blog.NormalizeUsername(user.Username) != name {
		return nil, errNoUser // reserved, but not taken
	}
	return user, nil
}

// UserPosts lists a user's posts in short form, newest first (Q3): one query to the user's partition of users. It does
// not look whether there is such a user.
func (s *Store) UserPosts(ctx context.Context, userID string, page blog.PageRequest) (blog.Page[*blog.Post], error) {
	return list(ctx, s.users, userID, livePosts, page, (*postItem).listed)
}

// listed gives a list's post and its place there.
func (i *postItem) listed() (*blog.Post, blog.Position) {
	return i.post(), blog.Position{CreationDate: i.CreationDate, ID: i.ID}
}

// selves gives the identities of items that are alone in their partitions, each once.
func selves(ids []string) []azcosmos.ItemIdentity {
	return identities(ids, func(id string) azcosmos.ItemIdentity {
		return azcosmos.ItemIdentity{ID: id, PartitionKey: azcosmos.NewPartitionKeyString(id)}
	})
}
