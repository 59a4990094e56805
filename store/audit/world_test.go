package audit_test

import (
	"context"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"cosmosblog/proof/storetest"
	"cosmosblog/store/audit"
	"cosmosblog/store/schema"
)

// world is a storetest.World with shortcuts for this package.
type world struct{ *storetest.World }

func newWorld(t *testing.T) *world { return &world{storetest.New(t)} }

// another returns a second server on the same engine.
func (w *world) another() *world { return &world{w.World.Another()} }

func (w *world) drifts(container, partition string) ([]audit.Drift, error) {
	return audit.Drifts(w.Ctx(), w.DB, container, partition)
}

func (w *world) repair(container, partition string, drifts []audit.Drift) ([]audit.Drift, error) {
	return audit.Repair(w.Ctx(), w.DB, container, partition, drifts)
}

func (w *world) audit(ctx context.Context, options audit.Options) (audit.Result, error) {
	return audit.Run(ctx, w.DB, options)
}

// target is a partition to compare.
type target struct{ container, partition string }

// endCopy deletes the checkpoint of a copy.
func (w *world) endCopy(id string) error {
	_, err := w.Container(schema.Leases).DeleteItem(w.Ctx(), azcosmos.NewPartitionKeyString(id), id, nil)
	return err
}
