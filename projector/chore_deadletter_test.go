package projector_test

import (
	"net/http"
	"strings"
	"testing"

	"cosmosblog/projector"
	"cosmosblog/store/schema"
)

// If the update or deletion of an item is refused, the user's sweep or deletion is set aside
// after all other items are done. It does not block other users, and a retry finishes it.
func TestRefusedChoreIsSetAside(t *testing.T) {
	w := newWorld(t)
	anna, ben, carl := w.user(), w.user(), w.user()
	refused, other := w.post(anna), w.post(anna)
	w.comment(ben, refused)
	w.comment(ben, other)
	w.comment(carl, refused)
	w.comment(carl, other)
	w.settle()
	ben, anna = w.rename(ben), w.rename(anna)
	w.deleteUser(carl)

	wire, s := w.wired()
	wire.refuse = func(request *http.Request) int {
		if strings.Contains(request.URL.Path, "/sprocs/") && strings.Contains(request.Header.Get("X-Ms-Documentdb-Partitionkey"), refused.ID) {
			return http.StatusBadRequest
		}
		return 0
	}
	if err := w.projector(s).SettleForTests(t.Context()); err != nil {
		t.Fatal(err)
	}
	if name := w.firstCommenter(other); name != ben.Username {
		t.Errorf("the comment that was not refused has the username %q", name)
	}
	letters, err := w.store.DeadLetters(t.Context())
	if err != nil || len(letters) != 3 {
		t.Fatalf("dead letters: %+v, %v", letters, err)
	}
	for _, letter := range letters {
		if letter.Container != schema.Users || letter.Attempts != 5 {
			t.Errorf("%+v", letter)
		}
		if err := projector.Retry(t.Context(), w.store.DB, letter); err != nil {
			t.Error(err)
		}
	}
	w.settle()
	w.wantViewsEqualSource()
	w.wantUserGone(carl)
	if letters, err := w.store.DeadLetters(t.Context()); err != nil || len(letters) != 0 {
		t.Errorf("dead letters at the end: %+v, %v", letters, err)
	}
}

// A sweep, deletion or purge is still done if it is retried between being set aside and being
// forgotten.
func TestChoreRetriedWhileSetAside(t *testing.T) {
	for _, chore := range []string{"sweep", "deletion", "purge"} {
		t.Run(chore, func(t *testing.T) {
			w := newWorld(t)
			anna, ben, carl := w.user(), w.user(), w.user()
			post, deleted := w.post(anna), w.postWithLikes(anna, 3)
			w.comment(ben, post)
			w.comment(carl, post)
			w.settle()
			w.rename(ben)
			w.deleteUser(carl)
			w.delete(deleted)

			wire, s := w.wired()
			retried := false
			wire.refuse = func(request *http.Request) int {
				switch {
				case retried:
				case containerOf(request) == "posts" && isWrite(request) && request.Method != http.MethodPatch:
					return http.StatusBadRequest
				case request.Method == http.MethodDelete && strings.Contains(request.URL.Path, "/docs/"+chore+"."):
					retried = true
					w.retryAll(nil)
				}
				return 0
			}
			if err := w.projector(s).SettleForTests(t.Context()); err != nil || !retried {
				t.Fatalf("retried: %t, %v", retried, err)
			}
			w.settle()
			w.retryAll(nil)
			w.settle()
			w.wantViewsEqualSource()
			w.wantUserGone(carl)
		})
	}
}
