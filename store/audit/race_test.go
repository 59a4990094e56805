package audit_test

import (
	"bytes"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"cosmosblog/internal/blog"
	"cosmosblog/store/audit"
	"cosmosblog/store/bulk"
	"cosmosblog/store/cosmos"
	"cosmosblog/store/schema"
	"cosmosblog/store/storetest"
	"cosmosblog/store/views"
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
		"the feed":                   {schema.Feed, map[string]any{"/revision": 99, "/excerpt": ""}},
		"the count":                  {schema.Posts, map[string]any{"/likeCount": 9, "/revision": 9}},
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
	ada, bob := w.AddUser("Ada"), w.AddUser("Bob")
	post := w.AddPost(ada)
	_, err := w.LikePost(w.Ctx(), ada, post.ID)
	w.OK(err)
	w.OK(w.RepairPost(w.Ctx(), post.ID))
	of := map[string]subject{"": {schema.Users, ada.ID}, schema.Feed: {schema.Feed, schema.FeedPartition}, schema.Posts: {schema.Posts, post.ID}}[container]
	var changes azcosmos.PatchOperations
	for path, value := range damage {
		changes.AppendSet(path, value)
	}
	_, err = w.Container(of.container).PatchItem(w.Ctx(), azcosmos.NewPartitionKeyString(of.partition), post.ID, changes, nil)
	w.OK(err)

	other := w.another()
	w.Faults.Set(func(i int, request *http.Request, next storetest.Transporter) (*http.Response, error) {
		if i == n {
			came = true
			_, err := other.LikePost(w.Ctx(), bob, post.ID)
			w.OK(err)
			_, err = other.CreateComment(w.Ctx(), bob, blog.CommentInput{PostID: post.ID, Content: "A comment."})
			w.OK(err)
			w.OK(other.RepairPost(w.Ctx(), post.ID))
		}
		return next.Do(request)
	})
	for _, s := range []subject{{schema.Posts, post.ID}, {schema.Users, ada.ID}, {schema.Feed, schema.FeedPartition}} {
		drifts, err := w.drifts(s.container, s.partition)
		w.OK(err)
		_, err = w.repair(s.container, s.partition, drifts)
		w.OK(err)
	}
	w.Faults.Set(nil)
	for _, s := range []subject{{schema.Posts, post.ID}, {schema.Users, ada.ID}, {schema.Feed, schema.FeedPartition}} {
		if drifts, err := w.drifts(s.container, s.partition); err != nil || len(drifts) > 0 {
			t.Fatalf("before request %d: %v, %v", n, drifts, err)
		}
	}
	return came
}

// A post that changes whenever its copy is about to be read, so that the copy is always ahead of what was read of the
// post, is no drift, however often it is looked at.
func TestARestlessPostIsNoDrift(t *testing.T) {
	w := newWorld(t)
	ada := w.AddUser("Ada")
	post := w.AddPost(ada)
	w.OK(w.RepairPost(w.Ctx(), post.ID))
	audited, changes := w.another(), 0
	audited.Faults.Set(func(_ int, request *http.Request, next storetest.Transporter) (*http.Response, error) {
		target, _ := cosmos.TargetOf(request)
		if target.Container == schema.Users && strings.HasSuffix(request.URL.Path, post.ID) {
			changes++
			w.AddComment(ada, post)
			w.OK(w.RepairPost(w.Ctx(), post.ID))
		}
		return next.Do(request)
	})
	result, err := audited.audit(w.Ctx(), audit.Options{})
	w.OK(err)
	if result.Drifts != 0 || result.Unstable != 1 || changes != audit.MaxLooks+1 {
		t.Errorf("%+v after %d changes", result, changes)
	}
}

// A sweep, a purge, a copy or a deletion that ends between the look at what it is about and the look whether it is pending leaves
// no drift behind, and none is told.
func TestWhatEndsWhileItIsLookedAt(t *testing.T) {
	w := newWorld(t)
	ada, bob := w.AddUser("Ada"), w.AddUser("Bob")
	post := w.AddPost(ada)
	w.AddComment(bob, post)
	w.OK(w.RepairPost(w.Ctx(), post.ID))
	renamed, err := w.UpdateUser(w.Ctx(), bob.ID, "Bobby")
	w.OK(err)
	sweep := views.Sweep{UserID: bob.ID, Username: renamed.Username, AuthorRevision: renamed.Revision, Last: true}
	w.OK(w.RecordSweep(w.Ctx(), sweep))
	gone := w.AddUser("Gone")
	_, err = w.DeleteUser(w.Ctx(), gone.ID, "Gone")
	w.OK(err)
	deletion := views.Deletion{UserID: gone.ID, Revision: gone.Revision + 1, Last: true}
	w.OK(w.RecordDeletion(w.Ctx(), deletion))
	deleted := w.AddPost(ada)
	w.RemovePost(deleted)
	purge := w.PendingPurge(deleted)
	w.Plant(w.Container(schema.Leases), "copy.1", map[string]any{"id": "copy.1", "type": "copy"})
	w.Plant(w.Container(schema.Posts), "p_new", bulk.NewLikeItem("p_new", &blog.Like{User: ada, CreationDate: "2026"}))

	audited, ended := w.another(), map[string]bool{}
	audited.Faults.Set(func(_ int, request *http.Request, next storetest.Transporter) (*http.Response, error) {
		target, _ := cosmos.TargetOf(request)
		path := request.URL.Path
		end := func(what string, is bool, do func() error) {
			if is && target.Container == schema.Leases && !ended[what] {
				ended[what] = true
				w.OK(do())
			}
		}
		end("the sweep", strings.HasSuffix(path, views.SweepID(bob.ID)), func() error {
			if _, _, err := w.Sweep(w.Ctx(), sweep, w.NewThrottler(1)); err != nil {
				return err
			}
			sweeps, err := w.Sweeps(w.Ctx())
			w.OK(err)
			return w.FinishPass(w.Ctx(), sweeps[0])
		})
		end("the deletion", strings.HasSuffix(path, views.DeletionID(gone.ID)), func() error {
			deletions, err := w.Deletions(w.Ctx())
			w.OK(err)
			return w.FinishDeletion(w.Ctx(), deletions[0])
		})
		end("the purge", strings.HasSuffix(path, views.PurgeID(deleted.ID)), func() error {
			if _, _, err := w.Purge(w.Ctx(), purge, w.NewThrottler(1)); err != nil {
				return err
			}
			return w.ForgetPurge(w.Ctx(), purge)
		})
		end("the copy", target.Operation == cosmos.OperationQuery && bytes.Contains(storetest.BodyOf(request), []byte("'copy'")), func() error {
			w.Plant(w.Container(schema.Posts), "p_new", bulk.NewPostItem(&blog.Post{ID: "p_new", Author: ada, Content: "A text.", CreationDate: "2026"}))
			w.Damage("p_new", map[string]any{"/likeCount": 1})
			w.OK(w.RepairPost(w.Ctx(), "p_new"))
			return w.endCopy("copy.1")
		})
		return next.Do(request)
	})
	result, err := audited.audit(w.Ctx(), audit.Options{Parallel: 1, Found: func(d audit.Drift, _ bool) {
		t.Errorf("%s %s %s: %s, should be %s", d.Kind, d.ID, d.Field, d.Is, d.Should)
	}})
	w.OK(err)
	if len(ended) != 4 || result.Drifts != 0 {
		t.Errorf("%v ended; %+v", ended, result)
	}
}

// A repair that reads the post from a replica which is some writes behind does not write over what a projector wrote meanwhile.
func TestMendingByAReplicaThatIsBehind(t *testing.T) {
	for _, container := range []string{schema.Posts, schema.Feed} {
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
	ada, bob := w.AddUser("Ada"), w.AddUser("Bob")
	post := w.AddPost(ada)
	w.OK(w.RepairPost(w.Ctx(), post.ID))
	copied, mended := subject{schema.Users, ada.ID}, subject{schema.Posts, post.ID}
	if container == schema.Feed {
		copied, mended = subject{schema.Feed, schema.FeedPartition}, subject{schema.Feed, schema.FeedPartition}
	}
	var changes azcosmos.PatchOperations
	changes.AppendSet("/title", "another")
	_, err := w.Container(copied.container).PatchItem(w.Ctx(), azcosmos.NewPartitionKeyString(copied.partition), post.ID, changes, nil)
	w.OK(err)

	other, known := w.another(), map[string][]byte{} // what the replica answers
	w.Faults.Set(func(i int, request *http.Request, next storetest.Transporter) (*http.Response, error) {
		if i == n {
			came = true
			_, err := other.LikePost(w.Ctx(), bob, post.ID)
			w.OK(err)
			w.OK(other.RepairPost(w.Ctx(), post.ID))
		}
		target, _ := cosmos.TargetOf(request)
		if target.Container != schema.Posts || target.Operation != cosmos.OperationRead && target.Operation != cosmos.OperationQuery {
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
	drifts, err := w.drifts(mended.container, mended.partition)
	w.OK(err)
	drifts = slices.DeleteFunc(drifts, func(d audit.Drift) bool { return !d.Believed() }) // which an audit does not believe
	_, err = w.repair(mended.container, mended.partition, drifts)
	w.OK(err)
	w.Faults.Set(nil)
	if drifts, err := w.drifts(mended.container, mended.partition); err != nil || len(drifts) > 0 {
		t.Fatalf("before request %d: %v, %v", n, drifts, err)
	}
	return came
}

// A session that no replica can satisfy any more, as after a failover to another region, is given up, and what was looked at in it
// is looked at anew.
func TestAuditAcrossAFailover(t *testing.T) {
	w := newWorld(t)
	w.OK(w.RepairPost(w.Ctx(), w.AddPost(w.AddUser("Ada")).ID))
	begun, refused := false, 0 // a session since then
	w.Faults.Set(func(_ int, request *http.Request, next storetest.Transporter) (*http.Response, error) {
		if request.Header.Get(cosmos.SessionTokenHeader) == "" {
			begun = refused > 0
		} else if !begun && refused < 20 {
			refused++
			return storetest.Refusal(request, http.StatusNotFound, "X-Ms-Substatus: 1002"), nil
		}
		return next.Do(request)
	})
	audited, err := w.audit(w.Ctx(), audit.Options{})
	w.OK(err)
	if audited.Drifts != 0 || refused == 0 || refused == 20 {
		t.Errorf("%+v after %d tries", audited, refused)
	}
}
