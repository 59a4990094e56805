package changefeed_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"cosmosblog/store/changefeed"
	"cosmosblog/store/schema"
)

func TestDeadLetters(t *testing.T) {
	w := newWorld(t)
	letter := changefeed.DeadLetter{Projection: "feed", Container: schema.Posts, PartitionKey: "p_1", ItemID: "p_1", Attempts: 5}
	for _, reason := range []string{"one", "two", strings.Repeat("é", 5000)} {
		letter.Reason = reason
		w.OK(w.WriteDeadLetter(t.Context(), letter))
	}
	other := changefeed.DeadLetter{Container: schema.Users, ItemID: "u_1", Reason: "no", Attempts: 1}
	w.OK(w.WriteDeadLetter(t.Context(), other))
	letters, err := w.DeadLetters(t.Context())
	w.OK(err)
	if len(letters) != 2 || letters[0].ItemID != "p_1" || letters[0].Attempts != 15 || letters[0].FirstDate > letters[0].Date {
		t.Errorf("the dead letters are %+v", letters)
	}
	if reason := letters[0].Reason; len(reason) > changefeed.MaxReason+4 || !strings.HasSuffix(reason, "é…") {
		t.Errorf("%d bytes of the reason are stored: %s", len(reason), reason)
	}
	if letters[1].ItemID != "u_1" || letters[1].FirstDate != letters[1].Date {
		t.Errorf("the second dead letter is %+v", letters[1])
	}

	w.OK(w.WriteDeadLetter(t.Context(), letter))
	if err := w.DeleteDeadLetter(t.Context(), letters[0]); err != changefeed.ErrDeadLetterChanged {
		t.Errorf("deleting a dead letter that was written again: %v", err)
	}
	letters, err = w.DeadLetters(t.Context())
	w.OK(err)
	for _, letter := range slices.Concat(letters, letters) { // the second time, the letters no longer exist
		w.OK(w.DeleteDeadLetter(t.Context(), letter))
	}
	if letters, err = w.DeadLetters(t.Context()); len(letters) > 0 || err != nil {
		t.Errorf("dead letters %+v, error %v, want none", letters, err)
	}
}

// TestCountDeadLetters checks that dead letters are counted up to a limit.
func TestCountDeadLetters(t *testing.T) {
	w := newWorld(t)
	for n := range changefeed.MaxLettersCounted + 2 {
		if n < 2 || n >= changefeed.MaxLettersCounted {
			got, err := w.CountDeadLetters(w.Ctx())
			w.OK(err)
			if want := min(n, changefeed.MaxLettersCounted); got != want {
				t.Errorf("%d of %d dead letters counted, want %d", got, n, want)
			}
		}
		w.OK(w.WriteDeadLetter(w.Ctx(), changefeed.DeadLetter{Projection: "feed", Container: schema.Posts, ItemID: fmt.Sprint(n), PartitionKey: "p", Reason: "no"}))
	}
}
