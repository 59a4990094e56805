package query

import "strings"

// tokenKind tells the kinds of words that the lexer cuts a text into.
type tokenKind uint8

const (
	endToken tokenKind = iota // the text is at its end
	nameToken
	keywordToken   // text is in upper case, but for the constants
	parameterToken // text begins with the "@"
	numberToken
	stringToken // text is what the string says, without quotes and escapes
	symbolToken
)

// token is one word of a query.
type token struct {
	kind   tokenKind
	text   string
	number float64 // of a numberToken
	at     int     // its offset in the query
	end    int
}

// described names the token in a sentence.
func (t token) described(query string) string {
	if t.kind == endToken {
		return "the end of the query"
	}
	written := query[t.at:t.end]
	if len(written) > 40 {
		written = strings.ToValidUTF8(written[:40], "") + "…"
	}
	return "‘" + written + "’"
}

// keywords are the words that are no names, so that a property of such a name is written c["order"]. They are those of
// the grammar that Microsoft publishes with its .NET SDK (sql.g4), where they are written in any case.
var keywords = setOf("AND", "ARRAY", "AS", "ASC", "BETWEEN", "BY", "DESC", "DISTINCT", "ESCAPE", "EXISTS", "FROM",
	"GROUP", "IN", "JOIN", "LEFT", "LIKE", "LIMIT", "NOT", "OFFSET", "OR", "ORDER", "RANK", "RIGHT", "SELECT", "TOP",
	"VALUE", "WHERE")

// constants are the keywords that are written in lower case only, by the same grammar.
var constants = setOf("true", "false", "null", "undefined", "udf")

func setOf(words ...string) map[string]bool {
	set := make(map[string]bool, len(words))
	for _, word := range words {
		set[word] = true
	}
	return set
}

// nameOrKeyword classifies a word of letters.
func nameOrKeyword(word string) (tokenKind, string) {
	if constants[word] {
		return keywordToken, word
	}
	if upper := strings.ToUpper(word); keywords[upper] {
		return keywordToken, upper
	}
	return nameToken, word
}

func isLetter(c byte) bool { return c == '_' || c|0x20 >= 'a' && c|0x20 <= 'z' }
func isDigit(c byte) bool  { return c >= '0' && c <= '9' }
