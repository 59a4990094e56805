package chores

import (
	"context"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"cosmosblog/blog"
	"cosmosblog/store/cosmos"
)

// reservationsQuery finds the reservations of a user in all partitions, by the index of userId.
// There is one, unless a naming was interrupted.
const reservationsQuery = `SELECT c.id FROM c WHERE c.userId = @userId`

type reservationRow struct {
	Name string `json:"id"` // normalized
}

// reclaimUsernames frees the usernames that are reserved for a user who, according to a sweep, has
// another one. An interrupted naming leaves them. Each step reads the user again: it leaves a
// username that the user has or announces by now.
func (c *Chores) reclaimUsernames(ctx context.Context, p *Progress, sweep Sweep) error {
	query := &rowQuery[reservationRow]{container: c.usernames, text: reservationsQuery, parameters: []azcosmos.QueryParameter{
		{Name: "@userId", Value: sweep.UserID},
	}}
	return each(ctx, p, query, func(row reservationRow) step {
		return func(ctx context.Context) (int, bool, error) {
			if row.Name == blog.NormalizeUsername(sweep.Username) {
				return 0, false, nil
			}
			return 1, false, c.store.ReclaimUsername(ctx, row.Name)
		}
	})
}

// freeUsernames deletes all reservations of a user whose items are deleted: those of the given
// usernames, and those that interrupted namings have left.
func (c *Chores) freeUsernames(ctx context.Context, userID string, usernames ...string) error {
	names := map[string]bool{}
	for _, username := range usernames {
		names[blog.NormalizeUsername(username)] = true
	}
	delete(names, "")
	rows, err := cosmos.QueryAcross[reservationRow](ctx, c.usernames, reservationsQuery,
		azcosmos.QueryParameter{Name: "@userId", Value: userID})
	if err != nil {
		return err
	}
	for _, row := range rows {
		names[row.Name] = true
	}
	for name := range names {
		if err := c.freeUsername(ctx, userID, name); err != nil {
			return err
		}
	}
	return nil
}
