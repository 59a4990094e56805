package httpapi

import (
	"errors"
	"io"
	"mime"
	"net/http"
	"net/url"
	"os"
	"strings"
	"unicode/utf8"

	"github.com/99designs/gqlgen/graphql"
)

// readParams reads what a request asks to be executed.
func (a *api) readParams(w http.ResponseWriter, r *http.Request) (*graphql.RawParams, *refusal) {
	params := &graphql.RawParams{Headers: r.Header}
	params.ReadTime.Start = graphql.Now()
	var refused *refusal
	switch r.Method {
	case http.MethodPost:
		refused = a.readBody(w, r, params)
	case http.MethodGet:
		refused = readQueryString(r, params)
	default:
		return nil, errMethod
	}
	switch {
	case refused != nil:
	case params.Query == "":
		refused = errNoQuery
	}
	params.ReadTime.End = graphql.Now()
	return params, refused
}

// readBody reads a POST: one JSON object.
func (a *api) readBody(w http.ResponseWriter, r *http.Request, params *graphql.RawParams) *refusal {
	if !isJSON(r.Header.Get("Content-Type")) || r.Header.Get("Content-Encoding") != "" {
		return errNotJSON
	}
	most := a.Limits.BodyBytes
	if r.ContentLength > int64(most) {
		return bodyTooLarge(most)
	}
	body, err := readText(http.MaxBytesReader(w, r.Body, int64(most)), r.ContentLength)
	_, tooLarge := errors.AsType[*http.MaxBytesError](err)
	switch {
	case tooLarge:
		return bodyTooLarge(most)
	case errors.Is(err, errNoRoom):
		return errTooManyAtATime
	case errors.Is(err, os.ErrDeadlineExceeded):
		return errSlow
	case err != nil || !readMembers(body, params):
		return errNoRequest
	}
	return nil
}

// believedBytes is how much room is made for a body because of its announced length alone.
const believedBytes = 64 << 10

// readText reads a body. Once as much as is believed has come, there is room for the whole length.
func readText(body io.Reader, length int64) (string, error) {
	var text strings.Builder
	text.Grow(int(min(max(length, 512), believedBytes)))
	n, err := io.CopyN(&text, body, believedBytes)
	if errors.Is(err, io.EOF) {
		return text.String(), nil
	}
	if err == nil {
		text.Grow(int(max(length-n, 0)))
		_, err = io.Copy(&text, body)
	}
	return text.String(), err
}

// isJSON tells whether a Content-Type is JSON in UTF-8.
func isJSON(contentType string) bool {
	name, parameters, err := mime.ParseMediaType(contentType)
	return err == nil && name == "application/json" && isUTF8(parameters)
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
		return errQueryString
	}
	for _, name := range []string{"query", "operationName", "variables", "extensions"} {
		if len(values[name]) > 1 || !utf8.ValidString(values.Get(name)) {
			return malformed("`%s` is there twice, or is not UTF-8.", name)
		}
	}
	params.Query = values.Get("query")
	params.OperationName = values.Get("operationName")
	if !readObject(values.Get("variables"), &params.Variables) {
		return malformed("`variables` is not a JSON object, %s.", strictly)
	}
	if !readObject(values.Get("extensions"), &params.Extensions) {
		return malformed("`extensions` is not a JSON object, %s.", strictly)
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
