package provision_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"cosmosblog/store/cosmos"
	"cosmosblog/store/provision"
	"cosmosblog/store/schema"
)

// readOnly returns a transport that reports requests that could change something.
func readOnly(t *testing.T, next policy.Transporter) policy.Transporter {
	return transportFunc(func(request *http.Request) (*http.Response, error) {
		isQuery := request.Header.Get("X-Ms-Documentdb-Query") != "" || strings.HasPrefix(request.URL.Path, "/offers")
		if request.Method != http.MethodGet && !isQuery {
			t.Errorf("%s %s was sent", request.Method, request.URL.Path)
		}
		return next.Do(request)
	})
}

// Provisioning reports a difference with the actual and the expected value. It then changes
// nothing, and does not create what is missing either.
func TestProvisionReportsDifferences(t *testing.T) {
	posts := schema.Containers[1]
	week := int32(7 * 24 * 60 * 60)
	for name, c := range map[string]struct {
		change func(*azcosmos.ContainerProperties)
		want   string // in the error
	}{
		"partition key": {
			func(p *azcosmos.ContainerProperties) { p.PartitionKeyDefinition.Paths = []string{"/id"} },
			"the partition key of the container posts is /id (version 2) and should be /postId (version 2)"},
		"partition key's version": {
			func(p *azcosmos.ContainerProperties) { p.PartitionKeyDefinition.Version = 0 },
			"the partition key of the container posts is /postId (version 1) and should be /postId (version 2)"},
		"no time to live": {
			func(p *azcosmos.ContainerProperties) { p.DefaultTimeToLive = nil },
			"the defaultTtl of the container posts is off and should be -1"},
		"a time to live": {
			func(p *azcosmos.ContainerProperties) { p.DefaultTimeToLive = &week },
			"the defaultTtl of the container posts is 604800 and should be -1"},
		"included paths": {
			func(p *azcosmos.ContainerProperties) {
				p.IndexingPolicy.IncludedPaths = p.IndexingPolicy.IncludedPaths[:1]
			},
			"the list of included index paths of the container posts is /* and should be /*, /userId/?"},
		"excluded paths": {
			func(p *azcosmos.ContainerProperties) {
				p.IndexingPolicy.ExcludedPaths = p.IndexingPolicy.ExcludedPaths[:2]
			},
			`the list of excluded index paths of the container posts is /"_etag"/?, /head/* and should be /"_etag"/?, /content/?, `},
		"composite indexes": {
			func(p *azcosmos.ContainerProperties) {
				index := slices.Clone(p.IndexingPolicy.CompositeIndexes[0])
				index[1].Order = azcosmos.CompositeIndexAscending
				p.IndexingPolicy.CompositeIndexes = [][]azcosmos.CompositeIndex{index}
			},
			"is (/type, /sortKey) and should be (/type, /sortKey desc)"},
		"no policy": {
			func(p *azcosmos.ContainerProperties) { p.IndexingPolicy = nil },
			"the list of composite indexes of the container posts is empty and should be"},
	} {
		_, options := newEngine(t)
		properties := posts.Properties()
		c.change(&properties)
		createContainer(t, options, properties)
		options.Transport = readOnly(t, options.Transport)
		done, err := run(t, options, provision.Throughputs{})
		_, ok := errors.AsType[*provision.DifferenceError](err)
		if !ok || done != nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: did %q, %v", name, done, err)
		}
	}
}

// TestFurtherIndexes provisions a container with a composite index that a former release needs.
func TestFurtherIndexes(t *testing.T) {
	_, options := newEngine(t)
	properties := schema.Containers[slices.Index(schema.ContainerNames(), schema.Posts)].Properties()
	properties.IndexingPolicy.CompositeIndexes = append(properties.IndexingPolicy.CompositeIndexes, []azcosmos.CompositeIndex{
		{Path: "/type", Order: azcosmos.CompositeIndexAscending},
		{Path: "/creationDate", Order: azcosmos.CompositeIndexAscending},
		{Path: "/id", Order: azcosmos.CompositeIndexAscending},
	})
	createContainer(t, options, properties)
	if _, err := run(t, options, provision.Throughputs{}); err != nil {
		t.Error(err)
	}
}

// TestServersCompareIndexes opens databases of which one container differs, as a server does: what
// queries cannot do without is an error, and what only costs more a warning.
func TestServersCompareIndexes(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*azcosmos.ContainerProperties)
		lacks  string // in the error; empty if there is none
		dearer string // in the only warning; empty if there is none
	}{
		"as defined": {func(*azcosmos.ContainerProperties) {}, "", ""},
		"no composite index": {
			func(p *azcosmos.ContainerProperties) { p.IndexingPolicy.CompositeIndexes = nil },
			"because the container posts lacks the composite index (/type, /sortKey desc): change", ""},
		"a further composite index": {
			func(p *azcosmos.ContainerProperties) {
				further := []azcosmos.CompositeIndex{{Path: "/type"}, {Path: "/id"}}
				p.IndexingPolicy.CompositeIndexes = append(p.IndexingPolicy.CompositeIndexes, further)
			},
			"", "the list of composite indexes of the container posts is (/type, /id), (/type, /sortKey desc)"},
		"a path that queries need is excluded": {
			func(p *azcosmos.ContainerProperties) {
				p.IndexingPolicy.ExcludedPaths = append(p.IndexingPolicy.ExcludedPaths, azcosmos.ExcludedPath{Path: "/formerName/?"})
			},
			"because the container posts lacks an index of the path /formerName/?: change", ""},
		"paths of long texts are indexed": {
			func(p *azcosmos.ContainerProperties) {
				p.IndexingPolicy.ExcludedPaths = p.IndexingPolicy.ExcludedPaths[:2]
			},
			"", `the list of excluded index paths of the container posts is /"_etag"/?, /head/* and`},
		"everything is excluded": {
			func(p *azcosmos.ContainerProperties) {
				p.IndexingPolicy.IncludedPaths = []azcosmos.IncludedPath{{Path: "/userId/?"}}
				p.IndexingPolicy.ExcludedPaths = []azcosmos.ExcludedPath{{Path: "/*"}}
			},
			"because the container posts lacks an index of the path /*: change", ""},
		"another partition key": {
			func(p *azcosmos.ContainerProperties) { p.PartitionKeyDefinition.Paths = []string{"/id"} },
			"lacks the partition key /postId (version 2)", ""},
	} {
		_, options := newEngine(t)
		properties := schema.Containers[1].Properties()
		c.change(&properties)
		createContainer(t, options, properties)
		db, err := cosmos.New(options)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(db.Close)
		database, err := db.Client().NewDatabase(cosmos.DefaultDatabase)
		if err != nil {
			t.Fatal(err)
		}
		for _, other := range schema.Containers {
			if _, err := database.CreateContainer(t.Context(), other.Properties(), nil); err != nil && other.Name != schema.Posts {
				t.Fatal(err)
			}
		}
		dearer, err := schema.CheckDefinitions(t.Context(), db)
		switch {
		case c.lacks == "" && err != nil, c.lacks != "" && (err == nil || !strings.Contains(err.Error(), c.lacks)):
			t.Errorf("%s: got the error %v", name, err)
		case c.dearer == "" && dearer != nil, c.dearer != "" && (len(dearer) != 1 || !strings.Contains(dearer[0], c.dearer)):
			t.Errorf("%s: got the warnings %q", name, dearer)
		}
	}
}

// createContainer creates the database with one container.
func createContainer(t *testing.T, options cosmos.Options, properties azcosmos.ContainerProperties) {
	t.Helper()
	db, err := cosmos.New(options)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	client := db.Client()
	blogDatabase := azcosmos.DatabaseProperties{ID: cosmos.DefaultDatabase}
	if _, err := client.CreateDatabase(t.Context(), blogDatabase, nil); err != nil {
		t.Fatal(err)
	}
	database, err := client.NewDatabase(cosmos.DefaultDatabase)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := database.CreateContainer(t.Context(), properties, nil); err != nil {
		t.Fatal(err)
	}
}

// A definition is not different if the service added properties or wrote it in another form.
func TestEquivalentDefinitionIsNotADifference(t *testing.T) {
	var actual azcosmos.ContainerProperties
	if err := json.Unmarshal([]byte(`{"id":"posts","partitionKey":{"paths":["/postId"],"kind":"Hash","version":2},"defaultTtl":-1,
		"conflictResolutionPolicy":{"mode":"LastWriterWins"},"uniqueKeyPolicy":{"uniqueKeys":[]},"geospatialConfig":{"type":"Geography"},
		"indexingPolicy":{"indexingMode":"Consistent","automatic":true,"includedPaths":[{"path":"/userId/?"},{"path":"/*","indexes":[]}],
		"excludedPaths":[{"path":"/inputHash/?"},{"path":"/edits/*"},{"path":"/head/*"},{"path":"/content/?"},{"path":"/contentVersion/?"},{"path":"/recentComments/*"},{"path":"/lastCommentDate/?"},{"path":"/excerpt/?"},{"path":"/creationDate/?"},{"path":"/\"_etag\"/?"}],
		"compositeIndexes":[[{"path":"/type"},{"path":"/creationDate"},{"path":"/id","order":"Ascending"}],
		[{"path":"/type","order":"ascending"},{"path":"/sortKey","order":"Descending"}]]}}`), &actual); err != nil {
		t.Fatal(err)
	}
	if found := schema.Containers[1].Differences(actual); len(found) != 1 || !found[0].Tolerated { // a further composite index
		t.Errorf("found the differences %v", found)
	}
}

func TestProvisionReportsDifferentScript(t *testing.T) {
	for _, c := range []struct {
		script cosmos.Script
		change string
		want   string // in the error
	}{
		{schema.CreateLike, `{"id": %q, "body": "function f() {}"}`,
			"the text of the stored procedure " + schema.CreateLike.ID + " of posts is one of 15 bytes with the hash "},
		{schema.TruncateFeed, `{"id": %q, "body": "function f() {}", "triggerType": "Pre", "triggerOperation": "All"}`,
			" is Pre All and should be Post All"},
	} {
		engine, options := newEngine(t)
		if _, err := run(t, options, provision.Throughputs{}); err != nil {
			t.Fatal(err)
		}
		body := strings.Replace(c.change, "%q", `"`+c.script.ID+`"`, 1)
		path := "dbs/" + cosmos.DefaultDatabase + "/colls/" + c.script.Container + "/" + kindOf(c.script) + "/" + c.script.ID
		answer, err := engine.Send(t.Context(), http.MethodPut, path, body)
		if err != nil || answer.StatusCode != http.StatusOK {
			t.Fatal(answer, err)
		}
		options.Transport = readOnly(t, options.Transport)
		done, err := run(t, options, provision.Throughputs{})
		if done != nil || err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: did %q, %v", c.script.ID, done, err)
		}
	}
}

func kindOf(s cosmos.Script) string {
	if s.Trigger {
		return "triggers"
	}
	return "sprocs"
}
