package cosmos

import (
	"context"
	"net/http"
	"strconv"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
)

// InBackground returns a context whose requests are background work, for which nobody waits. They
// are sent at low priority, and in Options.BackgroundBucket. If the throughput of a container is
// short, an account with priority-based execution rejects them before others. Any other request has
// the service's default, which is high priority.
//
// Requests for metadata are never background work: azcosmos shares their answers with all callers.
func InBackground(ctx context.Context) context.Context {
	return withCall(ctx, func(c *call) { c.background = true })
}

// InForeground returns a context whose requests are not background work, also if those of ctx are.
func InForeground(ctx context.Context) context.Context {
	return withCall(ctx, func(c *call) { c.background = false })
}

// Headers of background work.
const (
	PriorityHeader = "X-Ms-Cosmos-Priority-Level"
	BucketHeader   = "X-Ms-Cosmos-Throughput-Bucket"

	lowPriority = "Low"
)

// priorityPolicy sets the headers of background work. azcosmos can set them too, but only if every
// call of it gets the options, and our scripts are not executed by azcosmos.
type priorityPolicy struct{ bucket int } // Options.BackgroundBucket

func (p priorityPolicy) Do(request *policy.Request) (*http.Response, error) {
	if !callOf(request.Raw().Context()).background {
		return request.Next()
	}
	if _, ofItems := TargetOf(request.Raw()); !ofItems {
		return request.Next()
	}
	request.Raw().Header.Set(PriorityHeader, lowPriority)
	if p.bucket != 0 {
		request.Raw().Header.Set(BucketHeader, strconv.Itoa(p.bucket))
	}
	return request.Next()
}
