package api

import "net/http"

// securityHeaders are the headers of every response. They stop browsers from using a response as
// anything other than data: browsers must not guess its type, execute it, frame it, cache it, embed
// it in pages of other sites, or send its address as a referrer. Web pages set their own policies.
// The proxy that terminates TLS sets Strict-Transport-Security, because this server does not speak
// TLS.
//
// All responses share the slices: Set replaces a slice, and Add copies it, because it has no spare
// capacity.
var securityHeaders = http.Header{
	"X-Content-Type-Options":       {"nosniff"},
	"Content-Security-Policy":      {"default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"},
	"X-Frame-Options":              {"DENY"},
	"Referrer-Policy":              {"no-referrer"},
	"Cross-Origin-Resource-Policy": {"same-origin"},
	"Cache-Control":                {"no-store"},
}
