package query

import "cosmosblog/engine/value"

// distinct drops results that equal an earlier one.
func distinct(source results) results {
	seen := make(map[string]bool)
	var text []byte
	return func() (result, bool, error) {
		for {
			r, ok, err := source()
			if err != nil || !ok {
				return result{}, false, err
			}
			text = appendCanonical(text[:0], r.value)
			if !seen[string(text)] {
				seen[string(text)] = true
				return r, true, nil
			}
		}
	}
}

// appendCanonical appends v as JSON with its properties sorted by name, so that equal values
// have the same text.
func appendCanonical(text []byte, v value.Value) []byte {
	if items, ok := v.AsArray(); ok {
		text = append(text, '[')
		for _, item := range items {
			text = append(appendCanonical(text, item), ',')
		}
		return append(text, ']')
	}
	if v.Kind() != value.KindObject {
		return value.Append(text, v)
	}
	text = append(text, '{')
	names, values := v.Sorted()
	for i, name := range names {
		text = append(value.AppendString(text, name), ':')
		text = append(appendCanonical(text, values[i]), ',')
	}
	return append(text, '}')
}
