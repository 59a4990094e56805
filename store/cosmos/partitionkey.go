package cosmos

import (
	"net/http"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
)

// partitionKeyPolicy writes the partition key of a request as JSON in ASCII. azcosmos 1.5.0 quotes
// it as Go does, which is no JSON for characters beyond U+FFFF and some control characters. The
// gateway takes only ASCII in this header (azure-sdk-for-java pull request 47881).
type partitionKeyPolicy struct{}

func (partitionKeyPolicy) Do(request *policy.Request) (*http.Response, error) {
	header := request.Raw().Header
	if key := header.Get(PartitionKeyHeader); needsEscapes(key) {
		header.Set(PartitionKeyHeader, asciiJSON(key))
	}
	return request.Next()
}

// needsEscapes reports whether a JSON text may have escapes of Go, or characters beyond ASCII.
func needsEscapes(text string) bool {
	for i := range len(text) {
		if text[i] >= utf8.RuneSelf || text[i] == '\\' {
			return true
		}
	}
	return false
}

// asciiJSON returns a JSON text in ASCII, with surrogate pairs for characters beyond U+FFFF. The
// strings of text may also have the escapes of Go that JSON lacks: \a, \v, \x7f and \U00020bb7.
func asciiJSON(text string) string {
	var b strings.Builder
	for i := 0; i < len(text); {
		if text[i] != '\\' || i+1 == len(text) {
			r, size := utf8.DecodeRuneInString(text[i:])
			appendRune(&b, r)
			i += size
			continue
		}
		switch text[i+1] {
		case 'a', 'v', 'x', 'U':
			r, _, rest, err := strconv.UnquoteChar(text[i:], '"')
			if err != nil {
				return text // neither JSON nor Go: the account rejects it
			}
			appendRune(&b, r)
			i = len(text) - len(rest)
		default:
			b.WriteString(text[i : i+2])
			i += 2
		}
	}
	return b.String()
}

func appendRune(b *strings.Builder, r rune) {
	switch {
	case r >= ' ' && r < utf8.RuneSelf && r != 0x7f:
		b.WriteByte(byte(r))
	case r > 0xFFFF:
		high, low := utf16.EncodeRune(r)
		appendRune(b, high)
		appendRune(b, low)
	default:
		const hex = "0123456789abcdef"
		b.WriteString(`\u`)
		for shift := 12; shift >= 0; shift -= 4 {
			b.WriteByte(hex[r>>shift&0xF])
		}
	}
}
