package httpapi

import (
	"mime"
	"net/http"
	"strconv"
	"strings"
)

// The media types of answers. With the newer one the status tells that a request was refused; with the older one the
// status is 200 for whatever was understood as a request, because clients of that time read the body of no other.
const (
	graphQLResponseType = "application/graphql-response+json; charset=utf-8"
	jsonType            = "application/json; charset=utf-8"
)

// answerType gives the media type in which a request wants its answer: the newer one where it is named and not liked
// less than the older one, otherwise the older one.
func answerType(r *http.Request) string {
	accept := strings.Join(r.Header.Values("Accept"), ",")
	if newer := quality(accept, "application/graphql-response+json"); newer > 0 && newer >= quality(accept, "application/json") {
		return graphQLResponseType
	}
	return jsonType
}

// quality gives the weight of a media type in an Accept header, 0 where it is not named (RFC 9110, section 12.4.2).
func quality(accept, mediaType string) float64 {
	for part := range strings.SplitSeq(accept, ",") {
		name, parameters, err := mime.ParseMediaType(part)
		if err != nil || name != mediaType {
			continue
		}
		q, err := strconv.ParseFloat(parameters["q"], 64)
		if err != nil {
			return 1
		}
		return q
	}
	return 0
}
