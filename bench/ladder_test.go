//go:build ci

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"cosmosblog/bench/models"
	"cosmosblog/cosmostest"
	"cosmosblog/proof/docsection"
	"cosmosblog/store/cosmos"
)

// models --write writes the table, the plot and the figures for the pages.
func TestModelsAreWritten(t *testing.T) {
	folder := t.TempDir()
	document, figures := filepath.Join(folder, "docs/models.md"), filepath.Join(folder, "web/app/src/models.json")
	for _, path := range []string{document, figures} {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(document, []byte("# Models\n\n<!-- models -->\n<!-- /models -->\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	arguments := []string{"models", "--users", "2", "--samples", "2", "--throughput", "20000", "--write", document}
	if err := run(t.Context(), arguments, nil, io.Discard, io.Discard); err != nil {
		t.Fatal(err)
	}
	section, err := docsection.Read(document, "models")
	const header = "| RU | V1, article | V1 | V2, article | V2 | V3, article | V3 | V4 | V1 ÷ V3, article | V1 ÷ V3 | V1 ÷ V4 |\n"
	if err != nil || strings.Count(section, "\n| Q6 ") != 2 || !strings.Contains(section, "has 2 physical partitions") ||
		!strings.Contains(section, header) || !strings.Contains(section, "\n| Q2 retrieve a post | 19.5 |") {
		t.Errorf("the section is\n%s\n%v", section, err)
	}
	text, err := os.ReadFile(figures)
	if err != nil {
		t.Fatal(err)
	}
	var r report
	if err := json.Unmarshal(text, &r); err != nil {
		t.Fatal(err)
	}
	if r.Partitions != 2 || len(r.Models) != len(models.Operations) {
		t.Errorf("%d partitions, %d operations", r.Partitions, len(r.Models))
	}
	for _, row := range r.Models {
		for _, rung := range ladder {
			if row.Measured[rung.name].RU < 1 || row.Article[rung.name].RU < 1 && rung.article != "" {
				t.Errorf("%s in %s: %+v, article %+v", row.Operation, rung.name, row.Measured[rung.name], row.Article[rung.name])
			}
		}
	}
	if plot, err := os.ReadFile(filepath.Join(folder, "docs/plots/models.svg")); err != nil || !bytes.Contains(plot, []byte("Q6")) {
		t.Errorf("the plot is %d bytes: %v", len(plot), err)
	}
}

// On an engine that has other databases, models uses and removes only those that it made.
func TestModelsOnARunningEngine(t *testing.T) {
	engine := cosmostest.New(t, cosmostest.Options{})
	server := httptest.NewServer(engine)
	defer server.Close()
	t.Setenv("COSMOS_ENDPOINT", server.URL)
	t.Setenv("COSMOS_KEY", engine.Key())
	database := func(name string) *cosmos.DB {
		db, err := cosmos.New(cosmos.Options{Endpoint: server.URL, Key: engine.Key(), Database: name})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(db.Close)
		return db
	}
	existing := database("measured-v2")
	if err := models.CreateDatabase(t.Context(), existing); err != nil {
		t.Fatal(err)
	}
	arguments := []string{"models", "--users", "2", "--samples", "2", "--database", "measured"}
	run := func(arguments ...string) (progress string, err error) {
		var b bytes.Buffer
		err = run(t.Context(), arguments, nil, io.Discard, &b)
		return b.String(), err
	}

	if _, err := run(append(arguments, "--write", "models.md")...); err == nil || !strings.Contains(err.Error(), "--write") {
		t.Errorf("with --write: %v", err)
	}
	if _, err := run(arguments...); err == nil || !strings.Contains(err.Error(), "--throughput is required") {
		t.Errorf("without --throughput: %v", err)
	}
	arguments = append(arguments, "--throughput", "20000")
	progress, err := run(arguments...)
	if err == nil || !strings.Contains(err.Error(), "measured-v2") || !strings.Contains(err.Error(), "--database names another") {
		t.Errorf("with a database that exists: %v", err)
	}
	const price = "4 databases with 8 containers of 20000 RU/s and 6 of 400 RU/s cost about 12.99 USD an hour"
	if !strings.Contains(progress, price) {
		t.Errorf("the price is not announced: %s", progress)
	}
	if err := models.RemoveDatabase(t.Context(), existing); err != nil {
		t.Errorf("the existing database was removed: %v", err)
	}
	if _, err := run(arguments...); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"measured-v1", "measured-v2", "measured-v3", "measured-v4"} {
		if err := models.CreateDatabase(t.Context(), database(name)); err != nil {
			t.Errorf("%s is left: %v", name, err)
		}
	}
}

// progress calls a function with each line of progress.
type progress func(line string)

func (p progress) Write(text []byte) (int, error) {
	p(string(text))
	return len(text), nil
}

// An interrupted run removes its databases, and names those that it cannot remove.
func TestInterruptedModels(t *testing.T) {
	for name, isRefused := range map[string]bool{"removed": false, "refused": true} {
		t.Run(name, func(t *testing.T) {
			engine := cosmostest.New(t, cosmostest.Options{})
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if isRefused && r.Method == http.MethodDelete && strings.HasSuffix(r.URL.Path, "-v2") {
					w.WriteHeader(http.StatusForbidden)
					return
				}
				engine.ServeHTTP(w, r)
			}))
			defer server.Close()
			t.Setenv("COSMOS_ENDPOINT", server.URL)
			t.Setenv("COSMOS_KEY", engine.Key())
			ctx, cancel := context.WithCancel(t.Context())
			interrupt := progress(func(line string) {
				if strings.HasPrefix(line, "loading V2") {
					cancel()
				}
			})
			err := run(ctx, []string{"models", "--users", "2", "--throughput", "400"}, nil, io.Discard, interrupt)
			const left = "these databases are left, and billed until you remove them: cosmosblog-models-v2:"
			if err == nil || !strings.HasPrefix(err.Error(), "interrupted") || strings.Contains(err.Error(), left) != isRefused {
				t.Errorf("got %v", err)
			}
			for _, name := range []string{"v1", "v2", "v3", "v4"} {
				db, err := cosmos.New(cosmos.Options{Endpoint: server.URL, Key: engine.Key(), Database: "cosmosblog-models-" + name})
				if err != nil {
					t.Fatal(err)
				}
				defer db.Close()
				if err := models.CreateDatabase(t.Context(), db); (err != nil) != (isRefused && name == "v2") {
					t.Errorf("creating %s again: %v", name, err)
				}
			}
		})
	}
}
