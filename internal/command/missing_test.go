package command

import (
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"

	"cosmosblog/store"
)

// unprovisioned is a transport to an engine that lacks the trigger truncateFeed: it asks for one that nobody registered.
type unprovisioned struct {
	next  policy.Transporter
	whole atomic.Bool
}

const postTriggerHeader = "X-Ms-Documentdb-Post-Trigger-Include"

func (u *unprovisioned) Do(request *http.Request) (*http.Response, error) {
	if u.whole.Load() {
		return u.next.Do(request)
	}
	if strings.Contains(request.URL.Path, "/triggers/") {
		return &http.Response{StatusCode: http.StatusNotFound, Header: http.Header{}, Body: http.NoBody, Request: request}, nil
	}
	if request.Header.Get(postTriggerHeader) != "" {
		request = request.Clone(request.Context())
		request.Header.Set(postTriggerHeader, "another")
	}
	return u.next.Do(request)
}

// A process whose projector waits for a script is not ready, and names it, until the script is there.
func TestAMissingScriptIsTold(t *testing.T) {
	database := openInMemory(t)
	way := &unprovisioned{next: store.InProcess(database.Engine)}
	way.whole.Store(true)
	opened, err := store.OpenEmbedded(t.Context(), database.Engine, store.Options{Transport: way})
	if err != nil {
		t.Fatal(err)
	}
	defer opened.Close()
	way.whole.Store(false)
	p := aProjector(t, &Database{Store: opened})
	w := watch(t, database, p, all)
	w.post(aUser(t, database.Store, "Ada"))
	defer w.project(p)()
	w.until(func() bool {
		status, answer := w.readyz()
		return status == http.StatusServiceUnavailable && answer.Projector != nil && len(answer.Projector.Missing) == 1 &&
			strings.HasPrefix(answer.Projector.Missing[0], "truncateFeed-")
	})
	if _, answer := w.readyz(); answer.Letters != 0 {
		t.Errorf("%d changes were set aside", answer.Letters)
	}
	way.whole.Store(true)
	w.until(func() bool {
		status, answer := w.readyz()
		return status == http.StatusOK && answer.Projector != nil && answer.Projector.Missing == nil
	})
}
