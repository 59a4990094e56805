package main

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
)

var (
	randomSeed    = flag.Uint64("random-seed", 0, "the seed of random queries; another one each time where 0")
	randomQueries = flag.Int("random-queries", 400, "how many random queries are asked")
)

// TestNoQueryIsChargedMoreThanItsPrice asks for random things all over the schema, of posts that have the comments and
// likes of the README's table.
func TestNoQueryIsChargedMoreThanItsPrice(t *testing.T) {
	seed := *randomSeed
	if seed == 0 {
		seed = rand.Uint64()
	}
	t.Logf("repeat with -random-seed %d", seed)
	b := newBlog(t)
	w := &queryWriter{schema: graph.NewExecutableSchema(graph.Config{}).Schema(), random: rand.New(rand.NewPCG(seed, 0))}
	w.know(t, b)
	ran := 0
	for range *randomQueries {
		query := w.query()
		got, err := b.viewer.send(query, nil)
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
			t.Errorf("%s\nis priced at %.2f RU and was charged %.2f", query, cosmos.Estimate, cosmos.RequestCharge)
		}
	}
	if ran < *randomQueries/2 {
		t.Errorf("only %d queries ran: the test says little", ran)
	}
}

// queryWriter writes random queries that are valid and find something.
type queryWriter struct {
	schema *ast.Schema
	random *rand.Rand

	users, posts, comments, likes []string // global ids
}

// know gives the newest posts comments and the viewer's likes, and collects ids of everything.
func (w *queryWriter) know(t *testing.T, b *blogUnderTest) {
	t.Helper()
	type nodes struct{ Nodes []struct{ ID string } }
	var feed struct{ Feed nodes }
	b.viewer.ask(t, `{ feed { nodes { id } } }`, nil, &feed)
	for n, post := range feed.Feed.Nodes {
		for i := range 21 {
			if n < 4 {
				b.viewer.createComment(t, post.ID, fmt.Sprintf("Comment number %02d: well said, and quite so.", i))
			}
		}
		w.likes = append(w.likes, b.viewer.likePost(t, post.ID))
		w.posts = append(w.posts, post.ID)
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
	b.viewer.ask(t, fmt.Sprintf(`{ post(id: %q) { likes { nodes { id user { id } } } } }`, b.postID), nil, &post)
	for _, like := range post.Post.Likes.Nodes {
		w.likes, w.users = append(w.likes, like.ID), append(w.users, like.User.ID)
	}
	w.posts, w.users, w.comments = append(w.posts, b.postID), append(w.users, b.userID), b.commentIDs
}

// query writes a query of one to three fields, or a mutation that can be done again.
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

// maxRandomDepth leaves room below it for what ends a selection, within the server's limit.
const maxRandomDepth = 9

// selection writes some fields of an object, each once.
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

// fragments writes a selection for each type that an object can be.
func (w *queryWriter) fragments(of *ast.Definition, depth int) string {
	var text strings.Builder
	for _, possible := range w.schema.GetPossibleTypes(of) {
		fmt.Fprintf(&text, "... on %s { %s} ", possible.Name, w.fields(possible, depth))
	}
	return text.String()
}

// fields is selection where other fragments beside it must not give the same name to something else.
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

// arguments writes the arguments of a field: shorter lists the deeper they are.
func (w *queryWriter) arguments(field *ast.FieldDefinition, depth int) string {
	switch {
	case field.Arguments.ForName("first") != nil:
		sizes := []int{1, 2, 5, 20, 50, 100}
		return fmt.Sprintf("(first: %d)", sizes[w.random.IntN(max(2, len(sizes)-2*(depth/2)))])
	case field.Name == "userByUsername":
		return `(username: "author")`
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

// id gives an id of one of several kinds.
func (w *queryWriter) id(kinds ...[]string) string {
	kind := kinds[w.random.IntN(len(kinds))]
	return fmt.Sprintf("%q", kind[w.random.IntN(len(kind))])
}
