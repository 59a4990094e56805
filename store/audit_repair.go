package store

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"cosmosblog/internal/blog"
)

// maxMends is how often a subject is mended and looked at: the first time as the projector would, then also what the
// revisions forbid the projector to write. Another time what was written meanwhile may have come between.
const maxMends = 4

// Drifts looks once at a partition of posts, users or usernames, or at the feed, and gives what differs from its source
// there. Of a post that is also its copy in users, of a user also who has the username. What a projector is yet to do, or does at
// that moment, is among it.
func (s *Store) Drifts(ctx context.Context, container, partition string) ([]Drift, error) {
	return look{Store: s}.at(WithSession(ctx), subject{container, partition})
}

// Mend mends what Drifts gave of the same partition, and gives what of it differs still. It may be run at any time, and
// broken off and begun again. Error: the database failed.
func (s *Store) Mend(ctx context.Context, container, partition string, drifts []Drift) (left []Drift, err error) {
	ctx = WithSession(ctx)
	asked := make(map[place]bool, len(drifts))
	touched := make(map[place]azcore.ETag, len(drifts))
	for _, d := range drifts {
		asked[d.place()], touched[d.itemPlace()] = true, d.item.ETag
	}
	of := subject{container, partition}
	for try := 0; try < maxMends && len(drifts) > 0; try++ {
		if err := (mender{s, touched, try > 0}).mend(ctx, of, drifts); err != nil && !ConcernsItem(err) {
			return drifts, err
		}
		now, err := look{Store: s}.at(ctx, of)
		if err != nil {
			return drifts, err
		}
		// A copy that was written over may be behind a post that changed meanwhile, in fields that were right before.
		drifts = slices.DeleteFunc(now, func(d Drift) bool {
			_, ok := touched[d.itemPlace()]
			return !ok
		})
	}
	return slices.DeleteFunc(drifts, func(d Drift) bool { return !asked[d.place()] }), nil
}

// mender mends drifts. Every write of its is conditional on what was read just before it: the revision of the source where
// that is enough, otherwise the etag of what is written over.
type mender struct {
	*Store
	found map[place]azcore.ETag // the items that drift, as they were found; empty where there is none
	force bool                  // the guard by revisions did not let the copies be mended
}

func (m mender) mend(ctx context.Context, s subject, drifts []Drift) error {
	switch s.container {
	case postsContainer:
		return m.mendPost(ctx, s.partition, drifts)
	case usersContainer:
		return m.mendUser(ctx, s.partition, drifts)
	case usernamesContainer:
		return m.reclaim(ctx, s.partition)
	}
	return m.mendFeed(ctx, drifts)
}

// RepairPost writes the copies of a post, and what follows from its deletion, as the projector does. It changes nothing
// where that is done. A post that is not there, or cannot be read, is no error.
func (s *Store) RepairPost(ctx context.Context, postID string) error {
	change, err := s.Change(ctx, postsContainer, postID, postID)
	if isNotFound(err) || err == nil && change.Post == nil {
		return nil
	}
	if err != nil {
		return err
	}
	if change.Expires {
		err = s.buryCopies(ctx, change.Post)
	} else {
		err = s.projectCopies(ctx, change.Post)
	}
	if err != nil || !change.Deleted {
		return err
	}
	return s.PurgePost(ctx, postID)
}

func (s *Store) projectCopies(ctx context.Context, post *blog.Post) error {
	if _, err := s.ProjectUserPost(ctx, post); err != nil {
		return err
	}
	_, err := s.ProjectFeedPost(ctx, post)
	return err
}

// buryCopies makes tombstones of the copies of a post that was to have none any more, where there are such.
func (s *Store) buryCopies(ctx context.Context, post *blog.Post) error {
	for _, v := range []view{{s.users, post.Author.ID}, s.feedView()} {
		_, err := v.project(ctx, post, func(ctx context.Context, post *blog.Post, current copyState) (bool, error) {
			switch {
			case !current.isThere():
				return false, nil
			case v.container == s.users:
				return v.writeUserCopy(ctx, post, current)
			}
			return v.write(ctx, post, current)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// rewriteCopy writes a copy over the one that was found to drift. That is read before the post, and must be as it was found: where
// the projector writes a later state of the post in between, this write fails; and where it did so before, the post may be read
// from a replica that does not know that state yet.
func (m mender) rewriteCopy(ctx context.Context, v view, d Drift, write copyWriter) error {
	return whileOutrun(func() error {
		current, _, err := read[anyCopyState](ctx, v.container, v.partition, d.ID)
		if isNotFound(err) {
			current, err = new(anyCopyState), nil
		}
		if err != nil || current.ETag != m.found[d.itemPlace()] {
			return err
		}
		change, err := m.Change(ctx, postsContainer, d.ID, d.ID)
		if err != nil || change.Post == nil {
			return err
		}
		_, err = write(ctx, change.Post, current.copyState)
		return err
	})
}

// anyCopyState is what can be read of what a copy tells of itself: its etag, at least.
type anyCopyState struct{ copyState }

// UnmarshalJSON reads what it can.
func (c *anyCopyState) UnmarshalJSON(text []byte) error {
	_ = json.Unmarshal(text, &c.copyState) // goes on behind a property that it cannot read
	return nil
}

// setProperty sets one property of an item, or removes it where value is nil, where the item is as it was read.
func setProperty(ctx context.Context, c *azcosmos.ContainerClient, partition, id, path string, value any, etag azcore.ETag) error {
	var changes azcosmos.PatchOperations
	if value == nil {
		changes.AppendRemove(path)
	} else {
		changes.AppendSet(path, value)
	}
	_, err := patch(ctx, c, partition, id, changes, etag)
	return err
}

// removeItem deletes an item where it is as it was read.
func (d Drift) removeItem(ctx context.Context, c *azcosmos.ContainerClient) error {
	err := remove(ctx, c, d.Partition, d.ID, d.item.ETag)
	if isOutrun(err) {
		return nil // the next look tells what it is now
	}
	return err
}

// writeUserCopy is how ProjectUserPost writes: with the user's count where that changes.
func (v view) writeUserCopy(ctx context.Context, post *blog.Post, current copyState) (bool, error) {
	if more := countedCopies(post, current); more != 0 {
		return v.writeCounting(ctx, post, current, more)
	}
	return v.write(ctx, post, current)
}
