package cosmos_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"cosmosblog/blog"
	"cosmosblog/cosmostest"
	"cosmosblog/proof/storetest"
	"cosmosblog/store/changefeed"
	"cosmosblog/store/cosmos"
	"cosmosblog/store/follow"
	"cosmosblog/store/schema"
)

// TestIsItemError checks IsItemError and IsPermanent for the errors of the service, the decoder,
// batches and change feeds.
func TestIsItemError(t *testing.T) {
	answer := func(status, substatus int) error {
		header := http.Header{}
		header.Set(cosmos.SubstatusHeader, fmt.Sprint(substatus))
		return cosmos.ToBlogError(&azcore.ResponseError{StatusCode: status, RawResponse: &http.Response{StatusCode: status, Header: header}})
	}
	var number int
	for i, c := range []struct {
		err                  error
		itemError, permanent bool
	}{
		{nil, false, false},
		{answer(400, 0), true, true},
		{answer(400, 1001), true, true},
		{answer(413, 0), true, true},
		{json.Unmarshal([]byte(`"text"`), &number), true, true},
		{cosmos.Decode([]byte(`"text"`), &number), true, true},
		{cosmos.Decode([]byte(`{`), &number), true, true},
		{cosmos.ToBlogError(json.Unmarshal([]byte(`{`), &number)), true, true},
		{blog.Errorf(blog.Internal, "An operation of a transactional batch failed with status 400."), true, true},
		{blog.Errorf(blog.Conflict, "Another request changed the items at the same time. Try again."), true, false},
		{answer(404, 0), true, false},
		{answer(408, 0), true, false},
		{answer(409, 0), true, false},
		{answer(412, 0), true, false},
		{answer(403, cosmos.PartitionFull), true, false},
		{answer(403, 0), false, false},
		{answer(401, 0), false, false},
		{answer(404, cosmos.OwnerNotFound), false, false},
		{answer(404, cosmos.ReadSessionNotAvailable), false, false},
		{answer(400, 429), false, false}, // script timeout
		{answer(400, 449), false, false},
		{answer(429, 3200), false, false},
		{answer(449, 0), false, false},
		{answer(500, 0), false, false},
		{answer(503, 0), false, false},
		{&blog.Error{Code: blog.Throttled}, false, false},
		{cosmos.ToBlogError(errors.New("the connection was cut")), false, false},
		{cosmos.ToBlogError(context.DeadlineExceeded), false, false},
		{changefeed.ErrLeaseLost, false, false},
		{follow.ErrContainerReplaced, false, false},
	} {
		if got := cosmos.IsItemError(c.err); got != c.itemError {
			t.Errorf("%d: IsItemError(%v) is %t", i, c.err, got)
		}
		if got := cosmos.IsPermanent(c.err); got != c.permanent {
			t.Errorf("%d: IsPermanent(%v) is %t", i, c.err, got)
		}
	}
}

// TestBatchWithoutResults checks that a batch fails if its answer says so without results. The
// source of azcosmos expects this of the service if no content was asked for
// (ExecuteTransactionalBatch).
func TestBatchWithoutResults(t *testing.T) {
	w := storetest.New(t)
	w.Wire.Inject(cosmostest.Respond(http.StatusMultiStatus, ""))
	batch := w.Container(schema.Feed).NewTransactionalBatch(azcosmos.NewPartitionKeyString(schema.FeedPartition))
	batch.DeleteItem("p_1", nil)
	if err := cosmos.ExecuteBatch(w.Ctx(), w.Container(schema.Feed), batch); !cosmos.IsConflict(err) {
		t.Errorf("got %v, want CONFLICT", err)
	}
}
