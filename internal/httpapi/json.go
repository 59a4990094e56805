package httpapi

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"cosmosblog/internal/limits"
)

var errJSON = errors.New("no JSON that has one meaning")

// strictly says what JSON has to be besides JSON.
var strictly = fmt.Sprintf("in which no name occurs twice, no surrogate is alone, at most %d names and values are, and none deeper than %d",
	limits.JSONValues, limits.JSONDepth)

// parseJSON reads one JSON value. It is stricter than encoding/json, which lets the last of several members of one name
// win, and puts U+FFFD in the place of what is no Unicode: what was sent must be what is stored. Numbers are json.Number.
func parseJSON(text string) (any, error) {
	if !isUnicode(text) {
		return nil, errJSON
	}
	reader := jsonReader{decoder: json.NewDecoder(strings.NewReader(text)), left: limits.JSONValues}
	reader.decoder.UseNumber()
	value, err := reader.value(0)
	if err != nil {
		return nil, err
	}
	if _, err := reader.decoder.Token(); err != io.EOF {
		return nil, errJSON
	}
	return value, nil
}

// jsonReader reads one JSON value.
type jsonReader struct {
	decoder *json.Decoder
	left    int // how many more names and values it may have
}

func (r *jsonReader) token() (json.Token, error) {
	if r.left--; r.left < 0 {
		return nil, errJSON
	}
	return r.decoder.Token()
}

func (r *jsonReader) value(depth int) (any, error) {
	token, err := r.token()
	if err != nil {
		return nil, err
	}
	delimiter, nested := token.(json.Delim)
	switch {
	case !nested:
		return token, nil
	case depth == limits.JSONDepth:
		return nil, errJSON
	case delimiter == '{':
		return r.object(depth + 1)
	default:
		return r.list(depth + 1)
	}
}

func (r *jsonReader) object(depth int) (any, error) {
	object := map[string]any{}
	for r.decoder.More() {
		token, err := r.token()
		if err != nil {
			return nil, err
		}
		name, _ := token.(string) // the decoder lets nothing else be a name
		if _, twice := object[name]; twice {
			return nil, errJSON
		}
		if object[name], err = r.value(depth); err != nil {
			return nil, err
		}
	}
	_, err := r.decoder.Token()
	return object, err
}

func (r *jsonReader) list(depth int) (any, error) {
	list := []any{}
	for r.decoder.More() {
		value, err := r.value(depth)
		if err != nil {
			return nil, err
		}
		list = append(list, value)
	}
	_, err := r.decoder.Token()
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
