package audit

import "context"

// repairReservation frees a username whose reservation its user does not need.
func (r repairer) repairReservation(ctx context.Context, name string, _ []Drift) error {
	return r.store.ReclaimUsername(ctx, name)
}
