package changefeed

import (
	"context"
	"math"

	"cosmosblog/store/schema"
)

func FeedName(container string, r FeedRange) string { return container + "." + r.Min + "-" + r.Max }

// FeedEnds says where the change feeds of users and posts ended at one moment, feed range by feed range.
type FeedEnds map[Feed]int64

// Feed is a feed range of a container.
type Feed struct {
	Container string
	FeedRange
}

// FeedEnds reads where the change feeds of users and posts end now. It costs one request for each feed range.
func (s *Feeds) FeedEnds(ctx context.Context) (FeedEnds, error) {
	ends := FeedEnds{}
	for _, container := range []string{schema.Users, schema.Posts} {
		ranges, err := s.FeedRanges(ctx, container)
		if err != nil {
			return nil, err
		}
		for _, r := range ranges {
			if ends[Feed{container, r}], err = s.FeedEnd(ctx, container, r); err != nil {
				return nil, err
			}
		}
	}
	return ends, nil
}

// Behind counts the feeds whose ends the projectors' checkpoints have not passed yet. Of the others, everything that had
// changed when ends was read is projected. Error: ErrContainerReplaced where a checkpoint is of an earlier container.
func (s *Feeds) Behind(ctx context.Context, ends FeedEnds) (int, error) {
	leases, err := s.Leases(ctx)
	if err != nil {
		return 0, err
	}
	n := 0
	for f, end := range ends {
		passed, err := s.Passed(ctx, f, end, leases)
		if err != nil {
			return 0, err
		}
		if !passed {
			n++
		}
	}
	return n, nil
}

// Passed tells whether a feed has a lease, and what was in it up to end lies before the checkpoint. Where a feed range was
// split, the numbers of one part say nothing of the other: the checkpoint must be at the very end.
func (s *Feeds) Passed(ctx context.Context, f Feed, end int64, leases []Lease) (bool, error) {
	leased := false
	for _, lease := range leases {
		if lease.Container != f.Container || !lease.Range.Overlaps(f.FeedRange) {
			continue
		}
		if lease.Range != f.FeedRange {
			end = math.MaxInt64
		}
		behind, err := s.IsBehind(ctx, f.Container, lease.Range, lease.Continuation, end)
		if err != nil || behind {
			return false, err
		}
		leased = true
	}
	return leased, nil
}
