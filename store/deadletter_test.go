package store

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
)

func TestSetAside(t *testing.T) {
	w := newWorld(t)
	letter := DeadLetter{Projection: "feed", Container: PostsContainer, PartitionKey: "p_1", ItemID: "p_1", Attempts: 5}
	for _, reason := range []string{"one", "two", strings.Repeat("é", 5000)} {
		letter.Reason = reason
		w.ok(w.SetAside(t.Context(), letter))
	}
	other := DeadLetter{Container: UsersContainer, ItemID: "u_1", Reason: "no", Attempts: 1}
	w.ok(w.SetAside(t.Context(), other))
	letters, err := w.DeadLetters(t.Context())
	w.ok(err)
	if len(letters) != 2 || letters[0].ItemID != "p_1" || letters[0].Attempts != 15 || letters[0].FirstDate > letters[0].Date {
		t.Errorf("%+v", letters)
	}
	if reason := letters[0].Reason; len(reason) > maxReason+4 || !strings.HasSuffix(reason, "é…") {
		t.Errorf("%d bytes of the reason are kept: %s", len(reason), reason)
	}
	if letters[1].ItemID != "u_1" || letters[1].FirstDate != letters[1].Date {
		t.Errorf("%+v", letters[1])
	}

	w.ok(w.SetAside(t.Context(), letter))
	if err := w.DeleteDeadLetter(t.Context(), letters[0]); err != ErrDeadLetterRenewed {
		t.Errorf("a letter that was renewed: %v", err)
	}
	letters, err = w.DeadLetters(t.Context())
	w.ok(err)
	for _, letter := range slices.Concat(letters, letters) { // the second time they are gone
		w.ok(w.DeleteDeadLetter(t.Context(), letter))
	}
	if letters, err = w.DeadLetters(t.Context()); len(letters) > 0 || err != nil {
		t.Errorf("%+v, %v", letters, err)
	}
}

// A letter from before attempts were counted has the one date.
func TestAnOlderDeadLetter(t *testing.T) {
	w := newWorld(t)
	letter := DeadLetter{Projection: "feed", Container: PostsContainer, PartitionKey: "p_1", ItemID: "p_1"}
	_, err := create(t.Context(), w.containers[deadlettersContainer], letter.id(), map[string]any{
		"id": letter.id(), "type": typeDeadLetter, "projection": "feed", "container": "posts", "partitionKey": "p_1", "itemId": "p_1",
		"reason": "no", "date": "2026-01-01T00:00:00.000000Z",
	})
	w.ok(err)
	letter.Attempts = 5
	w.ok(w.SetAside(t.Context(), letter))
	letters, err := w.DeadLetters(t.Context())
	w.ok(err)
	if len(letters) != 1 || letters[0].Attempts != 5 || letters[0].FirstDate != "2026-01-01T00:00:00.000000Z" {
		t.Errorf("%+v", letters)
	}
}

func TestConcernsItem(t *testing.T) {
	answer := func(status, substatus int) error {
		header := http.Header{}
		header.Set(substatusHeader, fmt.Sprint(substatus))
		return asBlogError(&azcore.ResponseError{StatusCode: status, RawResponse: &http.Response{StatusCode: status, Header: header}})
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
		{asBlogError(json.Unmarshal([]byte(`{`), &number)), true, true},
		{blog.Errorf(blog.Internal, "An operation of a batch was refused with 400."), true, true},
		{blog.Errorf(blog.Conflict, "The items are not as they were."), true, false},
		{answer(404, 0), true, false},
		{answer(408, 0), true, false},
		{answer(409, 0), true, false},
		{answer(412, 0), true, false},
		{answer(403, partitionFull), true, false},
		{answer(403, 0), false, false},
		{answer(401, 0), false, false},
		{answer(404, ownerNotFound), false, false},
		{answer(404, readSessionNotAvailable), false, false},
		{answer(400, 429), false, false}, // a script whose time was used up
		{answer(400, 449), false, false},
		{answer(429, 3200), false, false},
		{answer(449, 0), false, false},
		{answer(500, 0), false, false},
		{answer(503, 0), false, false},
		{&blog.Error{Code: blog.Throttled}, false, false},
		{asBlogError(errors.New("the connection was cut")), false, false},
		{asBlogError(context.DeadlineExceeded), false, false},
		{ErrLeaseLost, false, false},
		{ErrContainerReplaced, false, false},
	} {
		if got := ConcernsItem(c.err); got != c.concerns {
			t.Errorf("%d: %v concerns the item: %v", i, c.err, got)
		}
		if got := Refused(c.err); got != c.final && c.concerns {
			t.Errorf("%d: %v is refused: %v", i, c.err, got)
		}
	}
}
