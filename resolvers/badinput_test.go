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

// A literal is a value as it is written in JSON, and in a query as well. It need not be valid in either.
type literal = string

// values are what an argument may be, and what it must not be.
type values struct {
	good, bad []literal
	other     map[literal]blog.Code // well-formed, but refused with another code than BAD_USER_INPUT
}

func text(s string) literal { return `"` + s + `"` }

func repeated(s string, n int) literal { return text(strings.Repeat(s, n)) }

const emoji = "😀" // beyond the basic plane: two surrogates in UTF-16, four bytes in UTF-8

// notText is no value of any text: of another type, or no Unicode.
var notText = []literal{
	`5`, `true`, `[]`, `{}`, `["a","b"]`, `{a:1}`,
	`"\ud83d"`, `"\ude00"`, `"\ude00\ud83d"`, `"abc\ud83ddef"`, // halves of characters
	"\"abc\xff\"", "\"abc\xed\xa0\xbd\"", "\"abc\xc0\x80\"", "\"abc\xf0\x9f\x98\"", // no UTF-8, a surrogate, too long, truncated
	"\"abc\ndef\"", "\"abc", // a line break that is not escaped, and no end
}

// nothing is text in which there is nothing to read.
var nothing = []literal{`""`, `" "`, `"\t\n\r "`, `"\u00a0\u2003"`, `"\u200b\u200d"`, `"\u0000"`}

// controls are characters that no text may have.
var controls = []literal{`"abc\u0000"`, `"\u0007abc"`, `"a\u001b[2Jbc"`, `"abc\u007f"`, `"abc\u0085"`, `"abc\u009f"`, `"abc\u202edef"`, `"abc\u202ddef"`}

// scripts are texts that are as they should be.
var scripts = []literal{
	text(emoji), `"\ud83d\ude00"`, text("👩‍👩‍👧 🇩🇪"), text("𝒳 𠜎"), text("שלום عليكم"), `"abc\u200f\u200edef"`, text("e\u0301 ﬀ ﷺ"), `"\\ \" / < > & ' % ; --"`,
	`"${x} {{x}} null undefined NaN"`, `"\ufffe\uffff\ufffd"`,
}

var (
	titles = values{
		good: slices.Concat(scripts, []literal{text("a"), repeated("a", 200), repeated("é", 200), repeated(emoji, 200), repeated(`\ud83d\ude00`, 200)}),
		bad: slices.Concat(notText, nothing, controls, []literal{repeated("a", 201), repeated("é", 201), repeated(emoji, 201),
			`"abc\ndef"`, `"abc\tdef"`, `"abc\u2028def"`, `"abc\u202adef"`, `"abc\u2066def"`, `"abc\u2069def"`}),
	}
	contents = values{
		good: slices.Concat(scripts, []literal{text("a"), `"abc\r\n\tdef"`, `"abc\u2067def\u2069"`,
			repeated("a", 256<<10), repeated("é", 128<<10), repeated(emoji, 64<<10)}),
		bad: slices.Concat(notText, nothing, controls, []literal{repeated("a", 256<<10+1), repeated("é", 128<<10+1), repeated(emoji, 64<<10+1)}),
	}
	comments = values{
		good: slices.Concat(scripts, []literal{text("a"), `"abc\r\n\tdef"`, repeated("a", 10_000), repeated(emoji, 10_000)}),
		bad:  slices.Concat(notText, nothing, controls, []literal{repeated("a", 10_001), repeated(emoji, 10_001)}),
	}
	usernames = values{
		good: []literal{text("abc"), repeated("a", 30), text("9_.-"), text("A.b-C_d")},
		bad: slices.Concat(notText, nothing, controls, scripts, []literal{text("ab"), repeated("a", 31), repeated(emoji, 3), text("_abc"), text(".abc"),
			text("-abc"), text("a b c"), text("abc "), text("Änne"), text("аbc"), `"abc\n"`, `"abc\u200f"`, `"abc\u2066"`, text("a/b/c"), text("ａｂｃ")}),
	}
	keys = values{
		good: slices.Concat([]literal{`null`}, scripts, []literal{text("a"), repeated("a", 200), repeated(emoji, 200), `"abc\u0007\n\u202e"`}), // it is never shown
		bad:  slices.Concat(notText, []literal{`""`, `" "`, `"\t\n"`, repeated("a", 201), repeated(emoji, 201)}),
	}
	versions = values{
		good: []literal{`null`, `1`},
		bad:  []literal{`"1"`, `1.5`, `true`, `[]`, `{}`, `99999999999999999999`, `1e400`, `"\ud83d"`},
		other: map[literal]blog.Code{
			`0`: blog.Conflict, `-1`: blog.Conflict, `2`: blog.Conflict, `2147483647`: blog.Conflict,
		},
	}
)

// required adds null to what is refused.
func (v values) required() values {
	v.bad = append(slices.Clone(v.bad), `null`)
	return v
}

func (v values) optional() values {
	v.good = append(slices.Clone(v.good), `null`)
	return v
}

// encoded is a global id, or a cursor, that holds something of its own.
func encoded(content string) literal {
	return text(base64.RawURLEncoding.EncodeToString([]byte(content)))
}

// idsOf are the values of an argument that names something of a type. others are ids of other types.
func idsOf(good, unknown string, others ...string) values {
	v := values{
		good: []literal{text(good)},
		bad: slices.Concat(notText, nothing, controls, scripts, []literal{`null`, text("x"), text(good[:len(good)-1]), text(good[1:]), text(good + "="),
			text(good + "A"), text(" " + good), text(good + `\n`), text(good + emoji), text(`\u202e` + good), repeated("A", 5000),
			encoded("Post:p_a:p_b"), encoded("Post:p/a:p/a"), encoded("Post::"), encoded("Lease:a:a"), encoded("post:p_a:p_a"), encoded("Post:p_a"),
			encoded("Comment:" + emoji + ":c_a"), encoded("Comment:p_a:c_a:c_b"), encoded("\xff:\xff:\xff")}),
		other: map[literal]blog.Code{text(unknown): blog.NotFound},
	}
	for _, other := range others {
		v.bad = append(v.bad, text(other))
	}
	return v
}

// scene is what there is when bad input comes: two users, a post with a comment and a like, and another post.
type scene struct {
	*server
	ann, carl             *client // carl has no user
	post, other, comment  string
	like, foreign, orphan string // foreign is another user's comment; orphan names the comment under another post
}

func newScene(t *testing.T) *scene {
	t.Helper()
	s := &scene{server: newServer(t)}
	s.ann, s.carl = s.user("Ann"), s.account("carl")
	bob := s.user("Bob")
	s.post, s.other = s.ann.post("Title", "Content"), bob.post("Another", "Content")
	s.comment = s.ann.comment(s.post, "Hi")
	s.foreign = bob.comment(s.other, "Ho")
	s.like = bob.like(s.post)
	s.orphan = model.EncodeID(blog.Ref{Type: blog.TypeComment, PartitionKey: rawID(t, s.other), ID: rawID(t, s.comment)})
	return s
}

// tested is a mutation with the values of each argument; the first good one of each makes an input that succeeds, again
// and again where the mutation can be done again.
type tested struct {
	name string
	by   *client
	args map[string]values
}

func (m tested) inputType() string { return strings.ToUpper(m.name[:1]) + m.name[1:] + "Input" }

// input writes the input, with one argument set.
func (m tested) input(argument string, value literal) string {
	var fields []string
	for name, v := range m.args {
		if name != argument {
			fields = append(fields, strconv.Quote(name)+":"+v.good[0])
		}
	}
	if argument != "" {
		fields = append(fields, strconv.Quote(argument)+":"+value)
	}
	return "{" + strings.Join(fields, ",") + "}"
}

// inVariable and inQuery are the two ways in which a client sends an input.
func (m tested) inVariable(input string) reply {
	return m.by.sendBody(fmt.Sprintf(`{"query":"mutation($input:%s!){%s(input:$input){__typename}}","variables":{"input":%s}}`, m.inputType(), m.name, input))
}

func (m tested) inQuery(input string) reply {
	for name := range m.args {
		input = strings.Replace(input, strconv.Quote(name)+":", name+":", 1)
	}
	escaped := strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(input)
	return m.by.sendBody(fmt.Sprintf(`{"query":"mutation{%s(input:%s){__typename}}"}`, m.name, escaped))
}

func (s *scene) mutations() []tested {
	ofPost := idsOf(s.post, noPost, s.ann.id, s.comment, s.like)
	ofComment := idsOf(s.comment, noComment, s.ann.id, s.post, s.like)
	ofComment.other[text(s.orphan)] = blog.NotFound
	ownPost, ownComment := ofPost, ofComment
	ownPost.other = maps.Clone(ofPost.other)
	ownPost.other[text(s.other)] = blog.Forbidden
	ownComment.other = maps.Clone(ofComment.other)
	ownComment.other[text(s.foreign)] = blog.Forbidden
	confirmed := usernames
	confirmed.good = []literal{text("Ann"), text("ann")}
	confirmed.bad = slices.Concat(usernames.bad, []literal{text("Bob"), text("Anna")})
	return []tested{
		{"createUser", s.carl, map[string]values{"username": usernames.required(), "idempotencyKey": keys}},
		{"updateUser", s.ann, map[string]values{"username": usernames.required()}},
		{"createPost", s.ann, map[string]values{"title": titles.required(), "content": contents.required(), "idempotencyKey": keys}},
		{"updatePost", s.ann, map[string]values{"id": ownPost, "title": titles.optional(), "content": contents.optional(), "version": versions}},
		{"createComment", s.ann, map[string]values{"postId": ofPost, "content": comments.required(), "idempotencyKey": keys}},
		{"updateComment", s.ann, map[string]values{"id": ownComment, "content": comments.required()}},
		{"deleteComment", s.ann, map[string]values{"id": ownComment}},
		{"likePost", s.ann, map[string]values{"postId": ofPost}},
		{"unlikePost", s.ann, map[string]values{"postId": ofPost}},
		{"deletePost", s.ann, map[string]values{"id": ownPost}},
		{"deleteUser", s.ann, map[string]values{"username": confirmed.required()}},
	}
}

// TestBadInputOfMutations sends each mutation all that each of its arguments must not be, in a variable and in the query:
// each is refused with a code and a sentence, and nothing in the whole database is changed by it.
func TestBadInputOfMutations(t *testing.T) {
	s := newScene(t)
	before := itemsOf(t, s.engine)
	for _, m := range s.mutations() {
		for name, v := range m.args {
			t.Run(m.name+"/"+name, func(t *testing.T) {
				for _, value := range v.bad {
					refusedInput(t, m, m.input(name, value), blog.BadUserInput)
				}
				for value, code := range v.other {
					refusedInput(t, m, m.input(name, value), code)
				}
				unchanged(t, s, before)
			})
		}
		t.Run(m.name+"/shape", func(t *testing.T) {
			good := m.input("", "")
			for _, input := range []string{"null", "{}", "[]", "5", text("x"), strings.TrimSuffix(good, "}") + `,"x":1}`, "[" + good + "," + good + "]"} {
				refusedInput(t, m, input, blog.BadUserInput)
			}
			for _, input := range []string{strings.TrimSuffix(good, "}"), good + "}"} {
				refusedInput(t, m, input, blog.BadUserInput)
			}
			unchanged(t, s, before)
		})
	}
}

func refusedInput(t *testing.T, m tested, input string, code blog.Code) {
	t.Helper()
	for how, r := range map[string]reply{"in a variable": m.inVariable(input), "in the query": m.inQuery(input)} {
		helpful(t, fmt.Sprintf("%s %s %s", m.name, how, shortened(input)), r, code)
	}
}

// helpful holds an answer to errors with a code and a sentence each, in which nothing of the request is repeated. Several
// things that are wrong with one input may be told at once.
func helpful(t *testing.T, what string, r reply, code blog.Code) {
	t.Helper()
	if len(r.Errors) == 0 {
		t.Errorf("%s: want %s, got %v", what, code, r.Data)
	}
	for _, e := range r.Errors {
		if e.Extensions["code"] != string(code) {
			t.Errorf("%s: want %s, got %v with %v", what, code, e, r.Data)
		}
		if m := e.Message; len(m) < 15 || len(m) > 300 || !strings.HasSuffix(m, ".") || !utf8.ValidString(m) || strings.Contains(m, emoji) {
			t.Errorf("%s: that is no sentence that helps: %q", what, m)
		}
	}
}

func shortened(input string) string {
	if len(input) > 300 {
		input = input[:150] + "…" + input[len(input)-100:]
	}
	return strconv.Quote(input)
}

func unchanged(t *testing.T, s *scene, before []string) {
	t.Helper()
	if difference := cmp.Diff(before, itemsOf(t, s.engine)); difference != "" {
		t.Errorf("something was written:\n%s", difference)
	}
}

// TestGoodInputOfMutations sends what is just allowed, so that the tests of what is not can fail.
func TestGoodInputOfMutations(t *testing.T) {
	skipUnderFaults(t)
	ways := map[string]func(tested, string) reply{"in a variable": tested.inVariable, "in the query": tested.inQuery}
	for i, m := range newScene(t).mutations() {
		for name, v := range m.args {
			current := newScene(t).mutations()[i]
			for k := range v.good {
				for how, send := range ways {
					if m.name == "createUser" || strings.HasPrefix(m.name, "delete") || name == "version" { // nobody can do that twice
						current = newScene(t).mutations()[i]
					}
					input := current.input(name, current.args[name].good[k])
					if r := send(current, input); len(r.Errors) > 0 {
						t.Errorf("%s %s %s: %v", m.name, how, shortened(input), r.Errors)
					}
				}
			}
		}
	}
}

// TestBadInputIsTestedEverywhere holds the tables to the schema.
func TestBadInputIsTestedEverywhere(t *testing.T) {
	schema := graph.NewExecutableSchema(graph.Config{}).Schema()
	mutations := newScene(t).mutations()
	for _, field := range schema.Mutation.Fields {
		i := slices.IndexFunc(mutations, func(m tested) bool { return m.name == field.Name })
		if i < 0 {
			t.Errorf("%s is not tested", field.Name)
			continue
		}
		for _, argument := range schema.Types[mutations[i].inputType()].Fields {
			if _, ok := mutations[i].args[argument.Name]; !ok {
				t.Errorf("%s.%s is not tested", field.Name, argument.Name)
			}
		}
	}
}
