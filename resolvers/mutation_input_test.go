package resolvers_test

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"cosmosblog/blog"
	"cosmosblog/graph"
)

// fixture is a server with two users, a post with a comment and a like, and another post.
type fixture struct {
	*server
	ann, carl            *client // carl has no user
	post, other, comment string  // other is Bob's post
	like                 string
	foreign              string // Bob's comment on his own post
	orphan               string // the id of the comment, but with Bob's post
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	f := &fixture{server: newServer(t)}
	f.ann, f.carl = f.user("Ann"), f.account("carl")
	bob := f.user("Bob")
	f.post, f.other = f.ann.post("Title", "Content"), bob.post("Another", "Content")
	f.comment = f.ann.comment(f.post, "Hi")
	f.foreign = bob.comment(f.other, "Ho")
	f.like = bob.like(f.post)
	f.orphan = blog.Ref{Type: blog.TypeComment, PartitionKey: rawID(t, f.other), ID: rawID(t, f.comment)}.String()
	return f
}

// mutationTest lists values for each argument of a mutation. The first valid values make an input
// that succeeds. Unless the mutation deletes something, it succeeds any number of times.
type mutationTest struct {
	name string
	by   *client
	args map[string]argumentValues
}

func (m mutationTest) inputType() string { return strings.ToUpper(m.name[:1]) + m.name[1:] + "Input" }

// input returns an input object with the first valid values, except for one argument.
func (m mutationTest) input(argument string, value literal) string {
	var fields []string
	for name, v := range m.args {
		if name != argument {
			fields = append(fields, strconv.Quote(name)+":"+v.valid[0])
		}
	}
	if argument != "" {
		fields = append(fields, strconv.Quote(argument)+":"+value)
	}
	return "{" + strings.Join(fields, ",") + "}"
}

// inVariable sends an input in a variable.
func (m mutationTest) inVariable(input string) reply {
	return m.by.sendBody(fmt.Sprintf(`{"query":"mutation($input:%s!){%s(input:$input){__typename}}","variables":{"input":%s}}`, m.inputType(), m.name, input))
}

// inQuery sends an input as a literal in the query.
func (m mutationTest) inQuery(input string) reply {
	for name := range m.args {
		input = strings.Replace(input, strconv.Quote(name)+":", name+":", 1)
	}
	escaped := strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(input)
	return m.by.sendBody(fmt.Sprintf(`{"query":"mutation{%s(input:%s){__typename}}"}`, m.name, escaped))
}

// mutations returns the tests of all mutations of the schema.
func (f *fixture) mutations() []mutationTest {
	ofPost := idsOf(f.post, noPost, f.ann.id, f.comment, f.like)
	ofComment := idsOf(f.comment, noComment, f.ann.id, f.post, f.like)
	ofComment.otherCodes[text(f.orphan)] = blog.NotFound
	ownPost, ownComment := ofPost, ofComment
	ownPost.otherCodes = maps.Clone(ofPost.otherCodes)
	ownPost.otherCodes[text(f.other)] = blog.Forbidden
	ownComment.otherCodes = maps.Clone(ofComment.otherCodes)
	ownComment.otherCodes[text(f.foreign)] = blog.Forbidden
	confirmed := usernames
	confirmed.valid = []literal{text("Ann"), text("ann")}
	confirmed.invalid = slices.Concat(usernames.invalid, []literal{text("Bob"), text("Anna")})
	return []mutationTest{
		{"createUser", f.carl, argumentsOf(blog.CreateUserInput{}, nil)},
		{"updateUser", f.ann, argumentsOf(blog.UpdateUserInput{}, nil)},
		{"createPost", f.ann, argumentsOf(blog.CreatePostInput{}, nil)},
		{"updatePost", f.ann, argumentsOf(blog.UpdatePostInput{}, map[string]argumentValues{"id": ownPost, "version": versions})},
		{"createComment", f.ann, argumentsOf(blog.CreateCommentInput{}, map[string]argumentValues{"postId": ofPost})},
		{"updateComment", f.ann, argumentsOf(blog.UpdateCommentInput{}, map[string]argumentValues{"id": ownComment})},
		{"deleteComment", f.ann, argumentsOf(blog.DeleteCommentInput{}, map[string]argumentValues{"id": ownComment})},
		{"likePost", f.ann, argumentsOf(blog.LikePostInput{}, map[string]argumentValues{"postId": ofPost})},
		{"unlikePost", f.ann, argumentsOf(blog.UnlikePostInput{}, map[string]argumentValues{"postId": ofPost})},
		{"deletePost", f.ann, argumentsOf(blog.DeletePostInput{}, map[string]argumentValues{"id": ownPost})},
		{"deleteUser", f.ann, argumentsOf(blog.DeleteUserInput{}, map[string]argumentValues{"username": confirmed.required()})},
	}
}

// ruleValues are the values of the fields of inputs, by their rules.
var ruleValues = map[string]argumentValues{
	"username": usernames, "title": titles, "content": contents, "tag": tags, "comment": comments, "idempotencyKey": keys,
}

// argumentsOf returns values for each field of an input: the given ones, or those of its rule. A
// field of the type string is required.
func argumentsOf(input any, given map[string]argumentValues) map[string]argumentValues {
	all := maps.Clone(given)
	if all == nil {
		all = map[string]argumentValues{}
	}
	for _, field := range reflect.VisibleFields(reflect.TypeOf(input)) {
		name := field.Tag.Get("json")
		rule := field.Tag.Get("rule")
		values, known := ruleValues[rule]
		if _, isGiven := given[name]; isGiven || rule == "" {
			continue
		}
		if !known {
			panic("the rule " + rule + " has no values")
		}
		switch field.Type.Kind() {
		case reflect.String:
			values = values.required()
		case reflect.Pointer:
			values = values.optional()
		}
		all[name] = values
	}
	return all
}

// inputForms are the two ways in which clients send an input.
var inputForms = map[string]func(mutationTest, string) reply{
	"in a variable": mutationTest.inVariable,
	"in the query":  mutationTest.inQuery,
}

// TestInvalidMutationInput sends each mutation every invalid value of each argument. The server
// must reject each with a code and a helpful message, and must not write anything.
func TestInvalidMutationInput(t *testing.T) {
	f := newFixture(t)
	before := itemsOf(t, f.engine)
	for _, m := range f.mutations() {
		for name, v := range m.args {
			t.Run(m.name+"/"+name, func(t *testing.T) {
				for _, value := range v.invalid {
					checkRejected(t, m, m.input(name, value), blog.BadUserInput)
				}
				for value, code := range v.otherCodes {
					checkRejected(t, m, m.input(name, value), code)
				}
				checkUnchanged(t, f, before)
			})
		}
		t.Run(m.name+"/shape", func(t *testing.T) {
			valid := m.input("", "")
			open := strings.TrimSuffix(valid, "}")
			for _, input := range []string{
				"null", "{}", "[]", "5", text("x"), open + `,"x":1}`, "[" + valid + "," + valid + "]",
				open, valid + "}", // syntax errors
			} {
				checkRejected(t, m, input, blog.BadUserInput)
			}
			checkUnchanged(t, f, before)
		})
	}
}

func checkRejected(t *testing.T, m mutationTest, input string, code blog.Code) {
	t.Helper()
	for form, send := range inputForms {
		checkErrors(t, fmt.Sprintf("%s %s %s", m.name, form, abbreviate(input)), send(m, input), code)
	}
}

// checkErrors checks that a reply has one or more errors, each with the code and a helpful
// message: a sentence that does not repeat the request. A query that contains an invalid value may
// be invalid itself.
func checkErrors(t *testing.T, request string, r reply, code blog.Code) {
	t.Helper()
	if len(r.Errors) == 0 {
		t.Errorf("%s: want %s, got %v", request, code, r.Data)
	}
	for _, e := range r.Errors {
		isInvalidQuery := strings.HasPrefix(fmt.Sprint(e.Extensions["code"]), "GRAPHQL_") && strings.Contains(request, " in the query ")
		if e.Extensions["code"] != string(code) && (code != blog.BadUserInput || !isInvalidQuery) {
			t.Errorf("%s: want %s, got %v with %v", request, code, e, r.Data)
		}
		if m := e.Message; len(m) < 15 || len(m) > 300 || !strings.HasSuffix(m, ".") || !utf8.ValidString(m) || strings.Contains(m, emoji) {
			t.Errorf("%s: the message is not a helpful sentence: %q", request, m)
		}
	}
}

func abbreviate(input string) string {
	if len(input) > 300 {
		input = input[:150] + "…" + input[len(input)-100:]
	}
	return strconv.Quote(input)
}

func checkUnchanged(t *testing.T, f *fixture, before []string) {
	t.Helper()
	if difference := cmp.Diff(before, itemsOf(t, f.engine)); difference != "" {
		t.Errorf("rejected mutations wrote items:\n%s", difference)
	}
}

// TestValidMutationInput sends each mutation every valid value of each argument. The values are
// at the edge of what is valid, so the test shows that TestInvalidMutationInput can fail.
func TestValidMutationInput(t *testing.T) {
	skipUnderFaults(t)
	for i, m := range newFixture(t).mutations() {
		for form, send := range inputForms {
			shared := newFixture(t)
			for name, v := range m.args {
				for k := range v.valid {
					f := shared
					if strings.HasPrefix(m.name, "delete") || name == "version" { // succeeds only once
						f = newFixture(t)
					}
					current := f.repeatableMutation(i, name, k)
					input := current.input(name, current.args[name].valid[k])
					if r := send(current, input); len(r.Errors) > 0 {
						t.Errorf("%s %s %s: %v", m.name, form, abbreviate(input), r.Errors)
					}
				}
			}
		}
	}
}

// repeatableMutation returns the test of a mutation for the value k of an argument. For
// createUser, each value has its own account and username, because an account has one user.
func (f *fixture) repeatableMutation(i int, argument string, k int) mutationTest {
	m := f.mutations()[i]
	if m.name == "createUser" {
		m.by = f.account(fmt.Sprint(argument, k))
		if argument != "username" {
			m.args["username"] = argumentValues{valid: []literal{text(fmt.Sprint("user", k))}}
		}
	}
	return m
}

// TestMutationInputTestsAreComplete checks that the tests cover every mutation and argument of
// the schema.
func TestMutationInputTestsAreComplete(t *testing.T) {
	schema := graph.NewExecutableSchema(graph.Config{}).Schema()
	mutations := newFixture(t).mutations()
	for _, field := range schema.Mutation.Fields {
		i := slices.IndexFunc(mutations, func(m mutationTest) bool { return m.name == field.Name })
		if i < 0 {
			t.Errorf("%s has no test", field.Name)
			continue
		}
		for _, argument := range schema.Types[mutations[i].inputType()].Fields {
			if _, ok := mutations[i].args[argument.Name]; !ok {
				t.Errorf("%s.%s has no test", field.Name, argument.Name)
			}
		}
	}
}
