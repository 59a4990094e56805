package changefeed

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	"cosmosblog/store/cosmos"
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

// AllItemsRead reports whether a continuation of ReadItems is the one after the last page.
func AllItemsRead(continuation string) bool {
	c, err := parseItemsContinuation(continuation)
	return err == nil && c.IsDone
}

// ReadItems reads a page of a container's items by query: up to limit items of all partitions, as
// stored, in no order. It reads from the continuation, or from the beginning if that is empty. A
// page may be empty without being the last: AllItemsRead tells. After the last one, the page is
// empty and has the same continuation.
//
// The pages together have every item that exists while they are read, each once or, if it was
// deleted and created again, twice. What is written after an item's page was read, they do not
// show. Errors: ErrContainerReplaced as Changes; an error if the continuation is malformed.
func (f *Feeds) ReadItems(ctx context.Context, container, continuation string, limit int) (Page, error) {
	from, err := parseItemsContinuation(continuation)
	if err != nil {
		return Page{}, err
	}
	if from.IsDone {
		now, err := f.ResourceID(ctx, container)
		if err == nil && now != from.ResourceID {
			err = ErrContainerReplaced
		}
		return Page{Continuation: continuation, resourceID: now, end: -1}, err
	}
	read, err := cosmos.ReadItems(ctx, f.db.Container(container), from.Query, limit)
	if err != nil {
		return Page{}, f.itemsError(ctx, container, from, err)
	}
	if from.ResourceID != "" && read.ResourceID != from.ResourceID {
		return Page{}, ErrContainerReplaced
	}
	next := itemsContinuation{read.ResourceID, read.Continuation, read.Continuation == ""}
	return Page{Items: read.Items, Continuation: next.String(), resourceID: read.ResourceID, end: -1}, nil
}

// itemsError returns the error for a failed read of a page: ErrContainerReplaced if the account
// rejects the continuation because it belongs to another container, and the cause otherwise.
func (f *Feeds) itemsError(ctx context.Context, container string, from itemsContinuation, cause error) error {
	if status, _ := cosmos.StatusOf(cause); from.Query == "" || status != http.StatusBadRequest {
		return cause
	}
	if now, err := f.ResourceID(ctx, container); err == nil && now != from.ResourceID {
		return ErrContainerReplaced
	}
	return cause
}
