package store

import (
	"fmt"
	"net/http"
	"slices"
	"sync/atomic"
	"testing"

	"cosmosblog/internal/blog"
)

// What no projector has done is mended as it would do it: once, in its order, and nothing drifts then.
func TestMendDoesTheProjectorsWork(t *testing.T) {
	w := newWorld(t)
	ada, bob := w.user("Ada"), w.user("Bob")
	post, deleted := w.post(ada), w.post(ada)
	w.comment(bob, deleted)
	comment := w.comment(bob, post)
	_, err := w.LikePost(w.ctx(), bob, deleted.ID)
	w.ok(err)
	_, err = w.DeleteComment(w.ctx(), bob.ID, post.ID, comment.ID)
	w.ok(err)
	w.ok(w.RepairPost(w.ctx(), deleted.ID))
	_, err = w.DeletePost(w.ctx(), ada.ID, deleted.ID)
	w.ok(err)
	_, err = w.DeleteUser(w.ctx(), bob.ID, "Bob")
	w.ok(err)
	for _, c := range []struct {
		container, partition string
		want                 []string
	}{
		{postsContainer, post.ID, []string{"expiry posts " + comment.ID, "missing users " + post.ID}},
		{postsContainer, deleted.ID, []string{"copy users " + deleted.ID, "expiry posts " + deleted.ID}},
		{usersContainer, ada.ID, nil},
		{usersContainer, bob.ID, []string{"expiry users " + bob.ID}},
		{feedContainer, feedPartition, nil},
		{postsContainer, "p_none", nil},
		{usersContainer, "u_none", nil},
		{usernamesContainer, "none", nil},
	} {
		drifts, err := w.Drifts(w.ctx(), c.container, c.partition)
		w.ok(err)
		var found []string
		for _, d := range drifts {
			found = append(found, fmt.Sprint(d.Kind, " ", d.Container, " ", d.ID))
		}
		slices.Sort(found)
		if !slices.Equal(found, c.want) {
			t.Errorf("%s %s: %q, want %q", c.container, c.partition, found, c.want)
		}
		left, err := w.Mend(w.ctx(), c.container, c.partition, drifts)
		w.ok(err)
		if len(left) > 0 {
			t.Errorf("%s %s: left %v", c.container, c.partition, left)
		}
	}
	if deletions, err := w.Deletions(w.ctx()); err != nil || len(deletions) != 1 || deletions[0].UserID != bob.ID {
		t.Errorf("deletions %v, %v", deletions, err)
	}
	change, err := w.Change(w.ctx(), postsContainer, deleted.ID, deleted.ID)
	w.ok(err)
	if rest := listAll(w, deleted.ID, w.Comments); !change.Expires || len(rest) > 0 {
		t.Errorf("%+v with %d comments", change, len(rest))
	}
}

// An item that nobody can read does not keep an audit from the others: it is told, and what cannot be mended stays.
func TestAuditOfUnreadableItems(t *testing.T) {
	w := newWorld(t)
	ada, bob := w.user("Ada"), w.user("Bob")
	post, other := w.post(ada), w.post(bob)
	for _, p := range []*blog.Post{post, other} {
		w.ok(w.RepairPost(w.ctx(), p.ID))
	}
	w.plant(w.posts, "p_odd", map[string]any{"id": "p_odd", "postId": "p_odd", "type": "post", "userId": ada.ID, "deleted": "perhaps"})
	w.plant(w.usernames, "odd", map[string]any{"id": "odd", "userId": 7})
	user, etag, err := read[map[string]any](w.ctx(), w.users, bob.ID, bob.ID)
	w.ok(err)
	(*user)["username"] = 7
	_, err = replace(w.ctx(), w.users, bob.ID, bob.ID, user, etag)
	w.ok(err)
	w.damage(post.ID, map[string]any{"/likeCount": 3})

	for _, repair := range []bool{false, true} {
		var found []string
		auditing := Auditing{Store: w.Store, Repair: repair, Sleep: w.again.sleep, Found: func(d Drift, mended bool) {
			found = append(found, fmt.Sprint(d.Kind, " ", d.ID, " ", mended))
		}}
		audited, err := auditing.Run(w.ctx())
		w.ok(err)
		slices.Sort(found)
		want := []string{
			"copy " + post.ID + fmt.Sprint(" ", repair), "copy " + post.ID + fmt.Sprint(" ", repair),
			"count " + post.ID + fmt.Sprint(" ", repair),
			"unreadable " + bob.ID + " false", "unreadable odd false", "unreadable p_odd false",
		}
		slices.Sort(want)
		if repair {
			// The feed's copy is mended with the post.
			want = slices.DeleteFunc(want, func(s string) bool { return s == "copy "+post.ID+" true" })
			found = slices.DeleteFunc(found, func(s string) bool { return s == "copy "+post.ID+" true" })
		}
		if !audited.Stalled || !slices.Equal(found, want) {
			t.Errorf("repair %t: %q, want %q; %+v", repair, found, want, audited)
		}
	}
}

// What a sweep, a purge, a deletion or a copy of a database is yet to do is no drift while that is pending.
func TestWhatIsPendingIsNoDrift(t *testing.T) {
	w := newWorld(t)
	ada, bob := w.user("Ada"), w.user("Bob")
	post := w.post(ada)
	w.comment(bob, post)
	w.ok(w.RepairPost(w.ctx(), post.ID))
	renamed, err := w.UpdateUser(w.ctx(), bob.ID, "Bobby")
	w.ok(err)
	_, err = w.DeleteUser(w.ctx(), w.user("Gone").ID, "Gone")
	w.ok(err)
	gone := account("Gone").UserID()
	w.plant(w.posts, "p_lost", newLikeItem("p_lost", &blog.Like{User: ada, CreationDate: "2026"}))

	deleted, unpurged := w.post(ada), w.post(ada)
	w.deletePost(deleted)
	w.deletePost(unpurged)
	w.ok(w.RepairPost(w.ctx(), unpurged.ID))
	w.plant(w.posts, unpurged.ID, newLikeItem(unpurged.ID, &blog.Like{User: ada, CreationDate: "2026"}))

	sweep := Sweep{UserID: bob.ID, Username: renamed.Username, AuthorRevision: renamed.Revision}
	copying := copyCheckpointItem{ID: "copy.1", Type: typeCopy}
	purge := func(post *blog.Post) (begin, end func() error) {
		return func() error { return w.RecordPurge(w.ctx(), post.ID) },
			func() error { return w.ForgetPurge(w.ctx(), w.pendingPurge(post)) }
	}
	ofDeleted, forgetDeleted := purge(deleted)
	ofUnpurged, forgetUnpurged := purge(unpurged)
	for _, c := range []struct {
		container, partition string
		kind                 DriftKind
		begin, end           func() error
	}{
		{postsContainer, post.ID, DriftName, func() error { return w.RecordSweep(w.ctx(), sweep) }, func() error {
			sweeps, err := w.Sweeps(w.ctx())
			w.ok(err)
			sweeps[0].Last = true
			return w.FinishPass(w.ctx(), sweeps[0])
		}},
		{postsContainer, deleted.ID, DriftExpiry, ofDeleted, forgetDeleted},
		{postsContainer, unpurged.ID, DriftUnpurged, ofUnpurged, forgetUnpurged},
		{postsContainer, "p_lost", DriftOrphan, func() error {
			_, err := create(w.ctx(), w.containers[leasesContainer], copying.ID, copying)
			return err
		}, func() error { return (&copyCheckpoint{w.Store, copying}).remove(w.ctx()) }},
		{usersContainer, gone, DriftExpiry, func() error {
			return w.RecordDeletion(w.ctx(), Deletion{UserID: gone, Revision: 3})
		}, nil},
	} {
		is := func(want int) {
			t.Helper()
			drifts, err := w.Drifts(w.ctx(), c.container, c.partition)
			w.ok(err)
			if len(drifts) != want || want > 0 && drifts[0].Kind != c.kind {
				t.Errorf("%s: %+v, want %d", c.kind, drifts, want)
			}
		}
		is(1)
		w.ok(c.begin())
		is(0)
		if c.end != nil {
			w.ok(c.end())
			is(1)
		}
	}
}

// An account that refuses every third request for a while is waited for, in a repair too.
func TestAuditIsThrottled(t *testing.T) {
	w := newWorld(t)
	ada := w.user("Ada")
	var posts []*blog.Post
	for range 5 {
		post := w.post(ada)
		w.comment(ada, post)
		posts = append(posts, post)
		w.ok(w.RepairPost(w.ctx(), post.ID))
	}
	w.damage(posts[2].ID, map[string]any{"/commentCount": 3, "/revision": 3})
	w.ok(w.RepairPost(w.ctx(), posts[2].ID))
	var refused atomic.Int64
	w.faults.set(func(n int, request *http.Request, next transporter) (*http.Response, error) {
		if n%3 == 0 {
			refused.Add(1)
			return refusal(request, http.StatusTooManyRequests, "X-Ms-Retry-After-Ms: 1"), nil
		}
		return next.Do(request)
	})
	audited, err := (&Auditing{Store: w.Store, Repair: true, Sleep: w.again.sleep}).Run(w.ctx())
	w.ok(err)
	if audited.Drifts != 1 || audited.Mended != 1 || refused.Load() < 5 {
		t.Errorf("%+v, %d refused", audited, refused.Load())
	}
	w.faults.set(nil)
	w.counts(posts[2].ID, 1, 0)
}
