package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
)

// api is a client of a server's GraphQL API, with a token or anonymous.
type api struct {
	url     string
	token   string
	client  *http.Client
	session string // the session token that requests send; empty for none
}

// sessionHeader is the header of session tokens.
const sessionHeader = "Cosmosblog-Session"

type values map[string]any

// apiError is the first error of a GraphQL response.
type apiError struct{ code, message string }

func (r apiError) Error() string { return r.code + ": " + r.message }

// execute sends a GraphQL document and decodes the data of the response into result, which may
// be nil. It returns an apiError if the response has errors, also if it has data too. It returns
// another error if no complete response arrives.
func (a api) execute(ctx context.Context, document string, with values, result any) error {
	_, _, err := a.executeInSession(ctx, document, with, result)
	return err
}

// executeInSession is execute. It also returns the session token of the answer, if it has one, and
// whether the answer says that it is stale.
func (a api) executeInSession(ctx context.Context, document string, with values, result any) (session string, stale bool, err error) {
	body, err := json.Marshal(map[string]any{"query": document, "variables": with})
	if err != nil {
		return session, stale, err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, a.url, bytes.NewReader(body))
	if err != nil {
		return session, stale, err
	}
	request.Header.Set("Content-Type", "application/json")
	if a.token != "" {
		request.Header.Set("Authorization", "Bearer "+a.token)
	}
	if a.session != "" {
		request.Header.Set(sessionHeader, a.session)
	}
	response, err := a.client.Do(request)
	if err != nil {
		return session, stale, err
	}
	defer response.Body.Close()
	var got struct {
		Data   json.RawMessage
		Errors []struct {
			Message    string
			Extensions struct{ Code string }
		}
		Extensions struct {
			Session string
			Stale   bool
		}
	}
	if err := json.NewDecoder(response.Body).Decode(&got); err != nil {
		return session, stale, fmt.Errorf("%s: %w", response.Status, err)
	}
	if session, stale = response.Header.Get(sessionHeader), got.Extensions.Stale; session != got.Extensions.Session {
		panic(fmt.Sprintf("the session token is %q in the header and %q in the extensions", session, got.Extensions.Session))
	}
	if result != nil && len(got.Data) > 0 {
		if err := json.Unmarshal(got.Data, result); err != nil {
			return session, stale, err
		}
	}
	if len(got.Errors) > 0 {
		return session, stale, apiError{got.Errors[0].Extensions.Code, got.Errors[0].Message}
	}
	return session, stale, nil
}

// errorCode returns the code of an apiError, or "".
func errorCode(err error) string {
	if r, ok := errors.AsType[apiError](err); ok {
		return r.code
	}
	return ""
}
