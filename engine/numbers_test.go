package engine

import (
	"testing"
)

// TestNumbersAfter checks that the option changes the resource ids of a new folder.
func TestNumbersAfter(t *testing.T) {
	found := map[string]bool{}
	for after := range uint32(3) {
		a := newBlog(t, Options{NumbersAfter: 2 * after})
		rid, _ := a.must(200, a.send("GET", posts, "")).body.Get("_rid").AsString()
		found[rid] = true
	}
	if len(found) != 3 {
		t.Errorf("the resource ids of three folders are %v", found)
	}
}
