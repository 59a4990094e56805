package store

import (
	"context"
	"fmt"
	"slices"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"cosmosblog/blog"
	"cosmosblog/store/cosmos"
	"cosmosblog/store/schema"
)

// CreatePost creates a post (C2) and returns it: one execution of createPost. A repeated
// idempotency key returns the post that was created first. Errors: BAD_USER_INPUT;
// IDEMPOTENCY_KEY_REUSED if the key was used with other input; NOT_FOUND if the key's post was
// deleted; THROTTLED.
func (s *Store) CreatePost(ctx context.Context, author *blog.User, in blog.CreatePostInput) (*blog.Post, error) {
	if err := blog.Check(in); err != nil {
		return nil, err
	}
	ctx, deadline, cancel := s.withDeadlineOf(ctx, author)
	defer cancel()
	id := s.ids.NewPostID(author.ID, valueOf(in.IdempotencyKey))
	item, content := schema.NewPostItem(&blog.Post{
		ID: id, Author: author, PostHead: in.Head(), Content: in.Content, CreationDate: s.clock.Next(),
	})
	item.InputHash = inputHash(in.IdempotencyKey, in)
	a, repeated, err := s.execute(ctx, schema.CreatePost, id, createPostArgument{item, content, deadline})
	if err != nil {
		return nil, err
	}
	if err := createPostRejections.of(a); err != nil {
		return nil, err
	}
	if !a.Duplicate || repeated {
		causeProjection(ctx, priceOfNewPost, len(in.Tags))
	}
	if a.Duplicate {
		return a.Post.Post(), nil
	}
	return with(item.Post(), in.Content), nil
}

// UpdatePost edits a post of the author (C2) and returns it, without its content if that is long
// and stays. It writes nothing if title, content and tags stay the same. Errors: BAD_USER_INPUT;
// NOT_FOUND; FORBIDDEN if another user wrote the post (checked before the version); CONFLICT if
// change.Version is given and is no longer the post's version; TRY_AGAIN if other edits won every
// race; THROTTLED.
//
// The write is conditional only on the version. A concurrent like or comment does not make it
// fail. If the outcome of a write is unknown, the post's latest edits tell whether it was done,
// also after later edits.
func (s *Store) UpdatePost(ctx context.Context, authorID string, in blog.UpdatePostInput) (*blog.Post, error) {
	if err := blog.Check(in); err != nil {
		return nil, err
	}
	ctx, edit, tries := cosmos.InSession(ctx), s.ids.NewEditID(), s.newTries()
	for {
		post, err := s.tryEdit(ctx, tries, authorID, in.ID.ID, in.PostChange, edit)
		if err == nil {
			return post, nil
		}
		if err := tries.next(ctx, err); err != nil {
			return nil, err
		}
	}
}

func (s *Store) tryEdit(
	ctx context.Context, tries *tries, authorID, postID string, change blog.PostChange, edit string,
) (*blog.Post, error) {
	item, err := s.ownPost(ctx, authorID, postID)
	switch {
	case err != nil:
		return nil, tries.decide(ctx, err, s.postAt(postID))
	case slices.Contains(item.Edits, edit): // by an earlier try of unknown outcome
		causeEdit(ctx, item.Tags, item.Post())
		return item.Post(), nil
	case change.Version != nil && *change.Version != item.Version:
		return nil, tries.decide(ctx, errVersion, s.postAt(postID))
	}
	if change.Content, err = s.newContent(ctx, item, change.Content); err != nil {
		return nil, err
	}
	if change.Content == nil && change.Head(item.PostHead).Equal(item.PostHead) {
		return item.Post(), tries.decide(ctx, nil, s.postAt(postID))
	}
	post, err := s.edit(ctx, item, change, edit)
	if err == nil {
		causeEdit(ctx, item.Tags, post)
	}
	return post, err
}

func (s *Store) postAt(id string) place { return place{s.posts, id, id} }

var errVersion = blog.Errorf(blog.Conflict, "The post was edited after you read it. Read it again, and repeat your edit with its new `version`.")

// ownPost reads a post that its author wants to change. Errors: NOT_FOUND, FORBIDDEN.
func (s *Store) ownPost(ctx context.Context, authorID, postID string) (*schema.PostItem, error) {
	item, _, err := cosmos.Read[schema.PostItem](ctx, s.posts, postID, postID)
	switch {
	case cosmos.IsNotFound(err):
		return nil, ErrNoPost
	case err != nil:
		return nil, err
	case !item.Visible():
		return nil, ErrNoPost
	case item.UserID != authorID:
		return nil, errNotAuthor
	}
	return item, nil
}

var errNotAuthor = blog.Errorf(blog.Forbidden, "You cannot change this post. Only its author can.")

// newContent returns the content of an edit, or nil if the post has it already. It reads a long
// content only if its size stays the same.
func (s *Store) newContent(ctx context.Context, item *schema.PostItem, content *string) (*string, error) {
	if content == nil || blog.SizeOf(*content) != item.ContentSize {
		return content, nil
	}
	before := item.Content
	if item.HasContentItem() {
		stored, _, err := cosmos.Read[schema.ContentItem](ctx, s.posts, item.PostID, schema.ContentID)
		switch {
		case cosmos.IsNotFound(err): // the edit writes it
			return content, nil
		case err != nil:
			return nil, err
		case stored.Version != item.ContentVersion:
			return nil, errEditLost
		}
		before = stored.Content
	}
	if *content == before {
		return nil, nil
	}
	return content, nil
}

// maxEdits is the number of edits that a post remembers by their ids: more than can be
// made while one request is retried.
const maxEdits = 8

// edit writes a change over the version that was read, and returns the edited post. If the content
// is or was long, the post and its content item change in one transaction. Error: CONFLICT if the
// post has another version or was deleted.
func (s *Store) edit(
	ctx context.Context, read *schema.PostItem, change blog.PostChange, edit string,
) (*blog.Post, error) {
	var changes azcosmos.PatchOperations // at most ten
	changes.AppendSet("/head", change.Head(read.PostHead))
	// The clocks of servers differ. The date of an edit must not be before that of the last one.
	changes.AppendSet("/updatedDate", string(max(s.clock.Next(), read.CreationDate, read.UpdatedDate)))
	// The patch is conditional on the version, which every edit increments. So the stored head and
	// list of edits equal those that were read.
	changes.AppendSet("/edits", append(read.Edits[max(0, len(read.Edits)-maxEdits+1):len(read.Edits):len(read.Edits)], edit))
	changes.AppendIncrement("/version", 1)
	changes.AppendIncrement("/revision", 1)
	isVersion := fmt.Sprintf("c.type = 'post' and c.deleted = false and c.version = %d", read.Version)
	if change.Content == nil {
		return editedPost(cosmos.PatchedIf[schema.PostItem](ctx, s.posts, read.PostID, read.ID, isVersion, changes))
	}
	return s.editContent(ctx, read, *change.Content, isVersion, changes)
}

// editContent is edit for a change of the content; changes has all others.
func (s *Store) editContent(
	ctx context.Context, read *schema.PostItem, content, isVersion string, changes azcosmos.PatchOperations,
) (*blog.Post, error) {
	isInline, wasInline := schema.IsInline(content), !read.HasContentItem()
	switch {
	case isInline:
		changes.AppendSet("/content", content)
	case wasInline && read.Content != "":
		changes.AppendRemove("/content")
	}
	if isInline && wasInline {
		return editedPost(cosmos.PatchedIf[schema.PostItem](ctx, s.posts, read.PostID, read.ID, isVersion, changes))
	}
	batch := s.posts.NewTransactionalBatch(azcosmos.NewPartitionKeyString(read.PostID))
	if isInline {
		changes.AppendRemove("/contentVersion")
		batch.DeleteItem(schema.ContentID, nil)
	} else {
		version := read.Version + 1
		changes.AppendSet("/contentVersion", version)
		text, err := cosmos.EncodeItem(schema.NewContentItem(read.PostID, content, version))
		if err != nil {
			return nil, cosmos.ToBlogError(err)
		}
		batch.UpsertItem(text, nil)
	}
	item, err := cosmos.PatchedInBatch[schema.PostItem](ctx, s.posts, batch, read.ID, isVersion, changes)
	switch {
	case cosmos.IsConflict(err) && isInline && s.isContentLost(ctx, read.PostID):
		return editedPost(cosmos.PatchedIf[schema.PostItem](ctx, s.posts, read.PostID, read.ID, isVersion, changes))
	case cosmos.IsConflict(err):
		return nil, errEditLost
	case err != nil:
		return nil, err
	}
	return with(item.Post(), content), nil
}

// isContentLost reports whether a post has no content item.
func (s *Store) isContentLost(ctx context.Context, postID string) bool {
	_, _, err := cosmos.Read[schema.ContentItem](ctx, s.posts, postID, schema.ContentID)
	return cosmos.IsNotFound(err)
}

// errEditLost is the CONFLICT of an edit whose post or content item has changed since it was read.
var errEditLost = &blog.Error{
	Code:    blog.Conflict,
	Message: "The post was not edited.",
	Err:     cosmos.NewDefiniteError("the post or its content item has changed"),
}

func editedPost(item *schema.PostItem, err error) (*blog.Post, error) {
	if err != nil {
		return nil, err
	}
	return item.Post(), nil
}

// DeletePost marks a post of the author as deleted, and returns it as it was. The projector
// deletes its copies, comments and likes. Errors: NOT_FOUND; FORBIDDEN if another user wrote the
// post; TRY_AGAIN if other requests won every race; THROTTLED.
func (s *Store) DeletePost(ctx context.Context, authorID, postID string) (*blog.Post, error) {
	ctx = cosmos.InSession(ctx)
	var unsure *schema.PostItem // possibly deleted by a try of unknown outcome
	tries := s.newTries()
	for {
		item, err := s.ownPost(ctx, authorID, postID)
		if err == nil {
			read := item
			item, err = s.MarkPostDeleted(ctx, read)
			if cosmos.OutcomeUnknown(ctx, err) {
				unsure = read
			}
		} else {
			err = tries.decide(ctx, err, s.postAt(postID))
		}
		switch {
		case err == nil:
			causePurge(ctx, item)
			item.Deleted = false
			item.Revision-- // as before the deletion
			return item.Post(), nil
		case err == ErrNoPost && unsure != nil:
			causePurge(ctx, unsure)
			return unsure.Post(), nil
		}
		if err := tries.next(ctx, err); err != nil {
			return nil, err
		}
	}
}

// MarkPostDeleted marks a post as deleted, and returns the deleted post. It uses only the ids of
// item, because other requests may have changed the rest since item was read. Error: CONFLICT if
// the post is already deleted.
func (s *Store) MarkPostDeleted(ctx context.Context, item *schema.PostItem) (*schema.PostItem, error) {
	var changes azcosmos.PatchOperations
	changes.AppendSet("/deleted", true)
	changes.AppendIncrement("/revision", 1)
	return cosmos.PatchedIf[schema.PostItem](ctx, s.posts, item.PostID, item.ID, "c.type = 'post' and c.deleted = false", changes)
}
