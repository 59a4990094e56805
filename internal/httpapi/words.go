package httpapi

import (
	"unicode/utf8"

	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"
	"github.com/vektah/gqlparser/v2/lexer"

	"cosmosblog/internal/limits"
)

// checkWords reads through the tokens of a query before anything is made of them. Complaints of gqlparser repeat names
// and values, once for each thing that they are within, and it suggests others by comparing letter by letter. It is left
// to gqlparser to say what is no token, or too many. It gives the number of tokens, maxTokens at most.
func checkWords(query string, maxTokens int) (int, *gqlerror.Error) {
	source := &ast.Source{Input: query}
	reader, text := lexer.New(source), positions{text: query}
	arguments, nested := 0, 0
	for tokens := range maxTokens {
		token, err := reader.ReadToken()
		if err != nil || token.Kind == lexer.EOF {
			return tokens, nil
		}
		switch token.Kind {
		case lexer.Name, lexer.Int, lexer.Float:
			if len(token.Value) > limits.WordBytes {
				return 0, tooMuch(&token.Pos, "The query has a name or a number of more than %d characters.", limits.WordBytes)
			}
		case lexer.String:
			if !isUnicode(text.between(token.Pos.Start, token.Pos.End)) {
				return 0, tooMuch(&token.Pos, "A string of the query escapes half of a character: a surrogate that is not one of a pair.")
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
				return 0, tooMuch(&token.Pos, "A value or a type of the query has more than %d lists and objects within one another.", limits.NestedValues)
			}
		case lexer.BracketR, lexer.BraceR:
			nested = max(0, nested-1)
		}
	}
	return maxTokens, nil
}

// positions finds places of a text that are counted in characters, as gqlparser does, one after the other.
type positions struct {
	text              string
	bytes, characters int // where it is
}

func (p *positions) at(characters int) int {
	for p.characters < characters && p.bytes < len(p.text) {
		_, size := utf8.DecodeRuneInString(p.text[p.bytes:])
		p.bytes += size
		p.characters++
	}
	return p.bytes
}

// between gives the text between two places.
func (p *positions) between(start, end int) string {
	from := p.at(start)
	return p.text[from:p.at(end)]
}
