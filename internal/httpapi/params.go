package httpapi

import (
	"errors"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strings"
	"unicode/utf8"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/lexer"

	"cosmosblog/internal/blog"
)

// maxRequestBytes is the limit of a request's body. A post's content has at most 256 KiB, which JSON can write six times
// as long.
const maxRequestBytes = 2 << 20

// refusal is why a request is not executed, and with what status it is answered.
type refusal struct {
	status int
	allow  string // the methods that are answered, with 405
	err    error
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
	switch {
	case refused != nil:
	case params.Query == "":
		refused = refuseWith(http.StatusBadRequest, "The request has no `query`.")
	case !hasUnicodeStrings(params.Query):
		refused = refuseWith(http.StatusBadRequest, "A string of the query escapes half of a character: a surrogate that is not one of a pair.")
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
	var body strings.Builder
	_, err := io.Copy(&body, http.MaxBytesReader(w, r.Body, maxRequestBytes))
	if _, tooLarge := errors.AsType[*http.MaxBytesError](err); tooLarge {
		return errBodyTooLarge
	}
	if err != nil || !readMembers(body.String(), params) {
		return errNoRequest
	}
	return nil
}

var (
	errBodyTooLarge = refuseWith(http.StatusRequestEntityTooLarge, "The request is larger than 2 MiB.")
	errNoRequest    = refuseWith(http.StatusBadRequest, "The body is not a GraphQL request in JSON: an object in UTF-8 with `query` and, where needed, "+
		"`variables`, `operationName` and `extensions`, in which no name occurs twice and no surrogate is alone.")
)

// isJSON tells whether a Content-Type is JSON in UTF-8, the one charset that JSON has (RFC 8259, section 8.1).
func isJSON(contentType string) bool {
	name, parameters, err := mime.ParseMediaType(contentType)
	charset, named := parameters["charset"]
	return err == nil && name == "application/json" && (!named || strings.EqualFold(charset, "utf-8"))
}

// readMembers reads the object of a body. What is null counts as left out; members that GraphQL over HTTP does not know
// are let pass.
func readMembers(body string, params *graphql.RawParams) bool {
	value, err := parseJSON(body)
	object, ok := value.(map[string]any)
	return err == nil && ok &&
		member(object, "query", &params.Query) && member(object, "operationName", &params.OperationName) &&
		member(object, "variables", &params.Variables) && member(object, "extensions", &params.Extensions)
}

// member reads a member of an object; false where it is of another type.
func member[T any](object map[string]any, name string, to *T) (ok bool) {
	value := object[name]
	if value == nil {
		return true
	}
	*to, ok = value.(T)
	return ok
}

// readQueryString reads a GET: the same members as in a body, the objects among them as JSON.
func readQueryString(r *http.Request, params *graphql.RawParams) *refusal {
	values, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return refuseWith(http.StatusBadRequest, "The query string is malformed.")
	}
	for _, name := range []string{"query", "operationName", "variables", "extensions"} {
		if len(values[name]) > 1 || !utf8.ValidString(values.Get(name)) {
			return refuseWith(http.StatusBadRequest, "`"+name+"` is there twice, or is not UTF-8.")
		}
	}
	params.Query = values.Get("query")
	params.OperationName = values.Get("operationName")
	if !readObject(values.Get("variables"), &params.Variables) {
		return refuseWith(http.StatusBadRequest, "`variables` is not a JSON object in which no name occurs twice and no surrogate is alone.")
	}
	if !readObject(values.Get("extensions"), &params.Extensions) {
		return refuseWith(http.StatusBadRequest, "`extensions` is not a JSON object in which no name occurs twice and no surrogate is alone.")
	}
	return nil
}

func readObject(text string, object *map[string]any) bool {
	if text == "" {
		return true
	}
	value, err := parseJSON(text)
	ok := err == nil
	if ok && value != nil {
		*object, ok = value.(map[string]any)
	}
	return ok
}

// hasUnicodeStrings tells whether the strings of a query escape whole characters alone: gqlparser puts U+FFFD in the
// place of half of one. What is no string is left to gqlparser, and so is a query that it cannot read.
func hasUnicodeStrings(query string) bool {
	if !strings.Contains(query, `\u`) {
		return true
	}
	characters := []rune(query) // gqlparser counts them
	reader := lexer.New(&ast.Source{Input: query})
	for range maxTokens {
		token, err := reader.ReadToken()
		if err != nil || token.Kind == lexer.EOF {
			return true
		}
		if token.Kind == lexer.String && !isUnicode(string(characters[token.Pos.Start:token.Pos.End])) {
			return false
		}
	}
	return true
}
