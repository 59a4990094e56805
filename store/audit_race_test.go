package store

import (
	"bytes"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"cosmosblog/internal/blog"
)

// Whenever somebody likes and comments on a post while its views are mended, and a projector handles that at once and never
// again, nothing of it is lost.
func TestMendingBesideWriters(t *testing.T) {
	for name, damage := range map[string]struct {
		container  string // users, where it is not feed
		properties map[string]any
	}{
		"another title":              {"", map[string]any{"/title": "another"}},
		"a revision from the past":   {"", map[string]any{"/revision": 1, "/likeCount": 0}},
		"a revision from the future": {"", map[string]any{"/revision": 99}},
		"deleted":                    {"", map[string]any{"/deleted": true, "/revision": 99}},
		"the feed":                   {feedContainer, map[string]any{"/revision": 99, "/excerpt": ""}},
		"the count":                  {postsContainer, map[string]any{"/likeCount": 9, "/revision": 9}},
	} {
		t.Run(name, func(t *testing.T) {
			for n := 1; mendBeside(t, n, damage.container, damage.properties); n++ {
			}
		})
	}
}

// mendBeside lets a writer come before the n-th request of a mending, and tells whether there was one.
func mendBeside(t *testing.T, n int, container string, damage map[string]any) (came bool) {
	w := newWorld(t)
	ada, bob := w.user("Ada"), w.user("Bob")
	post := w.post(ada)
	_, err := w.LikePost(w.ctx(), ada, post.ID)
	w.ok(err)
	w.ok(w.RepairPost(w.ctx(), post.ID))
	of := map[string]view{"": {w.users, ada.ID}, feedContainer: w.feedView(), postsContainer: {w.posts, post.ID}}[container]
	var changes azcosmos.PatchOperations
	for path, value := range damage {
		changes.AppendSet(path, value)
	}
	_, err = of.container.PatchItem(w.ctx(), azcosmos.NewPartitionKeyString(of.partition), post.ID, changes, nil)
	w.ok(err)

	other := w.another()
	w.faults.set(func(i int, request *http.Request, next transporter) (*http.Response, error) {
		if i == n {
			came = true
			_, err := other.LikePost(w.ctx(), bob, post.ID)
			w.ok(err)
			_, err = other.CreateComment(w.ctx(), bob, blog.CommentInput{PostID: post.ID, Content: "A comment."})
			w.ok(err)
			w.ok(other.RepairPost(w.ctx(), post.ID))
		}
		return next.Do(request)
	})
	for _, s := range []subject{{postsContainer, post.ID}, {usersContainer, ada.ID}, {feedContainer, feedPartition}} {
		drifts, err := w.Drifts(w.ctx(), s.container, s.partition)
		w.ok(err)
		_, err = w.Mend(w.ctx(), s.container, s.partition, drifts)
		w.ok(err)
	}
	w.faults.set(nil)
	for _, s := range []subject{{postsContainer, post.ID}, {usersContainer, ada.ID}, {feedContainer, feedPartition}} {
		if drifts, err := w.Drifts(w.ctx(), s.container, s.partition); err != nil || len(drifts) > 0 {
			t.Fatalf("before request %d: %v, %v", n, drifts, err)
		}
	}
	return came
}

// A post that changes whenever its copy is about to be read, so that the copy is always ahead of what was read of the
// post, is no drift, however often it is looked at.
func TestARestlessPostIsNoDrift(t *testing.T) {
	w := newWorld(t)
	ada := w.user("Ada")
	post := w.post(ada)
	w.ok(w.RepairPost(w.ctx(), post.ID))
	audited, changes := w.another(), 0
	audited.faults.set(func(_ int, request *http.Request, next transporter) (*http.Response, error) {
		target, _ := targetOf(request)
		if target.container == usersContainer && strings.HasSuffix(request.URL.Path, post.ID) {
			changes++
			w.comment(ada, post)
			w.ok(w.RepairPost(w.ctx(), post.ID))
		}
		return next.Do(request)
	})
	result, err := (&Auditing{Store: audited.Store, Sleep: w.again.sleep}).Run(w.ctx())
	w.ok(err)
	if result.Drifts != 0 || result.Restless != 1 || changes != maxLooks+1 {
		t.Errorf("%+v after %d changes", result, changes)
	}
}

// A sweep, a purge, a copy or a deletion that ends between the look at what it is about and the look whether it is pending leaves
// no drift behind, and none is told.
func TestWhatEndsWhileItIsLookedAt(t *testing.T) {
	w := newWorld(t)
	ada, bob := w.user("Ada"), w.user("Bob")
	post := w.post(ada)
	w.comment(bob, post)
	w.ok(w.RepairPost(w.ctx(), post.ID))
	renamed, err := w.UpdateUser(w.ctx(), bob.ID, "Bobby")
	w.ok(err)
	sweep := Sweep{UserID: bob.ID, Username: renamed.Username, AuthorRevision: renamed.Revision, Last: true}
	w.ok(w.RecordSweep(w.ctx(), sweep))
	gone := w.user("Gone")
	_, err = w.DeleteUser(w.ctx(), gone.ID, "Gone")
	w.ok(err)
	deletion := Deletion{UserID: gone.ID, Revision: gone.Revision + 1, Last: true}
	w.ok(w.RecordDeletion(w.ctx(), deletion))
	deleted := w.post(ada)
	w.deletePost(deleted)
	purge := w.pendingPurge(deleted)
	copying := &copyCheckpoint{w.Store, copyCheckpointItem{ID: "copy.1", Type: typeCopy, Continuations: map[string]string{}}}
	w.ok(copying.advance(w.ctx(), "", ""))
	w.plant(w.posts, "p_new", newLikeItem("p_new", &blog.Like{User: ada, CreationDate: "2026"}))

	audited, ended := w.another(), map[string]bool{}
	audited.faults.set(func(_ int, request *http.Request, next transporter) (*http.Response, error) {
		target, _ := targetOf(request)
		path := request.URL.Path
		end := func(what string, is bool, do func() error) {
			if is && target.container == leasesContainer && !ended[what] {
				ended[what] = true
				w.ok(do())
			}
		}
		end("the sweep", strings.HasSuffix(path, sweepID(bob.ID)), func() error {
			if _, _, err := w.Sweep(w.ctx(), sweep, w.NewPace(1)); err != nil {
				return err
			}
			sweeps, err := w.Sweeps(w.ctx())
			w.ok(err)
			return w.FinishPass(w.ctx(), sweeps[0])
		})
		end("the deletion", strings.HasSuffix(path, deletionID(gone.ID)), func() error {
			deletions, err := w.Deletions(w.ctx())
			w.ok(err)
			return w.FinishDeletion(w.ctx(), deletions[0])
		})
		end("the purge", strings.HasSuffix(path, purgeID(deleted.ID)), func() error {
			if _, _, err := w.Purge(w.ctx(), purge, w.NewPace(1)); err != nil {
				return err
			}
			return w.ForgetPurge(w.ctx(), purge)
		})
		end("the copy", target.operation == operationQuery && bytes.Contains(bodyOf(request), []byte("'copy'")), func() error {
			w.plant(w.posts, "p_new", newPostItem(&blog.Post{ID: "p_new", Author: ada, Content: "A text.", CreationDate: "2026"}))
			w.damage("p_new", map[string]any{"/likeCount": 1})
			w.ok(w.RepairPost(w.ctx(), "p_new"))
			return copying.remove(w.ctx())
		})
		return next.Do(request)
	})
	result, err := (&Auditing{Store: audited.Store, Parallel: 1, Sleep: w.again.sleep, Found: func(d Drift, _ bool) {
		t.Errorf("%s %s %s: %s, should be %s", d.Kind, d.ID, d.Field, d.Is, d.Should)
	}}).Run(w.ctx())
	w.ok(err)
	if len(ended) != 4 || result.Drifts != 0 {
		t.Errorf("%v ended; %+v", ended, result)
	}
}

// bodyOf reads a request's body and leaves it there.
func bodyOf(request *http.Request) []byte {
	body, _ := io.ReadAll(request.Body)
	request.Body = io.NopCloser(bytes.NewReader(body))
	return body
}

// A post that is new when a horizon that is too high is lowered, and so was taken for too old, is in the feed afterwards.
func TestLoweringTheHorizonBesideAWriter(t *testing.T) {
	h := drained(t, 60)
	horizon, etag, err := h.feedHorizon(h.ctx())
	h.ok(err)
	horizon.CreationDate = blog.NewDateTime(horizon.CreationDate.Time().AddDate(1, 0, 0))
	_, err = replace(h.ctx(), h.feed, feedPartition, horizonID, horizon, etag)
	h.ok(err)
	other, came := h.another(), false
	h.faults.set(func(_ int, request *http.Request, next transporter) (*http.Response, error) {
		if !came && request.Method != http.MethodGet && strings.HasSuffix(request.URL.Path, "/docs/"+horizonID) {
			came = true
			h.clock.advance(time.Hour)
			post := stated("p_new", h.clock.date(), 1, false)
			h.plant(other.Store.posts, post.ID, copyOf(post))
			_, err := other.ProjectFeedPost(h.ctx(), post)
			h.ok(err)
		}
		return next.Do(request)
	})
	drifts, err := h.Drifts(h.ctx(), feedContainer, feedPartition)
	h.ok(err)
	left, err := h.Mend(h.ctx(), feedContainer, feedPartition, drifts)
	h.ok(err)
	h.faults.set(nil)
	now, err := h.Drifts(h.ctx(), feedContainer, feedPartition)
	h.ok(err)
	if !came || len(left) > 0 || len(now) > 0 {
		t.Errorf("came %v, left %v, and then %v", came, left, now)
	}
}

// A repair that reads the post from a replica which is some writes behind does not write over what a projector wrote meanwhile.
func TestMendingByAReplicaThatIsBehind(t *testing.T) {
	for _, container := range []string{postsContainer, feedContainer} {
		t.Run(container, func(t *testing.T) {
			for n := 1; mendBehind(t, n, container); n++ {
			}
		})
	}
}

// mendBehind lets a writer and a projector come before the n-th request of a mending, which sees no later state of posts from
// then on, and tells whether there was one.
func mendBehind(t *testing.T, n int, container string) (came bool) {
	w := newWorld(t)
	ada, bob := w.user("Ada"), w.user("Bob")
	post := w.post(ada)
	w.ok(w.RepairPost(w.ctx(), post.ID))
	copied, mended := view{w.users, ada.ID}, subject{postsContainer, post.ID}
	if container == feedContainer {
		copied, mended = w.feedView(), subject{feedContainer, feedPartition}
	}
	var changes azcosmos.PatchOperations
	changes.AppendSet("/title", "another")
	_, err := copied.container.PatchItem(w.ctx(), azcosmos.NewPartitionKeyString(copied.partition), post.ID, changes, nil)
	w.ok(err)

	other, known := w.another(), map[string][]byte{} // what the replica answers
	w.faults.set(func(i int, request *http.Request, next transporter) (*http.Response, error) {
		if i == n {
			came = true
			_, err := other.LikePost(w.ctx(), bob, post.ID)
			w.ok(err)
			w.ok(other.RepairPost(w.ctx(), post.ID))
		}
		target, _ := targetOf(request)
		if target.container != postsContainer || target.operation != operationRead && target.operation != operationQuery {
			return next.Do(request)
		}
		var query []byte
		if request.Body != nil {
			query, _ = io.ReadAll(request.Body)
			request.Body = io.NopCloser(bytes.NewReader(query))
		}
		response, err := next.Do(request)
		if err != nil {
			return response, err
		}
		read, _ := io.ReadAll(response.Body)
		if before, ok := known[request.URL.Path+string(query)]; ok && came {
			read = before
		}
		known[request.URL.Path+string(query)] = read
		response.Body = io.NopCloser(bytes.NewReader(read))
		return response, nil
	})
	drifts, err := w.Drifts(w.ctx(), mended.container, mended.partition)
	w.ok(err)
	drifts = slices.DeleteFunc(drifts, func(d Drift) bool { return d.source == "" }) // which an audit does not believe
	_, err = w.Mend(w.ctx(), mended.container, mended.partition, drifts)
	w.ok(err)
	w.faults.set(nil)
	if drifts, err := w.Drifts(w.ctx(), mended.container, mended.partition); err != nil || len(drifts) > 0 {
		t.Fatalf("before request %d: %v, %v", n, drifts, err)
	}
	return came
}

// A session that no replica can satisfy any more, as after a failover to another region, is given up, and what was looked at in it
// is looked at anew.
func TestAuditAcrossAFailover(t *testing.T) {
	w := newWorld(t)
	w.ok(w.RepairPost(w.ctx(), w.post(w.user("Ada")).ID))
	begun, refused := false, 0 // a session since then
	w.faults.set(func(_ int, request *http.Request, next transporter) (*http.Response, error) {
		if request.Header.Get(sessionTokenHeader) == "" {
			begun = refused > 0
		} else if !begun && refused < 20 {
			refused++
			return refusal(request, http.StatusNotFound, "X-Ms-Substatus: 1002"), nil
		}
		return next.Do(request)
	})
	audited, err := (&Auditing{Store: w.Store, Sleep: w.again.sleep}).Run(w.ctx())
	w.ok(err)
	if audited.Drifts != 0 || refused == 0 || refused == 20 {
		t.Errorf("%+v after %d tries", audited, refused)
	}
}
