package engine

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"
)

// purgeInterval is the interval for removing expired items. It affects disk space only, because no
// request returns expired items.
const purgeInterval = time.Minute

// sealInterval is the interval for renewing the seal of an open folder if something was written.
// After a crash, data written since the last renewal is not checked for damage.
const sealInterval = time.Second

// housekeeping is the set of an engine's background goroutines.
type housekeeping struct {
	cancel context.CancelFunc
	done   *sync.WaitGroup
}

func startHousekeeping(e *Engine) housekeeping {
	ctx, cancel := context.WithCancel(context.Background())
	h := housekeeping{cancel, &sync.WaitGroup{}}
	if !e.options.KeepExpired {
		h.every(ctx, purgeInterval, "purge", func() error { _, err := e.Purge(ctx); return err })
	}
	if e.disk != nil {
		h.every(ctx, sealInterval, "seal", e.disk.renewSeal)
	}
	return h
}

func (h housekeeping) every(ctx context.Context, interval time.Duration, name string, work func() error) {
	h.done.Go(func() {
		ticker := time.NewTicker(interval)
		defer ticker.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-ticker.C:
			}
			if err := work(); err != nil && ctx.Err() == nil && !errors.Is(err, ErrDisk) {
				slog.Error("embedded engine: "+name, "error", err)
			}
		}
	})
}

func (h housekeeping) stop() {
	h.cancel()
	h.done.Wait()
}
