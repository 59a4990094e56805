package config_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"cosmosblog/cli/config"
)

func TestOrigins(t *testing.T) {
	for text, want := range map[string]string{
		"":                         "",
		"https://blog.example.com": "",
		"https://blog.example.com, http://localhost:5173,http://[::1]:3000": "",
		"*":                             "no wildcard",
		"https://*.example.com":         "not an origin",
		"null":                          "not an origin",
		"blog.example.com":              "not an origin",
		"ftp://blog.example.com":        "not an origin",
		"https://me@blog.example.com":   "as browsers do, https://blog.example.com",
		"https://blog.example.com/":     "as browsers do, https://blog.example.com",
		"https://blog.example.com?":     "as browsers do, https://blog.example.com",
		"https://Blog.example.com":      "as browsers do, https://blog.example.com",
		"https://blog.example.com:443":  "as browsers do, https://blog.example.com",
		"http://blog.example.com:80":    "as browsers do, http://blog.example.com",
		"https://blog.example.com:8443": "",
		"https://blog.example.com:":     "as browsers do, https://blog.example.com",
		"https://:8443":                 "not an origin",
		"https://bücher.example":        "xn--",
	} {
		c := config.Default(config.Serve)
		c.CORSOrigins = text
		wantError(t, "--cors-origins "+text, c.Check(config.Serve), want)
	}
}

func TestPages(t *testing.T) {
	const https, client = "https://blog.example.com", "blog"
	for _, c := range []struct{ pages, client, scope, issuer, want string }{
		{https, "", "", "", ""},
		{https, client, "openid api", "https://login.example.com", ""},
		{"http://127.0.0.1:8080", client, "openid", "https://login.example.com", ""},
		{"http://blog.example.com", "", "", "", ""},
		{"http://blog.example.com", client, "openid", "https://login.example.com", "use https"},
		{https + "/", "", "", "", "--pages contains"},
		{"blog.example.com", client, "openid", "https://login.example.com", "not an origin"},
		{"*", "", "", "", "no wildcard"},
		{"", client, "openid", "https://login.example.com", "--pages-client needs --pages"},
		{https, client, "openid", "", "--pages-client needs --pages and --issuer"},
		{https, client, "profile", "https://login.example.com", "openid"},
	} {
		s := config.Default(config.Serve)
		s.Production, s.Pages, s.PagesClient, s.PagesScope, s.Issuer = true, c.pages, c.client, c.scope, c.issuer
		if c.issuer != "" {
			s.Audience = "cosmosblog"
		}
		wantError(t, fmt.Sprint(c), s.Check(config.Serve), c.want)
		if s.ServesPages() != (c.pages != "") || c.pages != "" && !slices.Contains(s.Origins(), c.pages) {
			t.Errorf("%v: serves pages: %t, origins %v", c, s.ServesPages(), s.Origins())
		}
	}
}

func TestProxies(t *testing.T) {
	for text, want := range map[string]string{
		"":                          "[]",
		"10.0.0.0/8":                "[10.0.0.0/8]",
		"10.1.2.3/8, 192.0.2.7":     "[10.0.0.0/8 192.0.2.7/32]",
		"2001:db8::/32,::1":         "[2001:db8::/32 ::1/128]",
		"::ffff:10.1.2.3":           "[10.1.2.3/32]",
		"::ffff:10.0.0.0/104":       "neither an address nor a network",
		"10.0.0.0/33":               "neither an address nor a network",
		"proxy.example.com":         "neither an address nor a network",
		"10.0.0.0/8 192.168.0.0/16": "neither an address nor a network",
	} {
		c := config.Default(config.Serve)
		c.TrustedProxy = text
		got, err := c.Proxies(), c.Check(config.Serve)
		if err == nil && fmt.Sprint(got) != want || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("--trusted-proxy %s: %v, %v, want %s", text, got, err, want)
		}
	}
}

func TestLimits(t *testing.T) {
	for _, c := range []struct {
		change func(*config.Config)
		want   string // part of the error; empty if the limits are valid
	}{
		{func(c *config.Config) { c.Limits.Connections = 1 }, ""},
		{func(c *config.Config) { c.Limits.Connections = 0 }, "--max-connections must be at least 1"},
		{func(c *config.Config) { c.Limits.InFlight = -1 }, "--max-in-flight must be at least 1"},
		{func(c *config.Config) { c.Limits.Time = 0 }, "--timeout must be positive"},
		{func(c *config.Config) { c.Limits.Time = 15 * time.Second }, ""},
		{func(c *config.Config) { c.Limits.Time *= 3 }, "--timeout must be positive and at most 15s"},
		{func(c *config.Config) { c.Limits.Cost = 0 }, ""},
		{func(c *config.Config) { c.Limits.Cost = -1 }, "--cost-limit must not be negative"},
		{func(c *config.Config) { c.Limits.ClientStreams = 0 }, ""},
		{func(c *config.Config) { c.Limits.ClientStreams = -1 }, "--max-client-subscriptions must not be negative"},
	} {
		settings := config.Default(config.Serve)
		c.change(&settings)
		wantError(t, c.want, settings.Check(config.Serve), c.want)
	}
}

// wantError requires an error that contains want, or no error if want is empty.
func wantError(t *testing.T, name string, err error, want string) {
	t.Helper()
	if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
		t.Errorf("%s: got error %v, want %q", name, err, want)
	}
}
