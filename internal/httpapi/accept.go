package httpapi

import (
	"mime"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// The media types of answers. With the newer one the status tells that a request was refused; with the older one see
// documentStatus.
const (
	graphQLResponseType = "application/graphql-response+json; charset=utf-8"
	jsonType            = "application/json; charset=utf-8"
)

// answerType gives the media type in which a request wants its answer (RFC 9110, section 12.5.1): the one of higher
// quality; of the same quality, the one that is named first; the older one where neither is, or where none can be had. The
// draft leaves a choice there, between this and 406: a client that can read nothing else is told in JSON what it did.
func answerType(r *http.Request) string {
	ranges := strings.Split(strings.Join(r.Header.Values("Accept"), ","), ",")
	newer, older := preferenceFor("application/graphql-response+json", ranges), preferenceFor("application/json", ranges)
	if newer.quality > older.quality || newer.quality > 0 && newer.quality == older.quality && newer.place < older.place {
		return graphQLResponseType
	}
	return jsonType
}

// preference is what an Accept header says of a media type.
type preference struct {
	quality float64 // 0 where it cannot be had
	place   int     // in the header, of what was said
}

// preferenceFor looks a media type up in the ranges of an Accept header. The narrowest range that holds it counts.
func preferenceFor(mediaType string, ranges []string) (p preference) {
	narrowest := 0
	for place, text := range ranges {
		name, parameters, err := mime.ParseMediaType(text)
		narrow := slices.Index([]string{"*/*", "application/*", mediaType}, name) + 1
		if err != nil || narrow <= narrowest || !isUTF8(parameters) {
			continue
		}
		narrowest, p = narrow, preference{qualityOf(parameters), place}
	}
	return p
}

// qualityOf gives the weight of a range, 1 where it says none.
func qualityOf(parameters map[string]string) float64 {
	if quality, err := strconv.ParseFloat(parameters["q"], 64); err == nil {
		return quality
	}
	return 1
}

// isUTF8 tells whether a media type's parameters name no other charset than the one that JSON has (RFC 8259, section 8.1).
func isUTF8(parameters map[string]string) bool {
	charset, named := parameters["charset"]
	return !named || strings.EqualFold(charset, "utf-8")
}
