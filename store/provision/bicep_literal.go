package provision

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
)

// object is a JSON object whose properties keep their order.
type object []property

type property struct {
	name  string
	value any
}

// MarshalJSON writes the properties in their order.
func (o object) MarshalJSON() ([]byte, error) {
	b := []byte{'{'}
	for i, p := range o {
		if i > 0 {
			b = append(b, ',')
		}
		name, err := json.Marshal(p.name)
		if err != nil {
			return nil, err
		}
		value, err := json.Marshal(p.value)
		if err != nil {
			return nil, err
		}
		b = append(append(append(b, name...), ':'), value...)
	}
	return append(b, '}'), nil
}

// bicepLiteral returns a value as a Bicep literal, with the properties of its JSON. indent is
// the indentation of the line on which the literal begins, in steps of two spaces.
func bicepLiteral(value any, indent int) (string, error) {
	text, err := json.Marshal(value)
	if err != nil {
		return "", err
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	var w bicepWriter
	if err := w.value(decoder, indent); err != nil {
		return "", err
	}
	return w.String(), nil
}

// bicepWriter converts JSON tokens to Bicep, in their order.
type bicepWriter struct{ strings.Builder }

func (w *bicepWriter) value(from *json.Decoder, indent int) error {
	token, err := from.Token()
	if err != nil {
		return err
	}
	switch token := token.(type) {
	case json.Delim:
		return w.composite(from, token, indent)
	case string:
		w.WriteString(bicepString(token))
	case nil:
		w.WriteString("null")
	default:
		fmt.Fprint(w, token) // a number, true or false
	}
	return nil
}

// composite writes an object or an array after its opening delimiter, with one property or
// element a line.
func (w *bicepWriter) composite(from *json.Decoder, opening json.Delim, indent int) error {
	w.WriteString(opening.String())
	empty := !from.More()
	for from.More() {
		w.newLine(indent + 1)
		if opening == '{' {
			name, err := from.Token()
			if err != nil {
				return err
			}
			w.WriteString(bicepName(name.(string)) + ": ")
		}
		if err := w.value(from, indent+1); err != nil {
			return err
		}
	}
	closing, err := from.Token()
	if err != nil {
		return err
	}
	if !empty {
		w.newLine(indent)
	}
	fmt.Fprint(w, closing)
	return nil
}

func (w *bicepWriter) newLine(indent int) {
	w.WriteString("\n" + strings.Repeat("  ", indent))
}

var bicepIdentifier = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

func bicepName(name string) string {
	if bicepIdentifier.MatchString(name) {
		return name
	}
	return bicepString(name)
}

// bicepString returns a string literal. A text of several lines is written verbatim between
// triple quotes, where nothing is escaped and the first line break is not part of the text. A
// text that does not fit this form is escaped on one line (strings in "Data types in Bicep").
func bicepString(text string) string {
	verbatim := strings.Contains(text, "\n") && !strings.Contains(text, "\r") &&
		!strings.Contains(text, "'''") && !strings.HasSuffix(text, "'")
	if verbatim {
		return "'''\n" + text + "'''"
	}
	var b strings.Builder
	b.WriteByte('\'')
	for _, r := range text {
		switch {
		case strings.ContainsRune(`\'$`, r):
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\r':
			b.WriteString(`\r`)
		case r == '\t':
			b.WriteString(`\t`)
		case r < ' ':
			fmt.Fprintf(&b, `\u{%x}`, r)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('\'')
	return b.String()
}
