package projector

import (
	"context"
	"sync"

	"cosmosblog/store"
)

// identities know which container is meant by a name now: one that is deleted and made anew has another resource id,
// and a change feed that begins at its own beginning. It may be used concurrently.
type identities struct {
	store *store.Store

	mu  sync.Mutex // held while ids is read or written
	ids map[string]string
}

// of gives a container's resource id as it was seen last; empty where it never was.
func (i *identities) of(container string) string {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.ids[container]
}

// look asks the account.
func (i *identities) look(ctx context.Context, container string) error {
	id, err := i.store.ResourceID(ctx, container)
	if err != nil {
		return err
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	i.ids[container] = id
	return nil
}
