package resolvers_test

import (
	"encoding/base64"
	"slices"
	"strings"

	"cosmosblog/blog"
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
		valid: slices.Concat(scripts, []literal{text("a"), repeated("a", blog.MaxTitleLength), repeated("é", blog.MaxTitleLength), repeated(emoji, blog.MaxTitleLength), repeated(`\ud83d\ude00`, blog.MaxTitleLength)}),
		invalid: slices.Concat(notAString, blank, controls, []literal{repeated("a", blog.MaxTitleLength+1), repeated("é", blog.MaxTitleLength+1), repeated(emoji, blog.MaxTitleLength+1),
			`"abc\ndef"`, `"abc\tdef"`, `"abc\u2028def"`, `"abc\u202adef"`, `"abc\u2066def"`, `"abc\u2069def"`}),
	}
	contents = argumentValues{
		valid: slices.Concat(scripts, []literal{text("a"), `"abc\r\n\tdef"`, `"abc\u2067def\u2069"`,
			repeated("a", blog.MaxContentBytes), repeated("é", blog.MaxContentBytes/2), repeated(emoji, blog.MaxContentBytes/4)}),
		invalid: slices.Concat(notAString, blank, controls, []literal{repeated("a", blog.MaxContentBytes+1), repeated("é", blog.MaxContentBytes/2+1), repeated(emoji, blog.MaxContentBytes/4+1)}),
	}
	tags = argumentValues{
		valid: []literal{`[]`, `null`, `["go"]`, text("go"), `["a","1","日記","zürich","x-1-"]`, "[" + repeated("é", blog.MaxTagLength) + "]", `["\u1f11"]`, `["q\u0323\u0308"]`},
		invalid: []literal{`5`, `{}`, `[5]`, `[null]`, `[["a"]]`, `["a","b","c","d","e","f"]`, `["a","b","a"]`, `[""]`, `[" a"]`, `["a b"]`, `["Go"]`, `["gO"]`,
			`["ǅ"]`, `["-a"]`, `["a_b"]`, `["a.b"]`, `["a/b"]`, `["#a"]`, `["\u0308a"]`, `["u\u0308"]`, `["a\ufe0f"]`, `["\u3164"]`, `["a\u200d"]`, `["a\u202e"]`, `["a\n"]`,
			"[" + repeated("a", blog.MaxTagLength+1) + "]", "[" + repeated("é", blog.MaxTagLength+1) + "]", "[" + repeated(emoji, 1) + "]", `["\ud83d"]`},
	}
	comments = argumentValues{
		valid:   slices.Concat(scripts, []literal{text("a"), `"abc\r\n\tdef"`, repeated("a", blog.MaxCommentLength), repeated(emoji, blog.MaxCommentLength)}),
		invalid: slices.Concat(notAString, blank, controls, []literal{repeated("a", blog.MaxCommentLength+1), repeated(emoji, blog.MaxCommentLength+1)}),
	}
	usernames = argumentValues{
		valid: []literal{text("abc"), repeated("a", blog.MaxUsernameLength), text("9_.-"), text("A.b-C_d")},
		invalid: slices.Concat(notAString, blank, controls, scripts, []literal{text("ab"), repeated("a", blog.MaxUsernameLength+1), repeated(emoji, 3), text("_abc"), text(".abc"),
			text("-abc"), text("a b c"), text("abc "), text("Änne"), text("аbc"), `"abc\n"`, `"abc\u200f"`, `"abc\u2066"`, text("a/b/c"), text("ａｂｃ")}),
	}
	keys = argumentValues{
		valid:   slices.Concat([]literal{`null`}, scripts, []literal{text("a"), repeated("a", blog.MaxIdempotencyKeyLength), repeated(emoji, blog.MaxIdempotencyKeyLength), `"abc\u0007\n\u202e"`}), // keys are never shown
		invalid: slices.Concat(notAString, []literal{`""`, `" "`, `"\t\n"`, repeated("a", blog.MaxIdempotencyKeyLength+1), repeated(emoji, blog.MaxIdempotencyKeyLength+1)}),
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

// idsOf returns values for an argument of type ID. The parameters are an existing id, an unknown
// id of the same type, and ids of other types.
func idsOf(existing, unknown string, others ...string) argumentValues {
	v := argumentValues{
		valid: []literal{text(existing)},
		invalid: slices.Concat(notAString, blank, controls, scripts, []literal{`null`, text("x"), text(existing[:len(existing)-1]), text(existing[1:]), text(existing + "="),
			text(existing + "A"), text(" " + existing), text(existing + `\n`), text(existing + emoji), text(`\u202e` + existing), repeated("A", 5000),
			text(existing + "." + existing), text(existing + ".."), text(strings.ToUpper(existing)), text(".."), text("p_a"), text("p_" + strings.Repeat("b", 26)),
			text("x_" + strings.Repeat("a", 26)), text("c_.p_"), encoded("Post:p_a:p_a")}),
		otherCodes: map[literal]blog.Code{text(unknown): blog.NotFound},
	}
	for _, other := range others {
		v.invalid = append(v.invalid, text(other))
	}
	return v
}
