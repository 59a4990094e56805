package cosmos

import (
	"bytes"
	"encoding/json"
	"fmt"

	jsonv2 "github.com/go-json-experiment/json"
	jsonv1 "github.com/go-json-experiment/json/v1"
)

// EncodeItem returns the JSON of an item as it is stored. Unlike json.Marshal, it does not
// escape characters for HTML.
func EncodeItem(item any) ([]byte, error) {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(item); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// sameAsV1 makes jsonv2 accept the same texts as encoding/json, with the same results. Only its
// errors differ: it stops at the first value of a wrong type, and words them otherwise.
var sameAsV1 = jsonv2.JoinOptions(jsonv1.DefaultOptionsV1(), jsonv1.ReportErrorsWithLegacySemantics(false))

// Decode decodes the JSON of an item as encoding/json does, in half of its time. After an error,
// the item may be decoded in part. The error is a *blog.Error, and permanent (IsPermanent).
func Decode(text []byte, to any) error {
	if err := unmarshal(text, to); err != nil {
		return ToBlogError(decodeError{fmt.Errorf("decoding an item: %s", err)})
	}
	return nil
}

func unmarshal(text []byte, to any) error { return jsonv2.Unmarshal(text, to, sameAsV1) }

// decodeError is the error of an item that cannot be decoded.
type decodeError struct{ error }

// decodePage appends the items of a page of a query. A page whose envelope is malformed is not a
// permanent error, because it does not come from an item.
func decodePage[T any](items []T, body []byte) ([]T, error) {
	if len(body) == 0 {
		return items, nil // as azcosmos
	}
	clear(items[len(items):cap(items)]) // unmarshal merges into what is there
	page := struct{ Documents []T }{items[len(items):]}
	if unmarshal(body, &page) == nil {
		return append(items, page.Documents...), nil
	}
	var envelope struct{ Documents []json.RawMessage }
	if err := json.Unmarshal(body, &envelope); err != nil {
		return nil, ToBlogError(fmt.Errorf("decoding a page: %s", err))
	}
	for _, text := range envelope.Documents {
		var item T
		if err := Decode(text, &item); err != nil {
			return nil, err
		}
		items = append(items, item)
	}
	return items, nil
}
