package monitor

import (
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"

	"cosmosblog/internal/inprocess"
	"cosmosblog/proof/storetest"
	"cosmosblog/store/cosmos"
	"cosmosblog/store/provision"
)

// incomplete is a transport to an engine that seems to lack the trigger truncateFeed: requests
// name another one.
type incomplete struct {
	next  policy.Transporter
	whole atomic.Bool // whether requests pass unchanged
}

const postTriggerHeader = "X-Ms-Documentdb-Post-Trigger-Include"

func (i *incomplete) Do(request *http.Request) (*http.Response, error) {
	if i.whole.Load() {
		return i.next.Do(request)
	}
	if strings.Contains(request.URL.Path, "/triggers/") {
		return &http.Response{
			StatusCode: http.StatusNotFound, Header: http.Header{}, Body: http.NoBody, Request: request,
		}, nil
	}
	if request.Header.Get(postTriggerHeader) != "" {
		request = request.Clone(request.Context())
		request.Header.Set(postTriggerHeader, "another")
	}
	return i.next.Do(request)
}

// A process whose projector waits for a script is not ready, and names the script, until it is
// registered.
func TestProjectorWithoutAScriptIsNotReady(t *testing.T) {
	t.Parallel()
	b := openBlog(t)
	transport := &incomplete{next: inprocess.To(b.engine)}
	transport.whole.Store(true)
	db, err := provision.OpenEmbedded(t.Context(), b.engine, cosmos.Options{Transport: transport})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	transport.whole.Store(false)
	p := newProjector(t, storetest.Open(db), nil)
	o := observe(t, b, p)
	o.createPost(o.createUser("Ada"))
	defer o.project(p)()
	o.until(func() bool {
		status, answer := o.readyz()
		return status == http.StatusServiceUnavailable && answer.Projector != nil && len(answer.Projector.Missing) == 1 &&
			strings.HasPrefix(answer.Projector.Missing[0], "truncateFeed-")
	})
	if _, answer := o.readyz(); answer.Letters != 0 {
		t.Errorf("%d changes were set aside", answer.Letters)
	}
	transport.whole.Store(true)
	o.until(func() bool {
		status, answer := o.readyz()
		return status == http.StatusOK && answer.Projector != nil && answer.Projector.Missing == nil
	})
}
