package price

import (
	"reflect"

	"github.com/vektah/gqlparser/v2/ast"

	"cosmosblog/blog"
)

// bytesOf returns the size of the texts in a value of a document, in bytes of UTF-8. It appends the
// names of the variables in it to texts: their values count at each field that uses them, because
// each writes them.
func (p *preparation) bytesOf(value *ast.Value, texts *[]string) (bytes float64) {
	switch value.Kind {
	case ast.Variable:
		*texts = append(*texts, value.Raw)
		p.texts++
	case ast.StringValue, ast.BlockValue:
		return sizeOfText(value.Raw)
	}
	for _, child := range value.Children {
		bytes += p.bytesOf(child.Value, texts)
	}
	return bytes
}

// textCost returns the cost of the texts in a field's arguments.
func (p *part) textCost(variables map[string]any) float64 {
	if p.priced.perKiB == 0 {
		return 0
	}
	bytes := p.bytes
	for _, variable := range p.texts {
		bytes += textBytes(variables[variable])
	}
	return p.priced.perKiB * bytes / 1024
}

// sizeOfText returns the size of a text in bytes. A text that is longer than any that is accepted
// counts as the longest one: the resolver rejects it, and its error names the field.
func sizeOfText(text string) float64 { return float64(min(len(text), blog.MaxContentBytes)) }

// textBytes returns the size of the texts in a value of a variable.
func textBytes(value any) (bytes float64) {
	switch v := value.(type) {
	case string:
		return sizeOfText(v)
	case []any:
		for _, element := range v {
			bytes += textBytes(element)
		}
	case map[string]any:
		for _, member := range v {
			bytes += textBytes(member)
		}
	default:
		// gqlparser coerces a single value in a variable to a typed slice, for example a []string.
		if list := reflect.ValueOf(value); list.Kind() == reflect.Slice {
			for i := range list.Len() {
				bytes += textBytes(list.Index(i).Interface())
			}
		}
	}
	return bytes
}
