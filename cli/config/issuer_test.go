package config_test

import (
	"strings"
	"testing"

	"cosmosblog/cli/config"
)

func TestCheckIssuer(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*config.Config)
		want   string // part of the error; empty if the issuer is valid
	}{
		"https":                        {func(*config.Config) {}, ""},
		"on all interfaces":            {func(c *config.Config) { c.Addr = "0.0.0.0:8080" }, ""},
		"with a path":                  {func(c *config.Config) { c.Issuer = "https://login.example.com/tenant/v2.0" }, ""},
		"http on loopback":             {func(c *config.Config) { c.Issuer = "http://127.0.0.1:9000" }, ""},
		"http elsewhere":               {func(c *config.Config) { c.Issuer = "http://login.example.com" }, "http is allowed on loopback only"},
		"http on a host like loopback": {func(c *config.Config) { c.Issuer = "http://127.0.0.1.example.com" }, "http is allowed on loopback only"},
		"no URL":                       {func(c *config.Config) { c.Issuer = "login.example.com" }, "must be a URL"},
		"another scheme":               {func(c *config.Config) { c.Issuer = "file:///etc/issuer" }, "must be a URL"},
		"a user":                       {func(c *config.Config) { c.Issuer = "https://me@login.example.com" }, "must have no user"},
		"a query":                      {func(c *config.Config) { c.Issuer = "https://login.example.com?a=b" }, "no user, query or fragment"},
		"a fragment":                   {func(c *config.Config) { c.Issuer = "https://login.example.com#a" }, "no user, query or fragment"},
		"an empty fragment":            {func(c *config.Config) { c.Issuer = "https://login.example.com#" }, "no user, query or fragment"},
		"no audience":                  {func(c *config.Config) { c.Audience = "" }, "--issuer needs an --audience"},
		"audience without issuer":      {func(c *config.Config) { c.Issuer = "" }, "set --issuer too"},
	} {
		settings := config.Default(config.Serve)
		settings.Issuer, settings.Audience = "https://login.example.com", "cosmosblog"
		c.change(&settings)
		wantError(t, name, settings.Check(config.Serve), c.want)
	}
}

func TestIssuerTurnsOffDevelopment(t *testing.T) {
	c := config.Default(config.Serve)
	if c.Issuer = "https://login.example.com"; c.Development() {
		t.Error("the development features are on")
	}
}

func TestIssuerExcludesLocalTokens(t *testing.T) {
	c := config.Default(config.Token)
	c.Subject, c.Issuer = "anna", "https://login.example.com"
	if err := c.Check(config.Token); err == nil || !strings.Contains(err.Error(), "https://login.example.com") {
		t.Errorf("got %v", err)
	}
}
