package price

import (
	"reflect"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"

	"cosmosblog/blog"
)

// textCost returns the cost of the texts in a field's arguments.
func (c *calculation) textCost(field graphql.CollectedField, priced *pricedField) float64 {
	if priced.perKiB == 0 {
		return 0
	}
	bytes := 0.0
	for _, argument := range field.Arguments {
		c.isConstant = c.isConstant && !hasVariable(argument.Value)
		bytes += c.bytesOf(argument.Value)
	}
	return priced.perKiB * bytes / 1024
}

// bytesOf returns the size of the texts in a value of a document, in bytes of UTF-8. The value of a
// variable counts at each field that uses it, because each writes it.
func (c *calculation) bytesOf(value *ast.Value) (bytes float64) {
	switch value.Kind {
	case ast.Variable:
		return textBytes(c.operation.Variables[value.Raw])
	case ast.StringValue, ast.BlockValue:
		return sizeOfText(value.Raw)
	}
	for _, child := range value.Children {
		bytes += c.bytesOf(child.Value)
	}
	return bytes
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
