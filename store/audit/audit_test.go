package audit_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"cosmosblog/blog"
	"cosmosblog/cosmostest"
	"cosmosblog/proof/storetest"
	"cosmosblog/store/audit"
	"cosmosblog/store/chores"
	"cosmosblog/store/cosmos"
	"cosmosblog/store/schema"
)

// TestRepairDoesTheProjectorsWork repairs views that no projector has updated: one repair of
// each partition, in a projector's order, leaves no drift.
func TestRepairDoesTheProjectorsWork(t *testing.T) {
	w := newWorld(t)
	ada, bob := w.AddUser("Ada"), w.AddUser("Bob")
	post, deleted := w.AddPost(ada), w.AddPost(ada)
	w.AddComment(bob, deleted)
	comment := w.AddComment(bob, post)
	_, err := w.LikePost(w.Ctx(), bob, deleted.ID)
	w.OK(err)
	_, err = w.DeleteComment(w.Ctx(), bob.ID, post.ID, comment.ID)
	w.OK(err)
	w.OK(w.RepairPost(w.Ctx(), deleted.ID))
	_, err = w.DeletePost(w.Ctx(), ada.ID, deleted.ID)
	w.OK(err)
	_, err = w.DeleteUser(w.Ctx(), bob.ID, "Bob")
	w.OK(err)
	for _, c := range []struct {
		container, partition string
		want                 []string
	}{
		{schema.Posts, post.ID, []string{"expiry posts " + comment.ID, "missing lists " + post.ID, "missing users " + post.ID}},
		{schema.Posts, deleted.ID, []string{"copy lists " + deleted.ID, "copy users " + deleted.ID, "expiry posts " + deleted.ID}},
		{schema.Users, ada.ID, nil},
		{schema.Users, bob.ID, []string{"expiry users " + bob.ID}},
		{schema.Feed, schema.FeedPartition, nil},
		{schema.Posts, "p_none", nil},
		{schema.Users, "u_none", nil},
		{schema.Usernames, "none", nil},
	} {
		drifts, err := w.drifts(c.container, c.partition)
		w.OK(err)
		var found []string
		for _, d := range drifts {
			found = append(found, fmt.Sprint(d.Kind, " ", d.Container, " ", d.ID))
		}
		slices.Sort(found)
		if !slices.Equal(found, c.want) {
			t.Errorf("%s %s: got %q, want %q", c.container, c.partition, found, c.want)
		}
		left, err := w.repair(c.container, c.partition, drifts)
		w.OK(err)
		if len(left) > 0 {
			t.Errorf("%s %s: the repair left %v", c.container, c.partition, left)
		}
	}
	if deletions, err := w.Deletions(w.Ctx()); err != nil || len(deletions) != 1 || deletions[0].UserID != bob.ID {
		t.Errorf("got deletions %v, %v", deletions, err)
	}
	change, err := w.Change(w.Ctx(), schema.Posts, deleted.ID, deleted.ID)
	w.OK(err)
	if rest := storetest.ListAll(w.World, deleted.ID, w.Comments); !change.Expires || len(rest) > 0 {
		t.Errorf("the deleted post is %+v with %d comments", change, len(rest))
	}
}

// A content that is in two places, or in none, is a drift. The copy beside a whole post is removed.
// A missing text cannot be known.
func TestContentDrifts(t *testing.T) {
	w := newWorld(t)
	ada := w.AddUser("Ada")
	long := strings.Repeat("x", schema.MaxInlineContent+1)
	add := func(content string) *blog.Post {
		post, err := w.CreatePost(w.Ctx(), ada, blog.CreatePostInput{Title: "A title", Content: content})
		w.OK(err)
		w.OK(w.RepairPost(w.Ctx(), post.ID))
		return post
	}
	plant := func(postID string, version int) {
		w.Plant(w.Container(schema.Posts), postID, schema.NewContentItem(postID, "a text", version))
	}
	whole, wholeLong, twice, lost, otherVersion, none := add("short"), add(long), add("short"), add(long), add(long), add("short")
	plant(twice.ID, 1)
	for _, post := range []*blog.Post{lost, otherVersion} {
		w.OK(cosmos.Delete(w.Ctx(), w.Container(schema.Posts), post.ID, schema.ContentID, "*"))
	}
	plant(otherVersion.ID, 2)
	var removeContent azcosmos.PatchOperations
	removeContent.AppendRemove("/content")
	_, err := cosmos.Patch(w.Ctx(), w.Container(schema.Posts), none.ID, none.ID, removeContent, "*")
	w.OK(err)
	plant(none.ID, 1) // the only text that is left

	for _, c := range []struct {
		post                *blog.Post
		want                int
		is, should          string
		isRepaired, hasItem bool
	}{
		{whole, 0, "", "", true, false},
		{wholeLong, 0, "", "", true, true},
		{twice, 1, "1", "", true, false},
		{lost, 1, "1", "0", false, false},
		{otherVersion, 1, "1", "2", false, true},
		{none, 1, "0", "1", false, true},
	} {
		drifts, err := w.drifts(schema.Posts, c.post.ID)
		w.OK(err)
		if len(drifts) != c.want || c.want == 1 && (drifts[0].Kind != audit.DriftContent || drifts[0].Is != c.is || drifts[0].Should != c.should) {
			t.Errorf("%+v: got the drifts %+v", c, drifts)
			continue
		}
		left, err := w.repair(schema.Posts, c.post.ID, drifts)
		w.OK(err)
		_, _, err = cosmos.Read[schema.ContentItem](w.Ctx(), w.Container(schema.Posts), c.post.ID, schema.ContentID)
		if (len(left) == 0) != c.isRepaired || (err == nil) != c.hasItem {
			t.Errorf("%+v: the repair left %+v, and the content item: %v", c, left, err)
		}
	}
}

// An unreadable item does not stop an audit. The audit reports the item, and leaves it unchanged
// if it cannot be repaired.
func TestAuditOfUnreadableItems(t *testing.T) {
	w := newWorld(t)
	ada, bob := w.AddUser("Ada"), w.AddUser("Bob")
	post, other := w.AddPost(ada), w.AddPost(bob)
	for _, p := range []*blog.Post{post, other} {
		w.OK(w.RepairPost(w.Ctx(), p.ID))
	}
	odd := map[string]any{"id": "p_odd", "postId": "p_odd", "type": "post", "userId": ada.ID, "deleted": "perhaps"}
	w.Plant(w.Container(schema.Posts), "p_odd", odd)
	w.Plant(w.Container(schema.Posts), "p_odd", schema.NewLikeItem("p_odd", &blog.Like{User: ada, CreationDate: "2026"})) // no orphan
	w.Plant(w.Container(schema.Usernames), "odd", map[string]any{"id": "odd", "userId": 7})
	user, etag, err := cosmos.Read[map[string]any](w.Ctx(), w.Container(schema.Users), bob.ID, bob.ID)
	w.OK(err)
	(*user)["username"] = 7
	_, err = cosmos.Replace(w.Ctx(), w.Container(schema.Users), bob.ID, bob.ID, user, etag)
	w.OK(err)
	w.Damage(post.ID, map[string]any{"/likeCount": 3})

	for _, repair := range []bool{false, true} {
		var found []string
		options := audit.Options{Repair: repair, Found: func(d audit.Drift, corrected bool) {
			found = append(found, fmt.Sprint(d.Kind, " ", d.ID, " ", corrected))
		}}
		audited, err := w.audit(w.Ctx(), options)
		w.OK(err)
		slices.Sort(found)
		want := []string{
			"copy " + post.ID + fmt.Sprint(" ", repair), "copy " + post.ID + fmt.Sprint(" ", repair),
			"count " + post.ID + fmt.Sprint(" ", repair),
			"unreadable " + bob.ID + " false", "unreadable odd false", "unreadable p_odd false",
		}
		slices.Sort(want)
		if repair {
			// The repair of the post also corrects the feed's copy, which may then go unreported.
			want = slices.DeleteFunc(want, func(s string) bool { return s == "copy "+post.ID+" true" })
			found = slices.DeleteFunc(found, func(s string) bool { return s == "copy "+post.ID+" true" })
		}
		if !audited.Stalled || audited.Unstable != 0 || !slices.Equal(found, want) {
			t.Errorf("repair %t: got %q, want %q; %+v", repair, found, want, audited)
		}
	}
}

// A difference that a pending sweep, purge, deletion or copy of a database will remove is not a
// drift.
func TestPendingWorkIsNotADrift(t *testing.T) {
	w := newWorld(t)
	ada, bob := w.AddUser("Ada"), w.AddUser("Bob")
	post := w.AddPost(ada)
	w.AddComment(bob, post)
	w.OK(w.RepairPost(w.Ctx(), post.ID))
	renamed, err := w.UpdateUser(w.Ctx(), bob.ID, "Bobby")
	w.OK(err)
	_, err = w.DeleteUser(w.Ctx(), w.AddUser("Gone").ID, "Gone")
	w.OK(err)
	gone := storetest.Account("Gone").UserID()
	w.Plant(w.Container(schema.Posts), "p_lost", schema.NewLikeItem("p_lost", &blog.Like{User: ada, CreationDate: "2026"}))

	deleted, unpurged := w.AddPost(ada), w.AddPost(ada)
	w.RemovePost(deleted)
	w.RemovePost(unpurged)
	w.OK(w.RepairPost(w.Ctx(), unpurged.ID))
	w.Plant(w.Container(schema.Posts), unpurged.ID, schema.NewLikeItem(unpurged.ID, &blog.Like{User: ada, CreationDate: "2026"}))

	sweep := chores.Sweep{UserID: bob.ID, Username: renamed.Username, AuthorRevision: renamed.Revision}
	copying := map[string]any{"id": "copy.1", "type": "copy"}
	purge := func(post *blog.Post) (begin, end func() error) {
		return func() error { return w.RecordPurge(w.Ctx(), post.ID) },
			func() error { return w.ForgetPurge(w.Ctx(), w.PendingPurge(post)) }
	}
	ofDeleted, forgetDeleted := purge(deleted)
	ofUnpurged, forgetUnpurged := purge(unpurged)
	for _, c := range []struct {
		container, partition string
		kind                 audit.DriftKind
		begin, end           func() error
	}{
		{schema.Posts, post.ID, audit.DriftName, func() error { return w.RecordSweep(w.Ctx(), sweep) }, func() error {
			sweeps, err := w.Sweeps(w.Ctx())
			w.OK(err)
			sweeps[0].Last = true
			return w.FinishSweepPass(w.Ctx(), sweeps[0], 0)
		}},
		{schema.Posts, deleted.ID, audit.DriftExpiry, ofDeleted, forgetDeleted},
		{schema.Posts, unpurged.ID, audit.DriftUnpurged, ofUnpurged, forgetUnpurged},
		{schema.Posts, "p_lost", audit.DriftOrphan, func() error {
			_, err := cosmos.Create(w.Ctx(), w.Container(schema.Leases), "copy.1", copying)
			return err
		}, func() error { return w.endCopy("copy.1") }},
		{schema.Users, gone, audit.DriftExpiry, func() error {
			return w.RecordDeletion(w.Ctx(), chores.Deletion{UserID: gone, Revision: 3})
		}, nil},
	} {
		expect := func(want int) {
			t.Helper()
			drifts, err := w.drifts(c.container, c.partition)
			w.OK(err)
			if len(drifts) != want || want > 0 && drifts[0].Kind != c.kind {
				t.Errorf("%s: got %+v, want %d drifts", c.kind, drifts, want)
			}
		}
		expect(1)
		w.OK(c.begin())
		expect(0)
		if c.end != nil {
			w.OK(c.end())
			expect(1)
		}
	}
}

// An audit that repairs waits while the account throttles every third request.
func TestAuditWaitsWhenThrottled(t *testing.T) {
	w := newWorld(t)
	ada := w.AddUser("Ada")
	var posts []*blog.Post
	for range 5 {
		post := w.AddPost(ada)
		w.AddComment(ada, post)
		posts = append(posts, post)
		w.OK(w.RepairPost(w.Ctx(), post.ID))
	}
	w.Damage(posts[2].ID, map[string]any{"/commentCount": 3, "/revision": 3})
	w.OK(w.RepairPost(w.Ctx(), posts[2].ID))
	var throttled atomic.Int64
	w.Wire.Inject(func(n int, request *http.Request, next storetest.Transporter) (*http.Response, error) {
		if n%3 == 0 {
			throttled.Add(1)
			return cosmostest.Refuse(http.StatusTooManyRequests, "X-Ms-Retry-After-Ms: 1")(0, request, nil)
		}
		return next.Do(request)
	})
	audited, err := w.audit(w.Ctx(), audit.Options{Repair: true})
	w.OK(err)
	if audited.Drifts != 1 || audited.Corrected != 1 || throttled.Load() < 5 {
		t.Errorf("got %+v after %d throttled requests", audited, throttled.Load())
	}
	w.Wire.Inject(nil)
	w.HoldsCounts(posts[2].ID, 1, 0)
}

// A post whose head lacks what all heads have is unreadable, and not a post without a title.
func TestAuditOfIncompleteHead(t *testing.T) {
	for _, field := range []string{"title", "size", "excerpt"} {
		w := newWorld(t)
		post := w.AddPost(w.AddUser("Ada"))
		var changes azcosmos.PatchOperations
		changes.AppendRemove("/head/" + field)
		_, err := w.Container(schema.Posts).PatchItem(w.Ctx(), azcosmos.NewPartitionKeyString(post.ID), post.ID, changes, nil)
		w.OK(err)
		drifts, err := w.drifts(schema.Posts, post.ID)
		w.OK(err)
		if len(drifts) != 1 || drifts[0].Kind != audit.DriftUnreadable {
			t.Errorf("without %s: %+v", field, drifts)
		}
	}
}
