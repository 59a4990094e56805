package httpapi

import (
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strings"

	"github.com/99designs/gqlgen/graphql"

	"cosmosblog/internal/blog"
)

// maxRequestBytes is the limit of a request's body. A post's content has at most 256 KiB, which JSON can write six times
// as long.
const maxRequestBytes = 2 << 20

// refusal is why a request is not even read as GraphQL.
type refusal struct {
	status int
	allow  string // the methods that are answered, with 405
	err    *blog.Error
}

func refuseWith(status int, sentence string) *refusal {
	return &refusal{status: status, err: blog.Errorf(blog.BadUserInput, "%s", sentence)}
}

// readParams reads what a request asks to be executed.
func readParams(w http.ResponseWriter, r *http.Request) (*graphql.RawParams, *refusal) {
	params := &graphql.RawParams{Headers: r.Header}
	params.ReadTime.Start = graphql.Now()
	var refused *refusal
	switch r.Method {
	case http.MethodPost:
		refused = readBody(w, r, params)
	case http.MethodGet:
		refused = readQueryString(r, params)
	default:
		return nil, &refusal{http.StatusMethodNotAllowed, "GET, POST", blog.Errorf(blog.BadUserInput, "Send GraphQL with POST, or a query with GET.")}
	}
	if refused == nil && params.Query == "" {
		refused = refuseWith(http.StatusBadRequest, "The request has no `query`.")
	}
	params.ReadTime.End = graphql.Now()
	return params, refused
}

// readBody reads a POST: one JSON object.
func readBody(w http.ResponseWriter, r *http.Request, params *graphql.RawParams) *refusal {
	if !isJSON(r.Header.Get("Content-Type")) {
		return refuseWith(http.StatusUnsupportedMediaType, "Send the request as application/json in UTF-8.")
	}
	if r.ContentLength > maxRequestBytes {
		return errBodyTooLarge
	}
	decoder := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxRequestBytes))
	decoder.UseNumber()
	err := decoder.Decode(params)
	if err == nil {
		_, err = decoder.Token() // the body ends where the object does
	}
	if _, tooLarge := errors.AsType[*http.MaxBytesError](err); tooLarge {
		return errBodyTooLarge
	}
	if err != io.EOF {
		return refuseWith(http.StatusBadRequest, "The body is not a GraphQL request in JSON: an object with `query` and, where needed, `variables`, `operationName` and `extensions`.")
	}
	return nil
}

var errBodyTooLarge = refuseWith(http.StatusRequestEntityTooLarge, "The request is larger than 2 MiB.")

// isJSON tells whether a Content-Type is JSON in UTF-8, the one charset that JSON has (RFC 8259, section 8.1).
func isJSON(contentType string) bool {
	name, parameters, err := mime.ParseMediaType(contentType)
	charset, named := parameters["charset"]
	return err == nil && name == "application/json" && (!named || strings.EqualFold(charset, "utf-8"))
}

// readQueryString reads a GET: the same members as in a body, the objects among them as JSON.
func readQueryString(r *http.Request, params *graphql.RawParams) *refusal {
	values, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return refuseWith(http.StatusBadRequest, "The query string is malformed.")
	}
	params.Query = values.Get("query")
	params.OperationName = values.Get("operationName")
	if !readObject(values.Get("variables"), &params.Variables) {
		return refuseWith(http.StatusBadRequest, "`variables` is not a JSON object.")
	}
	if !readObject(values.Get("extensions"), &params.Extensions) {
		return refuseWith(http.StatusBadRequest, "`extensions` is not a JSON object.")
	}
	return nil
}

func readObject(text string, object *map[string]any) bool {
	if text == "" {
		return true
	}
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.UseNumber()
	if err := decoder.Decode(object); err != nil {
		return false
	}
	_, err := decoder.Token()
	return err == io.EOF
}
