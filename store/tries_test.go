package store_test

import (
	"net/http"
	"strings"
	"testing"

	"cosmosblog/internal/blog"
	"cosmosblog/store/storetest"
)

// TestLostRaces makes every conditional write of a command lose its race. Every command must return
// the same CONFLICT after five tries.
func TestLostRaces(t *testing.T) {
	w := newWorld(t)
	faulty := w.another()
	for _, m := range mutations(w, "") {
		switch m.name {
		case "updatePost", "deletePost", "updateUser", "deleteUser":
		default:
			continue
		}
		t.Run(m.name, func(t *testing.T) {
			w := w.on(t)
			faulty.Faults.Set(storetest.OnlyWrites(storetest.Refuse(1000, http.StatusPreconditionFailed)))
			err := m.do(w, faulty.Store)
			w.Fails(err, blog.TryAgain)
			if !strings.Contains(err.Error(), "Another request is changing the same data right now.") {
				t.Errorf("the error is %v", err)
			}
			writes := 0
			for _, request := range faulty.Faults.Requests() {
				if request.Method == http.MethodPatch {
					writes++
				}
			}
			if writes != 5 {
				t.Errorf("%d writes were sent, want 5", writes)
			}
		})
	}
}
