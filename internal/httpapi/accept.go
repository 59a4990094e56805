package httpapi

import (
	"mime"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// The media types of responses. With the newer type, the status shows that a request was
// rejected. For the older type, see documentStatus.
const (
	graphQLResponseType = "application/graphql-response+json; charset=utf-8"
	jsonType            = "application/json; charset=utf-8"
)

// contentTypes has the values of the header Content-Type. As those of securityHeaders, they are
// shared.
var contentTypes = map[string][]string{graphQLResponseType: {graphQLResponseType}, jsonType: {jsonType}}

// negotiateType returns the media type for the response to a request (RFC 9110, section 12.5.1).
//
// It returns the type with the higher quality. If both have the same quality, the one listed
// first wins. If neither is listed or acceptable, it returns application/json. The draft allows
// this instead of a 406: the client receives its errors as JSON even if it asked for another
// type.
func negotiateType(r *http.Request) string {
	if accepted := r.Header["Accept"]; len(accepted) == 0 || len(accepted) == 1 && (accepted[0] == "application/json" || accepted[0] == "*/*") {
		return jsonType // without the cost of parsing what most clients send
	}
	ranges := strings.Split(strings.Join(r.Header.Values("Accept"), ","), ",")
	newer, older := preferenceFor("application/graphql-response+json", ranges), preferenceFor("application/json", ranges)
	if newer.quality > older.quality || newer.quality > 0 && newer.quality == older.quality && newer.index < older.index {
		return graphQLResponseType
	}
	return jsonType
}

// preference is the preference of a header for one media type or content coding.
type preference struct {
	quality float64 // 0 if it is not acceptable
	index   int     // of the matching element of the header
}

// preferenceFor returns the preference for a media type in the ranges of an Accept header. The most
// specific matching range counts.
func preferenceFor(mediaType string, ranges []string) (p preference) {
	best := 0
	for index, text := range ranges {
		name, parameters, err := mime.ParseMediaType(text)
		specificity := slices.Index([]string{"*/*", "application/*", mediaType}, name) + 1
		if err != nil || specificity <= best || !isUTF8(parameters) {
			continue
		}
		best, p = specificity, preference{qualityOf(parameters), index}
	}
	return p
}

// qualityOf returns the weight of a media range; 1 if it has none.
func qualityOf(parameters map[string]string) float64 {
	if quality, err := strconv.ParseFloat(parameters["q"], 64); err == nil {
		return quality
	}
	return 1
}

// isUTF8 reports whether a media type's parameters name no charset but UTF-8, the only charset of
// JSON (RFC 8259, section 8.1).
func isUTF8(parameters map[string]string) bool {
	charset, named := parameters["charset"]
	return !named || strings.EqualFold(charset, "utf-8")
}
