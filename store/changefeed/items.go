package changefeed

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	"cosmosblog/store/cosmos"
	"cosmosblog/store/follow"
)

// itemsContinuation is a position in the query of all items of a container.
type itemsContinuation struct {
	ResourceID string `json:"resourceId"`       // of the container
	Query      string `json:"query,omitempty"`  // continuation of the query; absent if IsDone
	IsDone     bool   `json:"isDone,omitempty"` // after the last page
}

func parseItemsContinuation(text string) (c itemsContinuation, err error) {
	if text == "" {
		return c, nil
	}
	err = json.Unmarshal([]byte(text), &c)
	if err != nil || c.ResourceID == "" || c.IsDone == (c.Query != "") {
		err = fmt.Errorf("changefeed: the continuation of a query is malformed: %q", text)
	}
	return c, err
}

// String returns the continuation as it is stored.
func (c itemsContinuation) String() string {
	text, err := json.Marshal(c)
	if err != nil {
		panic("changefeed: " + err.Error()) // texts can always be encoded
	}
	return string(text)
}

// ReadItems reads a page of a container's items by query: up to limit items of all partitions, as
// stored, in no order. It reads from the continuation, or from the beginning if that is empty. A
// page may be empty without being the last (IsLast). After the last one, the page is
// empty and has the same continuation.
//
// The pages together have every item that exists while they are read, each once or, if it was
// deleted and created again, twice. What is written after an item's page was read, they do not
// show. Errors: follow.ErrContainerReplaced as Changes; an error if the continuation is malformed.
func (f *Feeds) ReadItems(ctx context.Context, container, continuation string, limit int) (follow.Page, error) {
	from, err := parseItemsContinuation(continuation)
	if err != nil {
		return follow.Page{}, err
	}
	if from.IsDone {
		now, err := f.ResourceID(ctx, container)
		if err == nil && now != from.ResourceID {
			err = follow.ErrContainerReplaced
		}
		return follow.Page{Continuation: continuation, ResourceID: now, End: -1, IsLast: true}, err
	}
	read, err := cosmos.ReadItems(ctx, f.db.Container(container), from.Query, limit)
	if err != nil {
		return follow.Page{}, f.itemsError(ctx, container, from, err)
	}
	if from.ResourceID != "" && read.ResourceID != from.ResourceID {
		return follow.Page{}, follow.ErrContainerReplaced
	}
	next := itemsContinuation{read.ResourceID, read.Continuation, read.Continuation == ""}
	return follow.Page{Items: read.Items, Continuation: next.String(), ResourceID: read.ResourceID, End: -1, IsLast: next.IsDone}, nil
}

// itemsError returns the error for a failed read of a page: follow.ErrContainerReplaced if the
// account rejects the continuation because it belongs to another container, and the cause
// otherwise.
func (f *Feeds) itemsError(ctx context.Context, container string, from itemsContinuation, cause error) error {
	if status, _ := cosmos.StatusOf(cause); from.Query == "" || status != http.StatusBadRequest {
		return cause
	}
	if now, err := f.ResourceID(ctx, container); err == nil && now != from.ResourceID {
		return follow.ErrContainerReplaced
	}
	return cause
}
