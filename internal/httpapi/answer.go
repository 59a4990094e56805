package httpapi

import (
	"encoding/json"
	"net/http"
	"strconv"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/gqlerror"
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

// answer writes an answer. The data is JSON already and is copied as it is.
func (a *api) answer(w http.ResponseWriter, contentType string, status int, given answer) {
	body := make([]byte, 0, len(given.data)+1024)
	body = append(body, '{')
	if len(given.errors) > 0 {
		body = appendField(body, "errors", mustMarshal(given.errors[:min(len(given.errors), a.Limits.Errors)]))
	}
	if given.data != nil {
		body = appendField(body, "data", given.data)
	}
	if len(given.extensions) > 0 {
		body = appendField(body, "extensions", mustMarshal(given.extensions))
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

// write sends a body. Answers depend on who asks, and nobody keeps them: see secured.
func write(w http.ResponseWriter, contentType string, status int, body []byte) {
	header := w.Header()
	header.Set("Content-Type", contentType)
	header.Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	_, _ = w.Write(body) // the client may have gone away
}
