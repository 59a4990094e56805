package query

import "strings"

type tokenKind uint8

const (
	endToken tokenKind = iota // end of the text
	nameToken
	keywordToken   // text is in upper case, except for the constants
	parameterToken // text includes the "@"
	numberToken    // text is as written
	stringToken    // text is the string's content, without quotes and escapes
	symbolToken
)

// token is a token of the query's text.
type token struct {
	kind tokenKind
	text string
	at   int // its offset in the query
	end  int
}

// described returns the token as it appears in an error message.
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

// keywords are the reserved words; a property with such a name is written c["order"]. They are
// those of the grammar that Microsoft publishes with its .NET SDK (sql.g4), in which they are
// case-insensitive.
var keywords = setOf("AND", "ARRAY", "AS", "ASC", "BETWEEN", "BY", "DESC", "DISTINCT", "ESCAPE", "EXISTS", "FROM",
	"GROUP", "IN", "JOIN", "LEFT", "LIKE", "LIMIT", "NOT", "OFFSET", "OR", "ORDER", "RANK", "RIGHT", "SELECT", "TOP",
	"VALUE", "WHERE")

// constants are the keywords that must be in lower case, by the same grammar.
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
