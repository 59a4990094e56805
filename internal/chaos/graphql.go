package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
)

// api is a server's GraphQL API, asked by one account, or by nobody.
type api struct {
	url    string
	token  string
	client *http.Client
}

// values are the variables of a document.
type values map[string]any

// refused is what the API has against a document: the code of its first error.
type refused struct{ code, message string }

func (r refused) Error() string { return r.code + ": " + r.message }

// ask sends a document and puts the data of its answer into result, which may be nil. Errors: refused; any other where no
// whole answer came.
func (a api) ask(ctx context.Context, document string, with values, result any) error {
	body, err := json.Marshal(map[string]any{"query": document, "variables": with})
	if err != nil {
		return err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, a.url, bytes.NewReader(body))
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", "application/json")
	if a.token != "" {
		request.Header.Set("Authorization", "Bearer "+a.token)
	}
	response, err := a.client.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	var got struct {
		Data   json.RawMessage
		Errors []struct {
			Message    string
			Extensions struct{ Code string }
		}
	}
	if err := json.NewDecoder(response.Body).Decode(&got); err != nil {
		return fmt.Errorf("%s: %w", response.Status, err)
	}
	if len(got.Errors) > 0 {
		return refused{got.Errors[0].Extensions.Code, got.Errors[0].Message}
	}
	if result == nil {
		return nil
	}
	return json.Unmarshal(got.Data, result)
}

// codeOf gives the code with which a document was refused; empty where it was not.
func codeOf(err error) string {
	if r, ok := errors.AsType[refused](err); ok {
		return r.code
	}
	return ""
}
