package httpapi

import (
	"encoding/json"
	"errors"
	"io"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// maxJSONDepth is how deep lists and objects may be within one another. The inputs of the API need two levels.
const maxJSONDepth = 100

var errJSON = errors.New("no JSON that has one meaning")

// parseJSON reads one JSON value. It is stricter than encoding/json, which lets the last of several members of one name
// win, and puts U+FFFD in the place of what is no Unicode: what was sent must be what is stored. Numbers are json.Number.
func parseJSON(text string) (any, error) {
	if !isUnicode(text) {
		return nil, errJSON
	}
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.UseNumber()
	value, err := parseValue(decoder, 0)
	if err != nil {
		return nil, err
	}
	if _, err := decoder.Token(); err != io.EOF {
		return nil, errJSON
	}
	return value, nil
}

func parseValue(decoder *json.Decoder, depth int) (any, error) {
	token, err := decoder.Token()
	if err != nil {
		return nil, err
	}
	delimiter, nested := token.(json.Delim)
	switch {
	case !nested:
		return token, nil
	case depth == maxJSONDepth:
		return nil, errJSON
	case delimiter == '{':
		return parseObject(decoder, depth+1)
	default:
		return parseList(decoder, depth+1)
	}
}

func parseObject(decoder *json.Decoder, depth int) (any, error) {
	object := map[string]any{}
	for decoder.More() {
		token, err := decoder.Token()
		if err != nil {
			return nil, err
		}
		name, _ := token.(string) // the decoder lets nothing else be a name
		if _, twice := object[name]; twice {
			return nil, errJSON
		}
		if object[name], err = parseValue(decoder, depth); err != nil {
			return nil, err
		}
	}
	_, err := decoder.Token()
	return object, err
}

func parseList(decoder *json.Decoder, depth int) (any, error) {
	list := []any{}
	for decoder.More() {
		value, err := parseValue(decoder, depth)
		if err != nil {
			return nil, err
		}
		list = append(list, value)
	}
	_, err := decoder.Token()
	return list, err
}

// isUnicode tells whether a text in JSON, or a string of a query, is UTF-8 and every surrogate that it escapes is half of
// a pair. A backslash is nowhere else than in a string.
func isUnicode(text string) bool {
	if !utf8.ValidString(text) {
		return false
	}
	for {
		i := strings.IndexByte(text, '\\')
		if i < 0 {
			return true
		}
		text = text[i:]
		first, escaped := escapedRune(text)
		switch {
		case !escaped:
			text = text[min(2, len(text)):]
		case !utf16.IsSurrogate(first):
			text = text[6:]
		default:
			second, _ := escapedRune(text[6:])
			if utf16.DecodeRune(first, second) == utf8.RuneError {
				return false
			}
			text = text[12:]
		}
	}
}

// escapedRune reads an escape of the form \u12ab at the beginning of a text; false where there is none.
func escapedRune(text string) (rune, bool) {
	if len(text) < 6 || text[:2] != `\u` {
		return 0, false
	}
	value, err := strconv.ParseUint(text[2:6], 16, 16)
	return rune(value), err == nil
}
