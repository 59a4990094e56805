package cli

import (
	"fmt"
	"os"

	"cosmosblog/api/documents"
	"cosmosblog/guard/limits"
	"cosmosblog/web"
)

// LoadDocuments returns the documents of the API, with those of the manifest in the settings, and
// of the blog's pages if they are served. Error: if the manifest cannot be read, or a document is
// invalid or too expensive.
func LoadDocuments(task Task, l limits.Limits) (*documents.Documents, error) {
	known := documents.New(l, task.Config.Development())
	if task.Config.ServesPages() {
		isWanted := task.Config.Pages != "" // development has pages with any limit of prices
		if err := loadManifest(known, web.Documents(), isWanted); err != nil {
			return nil, fmt.Errorf("the blog's pages: %w", err)
		}
	}
	if path := task.Config.Documents; path != "" {
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, fmt.Errorf("--documents: %w", err)
		}
		if err := loadManifest(known, text, true); err != nil {
			return nil, fmt.Errorf("--documents %s: %w", path, err)
		}
	}
	if task.Config.DocumentsOnly {
		known.RejectOthers()
	}
	return known, nil
}

func loadManifest(known *documents.Documents, text []byte, checksPrices bool) error {
	manifest, err := documents.ParseManifest(text)
	if err != nil {
		return err
	}
	return known.Load(manifest, checksPrices)
}
