package value

import (
	"bytes"
	"encoding/json"
	"math"
	"math/big"
	"strconv"
	"testing"

	"cosmosblog/proof/testseed"

	"pgregory.net/rapid"
)

// anyNumber generates doubles and integers, many of them beyond 2^53 and next to each other.
func anyNumber() *rapid.Generator[Value] {
	near := rapid.Custom(func(t *rapid.T) Value {
		i := rapid.SampledFrom([]int64{1 << 53, 1 << 60, 1234567824702058496, math.MaxInt64 - 2000}).Draw(t, "near")
		i += rapid.Int64Range(-1500, 1500).Draw(t, "distance")
		return Integer(rapid.SampledFrom([]int64{i, -i}).Draw(t, "sign"))
	})
	return rapid.OneOf(rapid.Map(rapid.Float64(), Number), rapid.Map(rapid.Int64(), Integer), near,
		rapid.Map(near, func(v Value) Value { return Number(v.number) }), rapid.Map(near, func(v Value) Value { return Script(v.number) }))
}

// exact returns a number without loss.
func exact(v Value) *big.Float {
	n := new(big.Float).SetPrec(2000).SetFloat64(v.number)
	return n.Add(n, new(big.Float).SetInt64(int64(v.rest)))
}

// TestIntegersKeepTheirDigits checks integers of 64 bits, which Azure/azure-sdk-for-js#13645 read
// from the service with all 19 digits, and Azure/azure-cosmos-dotnet-v3#4428 in queries too.
func TestIntegersKeepTheirDigits(t *testing.T) {
	for _, text := range []string{"9007199254740993", "-9007199254740993", "1234567824702058496", "1234567824702058497", "636341866924868914",
		"769308320146468865", "-2069524964357598447", "9223372036854775806", "9223372036854775807", "-9223372036854775807", "-9223372036854775808"} {
		v, err := Parse([]byte(text))
		i, ok := v.AsInteger()
		if err != nil || v.String() != text || !ok || strconv.FormatInt(i, 10) != text || Integer(i).String() != text {
			t.Errorf("%s is read as %v, %v, %d, %v", text, v, err, i, ok)
		}
	}
	testseed.Check(t, func(t *rapid.T) {
		i := rapid.Int64().Draw(t, "i")
		v, err := Parse(strconv.AppendInt(nil, i, 10))
		if got, ok := v.AsInteger(); err != nil || !ok || got != i || !Equal(v, Integer(i)) {
			t.Fatalf("%d is read as %v, %v", i, v, err)
		}
		if n, _ := v.AsNumber(); n != float64(i) {
			t.Fatalf("the double of %d is %v", i, n)
		}
	})
}

// TestOtherNumbersAreDoubles checks numbers outside of 64 bits, or with a fraction or an exponent.
func TestOtherNumbersAreDoubles(t *testing.T) {
	for text, want := range map[string]string{
		"9223372036854775808":     "9223372036854776000",
		"18446744073709551615":    "18446744073709552000",
		"-9223372036854777856":    "-9223372036854778000",
		"123456789012345678901":   "123456789012345680000",
		"9007199254740993.0":      "9007199254740992",
		"9.007199254740993e15":    "9007199254740992",
		"1e18":                    "1000000000000000000",
		"0.1234567890123456789":   "0.12345678901234568",
		"900719925474099.3000001": "900719925474099.2",
	} {
		v, err := Parse([]byte(text))
		if err != nil || v.String() != want {
			t.Errorf("%s is read as %v, %v, want %s", text, v, err, want)
		}
	}
	for _, n := range []float64{1 << 63, 1e300, 0.5, -9223372036854777856} {
		if i, ok := Number(n).AsInteger(); ok {
			t.Errorf("%v is the integer %d", n, i)
		}
	}
}

func TestNumbersCompareExactly(t *testing.T) {
	testseed.Check(t, func(t *rapid.T) {
		a, b := anyNumber().Draw(t, "a"), anyNumber().Draw(t, "b")
		want := exact(a).Cmp(exact(b))
		if got := Compare(a, b); got != want || Compare(a.Negated(), b.Negated()) != -want || Equal(a, b) != (want == 0) {
			t.Fatalf("%v and %v compare as %d, want %d", a, b, got, want)
		}
		if !Equal(a.Negated().Negated(), a) {
			t.Fatalf("%v negated twice is %v", a, a.Negated().Negated())
		}
	})
}

// TestNumbersOfScripts compares with encoding/json, which writes doubles as JavaScript does. Data
// folders have keys of such numbers only, from when every number was a double: these keys must not
// change.
func TestNumbersOfScripts(t *testing.T) {
	testseed.Check(t, func(t *rapid.T) {
		v := anyNumber().Draw(t, "v")
		n := v.number
		want, err := json.Marshal(n)
		got := Scripted(Array([]Value{v, Object([]string{"a"}, []Value{v})}))
		if err != nil || n != 0 && n != -1<<63 && got.String() != `[`+string(want)+`,{"a":`+string(want)+`}]` || got.At(0).number != n {
			t.Fatalf("%v: %v, want %s", v, got, want)
		}
		key := AppendKey(nil, got.At(0), false)
		if len(key) != 9 || !bytes.Equal(key, AppendKey(nil, Script(n), false)) {
			t.Fatalf("the key of %v is %x", got.At(0), key)
		}
	})
}

// TestKeyBounds checks that the bounds of a number divide the keys as the number does.
func TestKeyBounds(t *testing.T) {
	testseed.Check(t, func(t *rapid.T) {
		a, b := anyNumber().Draw(t, "a"), anyNumber().Draw(t, "b")
		next := rapid.SampledFrom([]Value{Undefined, True, String("a"), Object(nil, nil)}).Draw(t, "next")
		for _, descending := range []bool{false, true} {
			key := AppendKey(AppendKey(nil, a, descending), next, rapid.Bool().Draw(t, "descending"))
			before, after := AppendKeyBound(nil, b, descending, false), AppendKeyBound(nil, b, descending, true)
			got, want := 0, Compare(a, b)
			switch {
			case bytes.Compare(key, before) < 0:
				got = -1
			case bytes.Compare(key, after) >= 0:
				got = 1
			}
			if descending {
				want = -want
			}
			if got != want {
				t.Fatalf("the key of %v is at %d from the bounds of %v (descending %v), want %d", a, got, b, descending, want)
			}
		}
	})
}
