//go:build ci

package costs

import (
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/vektah/gqlparser/v2/ast"

	"cosmosblog/graph"
	"cosmosblog/proof/testseed"
)

var (
	randomQueries = flag.Int("random-queries", 80, "number of random queries")
)

// TestNoQueryIsChargedMoreThanItsPrice runs random queries over the whole schema, on posts with
// the comments and likes that docs/costs.md assumes.
func TestNoQueryIsChargedMoreThanItsPrice(t *testing.T) {
	seed := testseed.Of(t)
	b := newBlog(t)
	w := &queryWriter{schema: graph.NewExecutableSchema(graph.Config{}).Schema(), random: rand.New(rand.NewPCG(seed, 0))}
	w.prepare(t, b)
	ran := 0
	for range *randomQueries {
		query := w.query()
		got, err := b.viewer.Send(query, nil)
		if err != nil {
			t.Fatal(err)
		}
		if len(got.Errors) > 0 {
			if got.Errors[0].Extensions.Code != "COST_LIMIT_EXCEEDED" {
				t.Errorf("%s\n%v", query, got.Errors)
			}
			continue
		}
		ran++
		if cosmos := got.Extensions.Cosmos; cosmos.RequestCharge > cosmos.Estimate {
			t.Errorf("%s\nhas a price of %.2f RU and was charged %.2f RU", query, cosmos.Estimate, cosmos.RequestCharge)
		}
	}
	if ran < *randomQueries/2 {
		t.Errorf("only %d queries ran, which is too few", ran)
	}
}

// queryWriter writes random valid queries that find items.
type queryWriter struct {
	schema *ast.Schema
	random *rand.Rand

	users, posts, comments, likes []string // global ids

	month string
}

// prepare adds comments and the viewer's likes to the newest posts, and collects ids of all
// types.
func (w *queryWriter) prepare(t *testing.T, b *blogUnderTest) {
	t.Helper()
	type nodes struct{ Nodes []struct{ ID string } }
	var feed struct{ Feed nodes }
	b.viewer.Ask(t, `{ feed { nodes { id } } }`, nil, &feed)
	for n, post := range feed.Feed.Nodes {
		for i := range 21 {
			if n < 4 {
				b.viewer.CreateComment(t, post.ID, fmt.Sprintf("Comment number %02d: well said, and quite so.", i))
			}
		}
		w.likes = append(w.likes, b.viewer.LikePost(t, post.ID))
		w.posts = append(w.posts, post.ID)
	}
	for i := range 100 { // with tags that no other post has
		tags := make([]string, 5)
		for n := range tags {
			tags[n] = fmt.Sprint(strings.Repeat("語", 25), 5*i+n)
		}
		b.viewer.CreatePost(t, "A post with long tags", b.content, tags...)
	}
	b.settle()
	var post struct {
		Post struct {
			Likes struct {
				Nodes []struct {
					ID   string
					User struct{ ID string }
				}
			}
		}
	}
	b.viewer.Ask(t, fmt.Sprintf(`{ post(id: %q) { likes { nodes { id user { id } } } } }`, b.postID), nil, &post)
	for _, like := range post.Post.Likes.Nodes {
		w.likes, w.users = append(w.likes, like.ID), append(w.users, like.User.ID)
	}
	w.month = b.month
	w.posts, w.users, w.comments = append(w.posts, b.postID), append(w.users, b.userID), b.commentIDs
}

// query returns a query of one to three fields, or a repeatable mutation.
func (w *queryWriter) query() string {
	if w.random.IntN(5) > 0 {
		return "{ " + w.selection(w.schema.Query, 0) + "}"
	}
	n := w.random.Uint64()
	inputs := map[string]string{
		"likePost":      fmt.Sprintf("postId: %s", w.id(w.posts)),
		"unlikePost":    fmt.Sprintf("postId: %s", w.id(w.posts)),
		"createComment": fmt.Sprintf("postId: %s, content: \"Comment %d\"", w.id(w.posts), n),
		"updateComment": fmt.Sprintf("id: %s, content: \"Comment %d\"", w.id(w.comments), n),
		"updatePost":    fmt.Sprintf("id: %s, title: \"Title %d\"", w.id(w.posts), n),
	}
	names := slices.Sorted(maps.Keys(inputs))
	name := names[w.random.IntN(len(names))]
	payload := w.schema.Types[w.schema.Mutation.Fields.ForName(name).Type.Name()]
	return fmt.Sprintf("mutation { %s(input: {%s}) { %s} }", name, inputs[name], w.selection(payload, 1))
}

// maxRandomDepth leaves room within the server's limit for the leaf fields of a selection.
const maxRandomDepth = 9

// selection returns random fields of an object, each at most once.
func (w *queryWriter) selection(of *ast.Definition, depth int) string {
	if of.IsAbstractType() {
		return w.fragments(of, depth)
	}
	var text strings.Builder
	if of != w.schema.Query {
		text.WriteString("__typename ")
	}
	fields := slices.Clone(of.Fields)
	w.random.Shuffle(len(fields), func(i, j int) { fields[i], fields[j] = fields[j], fields[i] })
	for _, field := range fields[:min(len(fields), 1+w.random.IntN(3))] {
		of := w.schema.Types[field.Type.Name()]
		if strings.HasPrefix(field.Name, "__") || of.IsCompositeType() && depth == maxRandomDepth {
			text.WriteString("__typename ")
			continue
		}
		text.WriteString(field.Name + w.arguments(field, depth) + " ")
		if of.IsCompositeType() {
			text.WriteString("{ " + w.selection(of, depth+1) + "} ")
		}
	}
	return text.String()
}

// fragments returns a fragment for each possible type of an object.
func (w *queryWriter) fragments(of *ast.Definition, depth int) string {
	var text strings.Builder
	for _, possible := range w.schema.GetPossibleTypes(of) {
		fmt.Fprintf(&text, "... on %s { %s} ", possible.Name, w.fields(possible, depth))
	}
	return text.String()
}

// fields returns a selection for one of several fragments. The fragments use no response name for
// different fields.
func (w *queryWriter) fields(of *ast.Definition, depth int) string {
	names := map[string][]string{
		"User":    {"username", "postCount", "posts(first: 2) { nodes { content viewerHasLiked } }"},
		"Post":    {"title", "viewerHasLiked", "comments(first: 3) { nodes { author { creationDate } } }"},
		"Comment": {"text: content", "of: post { viewerHasLiked }", "from: author { postCount }"},
		"Like":    {"user { creationDate }", "to: post { author { postCount } likes(first: 2) { nodes { id } } }"},
	}[of.Name]
	if depth > maxRandomDepth-4 {
		return "id "
	}
	return "id " + names[w.random.IntN(len(names))] + " "
}

// arguments returns the arguments of a field. Deeper lists are shorter.
func (w *queryWriter) arguments(field *ast.FieldDefinition, depth int) string {
	switch {
	case field.Arguments.ForName("first") != nil:
		sizes := []int{1, 2, 5, 20, 50, 100}
		return fmt.Sprintf("(first: %d)", sizes[w.random.IntN(max(2, len(sizes)-2*(depth/2)))])
	case field.Name == "userByUsername":
		return `(username: "author")`
	case field.Name == "tag" && field.Arguments != nil:
		return []string{`(name: "go")`, `(name: "日記")`, `(name: "none")`}[w.random.IntN(3)]
	case field.Name == "archive" && field.Arguments != nil:
		return `(month: "` + w.month + `")`
	case field.Name == "nodes" && field.Arguments != nil:
		ids, kinds := make([]string, 1+w.random.IntN(25)), [][]string{w.users, w.posts, w.comments, w.likes}
		if w.random.IntN(2) == 0 {
			kinds = kinds[w.random.IntN(len(kinds)):][:1]
		}
		for i := range ids {
			ids[i] = w.id(kinds...)
		}
		return "(ids: [" + strings.Join(ids, ", ") + "])"
	case field.Name == "node" && field.Arguments != nil:
		return "(id: " + w.id(w.users, w.posts, w.comments, w.likes) + ")"
	case field.Name == "user" && field.Arguments != nil:
		return "(id: " + w.id(w.users) + ")"
	case field.Name == "post" && field.Arguments != nil:
		return "(id: " + w.id(w.posts) + ")"
	}
	return ""
}

// id returns a random id of one of several kinds, quoted.
func (w *queryWriter) id(kinds ...[]string) string {
	kind := kinds[w.random.IntN(len(kinds))]
	return fmt.Sprintf("%q", kind[w.random.IntN(len(kind))])
}
