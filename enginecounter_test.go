package main

import (
	"net/http"
	"strings"
	"sync"
)

// engineCounter notes every request that reaches an engine, as the wire shows it.
type engineCounter struct {
	engine http.Handler

	mu   sync.Mutex
	sent []arrived
}

// arrived is one request to items or scripts; reads of accounts, containers and ranges are not noted.
type arrived struct {
	container, operation string
	partitionKey         string // the header: a JSON array; empty where no partition is named
	charge               string
}

func (c *engineCounter) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c.engine.ServeHTTP(w, r)
	operation := operationOf(r)
	if operation == "" {
		return
	}
	parts := strings.Split(r.URL.Path, "/") // "", dbs, d, colls, c, …
	c.mu.Lock()
	defer c.mu.Unlock()
	c.sent = append(c.sent, arrived{
		container:    parts[4],
		operation:    operation,
		partitionKey: r.Header.Get("x-ms-documentdb-partitionkey"),
		charge:       w.Header().Get("x-ms-request-charge"),
	})
}

// operationOf tells what a request is by its method, path and headers; "" for what is not noted.
func operationOf(r *http.Request) string {
	switch is := func(part string) bool { return strings.Contains(r.URL.Path, part) }; {
	case r.Method == http.MethodPost && is("/sprocs/"):
		return "execute"
	case !is("/docs"):
		return ""
	}
	switch r.Method {
	case http.MethodGet:
		if r.Header.Get("A-IM") != "" {
			return "changeFeed"
		}
		return "read"
	case http.MethodPut:
		return "replace"
	case http.MethodPatch:
		return "patch"
	case http.MethodDelete:
		return "delete"
	}
	switch {
	case r.Header.Get("x-ms-documentdb-query") != "" && r.Header.Get("x-ms-documentdb-partitionkey") == "":
		return "readMany"
	case r.Header.Get("x-ms-documentdb-query") != "":
		return "query"
	case r.Header.Get("x-ms-cosmos-is-batch-request") != "":
		return "batch"
	case r.Header.Get("x-ms-documentdb-is-upsert") != "":
		return "upsert"
	}
	return "create"
}

// take gives what arrived since it was last called.
func (c *engineCounter) take() []arrived {
	c.mu.Lock()
	defer c.mu.Unlock()
	sent := c.sent
	c.sent = nil
	return sent
}
