package projector_test

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"cosmosblog/blog"
	"cosmosblog/proof/storetest"
	"cosmosblog/store/changefeed"
	"cosmosblog/store/cosmos"
	"cosmosblog/store/schema"
)

// source is the content of the change feeds of users and posts. Views must equal it.
type source struct {
	users    map[string]changefeed.Change // including deleted users
	posts    map[string]changefeed.Change
	comments map[string]changefeed.Change
}

func readSource(ctx context.Context, s *storetest.Database) (source, error) {
	truth := source{map[string]changefeed.Change{}, map[string]changefeed.Change{}, map[string]changefeed.Change{}}
	for _, container := range []string{schema.Users, schema.Posts} {
		err := eachChange(ctx, s, container, func(change changefeed.Change) {
			switch {
			case change.User != nil:
				truth.users[change.ID] = change
			case change.Post != nil:
				truth.posts[change.ID] = change
			case change.Comment != nil:
				truth.comments[change.ID] = change
			}
		})
		if err != nil {
			return truth, err
		}
	}
	return truth, nil
}

func eachChange(ctx context.Context, s *storetest.Database, container string, f func(changefeed.Change)) error {
	ranges, err := s.FeedRanges(ctx, container)
	if err != nil {
		return err
	}
	for _, r := range ranges {
		for continuation := ""; ; {
			page, err := s.Changes(ctx, container, r, continuation, 1000)
			if err != nil {
				return err
			}
			if len(page.Changes) == 0 {
				break
			}
			for _, change := range page.Changes {
				f(change)
			}
			continuation = page.Continuation
		}
	}
	return nil
}

// compare compares every view, as read by queries, with the source. It returns a sentence for
// each difference.
func compare(ctx context.Context, s *storetest.Database) (differences []string, err error) {
	truth, err := readSource(ctx, s)
	if err != nil {
		return nil, err
	}
	c := &comparison{store: s, source: truth}
	checks := []func(context.Context) error{c.feed, c.userPosts, c.lists, c.responses, c.deleted}
	for _, check := range checks {
		if err := check(ctx); err != nil {
			return c.differences, err
		}
	}
	return c.differences, nil
}

type comparison struct {
	store *storetest.Database
	source
	differences []string
}

func (c *comparison) differ(format string, args ...any) {
	c.differences = append(c.differences, fmt.Sprintf(format, args...))
}

// livePosts returns the undeleted posts for which keep is true, newest first.
func (c *comparison) livePosts(keep func(*blog.Post) bool) []*blog.Post {
	var posts []*blog.Post
	for _, change := range c.posts {
		if !change.Deleted && keep(change.Post) {
			posts = append(posts, change.Post)
		}
	}
	slices.SortFunc(posts, func(a, b *blog.Post) int {
		return cmp.Or(cmp.Compare(b.CreationDate, a.CreationDate), cmp.Compare(b.ID, a.ID))
	})
	return posts
}

func (c *comparison) feed(ctx context.Context) error {
	got, err := all(ctx, c.store.Feed)
	if err != nil {
		return err
	}
	want := c.livePosts(func(*blog.Post) bool { return true })
	c.samePosts("feed", got, want[:min(len(want), blog.FeedLength)])
	return nil
}

func (c *comparison) userPosts(ctx context.Context) error {
	for id, user := range c.users {
		got, err := all(ctx, func(ctx context.Context, page blog.PageRequest) (blog.Page[*blog.Post], error) {
			return c.store.UserPosts(ctx, id, page)
		})
		if err != nil {
			return err
		}
		c.samePosts("posts of "+id, got, c.livePosts(func(p *blog.Post) bool { return p.Author.ID == id }))
		if user.Deleted != user.Expires {
			c.differ("%s: deleted %v, expires %v", id, user.Deleted, user.Expires)
		}
		if !user.Deleted && user.User.PostCount != len(got) {
			c.differ("%s: %d posts, counted as %d", id, len(got), user.User.PostCount)
		}
	}
	return nil
}

// lists compares the lists of tags and months with the posts: entries, counters and names. No other
// list may have an entry, and no copy may wait for its entries.
func (c *comparison) lists(ctx context.Context) error {
	want := map[string][]*blog.Post{}
	for _, post := range c.livePosts(func(*blog.Post) bool { return true }) {
		for _, list := range append([]string{"month:" + string(post.CreationDate)[:7]}, tagLists(post)...) {
			want[list] = append(want[list], post)
		}
	}
	for list, posts := range want {
		if err := c.list(ctx, list, posts); err != nil {
			return err
		}
	}
	entries, err := cosmos.QueryAcross[schema.EntryItem](ctx, c.store.DB.Container(schema.Lists), "SELECT c.list, c.id FROM c WHERE c.type = 'post'")
	if err != nil {
		return err
	}
	for _, entry := range entries {
		if want[string(entry.List)] == nil {
			c.differ("%s has the entry %s", entry.List, entry.ID)
		}
	}
	unlisted, err := cosmos.QueryAcross[schema.PostItem](ctx, c.store.DB.Container(schema.Users), "SELECT c.id FROM c WHERE c.unlisted = true OR ARRAY_LENGTH(c.formerLists) > 0")
	if err != nil {
		return err
	}
	for _, copy := range unlisted {
		c.differ("the copy of %s is unlisted", copy.ID)
	}
	return c.names(ctx, want)
}

func tagLists(post *blog.Post) (lists []string) {
	for _, tag := range post.Tags {
		lists = append(lists, "tag:"+tag)
	}
	return lists
}

// list compares the entries and the counter of a list with its posts, newest first.
func (c *comparison) list(ctx context.Context, list string, want []*blog.Post) error {
	got, err := all(ctx, func(ctx context.Context, page blog.PageRequest) (blog.Page[*blog.Post], error) {
		return c.store.ListedPosts(ctx, blog.List(list), page)
	})
	if err != nil {
		return err
	}
	counts, err := c.store.PostCounts(ctx, []blog.List{blog.List(list)})
	if err != nil {
		return err
	}
	if count := counts[blog.List(list)]; count == nil || *count != len(want) || len(got) != len(want) {
		c.differ("%s has %d posts, not %d, or another counter", list, len(got), len(want))
		return nil
	}
	for i := range want {
		if g, w := entryText(got[i]), entryText(want[i]); g != w {
			c.differ("%s: at %d is %s, not %s", list, i, g, w)
		}
	}
	return nil
}

// names compares the names of lists with the lists that have posts.
func (c *comparison) names(ctx context.Context, lists map[string][]*blog.Post) error {
	var wantTags, wantMonths, gotTags, gotMonths []string
	for list := range lists {
		if tag, ok := strings.CutPrefix(list, "tag:"); ok {
			wantTags = append(wantTags, tag)
		} else {
			wantMonths = append(wantMonths, strings.TrimPrefix(list, "month:"))
		}
	}
	slices.SortFunc(wantTags, func(a, b string) int {
		return cmp.Or(roundedDown(len(lists["tag:"+b]))-roundedDown(len(lists["tag:"+a])), cmp.Compare(a, b))
	})
	slices.Sort(wantMonths)
	slices.Reverse(wantMonths)
	tags, err := c.store.Tags(ctx, 100)
	if err != nil {
		return err
	}
	months, err := c.store.Months(ctx, 100, "")
	if err != nil {
		return err
	}
	for _, tag := range tags {
		gotTags = append(gotTags, tag.Name)
	}
	for _, month := range months {
		gotMonths = append(gotMonths, month.Name)
	}
	if !slices.Equal(gotTags, wantTags) || !slices.Equal(gotMonths, wantMonths) {
		c.differ("the tags are %q, not %q, or the months %q, not %q", gotTags, wantTags, gotMonths, wantMonths)
	}
	return nil
}

// roundedDown returns a number with all but its three first binary digits 0.
func roundedDown(n int) int {
	unit := 1
	for n/unit > 7 {
		unit *= 2
	}
	return n / unit * unit
}

// samePosts compares a list of short copies with the posts, in order and in all properties of a
// copy.
func (c *comparison) samePosts(list string, got, want []*blog.Post) {
	if len(got) != len(want) {
		c.differ("%s: %d posts, not %d", list, len(got), len(want))
		return
	}
	for i := range want {
		if g, w := shortText(got[i]), shortText(want[i]); g != w {
			c.differ("%s: at %d is %s, not %s", list, i, g, w)
		}
		c.currentName(list, want[i].Author)
	}
}

func shortText(p *blog.Post) string {
	text := entryText(p) + fmt.Sprintf(", %d comments %d likes r%d", p.CommentCount, p.LikeCount, p.Revision)
	for _, comment := range p.RecentComments {
		text += recentText(comment)
	}
	return text
}

// entryText returns what an entry of a list has of a post.
func entryText(p *blog.Post) string {
	return fmt.Sprintf("%s %s of %s %s: %+v, edited %q, v%d", p.CreationDate, p.ID, p.Author.ID, p.Author.Username, p.PostHead, p.UpdatedDate, p.Version)
}

func recentText(c *blog.Comment) string {
	return fmt.Sprintf(", %s of %s %s at %s, edited %q: %q", c.ID, c.Author.ID, c.Author.Username, c.CreationDate, c.UpdatedDate, c.Excerpt)
}

// responses compares the counts of comments and likes with the items, and the usernames in them
// with the users.
func (c *comparison) responses(ctx context.Context) error {
	for _, post := range c.livePosts(func(*blog.Post) bool { return true }) {
		comments, err := all(ctx, func(ctx context.Context, page blog.PageRequest) (blog.Page[*blog.Comment], error) {
			return c.store.Comments(ctx, post.ID, page)
		})
		if err != nil {
			return err
		}
		likes, err := all(ctx, func(ctx context.Context, page blog.PageRequest) (blog.Page[*blog.Like], error) {
			return c.store.Likes(ctx, post.ID, page)
		})
		if err != nil {
			return err
		}
		if len(comments) != post.CommentCount || len(likes) != post.LikeCount {
			c.differ("%s: %d comments and %d likes, counted as %d and %d", post.ID, len(comments), len(likes), post.CommentCount, post.LikeCount)
		}
		for _, comment := range comments {
			c.currentName(comment.ID, comment.Author)
		}
		c.recentComments(post, comments)
		if err := c.content(ctx, post); err != nil {
			return err
		}
		for _, like := range likes {
			c.currentName("like of "+post.ID, like.User)
		}
	}
	return nil
}

// recentComments compares the recent comments of a post with all of its comments, oldest first.
func (c *comparison) recentComments(post *blog.Post, comments []*blog.Comment) {
	var got, want string
	for _, comment := range post.RecentComments {
		got += recentText(comment)
	}
	for _, comment := range slices.Backward(comments[max(0, len(comments)-blog.MaxRecentComments):]) {
		want += recentText(comment)
	}
	if got != want {
		c.differ("%s: the recent comments are %s, not %s", post.ID, got, want)
	}
}

// content compares the size and the excerpt of a post with its content.
func (c *comparison) content(ctx context.Context, post *blog.Post) error {
	whole, err := c.store.Post(ctx, post.ID)
	if err == nil && (blog.SizeOf(whole.Content) != post.ContentSize || blog.Excerpt(whole.Content) != post.Excerpt) {
		c.differ("%s: the content has %v, not %v, or another excerpt than %q", post.ID, blog.SizeOf(whole.Content), post.ContentSize, post.Excerpt)
	}
	return err
}

func (c *comparison) currentName(where string, reference *blog.User) {
	if user := c.users[reference.ID].User; user == nil || user.Deleted || user.Username != reference.Username {
		c.differ("%s: has the username %q, the user is %+v", where, reference.Username, user)
	}
}

// deleted checks that deleted items have a ttl, and that deleted posts have no comments or likes,
// except deleted comments.
func (c *comparison) deleted(ctx context.Context) error {
	for id, change := range c.posts {
		if change.Deleted != change.Expires {
			c.differ("%s: deleted %v, expires %v", id, change.Deleted, change.Expires)
		}
		if !change.Deleted {
			continue
		}
		likes, err := c.store.Likes(ctx, id, blog.PageRequest{First: 1})
		if err != nil {
			return err
		}
		if len(likes.Items) > 0 {
			c.differ("%s: deleted, but has likes", id)
		}
	}
	for id, change := range c.comments {
		if post := c.posts[change.PartitionKey]; post.Deleted && !change.Deleted {
			c.differ("%s: a comment of the deleted post %s", id, post.ID)
		}
		if change.Deleted != change.Expires {
			c.differ("%s: deleted %v, expires %v", id, change.Deleted, change.Expires)
		}
	}
	return nil
}

// all reads a whole list, page by page.
func all[T any](ctx context.Context, list func(context.Context, blog.PageRequest) (blog.Page[T], error)) ([]T, error) {
	var items []T
	request := blog.PageRequest{First: blog.MaxPageSize}
	for {
		page, err := list(ctx, request)
		if err != nil {
			return nil, err
		}
		items = append(items, page.Items...)
		if !page.HasNextPage {
			return items, nil
		}
		request.After = &page.Positions[len(page.Positions)-1]
	}
}

// wantViewsEqualSource fails the test if a view differs from its source.
func (w *world) wantViewsEqualSource() {
	w.Helper()
	differences, err := compare(w.Context(), w.store)
	if err != nil {
		w.Fatalf("compare: %v", err)
	}
	for i, difference := range differences {
		if i == 10 {
			w.Errorf("and %d more", len(differences)-i)
			break
		}
		w.Error(difference)
	}
}
