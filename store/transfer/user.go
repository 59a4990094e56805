package transfer

import (
	"context"
	"fmt"
	"slices"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"cosmosblog/blog"
	"cosmosblog/store/cosmos"
)

// NameConflictError is returned by Copy if different users have the same username in the two
// databases. One of them has to be renamed before the next copy.
type NameConflictError struct{ username string }

func (e *NameConflictError) Error() string {
	return fmt.Sprintf("the username %s belongs to another user in the target database: "+
		"rename one of the two users, and copy again", e.username)
}

// copyReservation copies the reservation of a username. If the username is reserved for another
// user in the target, the name may belong to another user of the source since the last
// copy. Then the source's reservation overwrites the target's. Error: *NameConflictError.
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

// checkHandover checks that a username may be taken from its user in the target. This is the
// case if the user also exists in the source, or if the user neither has nor announces the
// username. Error: *NameConflictError.
func (c *copyRun) checkHandover(from, to context.Context, reservation storedItem) error {
	_, _, err := readStored(from, c.from.users, reservation.UserID, reservation.UserID)
	if !cosmos.IsNotFound(err) {
		return err
	}
	owner, _, err := readStored(to, c.to.users, reservation.UserID, reservation.UserID)
	if cosmos.IsNotFound(err) {
		return nil
	}
	usesName := blog.NormalizeUsername(owner.Username) == reservation.ID ||
		blog.NormalizeUsername(owner.Pending) == reservation.ID
	if err == nil && !owner.Deleted && usesName {
		err = &NameConflictError{owner.Username}
	}
	return err
}

// copyUser copies a user who is new in the target or changed since the last copy. It copies a
// tombstone only if the user exists in the target. The tombstone keeps the target's username,
// whose reservation the target's projector still has to delete.
func (c *copyRun) copyUser(from, to context.Context, item storedItem) error {
	isTombstone := item.Deleted && item.Username == ""
	current, etag, err := readStored(to, c.to.users, item.ID, item.ID)
	hasLost := err == nil && !current.Deleted && c.checkpoint.mayHaveLost(item, current) &&
		!item.with(current, userCounters...).isStateOf(current)
	switch {
	case cosmos.IsNotFound(err) && isTombstone:
		return nil
	case cosmos.IsNotFound(err):
		err = createStored(to, c.to.users, item.ID, item.with(zeroCounters, userCounters...).asSuccessorOf(current))
	case err != nil:
		return err
	case !item.replacesUser(current) && !hasLost:
		return c.checkNotLost(from, c.from.users, item.ID, item, current)
	default:
		kept := userCounters
		if isTombstone {
			kept = append(slices.Clone(kept), "username")
		}
		user := item.with(current, kept...).asSuccessorOf(current)
		err = replaceStored(to, c.to.users, item.ID, user, etag)
	}
	if err == nil {
		c.users.Add(1)
	}
	return err
}

// replacesUser reports whether a user replaces the target's user of the same id. An account
// that was deleted and created again is a new user, whose revisions may begin at 1 again. A user
// who was deleted in the target stays deleted.
func (i storedItem) replacesUser(current storedItem) bool {
	if i.CreationDate != current.CreationDate {
		return i.CreationDate > current.CreationDate
	}
	return !current.Deleted && i.changedSinceCopyTo(current)
}

// ensureAuthor copies the author of a post before the post: the target's projector counts a
// user's posts only if the user exists.
func (c *copyRun) ensureAuthor(from, to context.Context, userID string) error {
	if _, ok := c.authors.Load(userID); ok {
		return nil
	}
	_, _, err := readStored(to, c.to.users, userID, userID)
	if cosmos.IsNotFound(err) {
		err = c.copyMissingUser(from, to, userID)
	}
	if err == nil {
		c.authors.Store(userID, nil)
	}
	return err
}

func (c *copyRun) copyMissingUser(from, to context.Context, userID string) error {
	user, _, err := readStored(from, c.from.users, userID, userID)
	if cosmos.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return err
	}
	return c.copyUser(from, to, user)
}

// readStored reads an item with all of its properties.
func readStored(
	ctx context.Context, container *azcosmos.ContainerClient, partition, id string,
) (storedItem, azcore.ETag, error) {
	response, err := container.ReadItem(ctx, azcosmos.NewPartitionKeyString(partition), id, nil)
	if err != nil {
		return storedItem{}, "", cosmos.ToBlogError(err)
	}
	item, err := newStoredItem(response.Value)
	return item, response.ETag, err
}

func createStored(
	ctx context.Context, container *azcosmos.ContainerClient, partition string, item storedItem,
) error {
	_, err := cosmos.Create(ctx, container, partition, item.properties)
	return err
}

func replaceStored(
	ctx context.Context,
	container *azcosmos.ContainerClient,
	partition string,
	item storedItem,
	etag azcore.ETag,
) error {
	_, err := cosmos.Replace(ctx, container, partition, item.ID, item.properties, etag)
	return err
}
