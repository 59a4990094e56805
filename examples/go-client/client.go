package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/Khan/genqlient/graphql"
	"github.com/vektah/gqlparser/v2/gqlerror"
)

// blog is a client of a server, signed in with a token or not.
type blog struct {
	graphql.Client
	url, token string
}

// newBlog returns a client of the server at an address such as http://127.0.0.1:8080/graphql. The token
// may be empty.
func newBlog(url, token string) blog { return blog{newClient(url, token), url, token} }

// newClient returns a client for queries and mutations.
func newClient(url, token string) graphql.Client {
	return retrying{graphql.NewClient(url, &http.Client{
		Transport: signedIn{token},
		Timeout:   20 * time.Second,
	})}
}

// signedIn sends a token with each request.
type signedIn struct{ token string }

func (s signedIn) RoundTrip(request *http.Request) (*http.Response, error) {
	if s.token != "" {
		request = request.Clone(request.Context())
		request.Header.Set("Authorization", "Bearer "+s.token)
	}
	return http.DefaultTransport.RoundTrip(request)
}

// retrying repeats a request without an answer, and one for which the server asks for a wait, up to
// four times: queries, mutations with the variable key, an idempotency key, and those that change
// nothing the second time. Another mutation could happen twice.
type retrying struct{ graphql.Client }

// repeatable are the mutations that change nothing the second time.
var repeatable = []string{"CreateUser", "LikePost"}

func isRepeatable(request *graphql.Request) bool {
	variables, err := json.Marshal(request.Variables)
	isKeyed := err == nil && bytes.Contains(variables, []byte(`"key":"`))
	return isKeyed || !strings.Contains(request.Query, "mutation "+request.OpName+" ") || slices.Contains(repeatable, request.OpName)
}

func (r retrying) MakeRequest(ctx context.Context, request *graphql.Request, response *graphql.Response) error {
	for tries := 1; ; tries++ {
		response.Errors = nil // of the try before
		err := r.Client.MakeRequest(ctx, request, response)
		wait := retryAfter(err)
		if lost := (*url.Error)(nil); errors.As(err, &lost) {
			wait = 100 * time.Millisecond << tries
		}
		if wait == 0 || tries == 5 || !isRepeatable(request) {
			return err
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return err
		}
	}
}

// errorsOf returns the errors of an answer. If the server rejects a whole request, for example
// because of its token, the status is not 200, and genqlient returns another type of error.
func errorsOf(err error) gqlerror.List {
	if rejected := (*graphql.HTTPError)(nil); errors.As(err, &rejected) {
		return rejected.Response.Errors
	}
	if list := (gqlerror.List)(nil); errors.As(err, &list) {
		return list
	}
	return nil
}

// retryAfter returns how long to wait before another try, or 0 if another try is of no use.
func retryAfter(err error) time.Duration {
	for _, e := range errorsOf(err) {
		if ms, ok := e.Extensions["retryAfterMs"].(float64); ok {
			return time.Duration(ms) * time.Millisecond
		}
	}
	return 0
}

// describe returns a line for each error of an answer: its code, the argument or the input field
// that is not valid, if the error is about one, and the message.
func describe(err error) string {
	var lines []string
	for _, e := range errorsOf(err) {
		line := fmt.Sprint(e.Extensions["code"])
		if field, ok := e.Extensions["field"].([]any); ok {
			line += " in " + strings.ReplaceAll(strings.Trim(fmt.Sprint(field), "[]"), " ", ".")
		}
		if id, ok := e.Extensions["errorId"]; ok {
			line += fmt.Sprintf(" (the log has it as %v)", id)
		}
		lines = append(lines, line+": "+e.Message)
	}
	if lines == nil {
		return err.Error()
	}
	return strings.Join(lines, "\n")
}
