package cosmos_test

import (
	"errors"
	"fmt"
	"testing"

	"cosmosblog/proof/storetest"
	"cosmosblog/store/cosmos"
)

// TestFence checks that no request is sent after the fence's check failed, even in the middle of
// a command. The command's error wraps the check's error.
func TestFence(t *testing.T) {
	w := storetest.New(t)
	closed := errors.New("closed")
	for allowed := 0; ; allowed++ {
		name := fmt.Sprintf("anna%d", allowed)
		user := w.AddUser(name)
		checks := 0
		ctx := cosmos.WithFence(t.Context(), func() error {
			if checks++; checks > allowed {
				return closed
			}
			return nil
		})
		_, err := w.UpdateUser(ctx, user.ID, "renamed-"+name)
		if err == nil {
			if allowed < 3 {
				t.Errorf("a rename succeeded with only %d requests", allowed)
			}
			return
		}
		if !errors.Is(err, closed) {
			t.Fatalf("after %d requests: error %v, want %v", allowed, err, closed)
		}
	}
}
