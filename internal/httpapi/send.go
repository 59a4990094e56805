package httpapi

import (
	"net/http"
	"slices"
	"strconv"

	"github.com/vektah/gqlparser/v2/gqlerror"

	"cosmosblog/internal/blog"
)

// Answers of at most smallAnswer do not count against the budget of answers: connections bound
// them, and most of them fit into the buffers of their connection. Larger ones are written in parts
// of this size, to see how fast the client reads.
const smallAnswer = 64 << 10

// send writes the answer of an operation. If many clients read large answers, it rejects the
// answer, because an answer that waits would need the same memory. A query can be repeated; the
// effects of a mutation remain.
func (a *api) send(w http.ResponseWriter, r *http.Request, executed answer) {
	if len(executed.body) <= smallAnswer {
		write(w, executed)
		return
	}
	memory := a.answers.open(func() { http.NewResponseController(w).SetWriteDeadline(past) })
	defer memory.close()
	switch ok := memory.grow(cap(executed.body)); {
	case !ok && executed.isMutation:
		err := blog.Errorf(blog.LimitExceeded,
			"The mutation succeeded, but the server is busy with large responses. Select fewer fields.")
		a.respond(w, executed.contentType, executedStatus, response{
			data: []byte("null"), errors: gqlerror.List{a.present(r.Context(), err)}})
	case !ok:
		a.reject(w, r, errAnswersFull)
	default:
		writeParts(w, executed, memory)
	}
}

// writeParts writes an answer until the client disconnects or memory is stopped.
func writeParts(w http.ResponseWriter, executed answer, memory *share) {
	writeHeader(w, executed)
	for part := range slices.Chunk(executed.body, smallAnswer) {
		n, err := w.Write(part)
		if err != nil {
			return
		}
		memory.progress(n)
	}
}

// write sends an answer. It sets no caching headers: withSecurityHeaders has forbidden caching
// already, because responses depend on the signed-in user.
func write(w http.ResponseWriter, a answer) {
	writeHeader(w, a)
	_, _ = w.Write(a.body) // fails if the client has disconnected
}

func writeHeader(w http.ResponseWriter, a answer) {
	header := w.Header()
	header["Content-Type"] = contentTypes[a.contentType]
	header["Content-Length"] = []string{strconv.Itoa(len(a.body))}
	if a.coding != "" {
		header.Set("Content-Encoding", a.coding)
	}
	w.WriteHeader(a.status)
}
