package api

import (
	"context"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/vektah/gqlparser/v2/gqlerror"

	"cosmosblog/blog"
	"cosmosblog/guard/memorypool"
)

// Answers of at most smallAnswer do not count against the pool of answers: connections bound
// them, and most of them fit into the buffers of their connection. Larger ones are written in parts
// of this size, to see how fast the client reads.
const smallAnswer = memorypool.Small

// send writes the answer of an operation. The memory is the operation's share.
func (a *api) send(w http.ResponseWriter, r *http.Request, executed answer, memory *memorypool.Share) {
	if len(executed.body) <= smallAnswer {
		memory.Close()
		write(w, executed)
		return
	}
	if !memory.Resize(cap(executed.body)) {
		small, rejected := a.withoutRoom(r.Context(), executed.contentType, executed.isMutation)
		if rejected != nil {
			a.reject(w, r, rejected)
			return
		}
		small.session, small.payment = executed.session, executed.payment
		write(w, small)
		return
	}
	memory.Transfer(func() { http.NewResponseController(w).SetWriteDeadline(past) })
	writeParts(w, executed, memory)
}

// withoutRoom is the outcome of an operation whose answer is too large for the memory that is free.
// An answer that waits would need the same memory. A query can be repeated; the effects of a
// mutation remain.
func (a *api) withoutRoom(ctx context.Context, contentType string, isMutation bool) (answer, *rejection) {
	if !isMutation {
		return answer{}, errAnswersFull
	}
	err := blog.Errorf(blog.LimitExceeded,
		"The mutation succeeded, but the server is busy with large responses. Select fewer fields.")
	return a.encode(contentType, executedStatus, response{
		data: []byte("null"), errors: gqlerror.List{a.present(ctx, err)}}), nil
}

// writeParts writes an answer until the client disconnects or memory is stopped.
func writeParts(w http.ResponseWriter, executed answer, memory *memorypool.Share) {
	writeHeader(w, executed)
	for part := range slices.Chunk(executed.body, smallAnswer) {
		n, err := w.Write(part)
		if err != nil {
			return
		}
		memory.Progress(n)
	}
}

// write sends an answer.
func write(w http.ResponseWriter, a answer) {
	writeHeader(w, a)
	_, _ = w.Write(a.body) // fails if the client has disconnected
}

// writeHeader sends the status and the headers of an answer. If it has no caching headers, that of
// securityHeaders stays, which forbids to keep it.
func writeHeader(w http.ResponseWriter, a answer) {
	header := w.Header()
	if a.etag != "" {
		header.Set("ETag", a.etag)
		header.Set("Cache-Control", a.cacheControl)
	}
	if !strings.HasPrefix(a.cacheControl, publicControl) {
		setRateLimit(header, a.payment)
	}
	if a.session != "" {
		header[sessionHeader] = []string{a.session}
	}
	if a.status == unchangedStatus {
		w.WriteHeader(a.status)
		return
	}
	if header["Content-Type"] = contentTypes[a.contentType]; header["Content-Type"] == nil { // of a page
		header["Content-Type"] = []string{a.contentType}
	}
	header["Content-Length"] = []string{strconv.Itoa(len(a.body))}
	if a.coding != "" {
		header.Set("Content-Encoding", a.coding)
	}
	w.WriteHeader(a.status)
}
