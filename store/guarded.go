package store

import (
	"context"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"
)

// maxRaces is how often a guarded write is begun anew because somebody else wrote the same item meanwhile. Each round
// that is lost was won by another state of the item, so that few are enough.
const maxRaces = 5

// whileOutrun takes a step that reads an item and then writes it, again while somebody else was faster.
func whileOutrun(step func() error) error {
	var err error
	for range maxRaces {
		if err = step(); !isOutrun(err) {
			break
		}
	}
	return err
}

// isOutrun tells whether a guarded write failed because the item is no longer as it was read.
func isOutrun(err error) bool { return isNotFound(err) || isConflict(err) }

// queryAcross runs a query over all partitions of a container and gives all that it finds, in no order. From Go the
// service serves filters and projections alone in that way: no ORDER BY, TOP, DISTINCT or aggregate.
func queryAcross[T any](ctx context.Context, c *azcosmos.ContainerClient, text string, parameters ...azcosmos.QueryParameter) ([]T, error) {
	var results []T
	pager := c.NewQueryItemsPager(text, azcosmos.NewPartitionKey(), &azcosmos.QueryOptions{QueryParameters: parameters})
	for pager.More() {
		page, err := pager.NextPage(ctx)
		if err != nil {
			return nil, asBlogError(err)
		}
		if results, err = decodeItems(results, page.Items); err != nil {
			return nil, err
		}
	}
	return results, nil
}
