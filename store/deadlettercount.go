package store

import (
	"context"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"
)

// maxLettersCounted is how many dead letters are counted in one request.
const maxLettersCounted = 1000

// CountDeadLetters counts the dead letters, up to 1000: it is asked often, and nothing is wrong with most of these.
func (s *Store) CountDeadLetters(ctx context.Context) (int, error) {
	pager := s.containers[deadlettersContainer].NewQueryItemsPager(`SELECT c.id FROM c WHERE c.type = 'deadletter'`,
		azcosmos.NewPartitionKey(), &azcosmos.QueryOptions{PageSizeHint: maxLettersCounted})
	n := 0
	for pager.More() && n < maxLettersCounted {
		page, err := pager.NextPage(ctx)
		if err != nil {
			return 0, asBlogError(err)
		}
		n += len(page.Items)
	}
	return min(n, maxLettersCounted), nil
}
