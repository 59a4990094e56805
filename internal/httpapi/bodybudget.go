package httpapi

import (
	"errors"
	"io"
	"net/http"

	"golang.org/x/sync/semaphore"
)

// meteredBody is a request body that counts its bytes, as they arrive, against a budget shared by
// the bodies of all requests. Without it, clients that send large bodies slowly on many
// connections could exhaust the memory before any of their requests can be rejected.
type meteredBody struct {
	io.ReadCloser
	budget *semaphore.Weighted
	used   int64
}

var errBodyBudget = errors.New("the memory for request bodies is used up")

// Read reads from the body. Error: errBodyBudget if the budget is used up.
func (b *meteredBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if n > 0 && !b.budget.TryAcquire(int64(n)) {
		return 0, errBodyBudget
	}
	b.used += int64(n)
	return n, err
}

// release returns the body's bytes to the budget. The caller must no longer need them.
func (b *meteredBody) release() { b.budget.Release(b.used) }

// meterBody replaces a request's body with a metered one.
func (a *api) meterBody(r *http.Request) *meteredBody {
	body := &meteredBody{ReadCloser: r.Body, budget: a.bodies}
	r.Body = body
	return body
}
