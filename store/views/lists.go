package views

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"cosmosblog/blog"
	"cosmosblog/store/cosmos"
	"cosmosblog/store/schema"
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

	Tags           []string      `json:"tags,omitempty"`
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
	post := blog.Post{CreationDate: s.CreationDate, Tags: s.Tags}
	return post.Lists()
}

// hasSameEntries reports whether a post has the same entries in lists as it had when its copy was
// in a given state.
func hasSameEntries(post *blog.Post, current CopyState) bool {
	if post.Deleted || current.Deleted {
		return post.Deleted && current.Deleted
	}
	return post.Version == current.Version && post.CreationDate == current.CreationDate && post.UpdatedDate == current.UpdatedDate && slices.Equal(post.Tags, current.Tags) &&
		post.Author.Revision == current.AuthorRevision && post.Author.Username == current.UserUsername
}

func (userPosts) seen(post *blog.Post) *blog.Post { return post }

func (userPosts) copyOf(post *blog.Post, current CopyState) any {
	l := listingOf(post, current)
	switch {
	case !l.Unlisted:
		return UserCopyOf(post)
	case !post.Deleted:
		return struct {
			schema.PostItem
			listing
		}{newCopy(post), l}
	}
	tombstone := newTombstone(post, schema.TypeTombstone)
	tombstone.TTL = 0 // it expires only after its former lists are no longer needed
	return struct {
		schema.TombstoneItem
		listing
	}{tombstone, l}
}

func (userPosts) patch(post *blog.Post) (condition string, changes azcosmos.PatchOperations) {
	condition, changes = patchCounts(post)
	return condition + " and not is_defined(c.unlisted)", changes
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

// addToCounter returns the change of a list's counter.
func addToCounter(added int64) azcosmos.PatchOperations {
	var changes azcosmos.PatchOperations
	changes.AppendIncrement("/postCount", added)
	changes.AppendIncrement("/revision", 1)
	return changes
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
	changes.AppendSet("/title", post.Title)
	changes.AppendSet("/contentSize", post.ContentSize)
	changes.AppendSet("/excerpt", post.Excerpt)
	changes.AppendSet("/tags", append([]string{}, post.Tags...)) // not null
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

// counted writes the weight if it has changed with the counter, which is given as it was after a
// transaction that added to it.
func (e listEntries) counted(ctx context.Context, text []byte, added int) error {
	var counter schema.CounterItem
	if err := cosmos.Decode(text, &counter); err != nil {
		return err
	}
	if schema.Weight(counter.PostCount) == schema.Weight(counter.PostCount-added) {
		return nil
	}
	return e.writeWeight(ctx, counter)
}

// createCounter creates the counter of an empty list, unless another call has done so.
func (e listEntries) createCounter(ctx context.Context) error {
	_, err := cosmos.Create(ctx, e.lists, string(e.list), schema.NewCounterItem(e.list))
	if cosmos.IsConflict(err) {
		return nil
	}
	return err
}

func (e listEntries) readCounter(ctx context.Context) (schema.CounterItem, error) {
	counter, _, err := cosmos.Read[schema.CounterItem](ctx, e.lists, string(e.list), schema.CounterID)
	if err != nil {
		return schema.CounterItem{}, err
	}
	return *counter, nil
}

// updateWeight writes the weight for the present state of the counter. A list without a counter has
// no weight.
func (e listEntries) updateWeight(ctx context.Context) error {
	counter, err := e.readCounter(ctx)
	if cosmos.IsNotFound(err) {
		return nil
	}
	if err == nil {
		err = e.writeWeight(ctx, counter)
	}
	return err
}

// writeWeight writes the weight for a state of the counter, unless the stored one is of the same
// state or a later one. It writes an equal weight too: a worker that is late may still write the
// weight of a state in between. The weight of an empty list becomes a tombstone.
func (e listEntries) writeWeight(ctx context.Context, counter schema.CounterItem) error {
	item := expiring(schema.NewWeightItem(counter))
	return cosmos.RetryOnConflict(func() error {
		current, etag, err := cosmos.Read[schema.WeightItem](ctx, e.lists, item.List, item.ID)
		if err != nil && !cosmos.IsNotFound(err) || err == nil && current.Revision >= item.Revision {
			return err
		}
		return writeCopy(ctx, e.lists, item.List, item.ID, item, CopyState{ETag: etag})
	})
}

// RecountList sets a list's counter to the number of live entries, and its weight, for repairs.
// Errors: CONFLICT if entries came or went during each of several counts; those of the database.
func (v *Views) RecountList(ctx context.Context, list blog.List) error {
	e := listEntries{v, list}
	err := cosmos.RetryOnConflict(func() error { return e.recount(ctx) })
	if err == nil {
		err = cosmos.RetryOnConflict(func() error { return e.overwriteWeight(ctx) })
	}
	return err
}

const liveEntriesQuery = `SELECT c.id FROM c WHERE c.type = 'post' AND c.deleted = false`

// recount corrects the counter. Every entry that comes or goes also changes the counter's etag, so
// a concurrent change makes the write fail. Error: CONFLICT in that case.
func (e listEntries) recount(ctx context.Context) error {
	counter, etag, err := cosmos.Read[json.RawMessage](ctx, e.lists, string(e.list), schema.CounterID)
	if err != nil && !cosmos.IsNotFound(err) {
		return err
	}
	item := schema.NewCounterItem(e.list)
	if err == nil {
		_ = json.Unmarshal(*counter, &item) // as far as it can be decoded
	}
	was := item.PostCount
	item.ID, item.List, item.Type, item.PostCount = schema.CounterID, e.list, schema.TypeCounter, 0
	for page, err := range cosmos.Pages[ResponseRow](ctx, e.lists, azcosmos.NewPartitionKeyString(string(e.list)), liveEntriesQuery, 0) {
		if err != nil {
			return err
		}
		item.PostCount += len(page)
	}
	if etag != "" && was == item.PostCount {
		return nil
	}
	item.Revision++
	return writeCopy(ctx, e.lists, string(e.list), schema.CounterID, item, CopyState{ETag: etag})
}

// overwriteWeight writes the weight, whatever state the stored one is of. It reads the counter
// after the weight. If the counter changes after that, whoever changes it writes the weight again.
func (e listEntries) overwriteWeight(ctx context.Context) error {
	name := schema.NewWeightItem(schema.NewCounterItem(e.list))
	_, etag, err := cosmos.Read[json.RawMessage](ctx, e.lists, name.List, name.ID)
	if err != nil && !cosmos.IsNotFound(err) {
		return err
	}
	counter, err := e.readCounter(ctx)
	if err != nil {
		return err
	}
	item := expiring(schema.NewWeightItem(counter))
	return writeCopy(ctx, e.lists, item.List, item.ID, item, CopyState{ETag: etag})
}

// expiring returns a weight with the ttl of a tombstone if its list is empty.
func expiring(item schema.WeightItem) schema.WeightItem {
	if item.Weight == 0 {
		item.TTL = int32(DeletedTTL.Seconds())
	}
	return item
}
