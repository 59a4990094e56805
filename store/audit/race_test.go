//go:build ci

package audit_test

import (
	"bytes"
	"flag"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"cosmosblog/blog"
	"cosmosblog/cosmostest"
	"cosmosblog/proof/storetest"
	"cosmosblog/proof/testseed"
	"cosmosblog/store/audit"
	"cosmosblog/store/chores"
	"cosmosblog/store/cosmos"
	"cosmosblog/store/schema"
)

var strideFlag = flag.Int("stride", 4, "tests write before every n-th request of a repair; 1 tests all requests")

// firstRequest returns the number of the first request before which a test writes, one of the
// first -stride requests at random.
func firstRequest(t *testing.T) int { return 1 + testseed.Rand(t).IntN(*strideFlag) }

// A repair loses no write of a concurrent writer. The writer likes and comments on the post
// before any one request of the repair, and a projector handles the change at once, and only
// once.
func TestRepairBesideWriters(t *testing.T) {
	for name, damage := range map[string]struct {
		container  string // users if empty
		properties map[string]any
	}{
		"another title":              {"", map[string]any{"/head/title": "another"}},
		"a revision from the past":   {"", map[string]any{"/revision": 1, "/likeCount": 0}},
		"a revision from the future": {"", map[string]any{"/revision": 99}},
		"deleted":                    {"", map[string]any{"/deleted": true, "/revision": 99}},
		"the feed":                   {schema.Feed, map[string]any{"/revision": 99, "/head/excerpt": ""}},
		"the count":                  {schema.Posts, map[string]any{"/likeCount": 9, "/revision": 9}},
	} {
		t.Run(name, func(t *testing.T) {
			for n := firstRequest(t); repairBeside(t, n, damage.container, damage.properties); n += *strideFlag {
			}
		})
	}
}

// repairBeside lets a writer write before the n-th request of a repair, and reports whether
// there was such a request.
func repairBeside(t *testing.T, n int, container string, damage map[string]any) (came bool) {
	w := newWorld(t)
	ada, bob := w.AddUser("Ada"), w.AddUser("Bob")
	post := w.AddPost(ada)
	_, err := w.LikePost(w.Ctx(), ada, post.ID)
	w.OK(err)
	w.OK(w.RepairPost(w.Ctx(), post.ID))
	of := map[string]target{
		"":           {schema.Users, ada.ID},
		schema.Feed:  {schema.Feed, schema.FeedPartition},
		schema.Posts: {schema.Posts, post.ID},
	}[container]
	var changes azcosmos.PatchOperations
	for path, value := range damage {
		changes.AppendSet(path, value)
	}
	_, err = w.Container(of.container).PatchItem(w.Ctx(), azcosmos.NewPartitionKeyString(of.partition), post.ID, changes, nil)
	w.OK(err)

	other := w.another()
	w.Wire.Inject(func(i int, request *http.Request, next storetest.Transporter) (*http.Response, error) {
		if i == n {
			came = true
			_, err := other.LikePost(w.Ctx(), bob, post.ID)
			w.OK(err)
			_, err = other.CreateComment(w.Ctx(), bob, blog.CreateCommentInput{PostID: post.Ref(), Content: "A comment."})
			w.OK(err)
			w.OK(other.RepairPost(w.Ctx(), post.ID))
		}
		return next.Do(request)
	})
	for _, s := range []target{{schema.Posts, post.ID}, {schema.Users, ada.ID}, {schema.Feed, schema.FeedPartition}} {
		drifts, err := w.drifts(s.container, s.partition)
		w.OK(err)
		_, err = w.repair(s.container, s.partition, drifts)
		w.OK(err)
	}
	w.Wire.Inject(nil)
	for _, s := range []target{{schema.Posts, post.ID}, {schema.Users, ada.ID}, {schema.Feed, schema.FeedPartition}} {
		if drifts, err := w.drifts(s.container, s.partition); err != nil || len(drifts) > 0 {
			t.Fatalf("before request %d: %v, %v", n, drifts, err)
		}
	}
	return came
}

// A post that changes before every read of its copy is not a drift: the copy is always ahead of
// the post that was read, however often the two are compared.
func TestUnstablePostIsNotADrift(t *testing.T) {
	w := newWorld(t)
	ada := w.AddUser("Ada")
	post := w.AddPost(ada)
	w.OK(w.RepairPost(w.Ctx(), post.ID))
	audited, changes := w.another(), 0
	audited.Wire.Inject(func(_ int, request *http.Request, next storetest.Transporter) (*http.Response, error) {
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
	if result.Drifts != 0 || result.Unstable != 1 || changes != audit.MaxRecomparisons+1 {
		t.Errorf("got %+v after %d changes", result, changes)
	}
}

// An audit reports no drift if a sweep, purge, copy or deletion ends between the read of the
// items and the read of the pending work.
func TestWorkThatEndsDuringAudit(t *testing.T) {
	w := newWorld(t)
	ada, bob := w.AddUser("Ada"), w.AddUser("Bob")
	post := w.AddPost(ada)
	w.AddComment(bob, post)
	w.OK(w.RepairPost(w.Ctx(), post.ID))
	renamed, err := w.UpdateUser(w.Ctx(), bob.ID, "Bobby")
	w.OK(err)
	sweep := chores.Sweep{UserID: bob.ID, Username: renamed.Username, AuthorRevision: renamed.Revision, Last: true}
	w.OK(w.RecordSweep(w.Ctx(), sweep))
	gone := w.AddUser("Gone")
	_, err = w.DeleteUser(w.Ctx(), gone.ID, "Gone")
	w.OK(err)
	deletion := chores.Deletion{UserID: gone.ID, Revision: gone.Revision + 1, Last: true}
	w.OK(w.RecordDeletion(w.Ctx(), deletion))
	deleted := w.AddPost(ada)
	w.RemovePost(deleted)
	purge := w.PendingPurge(deleted)
	w.Plant(w.Container(schema.Leases), "copy.1", map[string]any{"id": "copy.1", "type": "copy"})
	w.Plant(w.Container(schema.Posts), "p_new", schema.NewLikeItem("p_new", &blog.Like{User: ada, CreationDate: "2026"}))

	audited, ended := w.another(), map[string]bool{}
	audited.Wire.Inject(func(_ int, request *http.Request, next storetest.Transporter) (*http.Response, error) {
		target, _ := cosmos.TargetOf(request)
		path := request.URL.Path
		endBefore := func(what string, matches bool, end func() error) {
			if matches && target.Container == schema.Leases && !ended[what] {
				ended[what] = true
				w.OK(end())
			}
		}
		endBefore("the sweep", strings.HasSuffix(path, schema.SweepID(bob.ID)), func() error {
			if _, err := chores.Run(w.Ctx(), w.SweepPass(sweep)); err != nil {
				return err
			}
			w.OK(w.RepairPost(w.Ctx(), post.ID)) // the copies of the post, whose recent comment has changed
			sweeps, err := w.Sweeps(w.Ctx())
			w.OK(err)
			return w.FinishSweepPass(w.Ctx(), sweeps[0], 0)
		})
		endBefore("the deletion", strings.HasSuffix(path, schema.DeletionID(gone.ID)), func() error {
			deletions, err := w.Deletions(w.Ctx())
			w.OK(err)
			return w.FinishDeletion(w.Ctx(), deletions[0])
		})
		endBefore("the purge", strings.HasSuffix(path, schema.PurgeID(deleted.ID)), func() error {
			if _, err := chores.Run(w.Ctx(), w.PurgePass(purge.PostID)); err != nil {
				return err
			}
			return w.ForgetPurge(w.Ctx(), purge)
		})
		isCopyQuery := target.Operation == cosmos.OperationQuery &&
			bytes.Contains(cosmostest.Body(request), []byte("'copy'"))
		endBefore("the copy", isCopyQuery, func() error {
			post := &blog.Post{ID: "p_new", Author: ada, Content: "A text.", CreationDate: "2026"}
			item, _ := schema.NewPostItem(post)
			w.Plant(w.Container(schema.Posts), "p_new", item)
			w.Damage("p_new", map[string]any{"/likeCount": 1})
			w.OK(w.RepairPost(w.Ctx(), "p_new"))
			return w.endCopy("copy.1")
		})
		return next.Do(request)
	})
	result, err := audited.audit(w.Ctx(), audit.Options{Parallel: 1, Found: func(d audit.Drift, _ bool) {
		t.Errorf("drift %s %s %s: is %s, should be %s", d.Kind, d.ID, d.Field, d.Is, d.Should)
	}})
	w.OK(err)
	if len(ended) != 4 || result.Drifts != 0 {
		t.Errorf("ended: %v; result %+v", ended, result)
	}
}

// A repair that reads posts from a replica that is some writes behind does not overwrite the
// newer writes of a projector.
func TestRepairFromLaggingReplica(t *testing.T) {
	for _, container := range []string{schema.Posts, schema.Feed} {
		t.Run(container, func(t *testing.T) {
			for n := firstRequest(t); repairBehind(t, n, container); n += *strideFlag {
			}
		})
	}
}

// repairBehind lets a writer and a projector write before the n-th request of a repair. From
// then on, the repair reads the earlier state of posts. It reports whether there was such a
// request.
func repairBehind(t *testing.T, n int, container string) (came bool) {
	w := newWorld(t)
	ada, bob := w.AddUser("Ada"), w.AddUser("Bob")
	post := w.AddPost(ada)
	w.OK(w.RepairPost(w.Ctx(), post.ID))
	copied, repaired := target{schema.Users, ada.ID}, target{schema.Posts, post.ID}
	if container == schema.Feed {
		copied = target{schema.Feed, schema.FeedPartition}
		repaired = copied
	}
	var changes azcosmos.PatchOperations
	changes.AppendSet("/head/title", "another")
	_, err := w.Container(copied.container).PatchItem(w.Ctx(), azcosmos.NewPartitionKeyString(copied.partition), post.ID, changes, nil)
	w.OK(err)

	other, replica := w.another(), map[string][]byte{} // the replica's responses
	w.Wire.Inject(func(i int, request *http.Request, next storetest.Transporter) (*http.Response, error) {
		if i == n {
			came = true
			_, err := other.LikePost(w.Ctx(), bob, post.ID)
			w.OK(err)
			w.OK(other.RepairPost(w.Ctx(), post.ID))
		}
		target, _ := cosmos.TargetOf(request)
		reads := target.Operation == cosmos.OperationRead || target.Operation == cosmos.OperationQuery
		if target.Container != schema.Posts || !reads {
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
		if before, ok := replica[request.URL.Path+string(query)]; ok && came {
			read = before
		}
		replica[request.URL.Path+string(query)] = read
		response.Body = io.NopCloser(bytes.NewReader(read))
		return response, nil
	})
	drifts, err := w.drifts(repaired.container, repaired.partition)
	w.OK(err)
	drifts = slices.DeleteFunc(drifts, func(d audit.Drift) bool { return !d.IsConfirmable() })
	_, err = w.repair(repaired.container, repaired.partition, drifts)
	w.OK(err)
	w.Wire.Inject(nil)
	if drifts, err := w.drifts(repaired.container, repaired.partition); err != nil || len(drifts) > 0 {
		t.Fatalf("before request %d: %v, %v", n, drifts, err)
	}
	return came
}

// An audit abandons a session that no replica can satisfy any more, as after a failover to
// another region. It repeats the session's comparisons in a new one.
func TestAuditAcrossFailover(t *testing.T) {
	w := newWorld(t)
	w.OK(w.RepairPost(w.Ctx(), w.AddPost(w.AddUser("Ada")).ID))
	begun, refused := false, 0 // begun: new sessions after a refusal
	w.Wire.Inject(func(_ int, request *http.Request, next storetest.Transporter) (*http.Response, error) {
		if request.Header.Get(cosmos.SessionTokenHeader) == "" {
			begun = refused > 0
		} else if !begun && refused < 20 {
			refused++
			return cosmostest.Refuse(http.StatusNotFound, "X-Ms-Substatus: 1002")(0, request, nil)
		}
		return next.Do(request)
	})
	audited, err := w.audit(w.Ctx(), audit.Options{})
	w.OK(err)
	if audited.Drifts != 0 || refused == 0 || refused == 20 {
		t.Errorf("got %+v after %d refusals", audited, refused)
	}
}
