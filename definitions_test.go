package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"cosmosblog/store"
	"cosmosblog/store/embedded"
)

// TestFolderOfOtherDefinitions holds that a folder whose containers are not those of this program is left as it is.
func TestFolderOfOtherDefinitions(t *testing.T) {
	data := filepath.Join(t.TempDir(), "data")
	if _, err := runOnce(t, nil, "provision", "--data", data); err != nil {
		t.Fatal(err)
	}
	excludeAPath(t, data)
	_, err := runOnce(t, nil, "serve", "--addr", "127.0.0.1:0", "--data", data)
	if err == nil || strings.Contains(err.Error(), "\n") || !strings.Contains(err.Error(), "the data folder "+data+" was made by another version") ||
		!strings.Contains(err.Error(), `the list of excluded index paths of the container feed is /"_etag"/?, /added/? and should be`) {
		t.Errorf("serve says %v", err)
	}
}

// excludeAPath changes the definition of the folder's container feed.
func excludeAPath(t *testing.T, data string) {
	t.Helper()
	key, err := os.ReadFile(filepath.Join(data, "engine-key"))
	if err != nil {
		t.Fatal(err)
	}
	engine, err := embedded.Open(embedded.Options{Dir: filepath.Join(data, "engine"), Key: string(key)})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := engine.Close(); err != nil {
			t.Error(err)
		}
	}()
	credential, err := azcosmos.NewKeyCredential(engine.Key())
	if err != nil {
		t.Fatal(err)
	}
	client, err := azcosmos.NewClientWithKey(store.LocalEndpoint(), credential,
		&azcosmos.ClientOptions{ClientOptions: azcore.ClientOptions{Transport: store.InProcess(engine)}})
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	feed, err := client.NewContainer(store.DefaultDatabase, "feed")
	if err != nil {
		t.Fatal(err)
	}
	answer, err := feed.Read(patient(t), nil)
	if err != nil {
		t.Fatal(err)
	}
	properties := *answer.ContainerProperties
	properties.IndexingPolicy.ExcludedPaths = []azcosmos.ExcludedPath{{Path: `/"_etag"/?`}, {Path: "/added/?"}}
	if _, err := feed.Replace(patient(t), properties, nil); err != nil {
		t.Fatal(err)
	}
}
