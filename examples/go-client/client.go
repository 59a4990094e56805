package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/Khan/genqlient/graphql"
	"github.com/vektah/gqlparser/v2/gqlerror"
)

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

// retrying repeats a request without an answer, and one for which the server asks for a wait. All
// operations of this program can be repeated: likePost and createUser change nothing the second
// time, and the others have an idempotency key. Do not repeat a mutation of another kind.
type retrying struct{ graphql.Client }

func (r retrying) MakeRequest(ctx context.Context, request *graphql.Request, response *graphql.Response) error {
	for tries := 1; ; tries++ {
		response.Errors = nil // of the try before
		err := r.Client.MakeRequest(ctx, request, response)
		wait := retryAfter(err)
		if lost := (*url.Error)(nil); errors.As(err, &lost) {
			wait = time.Duration(tries) * 100 * time.Millisecond
		}
		if wait == 0 || tries == 5 {
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
