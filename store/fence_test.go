package store

import (
	"errors"
	"fmt"
	"testing"
)

// A fence lets nothing through once it is closed, in the middle of a command too, and is found in the error.
func TestFence(t *testing.T) {
	w := newWorld(t)
	closed := errors.New("closed")
	for allowed := 0; ; allowed++ {
		name := fmt.Sprintf("anna%d", allowed)
		user := w.user(name)
		asked := 0
		ctx := WithFence(t.Context(), func() error {
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
