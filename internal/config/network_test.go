package config_test

import (
	"fmt"
	"strings"
	"testing"

	"cosmosblog/internal/config"
)

func TestOrigins(t *testing.T) {
	for text, says := range map[string]string{
		"":                         "",
		"https://blog.example.com": "",
		"https://blog.example.com, http://localhost:5173,http://[::1]:3000": "",
		"*":                             "no sign for all",
		"https://*.example.com":         "not an origin",
		"null":                          "not an origin",
		"blog.example.com":              "not an origin",
		"ftp://blog.example.com":        "not an origin",
		"https://me@blog.example.com":   "browsers write https://blog.example.com",
		"https://blog.example.com/":     "browsers write https://blog.example.com",
		"https://blog.example.com?":     "browsers write https://blog.example.com",
		"https://Blog.example.com":      "browsers write https://blog.example.com",
		"https://blog.example.com:443":  "browsers write https://blog.example.com",
		"http://blog.example.com:80":    "browsers write http://blog.example.com",
		"https://blog.example.com:8443": "",
		"https://blog.example.com:":     "browsers write https://blog.example.com",
		"https://:8443":                 "not an origin",
		"https://bücher.example":        "xn--",
	} {
		c := config.Default(config.Serve)
		c.CORSOrigins = text
		checkSays(t, "--cors-origins "+text, c.Check(config.Serve), says)
	}
}

func TestProxies(t *testing.T) {
	for text, want := range map[string]string{
		"":                          "[]",
		"10.0.0.0/8":                "[10.0.0.0/8]",
		"10.1.2.3/8, 192.0.2.7":     "[10.0.0.0/8 192.0.2.7/32]",
		"2001:db8::/32,::1":         "[2001:db8::/32 ::1/128]",
		"::ffff:10.1.2.3":           "[10.1.2.3/32]",
		"::ffff:10.0.0.0/104":       "no network",
		"10.0.0.0/33":               "no network",
		"proxy.example.com":         "no network",
		"10.0.0.0/8 192.168.0.0/16": "no network",
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
		says   string
	}{
		{func(c *config.Config) { c.Limits.Tokens = 1 }, ""},
		{func(c *config.Config) { c.Limits.Tokens = 0 }, "--max-tokens is 1 at least"},
		{func(c *config.Config) { c.Limits.InFlight = -1 }, "--max-in-flight is 1 at least"},
		{func(c *config.Config) { c.Limits.IdleTime = 0 }, "--idle-timeout is longer than nothing"},
		{func(c *config.Config) { c.Limits.Errors = 11 }, "--max-errors is 10 at most"},
		{func(c *config.Config) { c.Limits.AnswerBytes = 9 << 20 }, "--max-answer-bytes is 8388608 at most"},
		{func(c *config.Config) { c.Limits.Time *= 3 }, "--write-timeout is 45s at least"},
		{func(c *config.Config) { c.Limits.HeaderTime = c.Limits.ReadTime + 1 }, "--header-timeout is not longer than --read-timeout"},
	} {
		settings := config.Default(config.Serve)
		c.change(&settings)
		checkSays(t, c.says, settings.Check(config.Serve), c.says)
	}
}

func checkSays(t *testing.T, name string, err error, says string) {
	t.Helper()
	if says == "" && err != nil || says != "" && (err == nil || !strings.Contains(err.Error(), says)) {
		t.Errorf("%s: %v, want %q", name, err, says)
	}
}
