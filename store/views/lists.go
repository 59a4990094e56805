package views

import (
	"context"
	"slices"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"cosmosblog/blog"
	"cosmosblog/store/cosmos"
	"cosmosblog/store/schema"
)

// ListView is the view of one list: the entries of the posts of a month, or of those with a tag. In
// the transaction that creates an entry, or turns it into a tombstone, it also updates the list's
// counter. The entry of a post that is not in the list becomes a tombstone.
func (v *Views) ListView(list blog.List) PostView {
	return PostView{schema.Lists, string(list), listEntries{v, list}, v.lists}
}

// ProjectList projects posts into a list, as PostView.Project does for each, and updates the weight
// of the list.
func (v *Views) ProjectList(ctx context.Context, list blog.List, posts []*blog.Post) error {
	return v.projectList(ctx, list, posts, true)
}

// projectList is ProjectList. isResumed reports whether a call that was interrupted may have
// written entries, or counted them, without updating the weight.
func (v *Views) projectList(ctx context.Context, list blog.List, posts []*blog.Post, isResumed bool) error {
	ctx = cosmos.InSession(ctx)
	view := v.ListView(list)
	var written map[string]bool
	if len(posts) > 1 {
		var err error
		if written, err = view.ProjectGroup(ctx, posts); err != nil {
			return err
		}
	}
	needsWeight := isResumed
	for _, post := range posts {
		wrote, ok := written[post.ID]
		if !ok {
			var err error
			if wrote, err = view.Project(ctx, post); err != nil {
				return err
			}
		}
		needsWeight = needsWeight || !wrote // somebody else wrote it, and may have been interrupted
	}
	if !needsWeight {
		return nil
	}
	return listEntries{v, list}.updateWeight(ctx)
}

// listEntries are the entries of a list.
type listEntries struct {
	*Views
	list blog.List
}

// admission admits all posts, and counts them.
func (e listEntries) admission(context.Context) (admission, error) {
	return admission{
		admits:  func(*blog.Post) bool { return true },
		refuses: func(*blog.Post) bool { return false },
		room:    maxGroup,
		account: func(batch *azcosmos.TransactionalBatch, created int) {
			batch.PatchItem(schema.CounterID, addToCounter(int64(created)), nil)
		},
		accounted: e.counted,
	}, nil
}

// begin creates the counter if necessary.
func (e listEntries) begin(ctx context.Context) (end func(), err error) {
	_, err = e.readCounter(ctx)
	if cosmos.IsNotFound(err) {
		err = e.createCounter(ctx)
	}
	return func() {}, err
}

func (e listEntries) seen(post *blog.Post) *blog.Post {
	if post.Deleted || slices.Contains(post.Lists(), e.list) {
		return post
	}
	removed := *post
	removed.Deleted = true
	return &removed
}

func (e listEntries) copyOf(post *blog.Post, _ CopyState) any {
	if !post.Deleted {
		return schema.NewEntryItem(e.list, post)
	}
	return struct {
		schema.TombstoneItem
		List blog.List `json:"list"`
	}{newTombstone(post, schema.TypeTombstone), e.list}
}

// patch sets all properties that change with edits and renames. An edit never removes updatedDate
// or changes the date of creation, but the entry may be of a state that the database has lost.
func (e listEntries) patch(post *blog.Post) (condition string, changes azcosmos.PatchOperations) {
	changes.AppendSet("/userUsername", post.Author.Username) // at most ten
	changes.AppendSet("/authorRevision", post.Author.Revision)
	changes.AppendSet("/head", post.PostHead)
	changes.AppendSet("/version", post.Version)
	changes.AppendSet("/revision", post.Revision)
	condition = isEarlier(post) + hasDate(post)
	if post.UpdatedDate == "" {
		return condition + " and not is_defined(c.updatedDate)", changes
	}
	changes.AppendSet("/updatedDate", string(post.UpdatedDate))
	return condition, changes
}

func (listEntries) follow(context.Context, []projected) error { return nil }

// write writes the entry, and the counter and the weight of the list if they change.
func (e listEntries) write(ctx context.Context, post *blog.Post, current CopyState) error {
	item, added := e.copyOf(post, current), addedCopies(post, current)
	if added == 0 {
		return writeCopy(ctx, e.lists, string(e.list), post.ID, item, current)
	}
	write := func() ([]byte, error) {
		return writeCounted(ctx, e.lists, string(e.list), post.ID, item, current, schema.CounterID, addToCounter(added))
	}
	counter, err := write()
	if err == errNoCounter {
		if err = e.createCounter(ctx); err == nil {
			counter, err = write()
		}
	}
	if err != nil {
		return err
	}
	return e.counted(ctx, counter, int(added))
}
