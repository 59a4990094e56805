package config

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strings"
	"time"
	"unicode"

	"cosmosblog/internal/loopback"
)

// networkSettings configure browsers and proxies.
var networkSettings = []Setting{
	{
		Commands: []string{Serve},
		Flag:     "public-max-age", Env: "COSMOSBLOG_PUBLIC_MAX_AGE", Default: "0s",
		Meaning: "How long caches, such as a CDN, may serve an answer to everyone without asking the server, in " +
			"whole seconds up to a day. This applies to queries by GET without `Authorization` and " +
			"`Cosmosblog-Session` that select no field with `@viewer`. Edited and deleted posts can then be seen " +
			"as they were for so long. With 0s, no answer is shared.",
		field: func(c *Config) any { return &c.PublicMaxAge },
	},
	{
		Commands: []string{Serve},
		Flag:     "cors-origins", Env: "COSMOSBLOG_CORS_ORIGINS", Default: "",
		Meaning: "Origins whose web pages may call the API from a browser, separated by commas, such as " +
			"`https://blog.example.com`. The server's own origin is always allowed. There is no wildcard.",
		field: func(c *Config) any { return &c.CORSOrigins },
	},
	{
		Commands: []string{Serve},
		Flag:     "trusted-proxy", Env: "COSMOSBLOG_TRUSTED_PROXY", Default: "",
		Meaning: "Addresses or networks of the proxies in front of the server, separated by commas, such as " +
			"`10.0.0.0/8`. The server accepts `X-Forwarded-For` and `X-Forwarded-Host` from these proxies only.",
		field: func(c *Config) any { return &c.TrustedProxy },
	},
	{
		Commands: []string{Serve},
		Flag:     "pages", Env: "COSMOSBLOG_PAGES", Default: "",
		Meaning: "Serves the blog's web pages and the Atom feed in production too. The value is the origin at which " +
			"browsers reach this server, such as `https://blog.example.com`, with which links in the feed begin. In " +
			"development, the pages are always served.",
		field: func(c *Config) any { return &c.Pages },
	},
	{
		Commands: []string{Serve},
		Flag:     "pages-client", Env: "COSMOSBLOG_PAGES_CLIENT", Default: "",
		Meaning: "Client id of the pages at `--issuer`: a public client (PKCE) whose redirect URI is the value of " +
			"`--pages` and `/sign-in`. If it is not set, people can read the pages, and not sign in.",
		field: func(c *Config) any { return &c.PagesClient },
	},
	{
		Commands: []string{Serve},
		Flag:     "pages-scope", Env: "COSMOSBLOG_PAGES_SCOPE", Default: "openid profile offline_access",
		Meaning: "Scope that the pages ask the issuer for. Many issuers need a further one for tokens of this API. " +
			"Without `offline_access`, people sign in again when their token expires.",
		field: func(c *Config) any { return &c.PagesScope },
	},
}

// maxPublicMaxAge is one day, because nothing removes an edited or deleted post from the caches.
const maxPublicMaxAge = 24 * time.Hour

// Origins returns the origins in CORSOrigins, and that of the pages.
func (c *Config) Origins() []string {
	origins := splitList(c.CORSOrigins)
	if c.Pages != "" && !slices.Contains(origins, c.Pages) {
		origins = append(origins, c.Pages)
	}
	return origins
}

// ServesPages reports whether the server has the blog's pages.
func (c *Config) ServesPages() bool { return c.Pages != "" || c.Development() }

func (c *Config) checkPages() error {
	switch {
	case c.PagesClient != "" && (c.Pages == "" || c.Issuer == ""):
		return errors.New("--pages-client needs --pages and --issuer: it is the id of the pages at the issuer")
	case c.Pages == "":
		return nil
	case c.PagesClient != "" && !slices.Contains(strings.Fields(c.PagesScope), "openid"):
		return errors.New("--pages-scope must contain openid: without it, the issuer does not say who signs in")
	}
	origin, _ := parseHTTP(c.Pages)
	if c.PagesClient != "" && origin != nil && origin.Scheme == "http" && !loopback.Is(origin.Host) {
		return fmt.Errorf("--pages is %s, and anyone on the network could replace a page that signs people in: use https "+
			"(http is allowed on loopback only)", c.Pages)
	}
	return checkOrigin("--pages", c.Pages)
}

// checkOrigin requires the form in which browsers send an origin (RFC 6454, section 6.2). An
// origin in any other form would never match a request.
func checkOrigin(setting, text string) error {
	if text == "*" {
		return fmt.Errorf("%s has no wildcard: write each origin in full", setting)
	}
	origin, ok := parseHTTP(text)
	if !ok || origin.Hostname() == "" || strings.ContainsAny(origin.Host, "*@") {
		return fmt.Errorf("%s contains %q, which is not an origin like https://blog.example.com", setting, text)
	}
	if strings.ContainsFunc(origin.Host, func(r rune) bool { return r > unicode.MaxASCII }) {
		return fmt.Errorf("%s contains %q: write the host in ASCII (xn--…), as browsers do", setting, text)
	}
	host := strings.ToLower(origin.Host)
	defaultPort := map[string]string{"http": "80", "https": "443"}[origin.Scheme]
	if port := origin.Port(); port == "" || port == defaultPort {
		host = strings.TrimSuffix(host, ":"+port)
	}
	if want := origin.Scheme + "://" + host; text != want {
		return fmt.Errorf("%s contains %q: write it as browsers do, %s", setting, text, want)
	}
	return nil
}

// Proxies returns the networks in TrustedProxy. It skips invalid entries, which Check rejects.
func (c *Config) Proxies() []netip.Prefix {
	var networks []netip.Prefix
	for _, text := range splitList(c.TrustedProxy) {
		if network, err := parseNetwork(text); err == nil {
			networks = append(networks, network)
		}
	}
	return networks
}

// parseNetwork parses a network, or an address as a network of one address.
func parseNetwork(text string) (netip.Prefix, error) {
	if address, err := netip.ParseAddr(text); err == nil {
		address = address.Unmap().WithZone("")
		return address.Prefix(address.BitLen())
	}
	network, err := netip.ParsePrefix(text)
	if err == nil && network.Addr().Is4In6() {
		return netip.Prefix{}, &net.ParseError{Type: "network", Text: text}
	}
	return network.Masked(), err
}

// splitList splits text at commas and drops empty parts.
func splitList(text string) []string {
	var parts []string
	for part := range strings.SplitSeq(text, ",") {
		if part = strings.TrimSpace(part); part != "" {
			parts = append(parts, part)
		}
	}
	return parts
}

func (c *Config) checkNetwork() error {
	var faults []error
	for _, origin := range splitList(c.CORSOrigins) {
		faults = append(faults, checkOrigin("--cors-origins", origin))
	}
	for _, text := range splitList(c.TrustedProxy) {
		if _, err := parseNetwork(text); err != nil {
			faults = append(faults, fmt.Errorf(
				"--trusted-proxy contains %q, which is neither an address nor a network like 10.0.0.0/8", text))
		}
	}
	if age := c.PublicMaxAge; age != 0 && (age < time.Second || age > maxPublicMaxAge || age%time.Second != 0) {
		faults = append(faults, fmt.Errorf("--public-max-age must be 0s, or whole seconds from 1s to %v", maxPublicMaxAge))
	}
	return errors.Join(faults...)
}
