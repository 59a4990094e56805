package api

import (
	"errors"
	"io"
	"net/http"
	"os"
	"time"

	"cosmosblog/guard/memorypool"
)

// meteredBody is a request body that counts its bytes as they arrive. The Content-Length does not
// count, because a client can declare what it never sends.
type meteredBody struct {
	io.ReadCloser
	*memorypool.Share
}

var errBodiesFull = errors.New("the memory for request bodies is used up")

// Read reads from the body. Errors: errBodiesFull if the pool is used up, and
// os.ErrDeadlineExceeded if the body was stopped.
func (b meteredBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if n > 0 && !b.Grow(n) {
		if !b.Arrived() {
			return 0, os.ErrDeadlineExceeded
		}
		return 0, errBodiesFull
	}
	return n, err
}

// Close implements io.Closer. The memory is in use until the share is closed.
func (b meteredBody) Close() error { return b.ReadCloser.Close() }

// meterBody replaces a request's body with a metered one, and returns its share.
func (a *api) meterBody(w http.ResponseWriter, r *http.Request) *memorypool.Share {
	s := a.bodies.Open(func() { http.NewResponseController(w).SetReadDeadline(past) })
	r.Body = meteredBody{r.Body, s}
	return s
}

// past is a deadline that stops a transfer.
var past = time.Unix(1, 0)
