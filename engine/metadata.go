package engine

import (
	"net/http"
	"sync"
	"time"

	"cosmosblog/engine/budget"
)

// metadataPeriod is the time for which Options.MetadataReads counts: "maximum number of List or Get
// operations", 500 in 5 minutes (learn.microsoft.com/azure/cosmos-db/concepts-limits). The page
// names databases and containers; the limit here also counts feed ranges, offers, scripts and the
// account.
const metadataPeriod = 5 * time.Minute

// metadataReads are the latest reads of definitions. It may be used concurrently.
type metadataReads struct {
	mu  sync.Mutex
	all []time.Time // from early to late
}

// admit returns 0 if a read is admitted at the time now, and the time to wait otherwise.
func (m *metadataReads) admit(limit int, now time.Time) (wait time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for len(m.all) > 0 && now.Sub(m.all[0]) >= metadataPeriod {
		m.all = m.all[1:]
	}
	if len(m.all) >= limit {
		return metadataPeriod - now.Sub(m.all[0])
	}
	m.all = append(m.all, now)
	return 0
}

// isMetadataRead reports whether a request reads definitions, and no items.
func (r *request) isMetadataRead() bool {
	isOfItems := len(r.kinds) > 2 && r.kinds[2] == "docs"
	return !isOfItems && (r.Method == http.MethodGet || len(r.kinds) == 1 && r.kinds[0] == "offers" && len(r.names) == 0)
}

// The text is that of
// learn.microsoft.com/azure/cosmos-db/nosql/troubleshoot-request-rate-too-large. The page names no
// substatus.
var errMetadataThrottled = errorf(http.StatusTooManyRequests, budget.Substatus,
	"The request did not complete due to a high rate of metadata requests. Please retry this request later.")
