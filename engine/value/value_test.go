package value

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"cosmosblog/proof/testseed"

	"pgregory.net/rapid"
)

// anyValue generates values of every kind, nested up to depth levels.
func anyValue(depth int) *rapid.Generator[Value] {
	return rapid.Custom(func(t *rapid.T) Value {
		kinds := 5
		if depth > 0 {
			kinds = 7
		}
		switch Kind(rapid.IntRange(1, kinds-1).Draw(t, "kind")) {
		case KindNull:
			return Null
		case KindBool:
			return Bool(rapid.Bool().Draw(t, "bool"))
		case KindNumber:
			return anyNumber().Draw(t, "number")
		case KindString:
			return String(rapid.String().Draw(t, "string"))
		case KindArray:
			return Array(rapid.SliceOfN(anyValue(depth-1), 0, 4).Draw(t, "items"))
		}
		names := rapid.SliceOfNDistinct(rapid.String(), 0, 4, rapid.ID).Draw(t, "names")
		return Object(names, rapid.SliceOfN(anyValue(depth-1), len(names), len(names)).Draw(t, "values"))
	})
}

func TestPrintedValuesRoundTrip(t *testing.T) {
	testseed.Check(t, func(t *rapid.T) {
		v := anyValue(3).Draw(t, "value")
		text := Append(nil, v)
		if !json.Valid(text) {
			t.Fatalf("%q is not JSON", text)
		}
		back, err := Parse(text)
		if err != nil || !Equal(v, back) || string(Append(nil, back)) != string(text) {
			t.Fatalf("%q parsed as %v, %v", text, back, err)
		}
	})
}

// TestNumbersAreWrittenAsInJavaScript compares with encoding/json, which also follows
// JavaScript.
func TestNumbersAreWrittenAsInJavaScript(t *testing.T) {
	testseed.Check(t, func(t *rapid.T) {
		n := rapid.OneOf(rapid.Float64(), rapid.Float64Range(-1e-5, 1e-5), rapid.SampledFrom([]float64{1e-7, 1.5e-10, 1e21, 1e-300})).Draw(t, "n")
		if isLong(n) {
			t.Skip("integers have all their digits")
		}
		want, err := json.Marshal(n)
		if got := Append(nil, Number(n)); err != nil || n != 0 && string(got) != string(want) {
			t.Fatalf("%s, want %s, %v", got, want, err)
		}
	})
}

// TestAppendUpTo checks that short texts are complete and that longer ones end soon after the
// limit.
func TestAppendUpTo(t *testing.T) {
	testseed.Check(t, func(t *rapid.T) {
		v := anyValue(3).Draw(t, "value")
		whole := string(Append(nil, v))
		most := rapid.IntRange(0, 2*len(whole)).Draw(t, "most")
		got := string(AppendUpTo(nil, v, most))
		if len(whole) <= most && got != whole || len(whole) > most && len(got) <= most {
			t.Fatalf("at most %d bytes of %q: %q", most, whole, got)
		}
	})
	endless := True
	for range 64 {
		endless = Array([]Value{endless, endless})
	}
	if n := len(AppendUpTo(nil, endless, 1000)); n > 2000 {
		t.Errorf("AppendUpTo wrote %d bytes, want at most 2000", n)
	}
	if n := endless.Footprint(1000); n < 1000 || n > 10_000 {
		t.Errorf("footprint %d, want 1000 to 10,000", n)
	}
}

func TestParseAgreesWithEncodingJSON(t *testing.T) {
	texts := []string{`{}`, `[]`, `""`, `1`, `-0`, `1e3`, `0.5`, `01`, `1.`, `.5`, `-`, `+1`, `1e`, `tru`, `true`, `nul`, ` [ 1 , 2 ] `, `[1,]`, `[,1]`,
		`{"a":1,}`, `{"a"}`, `{a:1}`, `{"a":1 "b":2}`, `"\u00e9\ud83d\ude00\n"`, `"\x"`, `"\u12"`, `"a`, "\"\n\"", `[1] 2`, ``, ` `, `{"a":{"b":[null,false]}}`, `[[[[]]]]`, `]`, `1e400`, `"\ud800"`}
	for _, text := range texts {
		_, err := Parse([]byte(text))
		var x any
		if want := json.Unmarshal([]byte(text), &x); (err == nil) != (want == nil) {
			t.Errorf("%q: %v, encoding/json: %v", text, err, want)
		}
	}
	if _, err := Parse([]byte("\"\xff\"")); err == nil {
		t.Error("Parse accepted invalid UTF-8")
	}
	if _, err := Parse([]byte(strings.Repeat("[", 100_000))); err == nil {
		t.Error("Parse accepted unlimited nesting")
	}
}

func TestKeysHaveTheOrderOfValues(t *testing.T) {
	scalar := anyValue(0)
	testseed.Check(t, func(t *rapid.T) {
		a, b, next := scalar.Draw(t, "a"), scalar.Draw(t, "b"), scalar.Draw(t, "next")
		for _, descending := range []bool{false, true} {
			want := Compare(a, b)
			if descending {
				want = -want
			}
			keyA := AppendKey(AppendKey([]byte("prefix"), a, descending), next, false)
			keyB := AppendKey(AppendKey([]byte("prefix"), b, descending), next, false)
			if got := bytes.Compare(keyA, keyB); got != want {
				t.Fatalf("keys of %v and %v (descending %v) compare as %d, want %d", a, b, descending, got, want)
			}
		}
	})
}

func TestOrderOfKinds(t *testing.T) {
	ordered := []Value{Undefined, Null, False, True, Number(-1), Number(0), Number(2), String(""), String("a"), Array(nil), Object(nil, nil)}
	if !slices.IsSortedFunc(ordered, Compare) {
		t.Error("the kinds are not in the order of the service")
	}
	if Compare(Number(math.Copysign(0, -1)), Number(0)) != 0 {
		t.Error("minus zero and zero are not equal")
	}
}

func TestObjectsWithManyNames(t *testing.T) {
	text := []byte(`{"n0":0`)
	for i := 1; i < 5000; i++ {
		text = append(text, `,"n`...)
		text = append(appendNumber(text, Number(float64(i%4000))), `":1`...)
	}
	v, err := Parse(append(text, '}'))
	if err != nil || v.Len() != 4000 {
		t.Errorf("%d properties, %v", v.Len(), err)
	}
}

func TestChangedLeaves(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{
		{`{"a":1,"b":"x"}`, `{"a":1,"b":"x"}`, 0},
		{`{"a":1,"b":"x"}`, `{"b":"x","a":2}`, 1},
		{`{"a":1}`, `{"b":1}`, 2},
		{`{"a":[1,2,3]}`, `{"a":[1,2]}`, 1},
		{`{"a":{"b":1}}`, `{"a":5}`, 1},
	} {
		a, _ := Parse([]byte(c.a))
		b, _ := Parse([]byte(c.b))
		if got := ChangedLeaves(a, b); got != c.want {
			t.Errorf("ChangedLeaves(%s, %s) = %d, want %d", c.a, c.b, got, c.want)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(`{"a":[1,"\u0000",null]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		v, err := Parse(text)
		if err != nil {
			return
		}
		if !json.Valid(text) {
			t.Errorf("Parse accepted %q, which is not JSON", text)
		}
		back, err := Parse(Append(nil, v))
		if err != nil || !Equal(v, back) {
			t.Errorf("%q printed as %v, parsed back as %v, %v", text, v, back, err)
		}
	})
}

// FuzzString checks that strings have the value that encoding/json finds, or are rejected by both.
func FuzzString(f *testing.F) {
	for _, text := range []string{`a\n\"\\\/\b\f\r\tz`, `\u00e9\uD83D\ude00`, `\ud83d`, `\ud83d\u0041`, `\ud83d\ud83d\ude00`, `\ude00x`, `\u12`, `\u+123`,
		`\u-001`, `\u0_11`, `\x`, `\`, "\n\x01", "\\n\x1f", `\u000`, `\ud83d\u12`, "é\\té"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		text = `"` + text + `"`
		var want string
		wantErr := json.Unmarshal([]byte(text), &want)
		got, err := Parse([]byte(text))
		if !utf8.ValidString(text) {
			wantErr = errors.New("not UTF-8") // which encoding/json replaces
		}
		if (err == nil) != (wantErr == nil) || err == nil && !Equal(got, String(want)) {
			t.Errorf("%s is %v, %v; want %q, %v", text, got, err, want, wantErr)
		}
	})
}

func TestMinusZeroAndZeroHaveTheSameKey(t *testing.T) {
	if plus, minus := AppendKey(nil, Number(0), false), AppendKey(nil, Number(math.Copysign(0, -1)), false); string(plus) != string(minus) {
		t.Errorf("keys %x and %x differ", plus, minus)
	}
}

// TestParsePropertiesEqualsParse checks the properties of random objects, present and missing.
func TestParsePropertiesEqualsParse(t *testing.T) {
	testseed.Check(t, func(t *rapid.T) {
		names := rapid.SliceOfNDistinct(rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{`"`, `\`, `\"`, "\n", "a"})), 0, 6, rapid.ID).Draw(t, "names")
		whole := Object(names, rapid.SliceOfN(anyValue(3), len(names), len(names)).Draw(t, "values"))
		wanted := rapid.SliceOfNDistinct(rapid.OneOf(rapid.String(), rapid.SampledFrom(append(names, "a"))), 0, 6, rapid.ID).Draw(t, "wanted")
		parts, err := ParseProperties(Append(nil, whole), wanted)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range wanted {
			if !Equal(parts.Get(name), whole.Get(name)) {
				t.Fatalf("%q of %v is %v, want %v", name, whole, parts.Get(name), whole.Get(name))
			}
		}
	})
}

// FuzzParseProperties checks that no text makes ParseProperties panic, and that it agrees with
// Parse about a valid one.
func FuzzParseProperties(f *testing.F) {
	f.Add([]byte(`{"a":[1,"\u0000]\\"],"\"":{"b":null},"b":-1}`))
	for _, damaged := range []string{`{`, `{"a"`, `{"a":`, `{"a":,"b":1}`, `{"a":1`, `{"a":1]`, `{"a":[1}`, `{"a":"\"}`, `[]`, `{"\x":1}`, `{"a":1,}`} {
		f.Add([]byte(damaged))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		parts, err := ParseProperties(text, []string{"b", "none"})
		whole, wholeErr := Parse(text)
		if wholeErr != nil || whole.Kind() != KindObject || string(Append(nil, whole)) != string(text) {
			return
		}
		if err != nil || !Equal(parts.Get("b"), whole.Get("b")) || !Equal(parts.Get("none"), whole.Get("none")) {
			t.Errorf("%s has %v, %v", text, parts, err)
		}
	})
}
