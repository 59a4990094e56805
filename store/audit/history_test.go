package audit_test

import (
	"context"
	"errors"
	"net/http"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"cosmosblog/blog"
	"cosmosblog/proof/storetest"
	"cosmosblog/store/audit"
	"cosmosblog/store/cosmos"
	"cosmosblog/store/follow"
	"cosmosblog/store/schema"
)

// restored is a world with views of four posts, whose feeds show none of them. The copy of the
// first post drifts.
func restored(w *world) (ada *blog.User, posts []*blog.Post) {
	w.T.Helper()
	ada = w.AddUser("Ada")
	for range 4 {
		post := w.AddPost(ada)
		w.OK(w.RepairPost(w.Ctx(), post.ID))
		posts = append(posts, post)
	}
	var changes azcosmos.PatchOperations
	changes.AppendSet("/head/title", "another")
	_, err := w.Container(schema.Users).PatchItem(w.Ctx(), azcosmos.NewPartitionKeyString(ada.ID), posts[0].ID, changes, nil)
	w.OK(err)
	w.Wire.Inject(storetest.HideItems)
	return ada, posts
}

func (w *world) endHistory(former string) string {
	w.T.Helper()
	history, err := w.EndHistory(w.Ctx(), former, "a test")
	w.OK(err)
	return history.Name
}

// TestAuditOfRestoredDatabase finds a drift of an item that no feed shows, and repairs it.
func TestAuditOfRestoredDatabase(t *testing.T) {
	w := newWorld(t)
	restored(w)
	result, err := w.audit(w.Ctx(), audit.Options{})
	w.OK(err)
	if result.Posts != 0 || result.Drifts != 0 {
		t.Fatalf("the feeds show items: %+v", result)
	}
	w.endHistory("")
	var last follow.Progress
	options := audit.Options{PageSize: 3, Progress: func(p follow.Progress) {
		if p.Total != 0 || p.Done < last.Done {
			t.Errorf("the progress is %+v, after %+v", p, last)
		}
		last = p
	}}
	result, err = w.audit(w.Ctx(), options)
	w.OK(err)
	if result.Posts != 4 || result.Users != 1 || result.Usernames != 1 || result.Lists == 0 || result.Drifts != 1 {
		t.Errorf("found %+v", result)
	}
	if last.Done < 4+5+1 {
		t.Errorf("the last progress is %+v", last)
	}
	options.Repair, last = true, follow.Progress{}
	result, err = w.audit(w.Ctx(), options)
	w.OK(err)
	if result.Corrected != 1 {
		t.Errorf("repaired %+v", result)
	}
}

// TestAuditOfDividedRestoredDatabase audits containers of four feed ranges.
func TestAuditOfDividedRestoredDatabase(t *testing.T) {
	w := &world{storetest.NewDividedWorld(t)}
	restored(w)
	w.endHistory("")
	result, err := w.audit(w.Ctx(), audit.Options{PageSize: 3})
	w.OK(err)
	if result.Posts != 4 || result.Users != 1 || result.Drifts != 1 {
		t.Errorf("found %+v", result)
	}
}

// rebuild rebuilds in small steps. If interruptAfter is positive, it ends after as many pages.
func (w *world) rebuild(interruptAfter int) (result audit.Rebuilt, first follow.Progress) {
	w.T.Helper()
	ctx, cancel := context.WithCancel(w.Ctx())
	defer cancel()
	calls := 0
	result, err := audit.Rebuild(ctx, w.DB, audit.Options{
		PageSize: 1, Parallel: 1,
		Progress: func(p follow.Progress) {
			if calls == 0 {
				first = p
			}
			if calls++; calls == 1+interruptAfter {
				cancel()
			}
		},
	})
	if (err != nil) != (interruptAfter > 0) {
		w.T.Fatalf("the rebuild to interrupt after %d pages: %v", interruptAfter, err)
	}
	return result, first
}

// TestRebuildOfRestoredDatabase interrupts a rebuild of items that no feed shows, and resumes it.
func TestRebuildOfRestoredDatabase(t *testing.T) {
	for after := 1; after <= 10; after++ {
		w := newWorld(t)
		restored(w)
		w.endHistory("")
		interrupted, _ := w.rebuild(after)
		resumed, first := w.rebuild(-1)
		if n := interrupted.Posts + resumed.Posts; n < 4 || n > 5 || resumed.Since == "" && after > 1 {
			t.Errorf("rebuilt %+v, and then %+v", interrupted, resumed)
		}
		if resumed.Posts == 4 && after > 1 || first.Done < int64(after)-2 || first.Total != 0 {
			t.Errorf("after %d pages: continued at %+v and rebuilt %+v", after, first, resumed)
		}
		if interrupted.Differed+resumed.Differed == 0 {
			t.Error("the drift was not found")
		}
		if result, err := w.audit(w.Ctx(), audit.Options{}); err != nil || result.Drifts != 0 || result.Posts != 4 {
			t.Errorf("after the rebuild: %+v, %v", result, err)
		}
	}
}

// TestRebuildOfAnotherHistory interrupts rebuilds, after which the history ends. The positions are
// then not used: neither those in the feeds, nor those of the query.
func TestRebuildOfAnotherHistory(t *testing.T) {
	w := newWorld(t)
	restored(w)
	w.Wire.Inject(nil)
	w.rebuild(3)
	history := w.endHistory("")
	if again, _ := w.rebuild(3); again.Since != "" {
		t.Errorf("a rebuild of before was resumed: %+v", again)
	}
	w.endHistory(history)
	w.Wire.Inject(storetest.HideItems)
	again, first := w.rebuild(-1)
	if again.Since != "" || again.Posts != 4 || first.Done != 0 {
		t.Errorf("a rebuild of before was resumed at %+v: %+v", first, again)
	}
}

// TestRebuildTaken begins another rebuild during one, and interrupts it. The first one ends,
// because the checkpoint is that of the other.
func TestRebuildTaken(t *testing.T) {
	w := newWorld(t)
	restored(w)
	w.Wire.Inject(nil)
	calls := 0
	_, err := audit.Rebuild(w.Ctx(), w.DB, audit.Options{
		PageSize: 1, Parallel: 1,
		Progress: func(follow.Progress) {
			if calls++; calls == 3 {
				w.rebuild(2)
			}
		},
	})
	if !errors.Is(err, audit.ErrRebuildTaken) {
		t.Errorf("the first rebuild ended with %v", err)
	}
	if again, _ := w.rebuild(-1); again.Since == "" {
		t.Errorf("the other rebuild was not resumed: %+v", again)
	}
}

// TestRebuildOfBusyPost rebuilds the views of a post that is liked before each comparison. Its
// copies have states that the post has lost. They are overwritten all the same, so a projector can
// do the rest.
func TestRebuildOfBusyPost(t *testing.T) {
	w := newWorld(t)
	ada := w.AddUser("Ada")
	post := w.AddPost(ada)
	w.OK(w.RepairPost(w.Ctx(), post.ID))
	for _, of := range []target{{schema.Users, ada.ID}, {schema.Feed, schema.FeedPartition}} {
		var changes azcosmos.PatchOperations
		changes.AppendSet("/head/title", "A lost title")
		changes.AppendSet("/revision", 99)
		_, err := w.Container(of.container).PatchItem(w.Ctx(), azcosmos.NewPartitionKeyString(of.partition), post.ID, changes, nil)
		w.OK(err)
	}
	w.rebuildBeside(ada, post)
}

// rebuildBeside rebuilds the views of a post that gets a comment before each comparison, and fails
// the test if a drift is left that a projector would not correct.
func (w *world) rebuildBeside(author *blog.User, post *blog.Post) {
	w.T.Helper()
	rebuilding := w.another()
	rebuilding.Wire.Inject(func(_ int, request *http.Request, next storetest.Transporter) (*http.Response, error) {
		target, _ := cosmos.TargetOf(request)
		if target.Operation == cosmos.OperationQuery && target.Container != schema.Leases {
			w.AddComment(author, post)
		}
		return next.Do(request)
	})
	rebuilt, err := audit.Rebuild(w.Ctx(), rebuilding.DB, audit.Options{})
	w.OK(err)
	if rebuilt.Unstable == 0 {
		w.T.Errorf("rebuilt %+v", rebuilt)
	}
	w.OK(w.RepairPost(w.Ctx(), post.ID)) // as a projector
	if result, err := w.audit(w.Ctx(), audit.Options{}); err != nil || result.Drifts != 0 {
		w.T.Errorf("after the rebuild: %+v, %v", result, err)
	}
}

// TestRebuildOfBusyTags loses an edit that added a tag, in posts and users, but not in lists. The
// entry under the tag goes, although the post gets comments before each comparison.
func TestRebuildOfBusyTags(t *testing.T) {
	w := newWorld(t)
	ada := w.AddUser("Ada")
	post := w.AddPost(ada)
	_, err := w.UpdatePost(w.Ctx(), ada.ID, blog.UpdatePostInput{ID: post.Ref(), PostChange: blog.PostChange{Tags: []string{"lost"}}})
	w.OK(err)
	w.OK(w.RepairPost(w.Ctx(), post.ID))
	for _, of := range []target{{schema.Users, ada.ID}, {schema.Posts, post.ID}} {
		var changes azcosmos.PatchOperations
		changes.AppendSet("/head/tags", []string{})
		changes.AppendSet("/revision", 1)
		changes.AppendSet("/version", 1)
		changes.AppendRemove("/updatedDate")
		_, err = w.Container(of.container).PatchItem(w.Ctx(), azcosmos.NewPartitionKeyString(of.partition), post.ID, changes, nil)
		w.OK(err)
	}
	w.rebuildBeside(ada, post)
}
