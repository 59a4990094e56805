package cosmostest

import (
	"bytes"
	"io"
	"maps"
	"net/http"
	"time"

	"cosmosblog/internal/inprocess"
)

// The service's gateway repeats a request itself while its answer is 449, for up to gatewayTime,
// unless noRetryHeader is True (GatewayStoreModel of azure-cosmos-dotnet-v3, pull request 5990).
const (
	noRetryHeader = "X-Ms-Noretry-449"
	gatewayTime   = 30 * time.Second
	statusRetry   = 449
)

// The pauses of the gateway begin at firstPause and double up to lastPause.
const (
	firstPause = 10 * time.Millisecond
	lastPause  = time.Second
)

// gateway answers requests as the service's gateway does. It may be used concurrently.
type gateway struct{ account http.Handler }

func (g gateway) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if isRead(r) || !repeats449(r) {
		g.account.ServeHTTP(w, r)
		return
	}
	body, try := Body(r), *r
	try.Header = r.Header.Clone()
	try.Header.Set(noRetryHeader, "True") // of a leader, which has a gateway too
	for pause, waited := firstPause, time.Duration(0); ; pause = min(2*pause, lastPause) {
		try.Body = io.NopCloser(bytes.NewReader(body))
		response, err := inprocess.To(g.account).Do(&try)
		if err != nil {
			w.WriteHeader(http.StatusRequestTimeout) // nobody reads it: the client has cancelled the request
			return
		}
		if response.StatusCode != statusRetry || waited+pause > gatewayTime || !wait(r, pause) {
			maps.Copy(w.Header(), response.Header)
			w.WriteHeader(response.StatusCode)
			_, _ = io.Copy(w, response.Body) // the client is gone
			return
		}
		waited += pause
	}
}

// repeats449 reports whether the gateway repeats a request while its answer is 449.
func repeats449(r *http.Request) bool { return r.Header.Get(noRetryHeader) != "True" }

// wait waits for d. It returns false if the client has cancelled the request.
func wait(r *http.Request, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-r.Context().Done():
		return false
	}
}
