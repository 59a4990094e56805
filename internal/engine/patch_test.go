package engine

import "testing"

// TestPatchArrayIndexes checks RFC 6901: an index consists of digits without leading zeros.
func TestPatchArrayIndexes(t *testing.T) {
	a := newBlog(t, Options{})
	patch := func(operation string) answer {
		a.must(200, a.send("POST", docs, `{"id":"a","postId":"p","list":[[1],[2]]}`, "pk", "p", asUpsert, "True"))
		return a.send("PATCH", docs+"/a", `{"operations":[`+operation+`]}`, "pk", "p")
	}
	a.create("p", `{"id":"a","postId":"p"}`)
	for number, status := range map[string]int{"0": 200, "1": 200, "2": 400, "+1": 400, "01": 400, "00": 400, "-0": 400, "-1": 400, "1e0": 400, "": 400, "x": 400} {
		for _, operation := range []string{
			`{"op":"replace","path":"/list/` + number + `","value":0}`,
			`{"op":"remove","path":"/list/` + number + `"}`,
			`{"op":"move","from":"/list/` + number + `","path":"/moved"}`,
			`{"op":"replace","path":"/list/` + number + `/0","value":0}`,
			`{"op":"set","path":"/list/` + number + `/0","value":0}`,
		} {
			if got := patch(operation); got.status != status {
				t.Errorf("%s: %d, want %d", operation, got.status, status)
			}
		}
		if number == "2" {
			status = 200 // after the last
		}
		for _, op := range []string{"add", "set"} {
			if got := patch(`{"op":"` + op + `","path":"/list/` + number + `","value":0}`); got.status != status {
				t.Errorf("%s at %s: %d, want %d", op, number, got.status, status)
			}
		}
	}
}
