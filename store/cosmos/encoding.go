package cosmos

import (
	"bytes"
	"encoding/json"
	"fmt"
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

// Decode decodes the JSON of an item. Its error is a *blog.Error, and permanent (IsPermanent).
func Decode(text []byte, to any) error {
	if err := json.Unmarshal(text, to); err != nil {
		return ToBlogError(fmt.Errorf("decoding an item: %w", err))
	}
	return nil
}

// DecodeItems decodes texts and appends the items to items.
func DecodeItems[T any](items []T, texts [][]byte) ([]T, error) {
	for _, text := range texts {
		var item T
		if err := Decode(text, &item); err != nil {
			return nil, err
		}
		items = append(items, item)
	}
	return items, nil
}
