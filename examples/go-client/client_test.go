package main

import (
	"testing"

	"github.com/Khan/genqlient/graphql"
)

// A mutation that could happen twice is not repeated.
func TestIsRepeatable(t *testing.T) {
	keyed := map[string]string{"content": "Text", "key": "k"}
	unkeyed := map[string]string{"content": `"key":"k"`}
	for _, test := range []struct {
		name, query string
		variables   any
		want        bool
	}{
		{"Feed", Feed_Operation, unkeyed, true},
		{"CreateUser", CreateUser_Operation, unkeyed, true},
		{"LikePost", LikePost_Operation, unkeyed, true},
		{"CreatePost", CreatePost_Operation, keyed, true},
		{"CreatePost", CreatePost_Operation, unkeyed, false},
		{"CreateComment", CreateComment_Operation, unkeyed, false},
	} {
		request := &graphql.Request{OpName: test.name, Query: test.query, Variables: test.variables}
		if got := isRepeatable(request); got != test.want {
			t.Errorf("%s with %v: got %v", test.name, test.variables, got)
		}
	}
}
