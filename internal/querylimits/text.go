// Package querylimits checks queries against the limits of documents, before their validation. Some
// rules of validation take time and memory that grow with the square of a query.
//
// The text of a query is checked before it is parsed, and its tree before it is validated.
package querylimits

import (
	"strings"
	"unicode/utf8"

	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"
	"github.com/vektah/gqlparser/v2/lexer"

	"cosmosblog/internal/blog"
	"cosmosblog/internal/limits"
	"cosmosblog/internal/strictjson"
)

// CheckText checks the text of a query before it is parsed, and returns the number of its tokens.
// The error is one for the client: LIMIT_EXCEEDED, or GRAPHQL_PARSE_FAILED.
func CheckText(query string, l limits.Limits) (tokens int, err *gqlerror.Error) {
	start := &ast.Position{Line: 1, Column: 1}
	if len(query) > l.QueryBytes {
		return 0, aboveLimit(start, "The query is longer than %d bytes. Send long texts in variables.", l.QueryBytes)
	}
	if strings.Count(query, "\n")+strings.Count(query, "\r") > limits.Lines {
		return 0, aboveLimit(start, "The query has more than %d lines. Send long texts in variables.", limits.Lines)
	}
	return checkTokens(query, l.Tokens)
}

// checkTokens checks the tokens of a query before it is parsed, and returns their number, at most
// maxTokens.
//
// It bounds the length of names and numbers, and the nesting of values. gqlparser repeats names
// and values in its errors, once per level of nesting, and compares names letter by letter for
// suggestions. gqlparser's parser reports malformed tokens and too many tokens.
func checkTokens(query string, maxTokens int) (int, *gqlerror.Error) {
	source := &ast.Source{Input: query}
	reader, text := lexer.New(source), runeText{text: query}
	arguments, nested := 0, 0
	for tokens := range maxTokens {
		token, err := reader.ReadToken()
		if err != nil || token.Kind == lexer.EOF {
			return tokens, nil
		}
		switch token.Kind {
		case lexer.Name, lexer.Int, lexer.Float:
			if len(token.Value) > limits.WordBytes {
				return 0, aboveLimit(&token.Pos, "The query has a name or a number of more than %d characters.", limits.WordBytes)
			}
		case lexer.String:
			if !strictjson.IsUnicode(text.between(token.Pos.Start, token.Pos.End)) {
				return 0, badDocument(blog.GraphQLParseFailed, &token.Pos, "A string in the query has an unpaired surrogate escape.")
			}
		case lexer.ParenL:
			arguments++
		case lexer.ParenR:
			arguments, nested = arguments-1, 0
		case lexer.BracketL, lexer.BraceL:
			if arguments > 0 {
				nested++
			}
			if nested > limits.NestedValues {
				return 0, aboveLimit(&token.Pos, "A value or a type in the query nests more than %d lists and objects.", limits.NestedValues)
			}
		case lexer.BracketR, lexer.BraceR:
			nested = max(0, nested-1)
		}
	}
	return maxTokens, nil
}

// runeText finds substrings by rune offsets, the unit of gqlparser's positions. Offsets must not
// decrease from call to call.
type runeText struct {
	text         string
	bytes, runes int // the current offset in both units
}

// byteOffset returns the byte offset of a rune offset.
func (t *runeText) byteOffset(runes int) int {
	for t.runes < runes && t.bytes < len(t.text) {
		_, size := utf8.DecodeRuneInString(t.text[t.bytes:])
		t.bytes += size
		t.runes++
	}
	return t.bytes
}

// between returns the text between two rune offsets.
func (t *runeText) between(start, end int) string {
	from := t.byteOffset(start)
	return t.text[from:t.byteOffset(end)]
}
