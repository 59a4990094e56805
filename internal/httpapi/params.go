package httpapi

import (
	"errors"
	"io"
	"mime"
	"net/http"
	"net/url"
	"os"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/99designs/gqlgen/graphql"

	"cosmosblog/internal/strictjson"
)

// readParams reads the GraphQL parameters of a request: query or documentId, variables,
// operationName and extensions. The id of a document becomes the query, as does the hash of a
// persisted query. It returns a rejection if the request
// is not a valid GraphQL request.
func (a *api) readParams(w http.ResponseWriter, r *http.Request) (*graphql.RawParams, *rejection) {
	params := &graphql.RawParams{Headers: r.Header}
	params.ReadTime.Start = graphql.Now()
	var documentID string
	var rejected *rejection
	switch r.Method {
	case http.MethodPost:
		rejected = a.readBody(w, r, params, &documentID)
	case http.MethodGet:
		rejected = readQueryString(r, params, &documentID)
	default:
		return nil, errMethod
	}
	if rejected == nil {
		rejected = a.resolveDocument(r.Context(), params, documentID, documentStatus(negotiateType(r)))
	}
	if rejected == nil && params.Query == "" {
		rejected = errNoQuery
	}
	params.ReadTime.End = graphql.Now()
	return params, rejected
}

// readBody reads the parameters of a POST, one JSON object.
func (a *api) readBody(w http.ResponseWriter, r *http.Request, params *graphql.RawParams, documentID *string) *rejection {
	body, rejected := readJSON(w, r, a.Limits.BodyBytes)
	if rejected == nil && !parseParams(body, params, documentID) {
		return errBadBody
	}
	return rejected
}

// readJSON returns the body of a POST with at most limit bytes of JSON. It does not parse it.
func readJSON(w http.ResponseWriter, r *http.Request, limit int) (string, *rejection) {
	if !isJSON(r.Header.Get("Content-Type")) || r.Header.Get("Content-Encoding") != "" {
		return "", errNotJSON
	}
	if r.ContentLength > int64(limit) {
		return "", bodyTooLarge(limit)
	}
	body, err := readText(http.MaxBytesReader(w, r.Body, int64(limit)), r.ContentLength)
	_, tooLarge := errors.AsType[*http.MaxBytesError](err)
	switch {
	case tooLarge:
		return "", bodyTooLarge(limit)
	case errors.Is(err, errBodiesFull):
		return "", errOverloaded
	case errors.Is(err, os.ErrDeadlineExceeded):
		return "", errBodyTimeout
	case err != nil:
		return "", errBadBody
	}
	return body, nil
}

// unprovenBytes is the maximum memory allocated for a body because of its Content-Length alone.
const unprovenBytes = 64 << 10

// chunks are the buffers that bodies are read through, one for each body that arrives.
var chunks = sync.Pool{New: func() any { return new([4 << 10]byte) }}

// readText reads a body. Beyond unprovenBytes, it allocates at most twice the bytes that have
// arrived, whatever the Content-Length.
func readText(body io.Reader, length int64) (string, error) {
	chunk := chunks.Get().(*[4 << 10]byte)
	defer chunks.Put(chunk)
	var text strings.Builder
	text.Grow(int(min(max(length, 0), unprovenBytes)))
	for {
		n, err := body.Read(chunk[:])
		text.Write(chunk[:n]) // doubles the capacity if it is used up
		switch {
		case errors.Is(err, io.EOF):
			return text.String(), nil
		case err != nil:
			return "", err
		}
	}
}

// isJSON reports whether a Content-Type is JSON in UTF-8.
func isJSON(contentType string) bool {
	if contentType == "application/json" { // as nearly all clients write it
		return true
	}
	name, parameters, err := mime.ParseMediaType(contentType)
	return err == nil && name == "application/json" && isUTF8(parameters)
}

// parseParams parses the JSON object of a body. A null parameter counts as omitted. Members that
// GraphQL over HTTP does not define are ignored. It returns false if the body is not acceptable.
func parseParams(body string, params *graphql.RawParams, documentID *string) bool {
	value, err := strictjson.Parse(body)
	object, ok := value.(map[string]any)
	return err == nil && ok &&
		member(object, "query", &params.Query) && member(object, "operationName", &params.OperationName) &&
		member(object, "variables", &params.Variables) && member(object, "extensions", &params.Extensions) &&
		member(object, "documentId", documentID)
}

// member copies a member of an object to a variable. It returns false if the member has another
// type.
func member[T any](object map[string]any, name string, to *T) (ok bool) {
	value := object[name]
	if value == nil {
		return true
	}
	*to, ok = value.(T)
	return ok
}

// readQueryString reads the parameters of a GET. `variables` and `extensions` are JSON objects.
func readQueryString(r *http.Request, params *graphql.RawParams, documentID *string) *rejection {
	values, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return errBadQueryString
	}
	for _, name := range []string{"query", "documentId", "operationName", "variables", "extensions"} {
		if len(values[name]) > 1 || !utf8.ValidString(values.Get(name)) {
			return malformed("`%s` is repeated or is not UTF-8.", name)
		}
	}
	params.Query, *documentID = values.Get("query"), values.Get("documentId")
	params.OperationName = values.Get("operationName")
	if !readObject(values.Get("variables"), &params.Variables) {
		return malformed("`variables` must be a JSON object %s.", jsonRules)
	}
	if !readObject(values.Get("extensions"), &params.Extensions) {
		return malformed("`extensions` must be a JSON object %s.", jsonRules)
	}
	return nil
}

// readObject parses a JSON object. An empty text and null leave the object unchanged. It returns
// false if the text is not acceptable.
func readObject(text string, object *map[string]any) bool {
	if text == "" {
		return true
	}
	value, err := strictjson.Parse(text)
	ok := err == nil
	if ok && value != nil {
		*object, ok = value.(map[string]any)
	}
	return ok
}
