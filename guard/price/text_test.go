package price

import (
	"strings"
	"testing"
)

// TestTexts checks that the texts of inputs have a price, wherever they are written.
func TestTexts(t *testing.T) {
	const perKiB, edit, post = 0.55, 9.5, 13.5
	large := strings.Repeat("x", 100<<10)
	for name, test := range map[string]struct {
		query     string
		variables map[string]any
		ru        float64
	}{
		"in the document":       {`mutation { createPost(input: {title: "", content: "` + large + `"}) { post { id } } }`, nil, post + 100*perKiB},
		"in a block string":     {`mutation { createPost(input: {title: "", content: """` + large + `"""}) { post { id } } }`, nil, post + 100*perKiB},
		"in a variable":         {`mutation ($t: String!) { createPost(input: {title: "", content: $t}) { post { id } } }`, map[string]any{"t": large}, post + 100*perKiB},
		"in an input":           {`mutation ($i: CreatePostInput!) { createPost(input: $i) { post { id } } }`, map[string]any{"i": map[string]any{"title": large[:1024], "content": large}}, post + 101*perKiB},
		"in a default":          {`mutation ($t: String! = "` + large + `") { createPost(input: {title: "", content: $t}) { post { id } } }`, nil, post + 100*perKiB},
		"not the default":       {`mutation ($t: String! = "` + large + `") { createPost(input: {title: "", content: $t}) { post { id } } }`, map[string]any{"t": large[:10<<10]}, post + 10*perKiB},
		"in a list":             {`mutation ($t: [String!]) { createPost(input: {title: "", content: "", tags: $t}) { post { id } } }`, map[string]any{"t": []any{large, large}}, post + 200*perKiB},
		"one instead of a list": {`mutation ($t: [String!]) { createPost(input: {title: "", content: "", tags: $t}) { post { id } } }`, map[string]any{"t": large}, post + 100*perKiB},
		"too long": {`mutation ($t: String!) { createPost(input: {title: "", content: $t}) { post { id } } }`,
			map[string]any{"t": strings.Repeat(large, 10)}, post + 256*perKiB},
		"twice": {`mutation ($t: String!) { a: createPost(input: {title: "", content: $t}) { post { id } } b: createPost(input: {title: "", content: $t}) { post { id } } }`,
			map[string]any{"t": large}, 2 * (post + 100*perKiB)},
		"characters of four bytes":  {`mutation { createPost(input: {title: "", content: "` + strings.Repeat("𝔸", 25<<10) + `"}) { post { id } } }`, nil, post + 100*perKiB},
		"an edit":                   {`mutation ($t: String) { updatePost(input: {id: "", content: $t}) { post { id } } }`, map[string]any{"t": large}, edit + 100*0.6},
		"null":                      {`mutation ($t: String) { updatePost(input: {id: "", content: $t}) { post { id } } }`, map[string]any{"t": nil}, edit},
		"absent":                    {`mutation ($t: String) { updatePost(input: {id: "", content: $t}) { post { id } } }`, nil, edit},
		"fields that write no text": {`{ post(id: "` + large + `") { id } }`, nil, 1.2},
	} {
		if got := priceOf(t, test.query, test.variables).RU; got < test.ru-0.01 || got > test.ru+0.01 {
			t.Errorf("%s: the price is %v RU, want %v", name, got, test.ru)
		}
	}
}
