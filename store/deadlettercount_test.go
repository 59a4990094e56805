package store

import (
	"fmt"
	"testing"
)

// Dead letters are counted up to a limit, however many there are.
func TestDeadLettersAreCounted(t *testing.T) {
	w := newWorld(t)
	for n := range maxLettersCounted + 2 {
		if n < 2 || n >= maxLettersCounted {
			got, err := w.CountDeadLetters(w.ctx())
			w.ok(err)
			if want := min(n, maxLettersCounted); got != want {
				t.Errorf("of %d letters %d are counted", n, got)
			}
		}
		w.ok(w.SetAside(w.ctx(), DeadLetter{Projection: "feed", Container: PostsContainer, ItemID: fmt.Sprint(n), PartitionKey: "p", Reason: "no"}))
	}
}
