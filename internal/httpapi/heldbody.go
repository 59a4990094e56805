package httpapi

import (
	"errors"
	"io"
	"net/http"

	"golang.org/x/sync/semaphore"
)

// heldBody is a request's body that takes its room from what there is for the bodies of all requests, as its bytes come.
// Whoever sends a large body slowly on many connections would otherwise fill the memory with what cannot be refused yet.
type heldBody struct {
	io.ReadCloser
	room *semaphore.Weighted
	held int64
}

var errNoRoom = errors.New("no room for a body")

// Read reads. Error: errNoRoom where there is no more room.
func (b *heldBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if n > 0 && !b.room.TryAcquire(int64(n)) {
		return 0, errNoRoom
	}
	b.held += int64(n)
	return n, err
}

// release gives the room back, when nobody needs the body's bytes any longer.
func (b *heldBody) release() { b.room.Release(b.held) }

// hold has a request's body take its room.
func (a *api) hold(r *http.Request) *heldBody {
	body := &heldBody{ReadCloser: r.Body, room: a.bodies}
	r.Body = body
	return body
}
