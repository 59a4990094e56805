package cosmos

import (
	"net/http"
	"sync"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
)

// throttleMonitor counts the throttled requests of a DB to items, at either priority and in any
// bucket. It may be used concurrently.
type throttleMonitor struct {
	mu    sync.Mutex
	count int64         // of 429 answers so far
	wait  time.Duration // requested by the last of them
}

func (m *throttleMonitor) read() (count int64, wait time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.count, m.wait
}

// note counts the answer if it is a 429.
func (m *throttleMonitor) note(response *http.Response) {
	if response.StatusCode != http.StatusTooManyRequests {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.count++
	m.wait = requestedWait(response)
}

// throttlePolicy passes every answer about items to the monitor, including those that azcore
// retries. A limit of requests for metadata says nothing about the throughput of items
// (learn.microsoft.com/azure/cosmos-db/nosql/troubleshoot-request-rate-too-large).
type throttlePolicy struct{ *throttleMonitor }

func (p throttlePolicy) Do(request *policy.Request) (*http.Response, error) {
	response, err := request.Next()
	if _, ofItems := TargetOf(request.Raw()); ofItems && err == nil {
		p.note(response)
	}
	return response, err
}
