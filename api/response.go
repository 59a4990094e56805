package api

import (
	"encoding/json"
	"slices"
	"sync"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"cosmosblog/guard/budget"
)

// response is a GraphQL response. The data of a request that was not executed is nil and is
// omitted.
type response struct {
	errors     gqlerror.List
	data       json.RawMessage
	extensions map[string]any
}

// rejectedResponse is the response to a request that was not executed.
func rejectedResponse(r *graphql.Response) response {
	return response{errors: r.Errors, extensions: r.Extensions}
}

// executedResponse is the response to a request that was executed. Missing data becomes null.
func executedResponse(r *graphql.Response) response {
	data := r.Data
	if len(data) == 0 {
		data = json.RawMessage("null")
	}
	return response{errors: r.Errors, data: data, extensions: r.Extensions}
}

// answer is an encoded response.
type answer struct {
	contentType string
	status      int
	body        []byte
	coding      string // content coding of the body; empty if it is not compressed
	session     string // the session token of a mutation; empty if it changed nothing
	isMutation  bool   // the operation was a mutation, and it was executed
	payment     *budget.Payment

	cacheControl string // empty if nobody may keep the answer
	etag         string // empty if nobody may keep the answer
}

// encode encodes a response, with at most Limits.Errors errors. The data is already JSON and is
// copied unchanged. An event stream has the response in one event, and then ends.
func (a *api) encode(contentType string, status int, r response) answer {
	body := newBody(len(r.data) + 1024)
	if contentType == eventStreamType {
		body = append(body, answerBegin...)
	}
	body = append(body, '{')
	if len(r.errors) > 0 {
		body = appendField(body, "errors", mustMarshal(r.errors[:min(len(r.errors), a.Limits.Errors)]))
	}
	if r.data != nil {
		body = appendField(body, "data", r.data)
	}
	if len(r.extensions) > 0 {
		body = appendField(body, "extensions", mustMarshal(r.extensions))
	}
	body = append(body, '}')
	if contentType == eventStreamType {
		body = append(body, answerEnd...)
	}
	return answer{contentType: contentType, status: status, body: body}
}

// bodies are buffers of answers that were sent. Larger ones than smallAnswer are not kept.
var bodies = sync.Pool{New: func() any { return new([]byte) }}

// newBody returns an empty buffer with a capacity of at least size.
func newBody(size int) []byte {
	body := *bodies.Get().(*[]byte)
	return slices.Grow(body[:0], size)
}

// recycle makes the buffer of newBody available again. The caller must not use it any more.
func recycle(body []byte) {
	if cap(body) > 0 && cap(body) <= smallAnswer {
		bodies.Put(&body)
	}
}

func appendField(body []byte, name string, value []byte) []byte {
	if body[len(body)-1] != '{' {
		body = append(body, ',')
	}
	body = append(append(append(body, '"'), name...), '"', ':')
	return append(body, value...)
}

// mustMarshal returns a value as JSON. It panics if that fails, because errors and extensions are
// built by this program. Its callers run inside ServeHTTP, which recovers.
func mustMarshal(value any) []byte {
	text, err := json.Marshal(value)
	if err != nil {
		panic("api: " + err.Error())
	}
	return text
}
