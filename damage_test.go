//go:build ci

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"cosmosblog/proof/apitest"
)

// TestDamageDuringReads flips one bit at different places of a table, and queries a server for
// most items. The server reads some of these places when it opens the folder and some for the
// query. It never reads the others.
func TestDamageDuringReads(t *testing.T) {
	t.Parallel()
	const document = `{ feed(first: 100) { nodes { content
		comments(first: 50) { nodes { content } } likes { nodes { id } } } } }`
	const maxReads = 3
	duringReads := 0
	for tenth := 1; tenth < 10; tenth += 2 {
		data := seeded(t, oneUser)
		flip(t, largestTable(t, data), tenth)
		p := start(t, nil, "serve", "--addr", "127.0.0.1:0", "--data", data, "--cost-limit", "0") // the query is expensive
		url := ""
		for line := range p.lines {
			if rest, ok := strings.CutPrefix(line, "The GraphQL API is at "); ok {
				url = strings.TrimSuffix(rest, "/graphql")
				break
			}
		}
		if url == "" {
			requireErrorLine(t, p, data, "is damaged")
			continue
		}
		for range maxReads {
			got, err := (&apitest.Client{URL: url}).Send(document, nil)
			if err == nil && len(got.Errors) == 0 {
				continue // the server may find the damage in the background
			}
			requireErrorLine(t, p, data, "is damaged")
			duringReads++
			break
		}
	}
	if duringReads == 0 {
		t.Error("no request found damage")
	}
}

// largestTable returns the path of the engine's largest table.
func largestTable(t *testing.T, data string) (path string) {
	t.Helper()
	tables, err := filepath.Glob(filepath.Join(data, "engine", "*.sst"))
	if err != nil {
		t.Fatal(err)
	}
	largest := int64(0)
	for _, table := range tables {
		if info, err := os.Stat(table); err == nil && info.Size() > largest {
			path, largest = table, info.Size()
		}
	}
	return path
}

// flip changes a bit of a file at the given tenths of its size.
func flip(t *testing.T, path string, tenths int) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	text[len(text)*tenths/10] ^= 1
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
}
