package api

import (
	"mime"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// The media types of responses. With the newer type, the status shows that a request was
// rejected. For the older type, see documentStatus. An event stream has the answer in an event.
const (
	graphQLResponseType = "application/graphql-response+json; charset=utf-8"
	jsonType            = "application/json; charset=utf-8"
	eventStreamType     = "text/event-stream"
)

// contentTypes has the values of the header Content-Type. As those of securityHeaders, they are
// shared.
var contentTypes = map[string][]string{graphQLResponseType: {graphQLResponseType}, jsonType: {jsonType}, eventStreamType: {eventStreamType}}

// negotiateType returns the media type for the response to a request (RFC 9110, section 12.5.1).
//
// It returns the type with the highest quality. If several have the same quality, the one listed
// first wins. If none is listed or acceptable, it returns application/json. The draft allows
// this instead of a 406: the client receives its errors as JSON even if it asked for another
// type. The price of an operation is JSON in any case.
func negotiateType(r *http.Request) string {
	if accepted := r.Header["Accept"]; len(accepted) == 0 || len(accepted) == 1 && (accepted[0] == "application/json" || accepted[0] == "*/*") {
		return jsonType // without the cost of parsing what most clients send
	}
	ranges := mediaRanges(r)
	chosen, best := jsonType, preferenceOf(ranges, "application/json", "application/*", "*/*")
	if newer := preferenceOf(ranges, "application/graphql-response+json", "application/*", "*/*"); newer.isBefore(best) {
		chosen, best = graphQLResponseType, newer
	}
	if events := eventPreference(ranges); events.isBefore(best) && !asksForPriceOnly(r) {
		chosen = eventStreamType
	}
	return chosen
}

// acceptsEvents reports whether the client of a request understands server-sent events.
func acceptsEvents(r *http.Request) bool {
	return len(r.Header["Accept"]) > 0 && eventPreference(mediaRanges(r)).quality > 0
}

// acceptsHTML reports whether the client of a request is a browser that opens a page.
func acceptsHTML(r *http.Request) bool {
	return preferenceOf(mediaRanges(r), "text/html").quality > 0
}

// eventPreference returns the preference for an event stream. Only clients that name it get one:
// many send */* and would wait for its end.
func eventPreference(ranges []mediaRange) preference { return preferenceOf(ranges, eventStreamType) }

// preference is the preference of a header for one media type or content coding.
type preference struct {
	quality float64 // 0 if it is not acceptable
	index   int     // of the matching element of the header
}

// isBefore reports whether p is preferred to another preference.
func (p preference) isBefore(other preference) bool {
	return p.quality > other.quality || p.quality > 0 && p.quality == other.quality && p.index < other.index
}

// mediaRange is an element of an Accept header, in lower case.
type mediaRange struct {
	name string
	preference
}

// mediaRanges returns the elements of the Accept headers of a request, which are one list (RFC
// 9110, section 5.3). It leaves out malformed ones, and those of another charset than UTF-8.
func mediaRanges(r *http.Request) (ranges []mediaRange) {
	for index, text := range elements(strings.Join(r.Header["Accept"], ",")) {
		name, parameters, err := mime.ParseMediaType(text)
		if err == nil && isUTF8(parameters) {
			ranges = append(ranges, mediaRange{name, preference{qualityOf(parameters), index}})
		}
	}
	return ranges
}

// maxElements is the number of elements of an Accept header that are read. Browsers send eight.
const maxElements = 50

// elements splits a list at its commas, except those in quoted strings (RFC 9110, section 5.6). It
// returns the first maxElements.
func elements(list string) (all []string) {
	isQuoted, begin := false, 0
	for i := 0; i < len(list); i++ {
		switch c := list[i]; {
		case c == '"':
			isQuoted = !isQuoted
		case c == '\\' && isQuoted:
			i++
		case c == ',' && !isQuoted:
			if all = append(all, list[begin:i]); len(all) == maxElements {
				return all
			}
			begin = i + 1
		}
	}
	return append(all, list[begin:])
}

// preferenceOf returns the preference of the first name that is among the ranges. Of a media type
// and its wildcards, the most specific one counts, so it is the first.
func preferenceOf(ranges []mediaRange, names ...string) preference {
	for _, name := range names {
		if i := slices.IndexFunc(ranges, func(r mediaRange) bool { return r.name == name }); i >= 0 {
			return ranges[i].preference
		}
	}
	return preference{}
}

// qualityOf returns the weight of a media range; 1 if it has none, and 0 if it is malformed.
func qualityOf(parameters map[string]string) float64 {
	text, isSet := parameters["q"]
	if !isSet {
		return 1
	}
	quality, err := strconv.ParseFloat(text, 64)
	if err != nil || !(quality > 0) || quality > 1 {
		return 0 // also for NaN, which ParseFloat accepts
	}
	return quality
}

// isUTF8 reports whether a media type's parameters name no charset but UTF-8, the only charset of
// JSON (RFC 8259, section 8.1).
func isUTF8(parameters map[string]string) bool {
	charset, named := parameters["charset"]
	return !named || strings.EqualFold(charset, "utf-8")
}
