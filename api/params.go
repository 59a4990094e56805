package api

import (
	"encoding/hex"
	"errors"
	"io"
	"mime"
	"net/http"
	"os"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/99designs/gqlgen/graphql"

	"cosmosblog/api/strictjson"
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
	var variables, extensions string
	values := map[string]*string{
		"query": &params.Query, "documentId": documentID, "operationName": &params.OperationName,
		"variables": &variables, "extensions": &extensions,
	}
	for part := range strings.SplitSeq(r.URL.RawQuery, "&") {
		escapedName, escaped, _ := strings.Cut(part, "=")
		name := unescape(escapedName)
		to, isKnown := values[name]
		if !isKnown {
			continue
		}
		value := unescape(escaped)
		if to == nil || !utf8.ValidString(value) {
			return malformed("`%s` is repeated or is not UTF-8.", name)
		}
		*to, values[name] = value, nil
	}
	if !readObject(variables, &params.Variables) {
		return malformed("`variables` must be a JSON object %s.", jsonRules)
	}
	if !readObject(extensions, &params.Extensions) {
		return malformed("`extensions` must be a JSON object %s.", jsonRules)
	}
	return nil
}

// unescape returns a name or a value of a query string as browsers mean it: as the WHATWG URL
// standard parses application/x-www-form-urlencoded (section 5.1), except that the bytes need not
// be UTF-8. A % that no two hexadecimal digits follow stands for itself. url.ParseQuery rejects it,
// and also a `;`, which is a plain character.
func unescape(text string) string {
	text = strings.ReplaceAll(text, "+", " ")
	if !strings.Contains(text, "%") {
		return text
	}
	decoded := make([]byte, 0, len(text))
	for i := 0; i < len(text); i++ {
		if text[i] == '%' && i+2 < len(text) {
			if b, err := hex.DecodeString(text[i+1 : i+3]); err == nil {
				decoded = append(decoded, b...)
				i += 2
				continue
			}
		}
		decoded = append(decoded, text[i])
	}
	return string(decoded)
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
