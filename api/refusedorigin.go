package api

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
)

const maxOriginBytes = 253 + len("https://:65535")

// logRefusedOrigin logs that a page was refused, and the setting that allows its origin. Browsers
// do not show a page's developer why its request failed. It does nothing without an Origin.
func (a *api) logRefusedOrigin(r *http.Request) {
	origins := r.Header.Values("Origin")
	if len(origins) == 0 {
		return
	}
	name := "(malformed)"
	isOrigin := len(origins) == 1 && isWellFormedOrigin(origins[0])
	if isOrigin || origins[0] == "null" {
		name = origins[0] // null is the origin of a file, and of a page in a sandbox
	}
	if !a.refused.isNew(name, a.Now()) {
		return
	}
	attributes := []any{"origin", name}
	if isOrigin {
		attributes = append(attributes, "allow", "--cors-origins "+strings.Join(slices.Concat(a.Origins, origins), ","))
	}
	a.Logger.WarnContext(r.Context(), "refused a web page of another origin", attributes...)
}

// isWellFormedOrigin reports whether text is a scheme with a host, and nothing else.
func isWellFormedOrigin(text string) bool {
	origin, err := url.Parse(text)
	return err == nil && len(text) <= maxOriginBytes && (origin.Scheme == "http" || origin.Scheme == "https") &&
		origin.Host != "" && text == origin.Scheme+"://"+origin.Host
}
