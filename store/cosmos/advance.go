package cosmos

import (
	"context"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"
)

// AdvanceSession makes the session of ctx current in a partition: later reads in it see every write
// that was acknowledged before. A read without that may be answered by a replica that is behind.
//
// Writes are executed on the latest state. AdvanceSession therefore sends a patch whose condition
// is never true; the rejection carries the current session token. The item need not exist. Without
// a session in ctx, AdvanceSession has no effect.
func AdvanceSession(ctx context.Context, c *azcosmos.ContainerClient, partition, id string) error {
	var changes azcosmos.PatchOperations
	changes.AppendIncrement("/revision", 0)
	err := PatchIf(ctx, c, partition, id, "c.id = ''", changes)
	if IsRaceLost(err) {
		return nil
	}
	return err
}

// LatestState returns the latest state of a container in the range of a partition, as a session
// token: that of a session of its own which was made current (AdvanceSession). Errors: its.
func LatestState(ctx context.Context, c *azcosmos.ContainerClient, partition string) (string, error) {
	ctx = WithSession(ctx)
	err := AdvanceSession(ctx, c, partition, partition)
	return SessionTokenOf(ctx, c.ID()), err
}

// ReadLatest reads an item whose id is its partition key, and its etag, after it has made the
// session of ctx current (AdvanceSession): no acknowledged write is missing. Errors: NOT_FOUND;
// those of both requests. ctx must have a session.
func ReadLatest[T any](ctx context.Context, c *azcosmos.ContainerClient, id string) (*T, azcore.ETag, error) {
	if err := AdvanceSession(ctx, c, id, id); err != nil {
		return nil, "", err
	}
	return Read[T](ctx, c, id, id)
}

// AdvanceSessionOnce is AdvanceSession, unless the session was advanced in the partition before.
// While a projector handles one page of changes, it thus sends at most one such request for each
// partition.
func AdvanceSessionOnce(ctx context.Context, c *azcosmos.ContainerClient, partition, id string) error {
	session := callOf(ctx).session
	if session == nil {
		return nil
	}
	place := [2]string{c.ID(), partition}
	session.mu.Lock()
	advanced := session.advanced[place]
	session.mu.Unlock()
	if advanced {
		return nil
	}
	if err := AdvanceSession(ctx, c, partition, id); err != nil {
		return err
	}
	session.mu.Lock()
	defer session.mu.Unlock()
	if session.advanced == nil {
		session.advanced = map[[2]string]bool{}
	}
	session.advanced[place] = true
	return nil
}
