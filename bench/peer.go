package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"slices"
)

// peerRequest is one line of a file of peer operations.
type peerRequest struct {
	Operation     string          `json:"operation"`
	Query         string          `json:"query"`
	Variables     json.RawMessage `json:"variables"`
	Authorization string          `json:"authorization"` // a bearer token; may be empty
}

// newPeer returns the side of another GraphQL server. The file has one JSON object on each line:
//
//	{"operation": "post", "query": "query ($id: ID!) { … }", "variables": {"id": 7}}
//	{"operation": "like", "query": "mutation { … }", "authorization": "a bearer token"}
//
// The requests of an operation are sent in the order of the file, and again from its beginning.
func newPeer(address, file, coding string) (*side, error) {
	at, err := url.Parse(address)
	if err != nil || at.Scheme != "http" || at.Host == "" {
		return nil, fmt.Errorf("--peer must be an http URL, not %q", address)
	}
	if at.Port() == "" {
		at.Host += ":80"
	}
	lines, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer lines.Close()
	requests := map[string]*recorded{}
	scanner := bufio.NewScanner(lines)
	scanner.Buffer(nil, 1<<20)
	for n := 1; scanner.Scan(); n++ {
		var r peerRequest
		if err := json.Unmarshal(scanner.Bytes(), &r); err != nil {
			return nil, fmt.Errorf("%s:%d: %w", file, n, err)
		}
		if !slices.Contains(operationNames, r.Operation) {
			return nil, fmt.Errorf("%s:%d: unknown operation %q", file, n, r.Operation)
		}
		var variables any
		if r.Variables != nil {
			variables = r.Variables
		}
		if requests[r.Operation] == nil {
			requests[r.Operation] = &recorded{}
		}
		text := newHead(at.Host, at.RequestURI(), r.Authorization, coding).append(nil, encodeBody(r.Query, variables))
		requests[r.Operation].requests = append(requests[r.Operation].requests, text)
	}
	if err := scanner.Err(); err != nil {
		return nil, err
	}
	peer := &side{name: "peer", address: at.Host, operations: map[string]*operation{}}
	for name, r := range requests {
		peer.operations[name] = &operation{name: name, requests: r}
	}
	return peer, nil
}
