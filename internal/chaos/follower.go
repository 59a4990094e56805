package main

import (
	"context"
	"fmt"
)

// follower reads the change feed of a container, through all kills, from the position that it came to.
type follower struct {
	container string
	positions map[string]position // by range
	shown     map[place]document  // as it was shown last
	changes   int
}

// position is how far a range's change feed was read.
type position struct {
	etag string
	lsn  uint64
}

func newFollower(container string, ranges []string) *follower {
	f := &follower{container: container, positions: map[string]position{}, shown: map[place]document{}}
	for _, r := range ranges {
		f.positions[r] = position{}
	}
	return f
}

// follow reads on until the connection is cut or ctx ends. Error: what it was shown cannot be.
func (f *follower) follow(ctx context.Context, a *account) error {
	for {
		for r := range f.positions {
			if _, err := f.page(ctx, a, r); err != nil {
				return err
			}
		}
	}
}

// drain reads to the end.
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

// page reads a page of a range's change feed, and tells whether there was one.
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
		return false, fmt.Errorf("the change feed of range %s after %s is answered %d: %s", r, at.etag, got.status, got.body)
	}
	var page []document
	if got.status == 200 {
		if page, err = got.documents(); err != nil {
			return false, err
		}
	}
	previous := document{LSN: at.lsn}
	for i, d := range page {
		sameTransaction := i > 0 && d.LSN == previous.LSN && d.PK == previous.PK
		if d.LSN <= previous.LSN && !sameTransaction {
			return false, fmt.Errorf("the change feed of range %s shows %s/%s under number %d after %s/%s under %d", r, d.PK, d.ID, d.LSN, previous.PK, previous.ID, previous.LSN)
		}
		if old, ok := f.shown[place{d.PK, d.ID}]; ok && old.ETag == d.ETag {
			return false, fmt.Errorf("the change feed of range %s shows one change of %s/%s twice, under %d and %d", r, d.PK, d.ID, old.LSN, d.LSN)
		}
		f.shown[place{d.PK, d.ID}] = d
		previous = d
	}
	f.changes += len(page)
	f.positions[r] = position{got.header.Get("Etag"), previous.LSN}
	return len(page) > 0, nil
}

// holds compares what was shown with what is there. deleted tells of an item whether its deletion was asked for.
func (f *follower) holds(items map[place]document, deleted func(place) bool) error {
	for p, d := range items {
		if shown, ok := f.shown[p]; !ok || shown.ETag != d.ETag {
			return fmt.Errorf("%v has the etag %s, and the change feed showed %s last (shown at all: %t, under %d)", p, d.ETag, shown.ETag, ok, shown.LSN)
		}
	}
	for p, shown := range f.shown {
		if _, ok := items[p]; !ok && !deleted(p) {
			return fmt.Errorf("%v is not there, was never deleted, and the change feed showed it under %d", p, shown.LSN)
		}
	}
	return nil
}
