package command

import (
	"fmt"
	"os"

	"cosmosblog/internal/documents"
	"cosmosblog/internal/limits"
)

// LoadDocuments returns the documents of the API, with those of the manifest in the settings, if
// there is one. Error: if it cannot be read, or a document is invalid or too expensive.
func LoadDocuments(task Task, l limits.Limits) (*documents.Documents, error) {
	known := documents.New(l, task.Config.Development())
	path := task.Config.Documents
	if path == "" {
		return known, nil
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("--documents: %w", err)
	}
	manifest, err := documents.ParseManifest(text)
	if err == nil {
		err = known.Load(manifest, task.Config.DocumentsOnly)
	}
	if err != nil {
		return nil, fmt.Errorf("--documents %s: %w", path, err)
	}
	return known, nil
}
