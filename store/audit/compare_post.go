package audit

import (
	"context"
	"encoding/json"
	"slices"

	"cosmosblog/blog"
	"cosmosblog/store/schema"
)

// postPartition holds the items of one partition of posts.
type postPartition struct {
	postID     string
	post       *auditedItem // nil if there is none
	content    *auditedItem // the content item; nil if there is none
	responses  []*auditedItem
	tombstones []*auditedItem // deleted comments
	unreadable []*auditedItem
	users      map[string]*auditedUser // the authors of the items
}

// comparePost compares one partition of posts, the post's copy in users, and its entries in lists.
// It compares the post's counters, all usernames, the items that a deletion should have removed,
// and each field of the copy and the entries.
func (c comparer) comparePost(ctx context.Context, postID string) ([]Drift, error) {
	p, err := c.readPostPartition(ctx, postID)
	if err != nil {
		return nil, err
	}
	drifts, err := c.dropPending(ctx, p.itemDrifts())
	if err == nil {
		drifts, err = c.clearStateOfChanged(ctx, drifts, p)
	}
	if err != nil || p.post == nil {
		return drifts, err
	}
	c.know(p.post)
	postDrifts := slices.Concat(p.countDrifts(), p.contentDrifts(), p.recentDrifts())
	ofCopy, err := c.compareUserCopy(ctx, p.post)
	if err != nil {
		return nil, err
	}
	ofEntries, err := c.compareEntries(ctx, p.post)
	if err != nil {
		return nil, err
	}
	postDrifts = slices.Concat(postDrifts, ofCopy, ofEntries)
	postDrifts, err = c.clearStateIfChanged(ctx, postDrifts, c.posts, p.post)
	return append(drifts, postDrifts...), err
}

func (c comparer) readPostPartition(ctx context.Context, postID string) (*postPartition, error) {
	items, err := c.readPartition(ctx, c.posts, postID, partitionQuery)
	if err != nil {
		return nil, err
	}
	p := &postPartition{postID: postID}
	var authors []string
	for _, item := range items {
		item.checkSource()
		switch {
		case item.unreadable != nil:
			p.unreadable = append(p.unreadable, item)
			continue
		case item.Type == schema.TypePost:
			p.post = item
		case item.Type == schema.TypeContent:
			p.content = item
			continue
		case item.isResponse():
			p.responses = append(p.responses, item)
		case item.isTombstone():
			p.tombstones = append(p.tombstones, item)
			continue
		}
		authors = append(authors, item.UserID)
	}
	p.users, err = c.readUsers(ctx, authors)
	return p, err
}

// itemDrifts returns the drifts of single items. The counters are not among them: they are
// comparable only if the post did not change while its partition was read.
func (p *postPartition) itemDrifts() []Drift {
	var drifts []Drift
	for _, item := range p.unreadable {
		if d, ok := item.unreadableDrift(schema.Posts, p.postID); ok {
			drifts = append(drifts, d)
		}
	}
	for _, item := range p.tombstones { // they expire on their own, whatever the state of the post is
		if d, ok := item.expiryDrift(schema.Posts, p.postID); ok {
			drifts = append(drifts, d)
		}
	}
	switch {
	case p.post == nil && len(p.unreadable) > 0: // the unreadable item may be the post
	case p.post == nil:
		drifts = append(drifts, p.responseDrifts(DriftOrphan)...)
	case p.post.Deleted && p.post.TTL > 0:
		drifts = append(drifts, p.responseDrifts(DriftUnpurged)...)
	case p.post.Deleted:
		if d, ok := p.post.expiryDrift(schema.Posts, p.postID); ok {
			drifts = append(drifts, d)
		}
	default:
		for _, item := range append(p.responses, p.post) {
			drifts = append(drifts, p.driftsOf(item)...)
		}
	}
	return drifts
}

// responseDrifts returns a drift of every comment and like, and of the content item.
func (p *postPartition) responseDrifts(kind DriftKind) []Drift {
	var drifts []Drift
	items := p.responses
	if p.content != nil {
		items = append(slices.Clip(items), p.content)
	}
	for _, item := range items {
		drifts = append(drifts, item.drift(kind, schema.Posts, p.postID))
	}
	return drifts
}

// driftsOf returns the drifts of one item of a live post.
func (p *postPartition) driftsOf(item *auditedItem) []Drift {
	if d, ok := item.expiryDrift(schema.Posts, p.postID); ok {
		return []Drift{d}
	}
	if item.Deleted {
		return nil
	}
	if should := schema.SortKey(item.CreationDate, item.ID); item.SortKey != should || !item.has("sortKey") {
		d := item.drift(DriftOrder, schema.Posts, p.postID)
		return []Drift{d.withValues("sortKey", item.text("sortKey"), should)}
	}
	if should, ok := item.commentExcerpt(); ok && item.Excerpt != should || item.isDamaged("excerpt") {
		d := item.drift(DriftExcerpt, schema.Posts, p.postID)
		return []Drift{d.withValues("excerpt", item.Excerpt, should)}
	}
	d := item.drift(DriftName, schema.Posts, p.postID)
	user := p.users[item.UserID]
	switch {
	case user == nil:
		d.Kind = DriftAuthor
		return []Drift{d.withValues("userId", item.UserID, "")}
	case user.Gone():
		d.Kind = DriftLeft
		return []Drift{d.withValues("userId", item.UserID, "").withSource(user.Revision)}
	case user.unreadable != nil:
	case user.Deleted: // the items of the user are being deleted
	case user.Username == "": // the user is being created
	case item.UserUsername != user.Username || !item.has("userUsername"):
		d = d.withValues("userUsername", item.text("userUsername"), user.Username)
		d.userRevision = user.Revision
		return []Drift{d.withSource(user.Revision)}
	case item.AuthorRevision != user.Revision || !item.has("authorRevision"):
		d = d.withValues("authorRevision", item.text("authorRevision"), user.Revision)
		d.userRevision = user.Revision
		return []Drift{d.withSource(user.Revision)}
	}
	return nil
}

// contentDrifts returns the drift of a live post whose content is not in exactly one place: on the
// post, or in the content item of the version that the post names.
func (p *postPartition) contentDrifts() []Drift {
	version := 0
	if p.content != nil {
		version = p.content.Version
	}
	switch {
	case p.post.Deleted || p.post.HasContent == (p.post.ContentVersion == 0) && version == p.post.ContentVersion:
		return nil
	case p.isContentSurplus():
		d := p.content.drift(DriftContent, schema.Posts, p.postID)
		return []Drift{d.withValues("version", version, "").withSource(p.post.ETag)}
	}
	d := p.post.drift(DriftContent, schema.Posts, p.postID)
	return []Drift{d.withValues("contentVersion", p.post.ContentVersion, version)}
}

// isContentSurplus reports whether there is a content item although the post has its content.
func (p *postPartition) isContentSurplus() bool {
	return p.content != nil && p.post.HasContent && p.post.ContentVersion == 0
}

// recentDrifts compares the recent comments of a live post with its newest comments. During a
// sweep, the post has the new username before the comments.
func (p *postPartition) recentDrifts() []Drift {
	if p.post.Deleted || len(p.unreadable) > 0 { // a newest comment may be unreadable
		return nil
	}
	var comments []schema.RecentComment
	for _, item := range p.responses {
		if item.isComment() {
			comments = append(comments, item.recent())
		}
	}
	is, should := p.post.RecentComments, schema.NewestComments(comments)
	for n := range min(len(is), len(should)) {
		user := p.users[is[n].UserID]
		isSweeping := is[n].AuthorRevision > should[n].AuthorRevision
		if isSweeping && (user == nil || is[n].AuthorRevision <= user.Revision) {
			should[n].UserUsername, should[n].AuthorRevision = is[n].UserUsername, is[n].AuthorRevision
		}
	}
	d := p.post.drift(DriftRecent, schema.Posts, p.postID)
	var drifts []Drift
	if !slices.Equal(is, should) || !p.post.has("recentComments") {
		drifts = append(drifts, d.withValues("recentComments", p.post.text("recentComments"), recentText(should)))
	}
	if last := p.lastComment(); p.post.LastCommentDate < last || p.post.isDamaged("lastCommentDate") {
		drifts = append(drifts, d.withValues("lastCommentDate", p.post.LastCommentDate, last))
	}
	return drifts
}

// recentText returns recent comments as JSON, which can be compared.
func recentText(recent []schema.RecentComment) string {
	if len(recent) == 0 {
		return "[]"
	}
	text, err := json.Marshal(recent)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// lastComment returns the date of the newest comment that is left, deleted or not.
func (p *postPartition) lastComment() (last blog.DateTime) {
	for _, item := range append(slices.Clip(p.responses), p.tombstones...) {
		if !item.isLike() {
			last = max(last, item.CreationDate)
		}
	}
	return last
}

// countDrifts compares the counters of a live post with its comments and likes.
func (p *postPartition) countDrifts() []Drift {
	if p.post.Deleted || len(p.unreadable) > 0 { // which may be one that counts
		return nil
	}
	comments, likes := countResponses(p.responses)
	var drifts []Drift
	compare := func(field string, is, should int) {
		if is != should || !p.post.has(field) {
			d := p.post.drift(DriftCount, schema.Posts, p.postID)
			drifts = append(drifts, d.withValues(field, p.post.text(field), should))
		}
	}
	compare("commentCount", p.post.CommentCount, comments)
	compare("likeCount", p.post.LikeCount, likes)
	return drifts
}

// countResponses counts the live comments and the likes among the items of a partition.
func countResponses(items []*auditedItem) (comments, likes int) {
	for _, item := range items {
		switch {
		case item.isLike():
			likes++
		case item.isComment():
			comments++
		}
	}
	return comments, likes
}

// compareUserCopy compares the copy of a post in its author's partition of users.
func (c comparer) compareUserCopy(ctx context.Context, post *auditedItem) ([]Drift, error) {
	copy, err := c.readItem(ctx, c.users, post.UserID, post.ID)
	switch {
	case err != nil:
		return nil, err
	case copy != nil && copy.unreadable != nil:
		d, _ := copy.unreadableDrift(schema.Users, post.UserID)
		return []Drift{d}, nil
	case copy != nil:
		return copyDrifts(c.views.UserPostView(post.UserID), copy, post), nil
	case !post.Deleted:
		return []Drift{missing(schema.Users, post.UserID, post)}, nil
	}
	return nil, nil
}
