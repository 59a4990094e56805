package engine

import (
	"strings"
	"testing"
)

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

// TestPatchPaths has the paths that the service refuses (azure-cosmos-dotnet-v3#2921: a tilde;
// #4817 and #5154: 20 digits; EmulatorTests/CosmosItemTests.cs, ItemPatchFailureTest: a missing
// parent).
func TestPatchPaths(t *testing.T) {
	a := newBlog(t, Options{})
	a.create("p", `{"id":"a","postId":"p","list":[1],"map":{"a/b":{"~":1}}}`)
	patch := func(operations string) answer {
		return a.send("PATCH", docs+"/a", `{"operations":[`+operations+`]}`, "pk", "p")
	}
	const invalid, long = `{\"Errors\":[\"One of the specified inputs is invalid\"]}`, "has length longer than expected."
	for path, message := range map[string]string{
		"/map/123~": invalid, "/~": invalid, "/map/~2": invalid, "/map/a~/b": invalid, "/map/~01~": invalid, "/map/~~01": invalid,
		"/12345678901234567890": long, "/map/12345678901234567890": "Token('12345678901234567890') " + long, "/list/00000000000000000000": long,
	} {
		for _, operation := range []string{
			`{"op":"add","path":"` + path + `","value":1}`, `{"op":"set","path":"` + path + `","value":1}`, `{"op":"replace","path":"` + path + `","value":1}`,
			`{"op":"incr","path":"` + path + `","value":1}`, `{"op":"remove","path":"` + path + `"}`,
			`{"op":"move","path":"` + path + `","from":"/list"}`, `{"op":"move","from":"` + path + `","path":"/list"}`,
		} {
			if got := a.must(400, patch(operation)); !strings.Contains(got.text, message) {
				t.Errorf("%s: %s", operation, got.text)
			}
		}
	}
	a.must(200, patch(`{"op":"set","path":"/map/1234567890123456789","value":1},{"op":"set","path":"/map/a12345678901234567890","value":1},{"op":"set","path":"/map/a~1b/~0","value":2}`))
	const none = "For Operation(2): Add Operation can only create a child object of an existing node(array or object) and cannot create path recursively, no path found beyond: 'none'. Learn more: https://aka.ms/cosmosdbpatchdocs"
	if got := a.must(400, patch(`{"op":"remove","path":"/list"},{"op":"add","path":"/map/none/a","value":1}`)); !strings.Contains(got.text, none) {
		t.Errorf("a missing parent: %s", got.text)
	}
	if got := a.must(200, a.send("GET", docs+"/a", "", "pk", "p")).body; got.Path("map", "a/b", "~").String() != "2" || got.Get("list").String() != "[1]" {
		t.Errorf("the item is %s", got)
	}
}

// TestPatchMoves compares moves with the service's order, which adds before it removes
// (azure-cosmos-dotnet-v3#3262 and #5419, the first of which is RFC 6902, A.7).
func TestPatchMoves(t *testing.T) {
	const item = `{"id":"a","postId":"p","list":["all","grass","cows","eat"],"rows":[[1],[2],[3]],"o":{"a":{"b":1}}}`
	a := newBlog(t, Options{})
	a.create("p", item)
	for _, c := range []struct{ from, path, at, want string }{
		{"/list/1", "/list/3", "list", `["all","cows","grass","eat"]`},
		{"/list/1", "/list/4", "list", `["all","cows","eat","grass"]`},
		{"/list/1", "/list/-", "list", `["all","cows","eat","grass"]`},
		{"/list/3", "/list/1", "list", `["all","eat","grass","cows"]`},
		{"/list/1", "/list/2", "list", `["all","grass","cows","eat"]`},
		{"/list/1", "/list/1", "list", `["all","grass","cows","eat"]`},
		{"/rows/0/0", "/rows/2/0", "rows", `[[],[2],[1,3]]`},
		{"/rows/2/0", "/rows/0", "rows", `[3,[1],[2],[]]`},
		{"/rows/0", "/rows/2/0", "rows", `[[2],[[1],3]]`},
		{"/list/0", "/rows/0", "rows", `["all",[1],[2],[3]]`},
		{"/o/a/b", "/o/a", "o", `{"a":1}`}, {"/o/a", "/o/a", "o", `{"a":{"b":1}}`}, {"/o/a", "/o/c", "o", `{"c":{"b":1}}`},
		{"/o/a", "/o/a/b", "", ""}, {"/list/5", "/list/0", "", ""}, {"/list/0", "/list/5", "", ""}, {"/list/0", "/none/a", "", ""},
	} {
		a.must(200, a.send("PUT", docs+"/a", item, "pk", "p"))
		got := a.send("PATCH", docs+"/a", `{"operations":[{"op":"move","from":"`+c.from+`","path":"`+c.path+`"}]}`, "pk", "p")
		if c.want == "" && got.status != 400 || c.want != "" && got.body.Get(c.at).String() != c.want {
			t.Errorf("from %s to %s: %s, want %s", c.from, c.path, got.text, c.want)
		}
	}
}
