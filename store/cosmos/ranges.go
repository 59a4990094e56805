package cosmos

import (
	"context"
	"net/http"
	"net/url"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/runtime"
)

// PartitionKeyRange is a physical partition of a container, as the account describes it.
type PartitionKeyRange struct {
	MinInclusive string `json:"minInclusive"`
	MaxExclusive string `json:"maxExclusive"`
}

// ReadPartitionKeyRanges reads the present ranges of a container, in no order. azcosmos keeps them
// until a request of this process finds that one is gone, so others' splits and merges would stay
// unknown to a process that reads none of the ranges.
func (db *DB) ReadPartitionKeyRanges(ctx context.Context, container string) ([]PartitionKeyRange, error) {
	return db.rest.readPartitionKeyRanges(ctx, container)
}

func (c *restClient) readPartitionKeyRanges(ctx context.Context, container string) ([]PartitionKeyRange, error) {
	path := "dbs/" + url.PathEscape(c.database) + "/colls/" + container + "/pkranges"
	request, err := runtime.NewRequest(ctx, http.MethodGet, runtime.JoinPaths(c.endpoint, path))
	if err != nil {
		return nil, err
	}
	request.Raw().Header.Set(versionHeader, apiVersion)
	request.Raw().Header.Set("X-Ms-Max-Item-Count", "-1") // all in one page
	var answer struct{ PartitionKeyRanges []PartitionKeyRange }
	err = c.send(request, nil, http.StatusOK, &answer)
	return answer.PartitionKeyRanges, ToBlogError(err)
}
