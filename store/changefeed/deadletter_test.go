package changefeed_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"

	"cosmosblog/internal/blog"
	"cosmosblog/store/changefeed"
	"cosmosblog/store/cosmos"
	"cosmosblog/store/schema"
)

func TestSetAside(t *testing.T) {
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
		t.Errorf("%+v", letters)
	}
	if reason := letters[0].Reason; len(reason) > changefeed.MaxReason+4 || !strings.HasSuffix(reason, "é…") {
		t.Errorf("%d bytes of the reason are kept: %s", len(reason), reason)
	}
	if letters[1].ItemID != "u_1" || letters[1].FirstDate != letters[1].Date {
		t.Errorf("%+v", letters[1])
	}

	w.OK(w.WriteDeadLetter(t.Context(), letter))
	if err := w.DeleteDeadLetter(t.Context(), letters[0]); err != changefeed.ErrDeadLetterChanged {
		t.Errorf("a letter that was renewed: %v", err)
	}
	letters, err = w.DeadLetters(t.Context())
	w.OK(err)
	for _, letter := range slices.Concat(letters, letters) { // the second time they are gone
		w.OK(w.DeleteDeadLetter(t.Context(), letter))
	}
	if letters, err = w.DeadLetters(t.Context()); len(letters) > 0 || err != nil {
		t.Errorf("%+v, %v", letters, err)
	}
}

func TestConcernsItem(t *testing.T) {
	answer := func(status, substatus int) error {
		header := http.Header{}
		header.Set(cosmos.SubstatusHeader, fmt.Sprint(substatus))
		return cosmos.ToBlogError(&azcore.ResponseError{StatusCode: status, RawResponse: &http.Response{StatusCode: status, Header: header}})
	}
	var number int
	for i, c := range []struct {
		err             error
		concerns, final bool
	}{
		{nil, false, false},
		{answer(400, 0), true, true},
		{answer(400, 1001), true, true},
		{answer(413, 0), true, true},
		{json.Unmarshal([]byte(`"text"`), &number), true, true},
		{cosmos.ToBlogError(json.Unmarshal([]byte(`{`), &number)), true, true},
		{blog.Errorf(blog.Internal, "An operation of a batch was refused with 400."), true, true},
		{blog.Errorf(blog.Conflict, "The items are not as they were."), true, false},
		{answer(404, 0), true, false},
		{answer(408, 0), true, false},
		{answer(409, 0), true, false},
		{answer(412, 0), true, false},
		{answer(403, cosmos.PartitionFull), true, false},
		{answer(403, 0), false, false},
		{answer(401, 0), false, false},
		{answer(404, cosmos.OwnerNotFound), false, false},
		{answer(404, cosmos.ReadSessionNotAvailable), false, false},
		{answer(400, 429), false, false}, // a script whose time was used up
		{answer(400, 449), false, false},
		{answer(429, 3200), false, false},
		{answer(449, 0), false, false},
		{answer(500, 0), false, false},
		{answer(503, 0), false, false},
		{&blog.Error{Code: blog.Throttled}, false, false},
		{cosmos.ToBlogError(errors.New("the connection was cut")), false, false},
		{cosmos.ToBlogError(context.DeadlineExceeded), false, false},
		{changefeed.ErrLeaseLost, false, false},
		{changefeed.ErrContainerReplaced, false, false},
	} {
		if got := cosmos.IsItemError(c.err); got != c.concerns {
			t.Errorf("%d: %v concerns the item: %v", i, c.err, got)
		}
		if got := cosmos.IsPermanent(c.err); got != c.final && c.concerns {
			t.Errorf("%d: %v is refused: %v", i, c.err, got)
		}
	}
}

// Dead letters are counted up to a limit, however many there are.
func TestDeadLettersAreCounted(t *testing.T) {
	w := newWorld(t)
	for n := range changefeed.MaxLettersCounted + 2 {
		if n < 2 || n >= changefeed.MaxLettersCounted {
			got, err := w.CountDeadLetters(w.Ctx())
			w.OK(err)
			if want := min(n, changefeed.MaxLettersCounted); got != want {
				t.Errorf("of %d letters %d are counted", n, got)
			}
		}
		w.OK(w.WriteDeadLetter(w.Ctx(), changefeed.DeadLetter{Projection: "feed", Container: schema.Posts, ItemID: fmt.Sprint(n), PartitionKey: "p", Reason: "no"}))
	}
}
