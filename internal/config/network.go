package config

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strings"
	"unicode"
)

// networkSettings are those of who stands between the server and its clients, and of what their browsers may do.
var networkSettings = []Setting{
	{
		Commands: []string{Serve},
		Flag:     "cors-origins", Env: "COSMOSBLOG_CORS_ORIGINS", Default: "",
		Meaning: "The web pages that may use the API from a browser, besides the server's own: origins as browsers write them, with commas between, such as `https://blog.example.com`. There is no sign for all.",
		field:   func(c *Config) any { return &c.CORSOrigins },
	},
	{
		Commands: []string{Serve},
		Flag:     "trusted-proxy", Env: "COSMOSBLOG_TRUSTED_PROXY", Default: "",
		Meaning: "The addresses or networks of the proxies in front of the server, with commas between, such as `10.0.0.0/8`. Only their word is taken for a client's address (`X-Forwarded-For`) and for the host that it called (`X-Forwarded-Host`).",
		field:   func(c *Config) any { return &c.TrustedProxy },
	},
}

// Origins lists what CORSOrigins names.
func (c *Config) Origins() []string { return list(c.CORSOrigins) }

// checkOrigin holds an origin to the one form in which browsers send it (RFC 6454, section 6.2): what differs from it by a
// letter would never be found.
func checkOrigin(text string) error {
	if text == "*" {
		return errors.New("--cors-origins has no sign for all: name the origins whose pages you know")
	}
	origin, ok := parseHTTP(text)
	if !ok || origin.Hostname() == "" || strings.ContainsAny(origin.Host, "*@") {
		return fmt.Errorf("--cors-origins has %q, which is not an origin like https://blog.example.com", text)
	}
	if strings.ContainsFunc(origin.Host, func(r rune) bool { return r > unicode.MaxASCII }) {
		return fmt.Errorf("--cors-origins has %q, whose name browsers write in ASCII: xn--…", text)
	}
	host := strings.ToLower(origin.Host)
	if port := origin.Port(); port == "" || port == map[string]string{"http": "80", "https": "443"}[origin.Scheme] {
		host = strings.TrimSuffix(host, ":"+port)
	}
	if want := origin.Scheme + "://" + host; text != want {
		return fmt.Errorf("--cors-origins has %q, which browsers write %s", text, want)
	}
	return nil
}

// Proxies lists the networks that TrustedProxy names. What is none, Check has refused.
func (c *Config) Proxies() []netip.Prefix {
	var networks []netip.Prefix
	for _, text := range list(c.TrustedProxy) {
		if network, err := parseNetwork(text); err == nil {
			networks = append(networks, network)
		}
	}
	return networks
}

// parseNetwork reads a network, or an address as a network of its own.
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

// list splits what has commas between.
func list(text string) []string {
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
	for _, origin := range c.Origins() {
		faults = append(faults, checkOrigin(origin))
	}
	for _, text := range list(c.TrustedProxy) {
		if _, err := parseNetwork(text); err != nil {
			faults = append(faults, fmt.Errorf("--trusted-proxy has %q, which is no address and no network like 10.0.0.0/8", text))
		}
	}
	return errors.Join(faults...)
}
