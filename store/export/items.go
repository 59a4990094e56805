package export

import (
	"context"
	"errors"
	"slices"
	"strings"

	"cosmosblog/store/cosmos"
	"cosmosblog/store/follow"
	"cosmosblog/store/schema"
)

// itemsPosition is a position in the queries that read all items, one for each container.
type itemsPosition struct {
	Container    string `json:"container"`
	Continuation string `json:"continuation"` // of changefeed.ReadItems; empty at the beginning
}

// presentTries is the number of pages that are read for the present position of a feed. More than
// one are only needed if its feed range is split at this moment.
const presentTries = 10

// present returns the continuation of the present end of a position's feed.
func (r *run) present(p follow.Position) (string, error) {
	resourceID, err := cosmos.Retried(r.session, r.db, func(ctx context.Context) (string, error) {
		return r.feeds.ResourceID(ctx, p.Container)
	})
	if err != nil {
		return "", err
	}
	p.Continuation = follow.ContinuationFromNow(resourceID, p.FeedRange)
	for range presentTries {
		// The query shows what this page has: it is read later, in the same session.
		page, err := r.follower.ReadPage(r.session, p, r.options.PageSize)
		if err != nil {
			return "", err
		}
		if p.Continuation = page.Continuation; !follow.IsFromNow(p.Continuation) {
			return p.Continuation, nil
		}
	}
	return "", errors.New("export: the account does not report the present position of a change feed")
}

// readItems reads all items by query, or what an interrupted run has left of them. It does nothing
// if they were read, or are read from the feeds.
func (r *run) readItems() error {
	if r.next.Items == nil {
		return nil
	}
	r.report()
	// The positions may be those of an earlier run. Once a replica has reached them in the sessions of
	// this one, the queries show all that was written before the positions.
	for _, p := range r.next.Positions {
		if _, err := r.follower.ReadPage(r.session, p, 1); err != nil {
			return err
		}
	}
	for r.next.Items != nil {
		container := r.next.Items.Container
		changes, next, err := r.readChunk(*r.next.Items)
		if err != nil {
			return err
		}
		if err := r.writeDates(container, changes); err != nil {
			return err
		}
		r.next.Items = next
		if err := r.commitFull(); err != nil {
			return err
		}
	}
	return nil
}

// maxChunkBytes is the size of the items that are sorted at a time.
const maxChunkBytes = 64 << 20

// readChunk reads pages of a query until their items are as many or as large as one batch takes, or
// until the query ends. It returns the items that have rows, in the order of their dates: the order
// of a query is not that of the writes, and each change of the date begins another file of a table.
// next is the position after the items; nil after the last one.
func (r *run) readChunk(at itemsPosition) (changes []change, next *itemsPosition, err error) {
	begun := r.db.Now()
	for size := 0; size < maxChunkBytes && int64(len(changes)) < r.options.BatchRows && r.db.Now().Sub(begun) < maxBatchTime; {
		items := follow.Position{Feed: follow.AllItems(at.Container), Continuation: at.Continuation}
		page, err := r.follower.ReadPage(r.session, items, r.options.PageSize)
		if err == nil {
			err = follow.CheckAges(r.next.Positions, r.db.Now())
		}
		if err != nil {
			return nil, nil, err
		}
		for _, c := range r.changesOf(at.Container, page.Items) {
			if hasRows(at.Container, c) {
				changes, size = append(changes, c), size+len(c.text)
			}
		}
		at.Continuation = page.Continuation
		r.items += int64(len(page.Items))
		r.report()
		if page.IsLast {
			next = at.nextContainer()
			break
		}
		next = &itemsPosition{at.Container, at.Continuation}
	}
	slices.SortStableFunc(changes, func(a, b change) int { return strings.Compare(a.calendar(), b.calendar()) })
	return changes, next, nil
}

// nextContainer returns the beginning of the query after that of a container, or nil after the last
// one.
func (p itemsPosition) nextContainer() *itemsPosition {
	i := slices.Index(containers, p.Container) + 1
	if i == len(containers) {
		return nil
	}
	return &itemsPosition{Container: containers[i]}
}

// hasRows reports whether an item has rows of its own. Likes and contents have those of their post.
func hasRows(container string, c change) bool {
	switch container {
	case schema.Users:
		return c.Type == schema.TypeUser
	case schema.Posts:
		return c.Type == schema.TypePost || c.Type == schema.TypeComment || c.Type == schema.TypeTombstone
	}
	return false
}
