package audit

import (
	"context"
	"slices"

	"cosmosblog/blog"
	"cosmosblog/store/cosmos"
	"cosmosblog/store/schema"
	"cosmosblog/store/views"
)

// postPartition holds the items of one partition of posts.
type postPartition struct {
	items         []*auditedItem
	post          *auditedItem
	content       *auditedItem            // the content item
	responses     []*auditedItem          // live comments and likes
	hasUnreadable bool                    // among the items
	users         map[string]*auditedItem // the authors of the items
}

// comparePost compares one partition of posts, the post's copy in users, and its entries in lists.
// It compares the properties that follow from others, and looks for the items that a deletion
// should have removed.
func (c comparer) comparePost(ctx context.Context, postID string) ([]Drift, error) {
	p, err := c.readPostPartition(ctx, postID)
	if err != nil {
		return nil, err
	}
	var drifts []Drift
	for _, item := range p.items {
		drifts = append(drifts, p.itemDrifts(item)...)
	}
	if !p.post.exists() {
		return drifts, nil
	}
	if !p.post.Deleted {
		drifts = slices.Concat(drifts, p.countDrifts(), p.contentDrifts(), p.recentDrifts())
	}
	copies := []views.PostView{c.views.UserPostView(p.post.UserID)}
	c.known.add(p.post.UserID, postID)
	for _, list := range p.post.Post().Lists() {
		if !p.post.Deleted {
			c.known.add(string(list), postID)
		}
		if !p.post.isGone() { // the tags are gone; compareList finds what is left
			copies = append(copies, c.views.ListView(list))
		}
	}
	for _, view := range copies {
		copy, err := c.readItem(ctx, view.Container, view.Partition, postID)
		if err != nil {
			return nil, err
		}
		drifts = append(drifts, compareCopy(view, copy, p.post)...)
	}
	return drifts, nil
}

func (c comparer) readPostPartition(ctx context.Context, postID string) (p *postPartition, err error) {
	absent := func(id string) *auditedItem {
		return absentItem(schema.Posts, cosmos.Address{Partition: postID, ID: id})
	}
	p = &postPartition{post: absent(postID), content: absent(schema.ContentID)}
	p.items, err = c.readPartition(ctx, schema.Posts, postID, partitionQuery)
	var authors []string
	for _, item := range p.items {
		switch {
		case item.unreadable != nil:
			p.hasUnreadable = true
			continue
		case item.Type == schema.TypePost:
			p.post = item
		case item.Type == schema.TypeContent:
			p.content = item
			continue
		case item.isTombstone():
			continue
		default:
			p.responses = append(p.responses, item)
		}
		authors = append(authors, item.UserID)
	}
	if err == nil {
		p.users, err = c.readUsers(ctx, authors)
	}
	return p, err
}

// itemDrifts returns the drifts of a single item. Of an item of a live post, it returns the first.
func (p *postPartition) itemDrifts(item *auditedItem) []Drift {
	switch {
	case item.unreadable != nil:
		return []Drift{item.unreadableDrift()}
	case item.isTombstone(): // it expires on its own, whatever the state of the post is
		return item.expiryDrifts()
	case !p.post.exists() && p.hasUnreadable: // that may be the post
		return nil
	case !p.post.exists():
		return []Drift{item.drift(DriftOrphan, p.post)}
	case p.post.isGone() && item != p.post:
		return []Drift{item.drift(DriftUnpurged)}
	case p.post.Deleted && item != p.post || item == p.content:
		return nil
	}
	drifts := item.expiryDrifts()
	if item.Deleted || len(drifts) > 0 {
		return drifts
	}
	if drifts = item.propertyDrifts(DriftOrder, "sortKey", schema.SortKey(item.CreationDate, item.ID)); len(drifts) > 0 {
		return drifts
	}
	if excerpt, ok := item.commentExcerpt(); ok {
		if drifts = item.propertyDrifts(DriftExcerpt, "excerpt", excerpt); len(drifts) > 0 {
			return drifts
		}
	}
	user := p.users[item.UserID]
	switch {
	case !user.exists():
		return []Drift{item.drift(DriftAuthor, user).withValues("userId", item.UserID, nil)}
	case user.isGone():
		return []Drift{item.drift(DriftLeft, user).withValues("userId", item.UserID, nil)}
	case user.unreadable != nil, user.Deleted, user.Username == "": // deleted, or created, by somebody else
		return nil
	}
	if drifts = item.propertyDrifts(DriftName, "userUsername", user.Username, user); len(drifts) > 0 {
		return drifts
	}
	return item.propertyDrifts(DriftName, "authorRevision", user.Revision, user)
}

// contentDrifts returns the drift of a live post whose content is not in exactly one place: on the
// post, or in the content item of the version that the post names.
func (p *postPartition) contentDrifts() []Drift {
	isInline, version := p.post.ContentVersion == 0, p.content.Version
	switch {
	case p.post.HasContent == isInline && version == p.post.ContentVersion:
		return nil
	case p.content.exists() && p.post.HasContent && isInline: // surplus
		return []Drift{p.content.drift(DriftContent, p.post).withValues("version", version, nil)}
	}
	return []Drift{p.post.drift(DriftContent).withValues("contentVersion", p.post.ContentVersion, version)}
}

// recentDrifts compares the recent comments of a live post with its newest comments. During a
// sweep, the post has the new username before the comments.
func (p *postPartition) recentDrifts() []Drift {
	if p.hasUnreadable { // which may be a newest comment
		return nil
	}
	var comments []schema.RecentComment
	var last blog.DateTime // of all comments that are left, deleted or not
	for _, item := range p.items {
		if item.isComment() {
			comments = append(comments, item.recent())
		}
		if item.isComment() || item.isTombstone() {
			last = max(last, item.CreationDate)
		}
	}
	is, should := p.post.RecentComments, schema.NewestComments(comments)
	for n := range min(len(is), len(should)) {
		user := p.users[is[n].UserID]
		isSweeping := is[n].AuthorRevision > should[n].AuthorRevision
		if isSweeping && (user == nil || !user.exists() || is[n].AuthorRevision <= user.Revision) {
			should[n].UserUsername, should[n].AuthorRevision = is[n].UserUsername, is[n].AuthorRevision
		}
	}
	drifts := p.post.propertyDrifts(DriftRecent, "recentComments", should)
	isDamaged := p.post.LastCommentDate == "" && p.post.properties["lastCommentDate"] != nil
	switch {
	case last == "" && isDamaged:
		drifts = append(drifts, p.post.propertyDrifts(DriftRecent, "lastCommentDate", nil)...)
	case isDamaged || p.post.LastCommentDate < last:
		drifts = append(drifts, p.post.propertyDrifts(DriftRecent, "lastCommentDate", last)...)
	}
	return drifts
}

// countDrifts compares the counters of a live post with its comments and likes.
func (p *postPartition) countDrifts() []Drift {
	if p.hasUnreadable { // which may be one that counts
		return nil
	}
	comments := 0
	for _, item := range p.responses {
		if item.isComment() {
			comments++
		}
	}
	return append(p.post.propertyDrifts(DriftCount, "commentCount", comments),
		p.post.propertyDrifts(DriftCount, "likeCount", len(p.responses)-comments)...)
}
