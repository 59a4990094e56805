package strictjson

import (
	"encoding/json"
	"fmt"
	"io"
	"reflect"
	"strings"
	"testing"

	"cosmosblog/guard/limits"
)

// referenceJSON is Parse, written with the decoder of encoding/json.
func referenceJSON(text string) (any, error) {
	if !IsUnicode(text) {
		return nil, errJSON
	}
	reader := referenceReader{decoder: json.NewDecoder(strings.NewReader(text)), left: limits.JSONValues}
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

type referenceReader struct {
	decoder *json.Decoder
	left    int
}

func (r *referenceReader) token() (json.Token, error) {
	if r.left--; r.left < 0 {
		return nil, errJSON
	}
	return r.decoder.Token()
}

func (r *referenceReader) value(depth int) (any, error) {
	token, err := r.token()
	delimiter, nested := token.(json.Delim)
	switch {
	case err != nil || !nested:
		return token, err
	case depth == limits.JSONDepth:
		return nil, errJSON
	case delimiter == '{':
		return r.object(depth + 1)
	}
	list := []any{}
	for r.decoder.More() {
		value, err := r.value(depth + 1)
		if err != nil {
			return nil, err
		}
		list = append(list, value)
	}
	_, err = r.decoder.Token()
	return list, err
}

func (r *referenceReader) object(depth int) (any, error) {
	object := map[string]any{}
	for r.decoder.More() {
		token, err := r.token()
		if err != nil {
			return nil, err
		}
		name, _ := token.(string)
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

// jsonTexts are texts at the edges of JSON's grammar and of the limits.
var jsonTexts = []string{
	``, ` `, `null`, `nul`, `nullx`, `true`, `false`, `tru`, ` true `, "\ttrue\r\n", `true false`, "\u00a0true", "\ufefftrue",
	`0`, `-0`, `01`, `-`, `+1`, `1.`, `.5`, `1.5`, `1e5`, `1E+5`, `1e-05`, `1e`, `1e+`, `1.e1`, `--1`, `0x1`, `1_0`, `1e1.5`, `1 2`, `1e999999`, `Infinity`,
	`""`, `"a"`, `"a`, `"`, `'a'`, "\"\n\"", "\"\x00\"", "\"\x7f\"", "\"\xff\"", "\"ü\u2028\"", `"\"\\\/\b\f\n\r\t"`, `"\"`, `"\`, `\`, `"\x"`, `"\u"`, `"\u12"`,
	`"\u12"x`, `"\u00e9\u00E9"`, `"\u0000"`, `"\u+123"`, `"\ud83d\ude00"`, `"\ud83d"`, `"\ude00\ud83d"`, `"\ud83dx"`, `"\ud83d\n"`, `"a\nb\u0041c"`, `"\\ud83d"`,
	`[]`, `[ ]`, `[1]`, `[1,2]`, `[1,]`, `[,1]`, `[1 2]`, `[1`, `[`, `]`, `[1}`, `[[],{}]`, `[null , "a",{"b" : [ ]}]`,
	`{}`, `{ }`, `{"a":1}`, `{"a":1,"b":{"a":2}}`, `{"a":1,"a":2}`, `{"a":1,"\u0061":2}`, `{"":1}`, `{"a":1,}`, `{,}`, `{"a"}`, `{"a":}`, `{"a" 1}`, `{a:1}`, `{1:1}`, `{"a":1`, `{"a":1]`, `{"a":1 "b":2}`,
	`{"query":"{a}","variables":{"n":1.50,"list":[true,null,"x\ty"]}}`,
	strings.Repeat("[", limits.JSONDepth) + strings.Repeat("]", limits.JSONDepth),
	strings.Repeat("[", limits.JSONDepth+1) + strings.Repeat("]", limits.JSONDepth+1),
	strings.Repeat(`{"a":`, limits.JSONDepth+1) + "1" + strings.Repeat("}", limits.JSONDepth+1),
	manyMembers(limits.JSONValues/2 - 1), manyMembers(limits.JSONValues / 2),
	"[" + strings.Repeat("1,", limits.JSONValues-2) + "1]", "[" + strings.Repeat("1,", limits.JSONValues-1) + "1]",
}

// manyMembers returns an object with n members.
func manyMembers(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `,"m%d":0`, i)
	}
	return "{" + b.String()[1:] + "}"
}

func checkJSON(t *testing.T, text string) {
	t.Helper()
	want, wantErr := referenceJSON(text)
	got, err := Parse(text)
	if (err == nil) != (wantErr == nil) || err == nil && !reflect.DeepEqual(got, want) {
		t.Errorf("%.200q: got %v, %v, but encoding/json reads %v, %v", text, got, err, want, wantErr)
	}
}

// TestParse compares Parse with encoding/json, on every text and each of its prefixes.
func TestParse(t *testing.T) {
	for _, text := range jsonTexts {
		checkJSON(t, text)
		for n := range min(len(text), 100) {
			checkJSON(t, text[:n])
			checkJSON(t, text[:n]+text[n+1:])
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, text := range jsonTexts {
		f.Add(text)
	}
	f.Fuzz(checkJSON)
}
