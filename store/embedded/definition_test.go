package embedded

import (
	"testing"
)

// TestVersionOneHasOneRange: which range a key of version 1 is in is told apart by another hash than this engine's, so
// that no client must ever have to choose.
func TestVersionOneHasOneRange(t *testing.T) {
	a := newBlog(t, Options{})
	for definition, want := range map[string]int{
		`{"id":"one","partitionKey":{"paths":["/pk"]}}`:                             1,
		`{"id":"named","partitionKey":{"paths":["/pk"],"kind":"Hash","version":1}}`: 1,
		`{"id":"two","partitionKey":{"paths":["/pk"],"kind":"Hash","version":2}}`:   3,
	} {
		created := a.must(201, a.send("POST", "dbs/blog/colls", definition, "x-ms-offer-throughput", "30000"))
		ranges := a.must(200, a.send("GET", "dbs/blog/colls/"+created.id()+"/pkranges", ""))
		if list, _ := ranges.body.Get("PartitionKeyRanges").AsArray(); len(list) != want {
			t.Errorf("%s: %d ranges, want %d", definition, len(list), want)
		}
	}
}
