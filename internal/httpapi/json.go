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

var errJSON = errors.New("the JSON is malformed, ambiguous or too large")

// jsonRules describes, for error messages, the rules of parseJSON beyond those of JSON.
var jsonRules = fmt.Sprintf("without duplicate names and unpaired surrogates, with at most %d names and values, nested at most %d deep",
	limits.JSONValues, limits.JSONDepth)

// parseJSON parses exactly one JSON value. Numbers are json.Number. Any error means that the text
// is not acceptable.
//
// It is stricter than encoding/json, so that texts are stored exactly as they were sent.
// encoding/json keeps the last of several members with one name, and replaces invalid Unicode with
// U+FFFD.
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

// jsonReader parses one JSON value.
type jsonReader struct {
	decoder *json.Decoder
	left    int // the number of names and values it still accepts
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
		name, _ := token.(string) // the decoder accepts only strings as names
		if _, duplicate := object[name]; duplicate {
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

// isUnicode reports whether a JSON text, or a string token of a query, is valid UTF-8 without
// escapes of unpaired surrogates. It relies on backslashes occurring only in strings.
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

// escapedRune parses an escape of the form \u12ab at the beginning of a text. It returns false if
// there is none.
func escapedRune(text string) (rune, bool) {
	if len(text) < 6 || text[:2] != `\u` {
		return 0, false
	}
	value, err := strconv.ParseUint(text[2:6], 16, 16)
	return rune(value), err == nil
}
