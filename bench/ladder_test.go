package main

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"cosmosblog/bench/models"
	"cosmosblog/internal/docsection"
	"cosmosblog/store/cosmos"
	"cosmosblog/store/embedded"
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
	if err != nil || strings.Count(section, "\n| Q6 ") != 2 || !strings.Contains(section, "has 2 physical partitions") {
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
			if row.Measured[rung.name].RU < 1 || row.Article[rung.name].RU < 1 {
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
	engine, err := embedded.Open(embedded.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer engine.Close()
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

	if _, err := run(arguments...); err == nil || !strings.Contains(err.Error(), "--throughput is required") {
		t.Errorf("without --throughput: %v", err)
	}
	arguments = append(arguments, "--throughput", "20000")
	progress, err := run(arguments...)
	if err == nil || !strings.Contains(err.Error(), "measured-v2") || !strings.Contains(err.Error(), "--database names another") {
		t.Errorf("with a database that exists: %v", err)
	}
	if !strings.Contains(progress, "3 databases with 2 containers of 20000 RU/s each cost about 9.60 USD an hour") {
		t.Errorf("the price is not announced: %s", progress)
	}
	if err := models.RemoveDatabase(t.Context(), existing); err != nil {
		t.Errorf("the existing database was removed: %v", err)
	}
	if _, err := run(arguments...); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"measured-v1", "measured-v2", "measured-v3"} {
		if err := models.CreateDatabase(t.Context(), database(name)); err != nil {
			t.Errorf("%s is left: %v", name, err)
		}
	}
}
