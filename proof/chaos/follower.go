package main

import (
	"context"
	"fmt"
)

// follower reads the change feed of a container. It resumes from its positions after each kill.
type follower struct {
	container string
	positions map[string]position    // by range id
	seen      map[itemKey]storedItem // last version of each item in the change feed
	changes   int
}

// position is the position up to which the change feed of a range was read.
type position struct {
	etag string
	lsn  uint64
}

func newFollower(container string, ranges []string) *follower {
	f := &follower{container: container, positions: map[string]position{}, seen: map[itemKey]storedItem{}}
	for _, r := range ranges {
		f.positions[r] = position{}
	}
	return f
}

// follow reads until the connection is lost or ctx ends. It returns an error if the change feed
// is inconsistent.
func (f *follower) follow(ctx context.Context, a *account) error {
	for {
		for r := range f.positions {
			if _, err := f.page(ctx, a, r); err != nil {
				return err
			}
		}
	}
}

// drain reads to the end of the change feed.
func (f *follower) drain(ctx context.Context, a *account) error {
	for r := range f.positions {
		for {
			more, err := f.page(ctx, a, r)
			if err != nil {
				return err
			}
			if !more {
				break
			}
		}
	}
	return nil
}

// page reads a page of a range's change feed. It reports whether the page held changes.
func (f *follower) page(ctx context.Context, a *account, r string) (bool, error) {
	at := f.positions[r]
	headers := []string{"A-IM", "Incremental Feed", "x-ms-documentdb-partitionkeyrangeid", r, "x-ms-max-item-count", "100"}
	if at.etag != "" {
		headers = append(headers, "If-None-Match", at.etag)
	}
	got, err := a.send(ctx, "GET", f.container+"/docs", "", headers...)
	if err != nil {
		return false, err
	}
	if got.status != 200 && got.status != 304 {
		return false, fmt.Errorf("change feed of range %s after %s: unexpected status %d: %s",
			r, at.etag, got.status, got.body)
	}
	var page []storedItem
	if got.status == 200 {
		if page, err = got.items(); err != nil {
			return false, err
		}
	}
	previous := storedItem{LSN: at.lsn}
	for i, d := range page {
		sameTransaction := i > 0 && d.LSN == previous.LSN && d.PK == previous.PK
		if d.LSN <= previous.LSN && !sameTransaction {
			return false, fmt.Errorf("change feed of range %s: %s/%s with LSN %d follows %s/%s with LSN %d",
				r, d.PK, d.ID, d.LSN, previous.PK, previous.ID, previous.LSN)
		}
		if old, ok := f.seen[itemKey{d.PK, d.ID}]; ok && old.ETag == d.ETag {
			return false, fmt.Errorf("change feed of range %s: the same change of %s/%s occurs twice, with LSN %d and %d",
				r, d.PK, d.ID, old.LSN, d.LSN)
		}
		f.seen[itemKey{d.PK, d.ID}] = d
		previous = d
	}
	f.changes += len(page)
	f.positions[r] = position{got.header.Get("Etag"), previous.LSN}
	return len(page) > 0, nil
}

// verify compares the change feed with the stored items. deleted reports whether the deletion of
// an item was requested.
func (f *follower) verify(items map[itemKey]storedItem, deleted func(itemKey) bool) error {
	for p, d := range items {
		if shown, ok := f.seen[p]; !ok || shown.ETag != d.ETag {
			return fmt.Errorf("%v has the etag %s, but its last change in the feed has %s (found: %t, LSN %d)",
				p, d.ETag, shown.ETag, ok, shown.LSN)
		}
	}
	for p, shown := range f.seen {
		if _, ok := items[p]; !ok && !deleted(p) {
			return fmt.Errorf("%v is missing without a deletion; its last change in the feed has LSN %d",
				p, shown.LSN)
		}
	}
	return nil
}
