package price

import (
	"reflect"

	"github.com/vektah/gqlparser/v2/ast"

	"cosmosblog/internal/blog"
)

// text is a variable in the arguments of a field that has a price for their texts. Its value counts
// at each field that uses it, because each writes it.
type text struct {
	name         string
	defaultValue *ast.Value // nil if there is none
}

// bytesOf returns the size of the texts in a value of a document, in bytes of UTF-8. It appends the
// variables in it to texts.
func (p *preparation) bytesOf(value *ast.Value, texts *[]text) (bytes float64) {
	switch value.Kind {
	case ast.Variable:
		t := text{name: value.Raw}
		if definition := value.VariableDefinition; definition != nil {
			t.defaultValue = definition.DefaultValue
		}
		*texts = append(*texts, t)
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
	for _, t := range p.texts {
		if value, ok := variables[t.name]; ok {
			bytes += textBytes(value)
		} else if t.defaultValue != nil {
			bytes += new(preparation).bytesOf(t.defaultValue, new([]text)) // it contains no variables
		}
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
