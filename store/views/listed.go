package views

import (
	"context"
	"fmt"
	"slices"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"cosmosblog/blog"
	"cosmosblog/store/cosmos"
)

// listedState is what the copy of a post in users says about the lists of the post: those of its
// month and its tags. Entries of lists change only if the post is created, edited or deleted, or if
// its author is renamed. Such a change is projected in three steps, each of which may be
// interrupted:
//
//  1. The copy is written. It is Unlisted, and its FormerLists are those that had the post in
//     earlier states and no longer have it.
//  2. The entries in the lists of the month and the tags are written, and those in the FormerLists
//     become tombstones.
//  3. The copy is marked as listed: Unlisted and FormerLists are removed.
//
// Every list that may have an entry of the post is therefore on the copy, because a list comes to
// the copy before its entry is written, and leaves after its entry is a tombstone. A worker that is
// late writes nothing over a newer entry or tombstone.
//
// Likes and comments patch the copy on condition that it is listed. They send nothing to lists.
type listedState struct {
	listing

	Head struct {
		Tags []string `json:"tags"`
	} `json:"head"`
	UserUsername   string        `json:"userUsername,omitempty"`
	AuthorRevision int64         `json:"authorRevision,omitempty"`
	CreationDate   blog.DateTime `json:"creationDate,omitempty"`
	UpdatedDate    blog.DateTime `json:"updatedDate,omitempty"`
	Version        int           `json:"version,omitempty"`
}

// listing is what a copy in users has besides the copy in feed.
type listing struct {
	Unlisted    bool        `json:"unlisted,omitempty"`
	FormerLists []blog.List `json:"formerLists,omitempty"`
}

// listingOf returns the listing of the copy of a post that replaces a copy in the given state.
func listingOf(post *blog.Post, current CopyState) listing {
	if current.exists() && !current.Unlisted && hasSameEntries(post, current) {
		return listing{}
	}
	l := listing{Unlisted: true}
	former := append(slices.Clip(current.FormerLists), current.lists()...)
	own := post.Lists()
	if post.Deleted { // the tombstone has no tags
		former, own = append(former, own...), nil
	}
	for _, list := range former {
		if !slices.Contains(own, list) && !slices.Contains(l.FormerLists, list) {
			l.FormerLists = append(l.FormerLists, list)
		}
	}
	return l
}

// lists returns the lists of the post in the state of the copy. A tombstone has no tags.
func (s listedState) lists() []blog.List {
	post := blog.Post{CreationDate: s.CreationDate, PostHead: blog.PostHead{Tags: s.Head.Tags}}
	return post.Lists()
}

// hasSameEntries reports whether a post has the same entries in lists as it had when its copy was
// in a given state.
func hasSameEntries(post *blog.Post, current CopyState) bool {
	if post.Deleted || current.Deleted {
		return post.Deleted && current.Deleted
	}
	return post.Version == current.Version &&
		post.CreationDate == current.CreationDate &&
		post.UpdatedDate == current.UpdatedDate &&
		slices.Equal(post.Tags, current.Head.Tags) &&
		post.Author.Revision == current.AuthorRevision && post.Author.Username == current.UserUsername
}

// unlisted is a post with the listing of its copy.
type unlisted struct {
	*blog.Post
	listing
}

// follow writes the entries of those posts whose copies are unlisted, and marks the copies. It
// writes the entries of one list together.
func (u userPosts) follow(ctx context.Context, posts []projected) error {
	var left []unlisted
	for _, p := range posts {
		l := listing{p.current.Unlisted && p.current.Revision == p.post.Revision, p.current.FormerLists}
		if p.written {
			l = listingOf(p.post, p.current)
		}
		if l.Unlisted {
			left = append(left, unlisted{p.post, l})
		}
	}
	isResumed := slices.ContainsFunc(posts, func(p projected) bool { return p.current.Unlisted })
	lists, posted := entriesOf(left)
	for _, list := range lists {
		if err := u.projectList(ctx, list, posted[list], isResumed); err != nil {
			return err
		}
	}
	return u.markListed(ctx, left)
}

// entriesOf returns the posts to project into each list, and the lists in order.
func entriesOf(posts []unlisted) (lists []blog.List, posted map[blog.List][]*blog.Post) {
	posted = map[blog.List][]*blog.Post{}
	add := func(list blog.List, post *blog.Post) {
		if posted[list] == nil {
			lists = append(lists, list)
		}
		posted[list] = append(posted[list], post)
	}
	for _, p := range posts {
		own := p.Lists()
		for _, list := range own {
			add(list, p.Post)
		}
		for _, list := range p.FormerLists {
			if !slices.Contains(own, list) { // those of a deleted post are among both
				add(list, p.Post)
			}
		}
	}
	return lists, posted
}

// markListed marks the copies of posts as listed, except those that later states of the posts have
// replaced.
func (u userPosts) markListed(ctx context.Context, posts []unlisted) error {
	if len(posts) > 1 {
		batch := u.users.NewTransactionalBatch(azcosmos.NewPartitionKeyString(u.userID))
		for _, post := range posts {
			condition, changes := post.mark()
			changes.SetCondition("from c where " + condition)
			batch.PatchItem(post.ID, changes, nil)
		}
		err := cosmos.ExecuteBatch(ctx, u.users, batch)
		if !cosmos.IsRaceLost(err) {
			return err
		}
	}
	for _, post := range posts {
		condition, changes := post.mark()
		err := cosmos.PatchIf(ctx, u.users, u.userID, post.ID, condition, changes)
		if err != nil && !cosmos.IsRaceLost(err) {
			return err
		}
	}
	return nil
}

// mark returns the change that marks the copy of a post as listed, and its condition.
func (p unlisted) mark() (condition string, changes azcosmos.PatchOperations) {
	changes.AppendRemove("/unlisted")
	if len(p.FormerLists) > 0 {
		changes.AppendRemove("/formerLists")
	}
	if p.Deleted {
		changes.AppendSet("/ttl", int(DeletedTTL.Seconds()))
	}
	return fmt.Sprintf("c.unlisted = true and c.revision = %d", p.Revision), changes
}
