package transfer

import (
	"context"
	"fmt"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"cosmosblog/internal/blog"
	"cosmosblog/store/cosmos"
)

// NameConflictError says that a username belongs to different users in the two databases of a copy. Somebody has to be
// renamed in one of them.
type NameConflictError struct{ Username string }

func (e *NameConflictError) Error() string {
	return fmt.Sprintf("the username %s belongs to somebody else at the other end: rename one of the two users, and copy again", e.Username)
}

// copyReservation copies a username. Where it is reserved for another user at the other end, the source decides, if it
// knows that user: the name has changed hands since the last copy. A reservation that its user neither bears nor wants
// is nobody's.
func (c *copyRun) copyReservation(from, to context.Context, item storedItem) error {
	current, etag, err := readStored(to, c.to.usernames, item.ID, item.ID)
	switch {
	case cosmos.IsNotFound(err):
		err = createStored(to, c.to.usernames, item.ID, item)
	case err != nil:
		return err
	case current.UserID == item.UserID:
		return nil
	default:
		if err := c.checkHandover(from, to, current); err != nil {
			return err
		}
		err = replaceStored(to, c.to.usernames, item.ID, item, etag)
	}
	if err == nil {
		c.usernames.Add(1)
	}
	return err
}

// checkHandover tells whether a name at the other end may be taken from the user who has it there.
func (c *copyRun) checkHandover(from, to context.Context, reservation storedItem) error {
	_, _, err := readStored(from, c.from.users, reservation.UserID, reservation.UserID)
	if !cosmos.IsNotFound(err) {
		return err
	}
	owner, _, err := readStored(to, c.to.users, reservation.UserID, reservation.UserID)
	if cosmos.IsNotFound(err) {
		return nil
	}
	if err == nil && !owner.Deleted && (blog.NormalizeUsername(owner.Username) == reservation.ID || blog.NormalizeUsername(owner.Pending) == reservation.ID) {
		err = &NameConflictError{owner.Username}
	}
	return err
}

// copyUser copies a user who is not there, or changed since they were copied. A tombstone is copied where the user is there:
// it bears their username at the other end, which is yet to become free.
func (c *copyRun) copyUser(to context.Context, item storedItem) error {
	gone := item.Deleted && item.Username == ""
	current, etag, err := readStored(to, c.to.users, item.ID, item.ID)
	switch {
	case cosmos.IsNotFound(err) && gone:
		return nil
	case cosmos.IsNotFound(err):
		err = createStored(to, c.to.users, item.ID, item.with(uncounted, userViews...).after(current))
	case err != nil || !item.isNewerUser(current):
		return err
	case gone:
		err = replaceStored(to, c.to.users, item.ID, item.with(current, append(userViews, "username")...).after(current), etag)
	default:
		err = replaceStored(to, c.to.users, item.ID, item.with(current, userViews...).after(current), etag)
	}
	if err == nil {
		c.users.Add(1)
	}
	return err
}

// isNewerUser tells whether a user is to replace another of the same id. An account that was deleted and came back is
// another user, whose revisions begin anew. Who was deleted at the other end stays so.
func (i storedItem) isNewerUser(current storedItem) bool {
	if i.CreationDate != current.CreationDate {
		return i.CreationDate > current.CreationDate
	}
	return !current.Deleted && i.isUnknownTo(current)
}

// ensureAuthor copies the author of a post before the post: the projector at the other end counts a user's posts where
// the user is.
func (c *copyRun) ensureAuthor(from, to context.Context, userID string) error {
	if _, ok := c.authors.Load(userID); ok {
		return nil
	}
	_, _, err := readStored(to, c.to.users, userID, userID)
	if cosmos.IsNotFound(err) {
		err = c.bringUser(from, to, userID)
	}
	if err == nil {
		c.authors.Store(userID, nil)
	}
	return err
}

func (c *copyRun) bringUser(from, to context.Context, userID string) error {
	user, _, err := readStored(from, c.from.users, userID, userID)
	if cosmos.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return err
	}
	return c.copyUser(to, user)
}

// readStored, createStored and replaceStored are read, create and replace of items with all their properties.
func readStored(ctx context.Context, container *azcosmos.ContainerClient, partition, id string) (storedItem, azcore.ETag, error) {
	response, err := container.ReadItem(ctx, azcosmos.NewPartitionKeyString(partition), id, nil)
	if err != nil {
		return storedItem{}, "", cosmos.ToBlogError(err)
	}
	item, err := newStoredItem(response.Value)
	return item, response.ETag, err
}

func createStored(ctx context.Context, container *azcosmos.ContainerClient, partition string, item storedItem) error {
	_, err := cosmos.Create(ctx, container, partition, item.properties)
	return err
}

func replaceStored(ctx context.Context, container *azcosmos.ContainerClient, partition string, item storedItem, etag azcore.ETag) error {
	_, err := cosmos.Replace(ctx, container, partition, item.ID, item.properties, etag)
	return err
}
