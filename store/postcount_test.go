package store

import (
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"cosmosblog/internal/blog"
)

// uncounted makes a user of so many posts, all of them with copies, as a database has them from before posts were counted.
func (w *world) uncounted(username string, posts int) *blog.User {
	w.t.Helper()
	user := w.user(username)
	for range posts {
		w.ok(w.RepairPost(w.ctx(), w.post(user).ID))
	}
	var changes azcosmos.PatchOperations
	changes.AppendRemove("/postCount")
	_, err := w.users.PatchItem(w.ctx(), azcosmos.NewPartitionKeyString(user.ID), user.ID, changes, nil)
	w.ok(err)
	return user
}

// storedPostCount gives what lies on a user item; nil where nothing does.
func (w *world) storedPostCount(userID string) any {
	w.t.Helper()
	item, _, err := read[map[string]any](w.ctx(), w.users, userID, userID)
	w.ok(err)
	return (*item)["postCount"]
}

// However a user of an older database is read, their posts are counted.
func TestAUserWithoutACountIsCounted(t *testing.T) {
	w := newWorld(t)
	ada, bob := w.uncounted("Ada", 3), w.user("Bob")
	w.countsPosts(ada.ID, 3)
	both, err := w.Users(w.ctx(), []string{ada.ID, bob.ID})
	w.ok(err)
	if both[ada.ID].PostCount != 3 || both[bob.ID].PostCount != 0 {
		t.Errorf("%+v and %+v", both[ada.ID], both[bob.ID])
	}
	named, err := w.UserByUsername(w.ctx(), "ada")
	w.ok(err)
	renamed, err := w.UpdateUser(w.ctx(), ada.ID, "Ada2")
	w.ok(err)
	deleted, err := w.DeleteUser(w.ctx(), ada.ID, "Ada2")
	w.ok(err)
	for name, user := range map[string]*blog.User{"by username": named, "renamed": renamed, "deleted": deleted} {
		if user.PostCount != 3 {
			t.Errorf("%s: %d posts, want 3", name, user.PostCount)
		}
	}
}

// The first copy that comes to a user without a count, or goes, brings the count of all. Copies that come at the same time are
// each counted once, also where a data set's copies come in one batch.
func TestTheFirstCountIsOfAll(t *testing.T) {
	w := newWorld(t)
	ada := w.uncounted("Ada", 3)
	var group sync.WaitGroup
	for range maxRaces {
		post := w.post(ada)
		group.Go(func() {
			if err := w.RepairPost(t.Context(), post.ID); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	w.countsPosts(ada.ID, 3+maxRaces)
	if got := w.storedPostCount(ada.ID); got != float64(3+maxRaces) {
		t.Errorf("%v are counted", got)
	}

	bob := w.uncounted("Bob", 2)
	posts := listAll(w, bob.ID, w.UserPosts)
	posts[0].Deleted, posts[0].Author = true, bob
	posts[0].Revision++
	_, err := w.ProjectUserPost(w.ctx(), posts[0])
	w.ok(err)
	w.countsPosts(bob.ID, 1)

	eve := w.uncounted("Eve", 2)
	w.ok(w.WriteUserPosts(w.ctx(), eve.ID, []*blog.Post{owned(eve, "p_1", w.clock.date(), 1, false), owned(eve, "p_2", w.clock.date(), 1, false)}))
	w.countsPosts(eve.ID, 4)
}

// A copy that comes while an audit sets the first count is counted once.
func TestTheFirstCountMeetsAnAudit(t *testing.T) {
	w := newWorld(t)
	ada := w.uncounted("Ada", 2)
	post, other := w.post(ada), w.another()
	mended := false
	other.faults.set(func(_ int, request *http.Request, next transporter) (*http.Response, error) {
		if !mended && request.Header.Get(isBatchHeader) != "" && strings.Contains(request.URL.Path, "/colls/"+usersContainer) {
			mended = true
			drifts, err := w.Drifts(w.ctx(), usersContainer, ada.ID)
			w.ok(err)
			if len(drifts) != 1 || drifts[0].Kind != DriftCount || drifts[0].Is != "" || drifts[0].Should != "2" {
				t.Errorf("%+v", drifts)
			}
			left, err := w.Mend(w.ctx(), usersContainer, ada.ID, drifts)
			w.ok(err)
			if len(left) > 0 {
				t.Errorf("left: %+v", left)
			}
		}
		return next.Do(request)
	})
	w.ok(other.RepairPost(w.ctx(), post.ID))
	w.countsPosts(ada.ID, 3)
	if got := w.storedPostCount(ada.ID); got != 3.0 || !mended {
		t.Errorf("%v are counted", got)
	}
}
