package resolvers_test

import (
	"encoding/base64"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"cosmosblog/graph"
	"cosmosblog/graph/model"
	"cosmosblog/internal/blog"
)

// literal is a value in the notation that JSON and GraphQL share. It may be invalid in both.
type literal = string

// argumentValues lists values to test for an argument.
type argumentValues struct {
	valid      []literal
	invalid    []literal             // rejected with BAD_USER_INPUT
	otherCodes map[literal]blog.Code // rejected with another code
}

func text(s string) literal { return `"` + s + `"` }

func repeated(s string, n int) literal { return text(strings.Repeat(s, n)) }

const emoji = "😀" // outside the basic plane: two surrogates in UTF-16, four bytes in UTF-8

// notAString lists values of other types and strings that are not valid Unicode.
var notAString = []literal{
	`5`, `true`, `[]`, `{}`, `["a","b"]`, `{a:1}`,
	`"\ud83d"`, `"\ude00"`, `"\ude00\ud83d"`, `"abc\ud83ddef"`, // unpaired surrogates
	"\"abc\xff\"", "\"abc\xed\xa0\xbd\"", "\"abc\xc0\x80\"", "\"abc\xf0\x9f\x98\"", // invalid UTF-8: a wrong byte, a surrogate, an overlong form, a truncated one
	"\"abc\ndef\"", "\"abc", // an unescaped line break, an unterminated string
}

// blank lists strings without visible characters.
var blank = []literal{`""`, `" "`, `"\t\n\r "`, `"\u00a0\u2003"`, `"\u200b\u200d"`, `"\u0000"`}

// controls lists strings with characters that no argument may contain.
var controls = []literal{`"abc\u0000"`, `"\u0007abc"`, `"a\u001b[2Jbc"`, `"abc\u007f"`, `"abc\u0085"`, `"abc\u009f"`, `"abc\u202edef"`, `"abc\u202ddef"`}

// scripts lists valid strings of various scripts and notations.
var scripts = []literal{
	text(emoji), `"\ud83d\ude00"`, text("👩‍👩‍👧 🇩🇪"), text("𝒳 𠜎"), text("שלום عليكم"), `"abc\u200f\u200edef"`, text("e\u0301 ﬀ ﷺ"), `"\\ \" / < > & ' % ; --"`,
	`"${x} {{x}} null undefined NaN"`, `"\ufffe\uffff\ufffd"`,
}

var (
	titles = argumentValues{
		valid: slices.Concat(scripts, []literal{text("a"), repeated("a", 200), repeated("é", 200), repeated(emoji, 200), repeated(`\ud83d\ude00`, 200)}),
		invalid: slices.Concat(notAString, blank, controls, []literal{repeated("a", 201), repeated("é", 201), repeated(emoji, 201),
			`"abc\ndef"`, `"abc\tdef"`, `"abc\u2028def"`, `"abc\u202adef"`, `"abc\u2066def"`, `"abc\u2069def"`}),
	}
	contents = argumentValues{
		valid: slices.Concat(scripts, []literal{text("a"), `"abc\r\n\tdef"`, `"abc\u2067def\u2069"`,
			repeated("a", 256<<10), repeated("é", 128<<10), repeated(emoji, 64<<10)}),
		invalid: slices.Concat(notAString, blank, controls, []literal{repeated("a", 256<<10+1), repeated("é", 128<<10+1), repeated(emoji, 64<<10+1)}),
	}
	comments = argumentValues{
		valid:   slices.Concat(scripts, []literal{text("a"), `"abc\r\n\tdef"`, repeated("a", 10_000), repeated(emoji, 10_000)}),
		invalid: slices.Concat(notAString, blank, controls, []literal{repeated("a", 10_001), repeated(emoji, 10_001)}),
	}
	usernames = argumentValues{
		valid: []literal{text("abc"), repeated("a", 30), text("9_.-"), text("A.b-C_d")},
		invalid: slices.Concat(notAString, blank, controls, scripts, []literal{text("ab"), repeated("a", 31), repeated(emoji, 3), text("_abc"), text(".abc"),
			text("-abc"), text("a b c"), text("abc "), text("Änne"), text("аbc"), `"abc\n"`, `"abc\u200f"`, `"abc\u2066"`, text("a/b/c"), text("ａｂｃ")}),
	}
	keys = argumentValues{
		valid:   slices.Concat([]literal{`null`}, scripts, []literal{text("a"), repeated("a", 200), repeated(emoji, 200), `"abc\u0007\n\u202e"`}), // keys are never shown
		invalid: slices.Concat(notAString, []literal{`""`, `" "`, `"\t\n"`, repeated("a", 201), repeated(emoji, 201)}),
	}
	versions = argumentValues{
		valid:   []literal{`null`, `1`},
		invalid: []literal{`"1"`, `1.5`, `true`, `[]`, `{}`, `99999999999999999999`, `1e400`, `"\ud83d"`},
		otherCodes: map[literal]blog.Code{
			`0`: blog.Conflict, `-1`: blog.Conflict, `2`: blog.Conflict, `2147483647`: blog.Conflict,
		},
	}
)

// required adds null to the invalid values.
func (v argumentValues) required() argumentValues {
	v.invalid = append(slices.Clone(v.invalid), `null`)
	return v
}

// optional adds null to the valid values.
func (v argumentValues) optional() argumentValues {
	v.valid = append(slices.Clone(v.valid), `null`)
	return v
}

// encoded returns a global id or cursor with arbitrary content.
func encoded(content string) literal {
	return text(base64.RawURLEncoding.EncodeToString([]byte(content)))
}

// idsOf returns values for an argument of type ID. It takes an existing id, an unknown id of the
// same type, and ids of other types.
func idsOf(existing, unknown string, others ...string) argumentValues {
	v := argumentValues{
		valid: []literal{text(existing)},
		invalid: slices.Concat(notAString, blank, controls, scripts, []literal{`null`, text("x"), text(existing[:len(existing)-1]), text(existing[1:]), text(existing + "="),
			text(existing + "A"), text(" " + existing), text(existing + `\n`), text(existing + emoji), text(`\u202e` + existing), repeated("A", 5000),
			encoded("Post:p_a:p_b"), encoded("Post:p/a:p/a"), encoded("Post::"), encoded("Lease:a:a"), encoded("post:p_a:p_a"), encoded("Post:p_a"),
			encoded("Comment:" + emoji + ":c_a"), encoded("Comment:p_a:c_a:c_b"), encoded("\xff:\xff:\xff")}),
		otherCodes: map[literal]blog.Code{text(unknown): blog.NotFound},
	}
	for _, other := range others {
		v.invalid = append(v.invalid, text(other))
	}
	return v
}

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
	f.orphan = model.EncodeID(blog.Ref{Type: blog.TypeComment, PartitionKey: rawID(t, f.other), ID: rawID(t, f.comment)})
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
		{"createUser", f.carl, map[string]argumentValues{"username": usernames.required(), "idempotencyKey": keys}},
		{"updateUser", f.ann, map[string]argumentValues{"username": usernames.required()}},
		{"createPost", f.ann, map[string]argumentValues{"title": titles.required(), "content": contents.required(), "idempotencyKey": keys}},
		{"updatePost", f.ann, map[string]argumentValues{"id": ownPost, "title": titles.optional(), "content": contents.optional(), "version": versions}},
		{"createComment", f.ann, map[string]argumentValues{"postId": ofPost, "content": comments.required(), "idempotencyKey": keys}},
		{"updateComment", f.ann, map[string]argumentValues{"id": ownComment, "content": comments.required()}},
		{"deleteComment", f.ann, map[string]argumentValues{"id": ownComment}},
		{"likePost", f.ann, map[string]argumentValues{"postId": ofPost}},
		{"unlikePost", f.ann, map[string]argumentValues{"postId": ofPost}},
		{"deletePost", f.ann, map[string]argumentValues{"id": ownPost}},
		{"deleteUser", f.ann, map[string]argumentValues{"username": confirmed.required()}},
	}
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
// message: a sentence that does not repeat the request.
func checkErrors(t *testing.T, request string, r reply, code blog.Code) {
	t.Helper()
	if len(r.Errors) == 0 {
		t.Errorf("%s: want %s, got %v", request, code, r.Data)
	}
	for _, e := range r.Errors {
		if e.Extensions["code"] != string(code) {
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

// repeatableMutation returns the test of a mutation for the value k of an argument. It gives
// createUser a new account and username for each value, because an account has one user.
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
