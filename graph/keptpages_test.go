package graph_test

import (
	"runtime"
	"testing"
)

// TestKeptPagesTakeTheirBytes fills the cache of reads with items, pages and texts of every kind,
// and compares the bytes that it counts with the memory that is free when it is gone.
func TestKeptPagesTakeTheirBytes(t *testing.T) {
	s := newSite(t)
	document := `query($id: ID!) { post(id: $id) { id title content author { postCount posts(first: 100) { nodes { id title } } }
		comments(first: 100) { nodes { id content } } newest: comments(order: NEWEST_FIRST) { nodes { id } edges { cursor } }
		likes(first: 100) { nodes { id user { username } } } viewerHasLiked } }`
	missing := `query($id: ID!) { missing: nodes(ids: ["u_aaaaaaaaaaaaaaaaaaaaaaaaaa", $id]) { id } }`
	ids := s.ids()["Post"]
	for range 3 { // the texts of a page are kept when it is read again
		for _, id := range ids {
			for _, each := range []string{document, missing} {
				if got := s.sendWith(each, map[string]any{"id": id}); len(got.Errors) > 0 {
					t.Fatal(got)
				}
			}
		}
	}
	counted := s.reads.Stats()
	with := heapBytes()
	runtime.KeepAlive(s.handler)
	s.handler, s.reads = nil, nil
	taken := with - heapBytes()
	t.Logf("%d bytes are counted, %d are taken", counted.Bytes, taken)
	if counted.Hits == 0 || taken > counted.Bytes || counted.Bytes > 4*taken {
		t.Errorf("%d bytes are counted, %d are taken: %+v", counted.Bytes, taken, counted)
	}
}

// heapBytes returns the heap in use, in bytes.
func heapBytes() int64 {
	var m runtime.MemStats
	for range 3 { // a pool drops its objects in the second collection
		runtime.GC()
	}
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
