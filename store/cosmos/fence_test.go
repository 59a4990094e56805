package cosmos_test

import (
	"errors"
	"fmt"
	"testing"

	"cosmosblog/store/cosmos"
	"cosmosblog/store/storetest"
)

// A fence lets nothing through once it is closed, in the middle of a command too, and is found in the error.
func TestFence(t *testing.T) {
	w := storetest.New(t)
	closed := errors.New("closed")
	for allowed := 0; ; allowed++ {
		name := fmt.Sprintf("anna%d", allowed)
		user := w.AddUser(name)
		asked := 0
		ctx := cosmos.WithFence(t.Context(), func() error {
			if asked++; asked > allowed {
				return closed
			}
			return nil
		})
		_, err := w.UpdateUser(ctx, user.ID, "renamed-"+name)
		if err == nil {
			if allowed < 3 {
				t.Errorf("a rename was done with %d requests", allowed)
			}
			return
		}
		if !errors.Is(err, closed) {
			t.Fatalf("after %d requests: %v", allowed, err)
		}
	}
}
