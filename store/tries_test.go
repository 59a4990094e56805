package store_test

import (
	"net/http"
	"strings"
	"testing"

	"cosmosblog/blog"
	"cosmosblog/cosmostest"
	"cosmosblog/proof/storetest"
	"cosmosblog/store/schema"
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
			faulty.Wire.Inject(cosmostest.Writes(cosmostest.First(1000, cosmostest.Refuse(http.StatusPreconditionFailed))))
			err := m.do(w, faulty.Store)
			w.Fails(err, blog.TryAgain)
			if !strings.Contains(err.Error(), "Another request is changing the same data right now.") {
				t.Errorf("the error is %v", err)
			}
			writes := 0
			for _, request := range faulty.Wire.Requests() {
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

// TestLostReservations makes every reservation of a naming lose its race. The naming must return
// TRY_AGAIN: the procedure answered, so it is known that nothing was reserved.
func TestLostReservations(t *testing.T) {
	for _, code := range []string{schema.CodeReservationChanged, schema.CodeTooLate} {
		t.Run(code, func(t *testing.T) {
			w := newWorld(t)
			bob := w.AddUser("Bob")
			faulty := w.another()
			reservations := 0
			faulty.Wire.Inject(func(_ int, request *http.Request, next storetest.Transporter) (*http.Response, error) {
				if !strings.HasSuffix(request.URL.Path, "/sprocs/"+schema.ReserveUsername.ID) {
					return next.Do(request)
				}
				reservations++
				return cosmostest.Respond(http.StatusOK, `{"code":"`+code+`"}`)(0, request, nil)
			})
			_, err := faulty.UpdateUser(w.Ctx(), bob.ID, "Robert")
			w.Fails(err, blog.TryAgain)
			if reservations != 5 {
				t.Errorf("%d reservations were sent, want 5", reservations)
			}
		})
	}
}
