package api

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"
)

// recentNames remembers which names were logged in the current period. Anyone can send any name, so
// each is logged once per period, and at most maxRecentNames in all.
type recentNames struct {
	mu    sync.Mutex
	since time.Time
	names map[string]bool
}

const (
	recentPeriod   = time.Minute
	maxRecentNames = 10 // logged in a period
	maxOriginBytes = 253 + len("https://:65535")
)

// isNew reports whether a name is to be logged.
func (o *recentNames) isNew(name string, now time.Time) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.names == nil || now.Sub(o.since) >= recentPeriod {
		o.since, o.names = now, map[string]bool{}
	}
	if o.names[name] || len(o.names) >= maxRecentNames {
		return false
	}
	o.names[name] = true
	return true
}

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
