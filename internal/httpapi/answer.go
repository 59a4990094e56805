package httpapi

import (
	"encoding/json"
	"net/http"
	"strconv"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"cosmosblog/graph/model"
	"cosmosblog/internal/blog"
)

// The limits of an answer.
const (
	maxAnswerBytes  = model.MaxAnswerBytes
	maxAnswerErrors = 10
)

// answer is the JSON of one GraphQL answer. There is no data in the answer to a request that was not executed.
type answer struct {
	errors     gqlerror.List
	data       json.RawMessage
	extensions map[string]any
}

// refused is the answer to a request that was not executed.
func refused(response *graphql.Response) answer {
	return answer{errors: response.Errors, extensions: response.Extensions}
}

// executed is the answer to one that was.
func executed(response *graphql.Response) answer {
	data := response.Data
	if len(data) == 0 {
		data = json.RawMessage("null")
	}
	return answer{errors: response.Errors, data: data, extensions: response.Extensions}
}

var (
	errAnswerTooLarge         = blog.Errorf(blog.CostLimitExceeded, "The answer is larger than %d MiB: ask for less at a time.", maxAnswerBytes>>20)
	errMutationAnswerTooLarge = blog.Errorf(blog.CostLimitExceeded,
		"The mutation was carried out, but its answer is larger than %d MiB: ask for less of what it gives back.", maxAnswerBytes>>20)
)

// writeAnswer writes an answer. The data is JSON already and is copied as it is.
func writeAnswer(w http.ResponseWriter, contentType string, status int, a answer) {
	body := make([]byte, 0, len(a.data)+1024)
	body = append(body, '{')
	if len(a.errors) > 0 {
		body = appendField(body, "errors", mustMarshal(a.errors[:min(len(a.errors), maxAnswerErrors)]))
	}
	if a.data != nil {
		body = appendField(body, "data", a.data)
	}
	if len(a.extensions) > 0 {
		body = appendField(body, "extensions", mustMarshal(a.extensions))
	}
	write(w, contentType, status, append(body, '}'))
}

func appendField(body []byte, name string, value []byte) []byte {
	if len(body) > 1 {
		body = append(body, ',')
	}
	body = append(append(append(body, '"'), name...), '"', ':')
	return append(body, value...)
}

// mustMarshal panics where a value is no JSON: errors and extensions are ours. See recovered.
func mustMarshal(value any) []byte {
	text, err := json.Marshal(value)
	if err != nil {
		panic("httpapi: " + err.Error())
	}
	return text
}

// write sends a body. Answers depend on who asks, and are kept by nobody.
func write(w http.ResponseWriter, contentType string, status int, body []byte) {
	header := w.Header()
	header.Set("Content-Type", contentType)
	header.Set("Content-Length", strconv.Itoa(len(body)))
	header.Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_, _ = w.Write(body) // the client may have gone away
}
